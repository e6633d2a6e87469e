"""How finely boxes divide each attribute, and where the records are: for the report."""

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
"""Rows of one attribute with names; more are counted, not drawn."""


@dataclass(frozen=True, kw_only=True)
class StripCell:
    """Values that every box has together: an estimate of their records, and their colour."""

    label: str
    start: float
    width: float
    count: int
    percent: float
    density: int


@dataclass(frozen=True, kw_only=True)
class Strip:
    """How one attribute is divided: a coloured band of numbers, or rows of names."""

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
    """The attributes that divide boxes, and how many of them are not drawn."""

    strips: tuple[Strip, ...]
    n_not_drawn: int


def box_strips(schema: Schema, groups: Groups) -> Strips:
    """Return a drawing of every attribute that divides boxes, those that do so most first."""
    divided = by_splits(groups)
    strips = tuple(_strip(schema, groups, at) for at in divided[:MOST_STRIPS])
    return Strips(strips=strips, n_not_drawn=len(divided) - len(strips))


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
    """Name the borders that have room; the two bounds always do."""
    at = (100 * axis.at).round(2).tolist()
    ticks = [Tick(text=axis.border_text(0), at=at[0])]
    for border in range(1, len(axis)):
        if at[border] - ticks[-1].at >= TICK_ROOM and at[-1] - at[border] >= TICK_ROOM:
            ticks.append(Tick(text=axis.border_text(border), at=at[border]))
    ticks.append(Tick(text=axis.border_text(len(axis)), at=at[-1]))
    return tuple(ticks)
