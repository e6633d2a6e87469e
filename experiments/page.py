"""The part of a paper's page that shows its figures as they came out here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from experiments.curves import Curve
from experiments.figure import PAGES, Figure
from experiments.registry import FIGURES
from hedgerow.errors import InputError

HEADING = "## The figures, run again"
HEAD = f"""{HEADING}

Made by `python -m experiments run {{paper}}` and `python tools/paper_pages.py`. Lines are means
over runs, bars one standard deviation; times are CPU seconds of one core. A statement of the paper
is quoted and then checked on these curves; where it does not hold here, the most likely cause is
named. All noise is drawn from seeds: a second run gives the same figures, times aside.
"""


def write_pages(results: Path, pages: Path) -> list[Path]:
    """Write the section of every paper that has results, copy the plots, return the pages."""
    written = []
    for paper, name in PAGES.items():
        figures = [figure for figure in FIGURES.values() if figure.paper == paper]
        told = {figure.id: _load(results / f"{figure.id}.json") for figure in figures}
        if not any(told.values()):
            continue
        page = pages / f"{name}.md"
        text = page.read_text(encoding="utf-8")
        kept = text.split(HEADING)[0].rstrip()
        section = section_of(paper, figures, told)
        page.write_text(f"{kept}\n\n{section}", encoding="utf-8")
        (pages / "figures").mkdir(exist_ok=True)
        for figure in figures:
            if told[figure.id] is not None:
                shutil.copy(results / f"{figure.id}.svg", pages / "figures" / f"{figure.id}.svg")
        written.append(page)
    return written


def _load(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(
            "is not a result of a figure", where=str(path), do="Run the figure again."
        ) from error
    return told


def section_of(paper: str, figures: list[Figure], told: dict[str, dict[str, Any] | None]) -> str:
    """Return the section of a paper's page."""
    parts = [HEAD.format(paper=paper.lower()), _balance(told)]
    parts += [_figure(figure, told[figure.id]) for figure in figures]
    return "\n".join(parts)


def _balance(told: dict[str, dict[str, Any] | None]) -> str:
    """Return how many statements hold, and which figures have some that do not."""
    results = [result for result in told.values() if result is not None]
    agrees = [verdict["agrees"] for result in results for verdict in result["verdicts"]]
    wanting = [
        f"`{result['id']}`"
        for result in results
        if any(verdict["agrees"] is False for verdict in result["verdicts"])
    ]
    words = f"Of {len(agrees)} statements {agrees.count(True)} hold here"
    words += f" and {agrees.count(False)} do not"
    if agrees.count(None):
        words += f"; {agrees.count(None)} were not measured"
    return f"{words}{' (' + ', '.join(wanting) + ')' if wanting else ''}.\n"


def _figure(figure: Figure, told: dict[str, Any] | None) -> str:
    lines = [f"### `{figure.id}`: {figure.title}", ""]
    lines += [f"*Printed:* {figure.printed}", "", f"*Here:* {figure.ours}", ""]
    if told is None:
        lines += ["Not run yet.", ""]
        return "\n".join(lines)
    effort = "in short, on a sample" if told["quick"] else "on all of the data"
    lines += [
        f"Run {effort}, up to {told['most-runs']} runs of a setting: {told['cpu-seconds']:,.0f} CPU"
        " seconds.",
        "",
        f"![{figure.title}](figures/{figure.id}.svg)",
        "",
        "| the paper says | here |",
        "|---|---|",
    ]
    lines += [
        f"| {_cell(verdict['quote'])} | {_verdict(verdict)} |" for verdict in told["verdicts"]
    ]
    if figure.remark:
        lines += ["", f"*Beyond the paper:* {figure.remark}"]
    lines += ["", *_numbers(told), ""]
    return "\n".join(lines)


def _verdict(verdict: dict[str, Any]) -> str:
    found = _cell(verdict["found"])
    if verdict["agrees"] is None:
        return found
    if verdict["agrees"]:
        return f"**agrees**: {found}"
    cause = verdict["cause"]
    return f"**does not**: {found}." + (f" {_cell(cause)}." if cause else "")


def _numbers(told: dict[str, Any]) -> list[str]:
    """Return the means of all lines, folded away."""
    lines = ["<details><summary>the numbers</summary>"]
    panel = None
    for curve in map(Curve.from_dict, told["curves"]):
        if curve.panel != panel:
            panel = curve.panel
            lines += ["", f"*{_cell(panel)}*", ""]
        values = ", ".join(
            f"{_number(x)}: {_number(y)}" for x, y in zip(curve.x, curve.y, strict=True)
        )
        runs = sorted(set(curve.runs.tolist()))
        many = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        lines.append(f"- {_cell(curve.line)} ({many} run{'s' * (runs[-1] > 1)}): {values}")
    return [*lines, "", "</details>"]


def _number(value: float) -> str:
    if value == round(value) and abs(value) < 1e9:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:,.1f}"
    return f"{value:.4g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
