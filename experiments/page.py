"""The part of a paper's page that shows its figures as they came out here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from experiments.accuracy_table import with_table
from experiments.curves import Curve
from experiments.figure import PAGES, Figure
from experiments.registry import FIGURES
from experiments.rule import HOLDS, NOT, OPEN, UNMEASURED, Answer
from hedgerow.errors import InputError

HEADING = "## The figures, run again"
HEAD = f"""{HEADING}

Made by `python -m experiments run {{paper}}` and `python tools/paper_pages.py`. Lines are means
over runs, bars one standard deviation; open marks and grey lines are numbers that the paper's text
prints; times are CPU seconds of one core. A statement of the paper is quoted and then judged by the
[rule](../papers.md#when-a-statement-holds) that is the same for all: means with
intervals that hold together with 95 %. Where it is not found to hold, the most likely cause is
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
        kept = with_table(text.split(HEADING)[0].rstrip(), results)
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
    answers = [verdict["answer"] for result in results for verdict in result["verdicts"]]
    words = f"Of {len(answers)} statements {answers.count(HOLDS)} hold here,"
    words += f" {answers.count(NOT)} do not{_named(results, NOT)}"
    words += f" and of {answers.count(OPEN)} it cannot be told{_named(results, OPEN)}"
    if answers.count(UNMEASURED):
        words += f"; {answers.count(UNMEASURED)} were not measured"
    return f"{words}.\n"


def _named(results: list[dict[str, Any]], answer: Answer) -> str:
    """Return the figures that have a statement with that answer, in brackets."""
    found = [
        f"`{result['id']}`"
        for result in results
        if any(verdict["answer"] == answer for verdict in result["verdicts"])
    ]
    return f" ({', '.join(found)})" if found else ""


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
    found, cause = _cell(verdict["found"]), _cell(verdict["cause"] or "")
    return f"**{verdict['answer']}**: {found}" + (f". {cause}." if cause else "")


def _numbers(told: dict[str, Any]) -> list[str]:
    """Return the means of all lines, folded away."""
    lines = ["<details><summary>the numbers</summary>"]
    panel = None
    curves = [Curve.from_dict(given) for given in told["curves"]]
    order = list(dict.fromkeys(curve.panel for curve in curves))
    for curve in sorted(curves, key=lambda each: order.index(each.panel)):
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
