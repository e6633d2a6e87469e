"""Draw the pictures of docs/epsilon.md: ``python tools/epsilon_pictures.py``.

What somebody may come to believe and how far a count is off are computed; what a classifier keeps
is read from the table in research/methods.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("svg")
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
COLOURS = ("#0b3d22", "#286b40", "#6a9c2f", "#b8860b", "#a33b2c")


def picture(name: str, draw: Any, *, x: str, y: str) -> None:
    """Draw one picture with its axes named, and save it."""
    style = {"font.size": 10, "svg.hashsalt": name, "svg.fonttype": "path", "path.simplify": True}
    with mpl.rc_context(style):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        figure.savefig(PICTURES / f"{name}.svg", facecolor="white", metadata={"Date": None})


def beliefs(axes: Any) -> None:
    """Draw the most that a belief may rise to: odds grow by a factor of e^epsilon at most."""
    before = np.linspace(0, 1, 201)
    for epsilon, colour in zip(EPSILONS, COLOURS, strict=True):
        after = before * np.exp(epsilon) / (1 - before + before * np.exp(epsilon))
        axes.plot(100 * before, 100 * after, color=colour, label=f"ε = {epsilon:g}")
    axes.plot([0, 100], [0, 100], color="#888888", linestyle=":", label="no release")


def noise(axes: Any) -> None:
    """Draw how far one count is off, by the share of epsilon that it is drawn with."""
    share = 0.35  # the part that hedge leaves for the counts of its deepest boxes
    away = np.arange(-30, 31)
    for epsilon, colour in zip(EPSILONS[1:], COLOURS[1:], strict=True):
        shrink = np.exp(-share * epsilon)
        chance = (1 - shrink) / (1 + shrink) * shrink ** np.abs(away)
        axes.plot(away, 100 * chance, color=colour, marker=".", label=f"ε = {epsilon:g}")


def accuracy(axes: Any) -> None:
    """Draw what trees learn from releases of UCI Adult, by the table of all methods."""
    text = (ROOT / "research" / "methods.md").read_text(encoding="utf-8")
    ends = [float(x) for x in re.findall(r"^\| \*(?:floor|ceiling).*?\| ([\d.]+) \|", text, re.M)]
    epsilons = [0.1, 0.25, 0.5, 1]
    for name, colour in zip(("hedge", "weave", "DiffGen"), COLOURS[1:], strict=False):
        row = re.search(rf"^\| {name} \| ([\d. /]+) \|", text, re.MULTILINE)
        if row is None:
            raise SystemExit(f"research/methods.md has no row for {name}")
        axes.plot(
            epsilons, [float(x) for x in row[1].split("/")], marker="o", color=colour, label=name
        )
    axes.axhline(ends[1], color="#888888", linestyle="--", label="from the raw records")
    axes.axhline(ends[0], color="#888888", linestyle=":", label="the most frequent class")
    axes.set_xscale("log")
    axes.set_xticks(epsilons, [f"{each:g}" for each in epsilons])
    axes.set_xticks([], minor=True)


def main() -> int:
    """Draw all three."""
    PICTURES.mkdir(exist_ok=True)
    picture(
        "epsilon-belief",
        beliefs,
        x="belief that somebody is in the table, before, in %",
        y="at most after, in %",
    )
    picture("epsilon-noise", noise, x="published count minus the true one", y="chance in %")
    picture("epsilon-accuracy", accuracy, x="ε", y="classified rightly, in %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
