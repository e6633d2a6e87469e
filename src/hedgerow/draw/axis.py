"""Axes for pictures of boxes: the borders of their ranges on one attribute.

Between two neighbouring borders no box is divided, so that counts are spread evenly
there. Everything comes from publishable groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.locate import split_attributes
from hedgerow.model.schema import Attribute
from hedgerow.taxonomy.domain import MISSING, NumericDomain

MOST_CELLS = 60
"""Cells of an axis; of more borders than that, evenly many are passed over."""

NARROWEST = 0.012
"""Part of an axis below which a cell could hardly be seen."""

STEPS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Where colours change: density as a multiple of what an even spread would give."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PictureAxis:
    """Cells of one attribute, between borders given in codes.

    ``at`` is where each border is drawn, from 0 to 1; ``n_cells`` counts the cells before
    borders were passed over, and ``stretched`` says that narrow cells are drawn wider.
    """

    attribute: Attribute
    borders: NDArray[np.int64]
    at: NDArray[np.float64]
    n_cells: int
    stretched: bool

    @classmethod
    def of(cls, attribute: Attribute, ranges: Ranges, *, most: int = MOST_CELLS) -> PictureAxis:
        """Return the axis of the borders that the ranges have."""
        ends = np.concatenate([[0, attribute.domain.size], ranges.first, ranges.stop])
        borders = np.unique(ends.astype(np.int64))
        n_cells = len(borders) - 1
        if n_cells > most:
            borders = borders[np.linspace(0, n_cells, most + 1).round().astype(np.int64)]
        widths = np.diff(borders) / attribute.domain.size
        stretched = bool(widths.min() < NARROWEST) and len(widths) > 1
        if stretched:
            widths = (widths + 1 / len(widths)) / 2
        at = np.concatenate([[0.0], np.cumsum(widths)])
        return cls(
            attribute=attribute,
            borders=borders,
            at=at / at[-1],
            n_cells=n_cells,
            stretched=stretched,
        )

    def __len__(self) -> int:
        return len(self.borders) - 1

    @property
    def widths(self) -> NDArray[np.float64]:
        """The part of the domain that each cell is."""
        return np.diff(self.borders) / self.attribute.domain.size

    def overlaps(self, ranges: Ranges) -> NDArray[np.float64]:
        """Return which part of each range (by row) lies in each cell (by column)."""
        first, stop = ranges.first[:, None], ranges.stop[:, None]
        common = np.minimum(stop, self.borders[1:]) - np.maximum(first, self.borders[:-1])
        parts: NDArray[np.float64] = np.maximum(common, 0) / (stop - first)
        return parts

    def label(self, cell: int) -> str:
        """Return the label of one cell."""
        return self.attribute.domain.label(int(self.borders[cell]), int(self.borders[cell + 1]))

    def border_text(self, border: int) -> str:
        """Return one border of a numeric axis as a number."""
        domain, code = self.attribute.domain, int(self.borders[border])
        if not isinstance(domain, NumericDomain):
            return ""
        if domain.missing and code == 0:
            return MISSING
        at = domain.high if code == domain.size else domain.bounds(code, code + 1)[0]
        return domain.written(at)


def cell_totals(groups: Groups, position: int, axis: PictureAxis) -> NDArray[np.float64]:
    """Return how many records each cell has if they lie in their boxes as records are drawn.

    That is by the published marginals where there are some, and evenly elsewhere.
    """
    ranges, size = groups.ranges[position], axis.attribute.domain.size
    spread = np.zeros(size)
    for weights, rows in _weighted_rows(groups, position, size):
        index, counts = groups.index[position][rows], groups.counts[rows]
        totals = np.bincount(index, weights=counts, minlength=len(ranges)).astype(np.float64)
        ends = np.concatenate([[0.0], np.cumsum(weights)])
        mass = ends[ranges.stop] - ends[ranges.first]
        widths = (ranges.stop - ranges.first).astype(np.float64)
        spread += weights * _layered(ranges, totals, mass, size)
        spread += _layered(ranges, np.where(mass > 0, 0.0, totals), widths, size)
    found: NDArray[np.float64] = np.add.reduceat(spread, axis.borders[:-1])
    return found


def _weighted_rows(
    groups: Groups, position: int, size: int
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    """Yield weights of the codes, and the groups that they are for."""
    weights = np.ones((size, 1)) if groups.marginals is None else groups.marginals[position]
    by_class = weights.shape[1] > 1 and groups.classes is not None
    for column in range(weights.shape[1] if by_class else 1):
        rows = groups.classes == column if by_class else np.ones(len(groups), dtype=np.bool_)
        yield weights[:, column], np.asarray(rows)


def _layered(
    ranges: Ranges, totals: NDArray[np.float64], mass: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    """Return, for every code, the sum of totals per mass of the ranges that hold it."""
    rates = np.divide(totals, mass, out=np.zeros(len(totals)), where=mass > 0)
    changes = np.zeros(size + 1)
    np.add.at(changes, ranges.first, rates)
    np.add.at(changes, ranges.stop, -rates)
    sums = np.cumsum(changes)[:-1]
    # Adding and taking away leaves crumbs of rounding where there is nothing.
    sums[sums < 1e-12 * rates.sum()] = 0.0
    return sums


def density_steps(shares: NDArray[np.float64], areas: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a colour per cell: 0 for none, then rising with density.

    ``shares`` and ``areas`` are the cells' parts of all records and of the domain.
    """
    return np.where(shares > 0, 1 + np.searchsorted(STEPS, shares / areas), 0)


def by_splits(groups: Groups) -> list[int]:
    """Return the attributes that divide boxes, those that divide most records first."""
    if groups.tree is None:
        return [at for at, ranges in enumerate(groups.ranges) if len(ranges) > 1]
    n = len(groups.ranges)
    splits_by = split_attributes(groups.tree)
    inner = np.flatnonzero(splits_by >= 0)
    times = np.bincount(splits_by[inner], minlength=n)
    sizes = np.maximum(groups.tree.sizes[inner], 0)
    records = np.bincount(splits_by[inner], weights=sizes, minlength=n)
    order = sorted(range(n), key=lambda at: (-records[at], -times[at], at))
    return [at for at in order if times[at]]
