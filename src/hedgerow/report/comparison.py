"""The page of a comparison: releases side by side, one table and one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from hedgerow.draw.plots import PlotValues, bars
from hedgerow.report.page import rendered


def render_comparison(
    *,
    audience: str,
    is_secret: bool,
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    ends: Mapping[str, str],
    answering_zero: str,
    names: Sequence[str],
    errors: Mapping[str, PlotValues],
) -> str:
    """Return the page as self-contained HTML."""
    from markupsafe import Markup

    drawn = {name: values for name, values in errors.items() if any(v is not None for v in values)}
    labels = [PurePath(name).name[:28] for name in names]
    # Matplotlib escapes labels in SVG.
    picture = Markup(bars(labels, drawn, what="error, %")) if drawn else None  # noqa: S704
    return rendered(
        "comparison.html.j2",
        audience=audience,
        is_secret=is_secret,
        columns=columns,
        cells=cells,
        ends=ends,
        answering_zero=answering_zero,
        picture=picture,
    )
