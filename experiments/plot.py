"""The plot of a figure, as SVG."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.curves import Curves
from experiments.figure import Figure, Panel
from hedgerow.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 3
"""How many panels stand side by side at the most."""

WIDTH, HEIGHT = 4.2, 3.1
MARKS = "osD^vP*X"
COLOURS = ("#0b6e4f", "#c1440e", "#1f4e8c", "#8a6d00", "#7b2d8b", "#4d4d4d", "#c2185b", "#00838f")


def plot(figure: Figure, curves: Curves, path: Path) -> None:
    """Draw the curves of a figure; bars are one standard deviation over runs."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise MissingExtraError("Drawing a figure", extra="evaluate") from error
    panels = [panel for panel in figure.panels if curves.lines(panel.name)]
    across = 2 if len(panels) == 4 else max(min(len(panels), ACROSS), 1)
    down = max(math.ceil(len(panels) / across), 1)
    # No date and a fixed salt: the same curves give the same file.
    with rc_context({"svg.hashsalt": figure.id, "font.size": 8, "svg.fonttype": "none"}):
        wide, high = WIDTH * across, HEIGHT * down
        canvas = Canvas(figsize=(wide, high))
        FigureCanvasSVG(canvas)
        # Room for labels, in inches; a layout engine would draw everything twice.
        canvas.subplots_adjust(
            left=0.8 / wide,
            right=1 - 0.1 / wide,
            bottom=0.5 / high,
            top=1 - 0.3 / high,
            wspace=0.32,
            hspace=0.35,
        )
        for place, panel in enumerate(panels):
            _draw(canvas.add_subplot(down, across, place + 1), panel, curves)
        canvas.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _draw(axes: Axes, panel: Panel, curves: Curves) -> None:
    for i, line in enumerate(curves.lines(panel.name)):
        curve = curves.line(panel.name, line)
        constant = len(curve.x) > 1 and bool((curve.y == curve.y[0]).all())
        axes.errorbar(
            curve.x,
            curve.y,
            yerr=curve.spread if (curve.runs > 1).any() else None,
            label=line,
            color=COLOURS[i % len(COLOURS)],
            marker="" if constant else MARKS[i % len(MARKS)],
            markersize=3.5,
            linewidth=1,
            linestyle=":" if constant else "-",
            elinewidth=0.6,
            capsize=1.5,
        )
    axes.set(
        title=panel.name, xlabel=panel.x, ylabel=panel.y, xscale=panel.x_scale, yscale=panel.y_scale
    )
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(fontsize=6)
