"""The table of accuracies in DiffGen's page, written from the results of its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiments.curves import Curve
from experiments.diffgen import EPSILONS, IMPROVED, IMPROVED_MAX

BEGIN, END = "<!-- accuracies -->", "<!-- /accuracies -->"
STEPS = (4.0, 10.0, 16.0)
VARIANTS = {
    "faithful, max": ("diffgen-3a", "Max"),
    "faithful, infogain": ("diffgen-3b", "InfoGain"),
    "improved, max": ("diffgen-3a", IMPROVED_MAX),
    "improved, gini": ("diffgen-3a", IMPROVED),
}


def with_table(text: str, results: Path) -> str:
    """Return a page with its table written anew, if it has one and all results are there."""
    paths = {name: results / f"{name}.json" for name, _ in VARIANTS.values()}
    if BEGIN not in text or not all(path.is_file() for path in paths.values()):
        return text
    told = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{_table(told)}\n{END}{after}"


def _table(told: dict[str, Any]) -> str:
    lines = ["| variant | h | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " | runs |"]
    lines.append("|---" * (len(EPSILONS) + 3) + "|")
    for variant, (figure, panel) in VARIANTS.items():
        curves = {
            curve.line: curve
            for curve in map(Curve.from_dict, told[figure]["curves"])
            if curve.panel == panel
        }
        chosen = [curves[f"ε = {epsilon:g}"] for epsilon in EPSILONS]
        for h in STEPS:
            cells = " | ".join(_cell(curve, h) for curve in chosen)
            lines.append(f"| {variant} | {h:g} | {cells} | {chosen[0].runs.min()} |")
    return "\n".join(lines)


def _cell(curve: Curve, h: float) -> str:
    at = curve.x.tolist().index(h)
    return f"{curve.y[at]:.1f} ± {curve.spread[at]:.1f}"
