"""Grouped bar charts as SVG, for inclusion in a page."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np

from hedgerow.errors import MissingExtraError

COLOURS = ("#2c6a3f", "#c08a1e", "#3a6ea5", "#86507f")
QUIET = "#9aa79f"
_INK = "#1c2420"

_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)

PlotValues = Sequence[float | None]


def bars(
    labels: Sequence[str],
    series: Mapping[str, PlotValues],
    *,
    what: str,
    quiet: Sequence[str] = (),
    line: tuple[str, float] | None = None,
    lowest: float | None = None,
) -> str:
    """Return a grouped bar chart in per cent as SVG, from shares between 0 and 1.

    ``quiet`` names series drawn in grey, for comparison; ``line`` is a label and a level across
    the plot. The axis begins at 0, or at ``lowest`` if small differences matter.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Drawing plots", extra="evaluate") from error
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": what,
        "font.family": "sans-serif",
        "text.color": _INK,
        "text.parse_math": False,  # labels are names of columns and files, not formulas
    }
    with rc_context(settings):
        figure = Figure(figsize=(7.2, 2.9), layout="constrained")
        axes = figure.subplots()
        _draw(axes, labels, series, quiet)
        if line is not None:
            axes.axhline(100 * line[1], color=_INK, linewidth=1, linestyle="--", label=line[0])
        axes.set_ylabel(what)
        if lowest is not None:
            axes.set_ylim(bottom=100 * lowest)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        text = io.StringIO()
        figure.set_canvas(FigureCanvasSVG(figure))
        with catch_warnings():
            # The text stays text: the reader's fonts have glyphs that this one lacks.
            filterwarnings("ignore", message="Glyph", category=UserWarning)
            figure.savefig(
                text, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
            )
    drawn = text.getvalue()
    return _METADATA.sub("", drawn[drawn.index("<svg") :])


def _draw(
    axes: Any, labels: Sequence[str], series: Mapping[str, PlotValues], quiet: Sequence[str]
) -> None:
    places = np.arange(len(labels))
    width = 0.8 / max(len(series), 1)
    colours = iter(COLOURS)
    for at, (name, values) in enumerate(series.items()):
        heights = [float("nan") if value is None else 100 * value for value in values]
        colour = QUIET if name in quiet else next(colours)
        offset = (at - (len(series) - 1) / 2) * width
        axes.bar(places + offset, heights, width * 0.92, label=name, color=colour)
    axes.set_xticks(places, labels, fontsize=9)
