"""Strips: the resolution of each attribute in the boxes, and the distribution of records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.draw.axis import PictureAxis, by_splits, cell_totals, density_steps
from hedgerow.draw.pictures import TICK_ROOM, Tick, shortened
from hedgerow.model.groups import Groups
from hedgerow.model.locate import split_attributes
from hedgerow.model.schema import Schema

MOST_STRIPS = 40
MOST_ROWS = 30
"""Maximum number of rows drawn for a categorical attribute; the others are only counted."""


@dataclass(frozen=True, kw_only=True)
class StripCell:
    """Values that no box separates, with an estimate of their records and a colour."""

    label: str
    start: float
    width: float
    count: int
    percent: float
    density: int


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The cells of one attribute: a coloured band for numbers, rows for categories."""

    name: str
    kind: str
    n_values: int
    n_cells: int
    n_splits: int
    n_ranges: int
    cells: tuple[StripCell, ...]
    ticks: tuple[Tick, ...]
    not_drawn: int
    stretched: bool


@dataclass(frozen=True, kw_only=True)
class Strips:
    """Strips of the attributes that split boxes, and the number of those not drawn."""

    strips: tuple[Strip, ...]
    n_not_drawn: int


def box_strips(schema: Schema, groups: Groups) -> Strips:
    """Return a strip for every attribute that splits boxes, most important first."""
    split = by_splits(groups)
    strips = tuple(_strip(schema, groups, at) for at in split[:MOST_STRIPS])
    return Strips(strips=strips, n_not_drawn=len(split) - len(strips))


def _strip(schema: Schema, groups: Groups, position: int) -> Strip:
    attribute, ranges = schema.attributes[position], groups.ranges[position]
    named = attribute.domain.kind == "categorical"
    axis = (
        PictureAxis.of(attribute, ranges, most=attribute.domain.size)
        if named
        else PictureAxis.of(attribute, ranges)
    )
    n_drawn = min(len(axis), MOST_ROWS) if named else len(axis)
    n_splits = len(ranges) - 1
    if groups.tree is not None:
        n_splits = int(np.count_nonzero(split_attributes(groups.tree) == position))
    return Strip(
        name=shortened(attribute.name),
        kind=attribute.domain.kind,
        n_values=attribute.domain.size,
        n_cells=axis.n_cells,
        n_splits=n_splits,
        n_ranges=len(ranges),
        cells=_cells(groups, position, axis, n_drawn),
        ticks=() if named else _ticks(axis),
        not_drawn=len(axis) - n_drawn,
        stretched=axis.stretched,
    )


def _cells(groups: Groups, position: int, axis: PictureAxis, n_drawn: int) -> tuple[StripCell, ...]:
    totals = cell_totals(groups, position, axis)
    steps = density_steps(totals / (totals.sum() or 1.0), axis.widths)
    longest = float(totals.max(initial=0.0)) or 1.0
    return tuple(
        StripCell(
            label=shortened(axis.label(cell)),
            start=round(100 * float(axis.at[cell]), 2),
            width=round(100 * float(axis.at[cell + 1] - axis.at[cell]), 2),
            count=round(float(totals[cell])),
            percent=round(100 * float(totals[cell]) / longest, 1),
            density=int(steps[cell]),
        )
        for cell in range(n_drawn)
    )


def _ticks(axis: PictureAxis) -> tuple[Tick, ...]:
    """Return labels for the two bounds and for borders far enough from other labels."""
    at = (100 * axis.at).round(2).tolist()
    ticks = [Tick(text=axis.border_text(0), at=at[0])]
    for border in range(1, len(axis)):
        if at[border] - ticks[-1].at >= TICK_ROOM and at[-1] - at[border] >= TICK_ROOM:
            ticks.append(Tick(text=axis.border_text(border), at=at[border]))
    ticks.append(Tick(text=axis.border_text(len(axis)), at=at[-1]))
    return tuple(ticks)
