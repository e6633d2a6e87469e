"""Axes for pictures of boxes: the borders of their ranges on one attribute.

No box is split between two neighbouring borders, so counts are spread evenly there. All values
come from publishable groups.
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
"""Maximum number of cells of an axis; if there are more, evenly spaced borders are kept."""

NARROWEST = 0.012
"""Part of an axis below which a cell is hardly visible."""

STEPS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Densities at which the colour changes, as multiples of an even spread."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PictureAxis:
    """Cells of one attribute, between borders in codes.

    ``at`` is the position of each border, from 0 to 1; ``n_cells`` is the number of cells before
    borders were omitted; ``stretched`` is true if narrow cells are drawn wider.
    """

    attribute: Attribute
    borders: NDArray[np.int64]
    at: NDArray[np.float64]
    n_cells: int
    stretched: bool

    @classmethod
    def of(cls, attribute: Attribute, ranges: Ranges, *, most: int = MOST_CELLS) -> PictureAxis:
        """Return the axis with the borders of the ranges."""
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
        """The share of the domain that each cell covers."""
        return np.diff(self.borders) / self.attribute.domain.size

    def overlaps(self, ranges: Ranges) -> NDArray[np.float64]:
        """Return the part of each range (row) that lies in each cell (column)."""
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
    """Return the records in each cell, spread within their boxes as synthetic records are.

    They are spread by the published marginals if there are any, and evenly otherwise.
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
    """Yield weights of the codes and the groups to which they apply."""
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
    # Rounding errors of the cumulative sum are set to 0.
    sums[sums < 1e-12 * rates.sum()] = 0.0
    return sums


def density_steps(shares: NDArray[np.float64], areas: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a colour per cell: 0 for an empty cell, then rising with density.

    ``shares`` and ``areas`` are the cells' shares of all records and of the domain.
    """
    return np.where(shares > 0, 1 + np.searchsorted(STEPS, shares / areas), 0)


def by_splits(groups: Groups) -> list[int]:
    """Return the attributes that split boxes, those that split the most records first."""
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
