"""A minimal vector of levels by descent, if there are too many vectors to measure all.

From full generalisation, the attribute whose specialisation by one level makes the release
cheapest is specialised, until no attribute can be made more specific. A step that breaks
k-anonymity does so from any lower vector too (monotonicity), so it is never tried again.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.kanonymity.level_search import Cost
from hedgerow.baselines.kanonymity.levels import AttributeLevels
from hedgerow.count.distinct import DistinctRows, row_ranks


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Table:
    """The rows at every level of every attribute, and the cost of vectors (confidential)."""

    places: list[list[NDArray[np.int64]]]
    levels: tuple[AttributeLevels, ...]
    sizes: NDArray[np.int64]
    n_records: int

    @classmethod
    def of(cls, rows: DistinctRows, levels: tuple[AttributeLevels, ...]) -> _Table:
        places = []
        for codes, each in zip(rows.codes, levels, strict=True):
            at = [codes]
            for parents in each.parents[1:]:
                at.append(parents[at[-1]])
            places.append(at)
        sizes = rows.sizes
        return cls(places=places, levels=levels, sizes=sizes, n_records=int(sizes.sum()))

    def figures(self, vector: NDArray[np.int64], *, k: int) -> tuple[int, int, float]:
        """Return suppressed records, discernibility and penalty of a vector."""
        columns = tuple(at[level] for at, level in zip(self.places, vector, strict=True))
        n_ranges = tuple(
            len(each.ranges[level]) for each, level in zip(self.levels, vector, strict=True)
        )
        ranks, n_classes = row_ranks(columns, n_ranges)
        sizes = np.bincount(ranks, weights=self.sizes, minlength=n_classes).astype(np.int64)
        kept = sizes >= k
        gone = int(sizes[~kept].sum())
        losses = np.zeros(len(ranks))
        for each, level, column in zip(self.levels, vector, columns, strict=True):
            losses += each.penalties[level][column]
        lost = float((losses * self.sizes)[kept[ranks]].sum()) + gone * len(columns)
        return gone, int((sizes[kept] ** 2).sum()) + gone * self.n_records, lost


def descend(
    rows: DistinctRows,
    levels: tuple[AttributeLevels, ...],
    *,
    k: int,
    cost: Cost,
    suppression: Fraction,
) -> NDArray[np.int64]:
    """Return a vector that is k-anonymous except for a share of the records, and minimal."""
    table = _Table.of(rows, levels)
    limit = int(suppression * table.n_records)
    vector = np.array([len(each) - 1 for each in levels], dtype=np.int64)
    hopeful = {a for a, level in enumerate(vector) if level > 0}
    while hopeful:
        found: list[tuple[float, int]] = []
        for a in sorted(hopeful):
            gone, discernibility, penalty = table.figures(_lowered(vector, a), k=k)
            if gone > limit:
                hopeful.discard(a)
            else:
                found.append((penalty if cost == "ncp" else float(discernibility), a))
        if not found:
            break
        _, best = min(found)
        vector = _lowered(vector, best)
        if vector[best] == 0:
            hopeful.discard(best)
    return vector


def _lowered(vector: NDArray[np.int64], attribute: int) -> NDArray[np.int64]:
    lower = vector.copy()
    lower[attribute] -= 1
    return lower
