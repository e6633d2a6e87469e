"""The plot of a figure, as SVG: lines, and the numbers that the paper's text prints."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.curves import Curve, Curves
from experiments.figure import Figure, Panel, Printed
from hedgerow.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 2
"""How many panels stand side by side at the most."""

WIDTH, HEIGHT = 3.3, 2.5
"""Inches of the drawing itself."""

LEFT, BOTTOM, TOP, LETTER = 0.85, 0.55, 0.35, 0.068
"""Inches for labels; of a letter of the legend, which stands at the right, off the data."""

MARKS = "osD^vP*X"
COLOURS = ("#0b6e4f", "#c1440e", "#1f4e8c", "#8a6d00", "#7b2d8b", "#4d4d4d", "#c2185b", "#00838f")
PRINTED = "#8c8c8c"
DASHES = ((0, (6, 2)), (0, (2, 2)), (0, (6, 2, 1, 2)), (0, (1, 1)), (0, (8, 4)), (0, (4, 1, 1, 1)))
MANY = 10
"""More ticks than this would run into each other."""


def plot(figure: Figure, curves: Curves, path: Path) -> None:
    """Draw the curves of a figure; bars are one standard deviation over runs."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise MissingExtraError("Drawing a figure", extra="evaluate") from error
    panels = [panel for panel in figure.panels if curves.lines(panel.name)]
    across = max(min(len(panels), ACROSS), 1)
    down = max(math.ceil(len(panels) / across), 1)
    beside = LETTER * _longest(figure, curves) + 0.45
    top = TOP + 0.4 * any(panel.second for panel in panels)
    # No date and a fixed salt: the same curves give the same file.
    with rc_context({"svg.hashsalt": figure.id, "font.size": 8, "svg.fonttype": "none"}):
        wide, high = (LEFT + WIDTH + beside) * across, (BOTTOM + HEIGHT + top) * down
        canvas = Canvas(figsize=(wide, high))
        FigureCanvasSVG(canvas)
        for place, panel in enumerate(panels):
            column, row = place % across, place // across
            left = (column * (LEFT + WIDTH + beside) + LEFT) / wide
            bottom = 1 - ((row + 1) * (BOTTOM + HEIGHT + top) - BOTTOM) / high
            axes = canvas.add_axes((left, bottom, WIDTH / wide, HEIGHT / high))
            _draw(axes, panel, curves, figure.numbers)
        canvas.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _longest(figure: Figure, curves: Curves) -> int:
    names = [curve.line for curve in curves]
    return max(map(len, [*names, *(_label(number) for number in figure.numbers), "x"]))


def _label(number: Printed) -> str:
    return f"printed: {number.label} {number.y:g}"


def _draw(axes: Axes, panel: Panel, curves: Curves, numbers: tuple[Printed, ...]) -> None:
    lines = [curves.line(panel.name, name) for name in curves.lines(panel.name)]
    other: Any = axes.twiny() if any(curve.line in panel.second for curve in lines) else None
    for i, curve in enumerate(lines):
        own = other if other is not None and curve.line in panel.second else axes
        _draw_line(own, curve, i)
    for i, number in enumerate(one for one in numbers if one.panel == panel.name):
        _draw_number(axes, number, i)
    title = "" if other is not None else panel.name
    axes.set(
        title=title, xlabel=panel.x, ylabel=panel.y, xscale=panel.x_scale, yscale=panel.y_scale
    )
    _ticks(axes, [curve for curve in lines if curve.line not in panel.second], panel.x_scale)
    if other is not None:
        other.set(xlabel=panel.x_second)
        _ticks(other, [curve for curve in lines if curve.line in panel.second], "linear")
    if panel.y_scale == "log":
        _log_ticks(axes)
    axes.grid(visible=True, linewidth=0.3)
    _legend(axes, other)


def _log_ticks(axes: Axes) -> None:
    """Label a logarithmic axis with plain numbers, few enough to be read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    few = high > 100 * low
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _legend(axes: Axes, other: Any) -> None:
    """Put the legend at the right of the panel."""
    handles, labels = axes.get_legend_handles_labels()
    if other is not None:
        more, named = other.get_legend_handles_labels()
        handles, labels = [*handles, *more], [*labels, *named]
    axes.legend(
        handles,
        labels,
        fontsize=6.5,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        frameon=False,
    )


def _draw_line(axes: Any, curve: Curve, i: int) -> None:
    constant = len(curve.x) > 1 and bool((curve.y == curve.y[0]).all())
    axes.errorbar(
        curve.x,
        curve.y,
        yerr=curve.spread if (curve.runs > 1).any() else None,
        label=curve.line,
        color=COLOURS[i % len(COLOURS)],
        marker="" if constant else MARKS[i % len(MARKS)],
        markersize=3.5,
        linewidth=1,
        linestyle=":" if constant else "-",
        elinewidth=0.6,
        capsize=1.5,
    )


def _draw_number(axes: Axes, number: Printed, i: int) -> None:
    """Draw a printed number: an open mark, or a grey line where it has no place."""
    if number.x is None:
        dashes = DASHES[i % len(DASHES)]
        axes.axhline(
            number.y, color=PRINTED, linewidth=0.9, linestyle=dashes, label=_label(number), zorder=0
        )
        return
    axes.plot(
        [number.x],
        [number.y],
        linestyle="",
        marker="s",
        markersize=7,
        markerfacecolor="none",
        markeredgecolor="black",
        label=_label(number),
    )


def _ticks(axes: Any, curves: list[Curve], scale: str) -> None:
    """Put ticks where something was measured, if these are few and far enough apart."""
    places = sorted({float(x) for curve in curves for x in curve.x})
    if not places or len(places) > MANY:
        return
    seen = [math.log(x) for x in places] if scale == "log" else places
    spread = seen[-1] - seen[0]
    gaps = [b - a for a, b in pairwise(seen)]
    if spread and min(gaps) < 0.07 * spread:
        return
    axes.set_xticks(places, [f"{x:,.6g}" for x in places], minor=False)
    axes.set_xticks([], minor=True)
    if max(places) >= 100_000:
        axes.tick_params(axis="x", labelsize=6.5)
