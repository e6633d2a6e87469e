"""All vectors of levels measured at once: their anonymity and their cost.

Rows are rolled up level by level and attribute by attribute [Incognito, rollup property], so
the time for a vector depends on the classes of the one below it, not on the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.kanonymity.levels import AttributeLevels
from hedgerow.count.distinct import DistinctColumns, DistinctRows

Cost = Literal["discernibility", "ncp", "height"]

_Number = TypeVar("_Number", np.int64, np.float64)

_DENSE = 4  # maximum number of keys per row for finding classes by counting instead of sorting


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeasuredLevels:
    """Vectors of levels with the figures of each of them for each k (confidential).

    The columns of ``suppressed``, ``squares`` and ``penalty`` belong to ``ks``: records in
    classes smaller than k, the sum of the squares of all other classes, and the loss of these
    classes' records (normalised certainty penalty, in attributes).
    """

    ks: NDArray[np.int64]
    vectors: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    squares: NDArray[np.int64]
    penalty: NDArray[np.float64]
    n_records: int

    def best(self, k: int, *, cost: Cost, suppression: Fraction) -> NDArray[np.int64]:
        """Return the cheapest vector that is k-anonymous except for a share of the records.

        Suppressed records cost as much as fully generalised ones: n each in discernibility
        [BayardoAgrawal05], 1 per attribute in the penalty. Ties are broken by discernibility, then
        by height, then by order.
        """
        at = int(np.searchsorted(self.ks, k))
        valid = np.flatnonzero(self.suppressed[:, at] <= int(suppression * self.n_records))
        gone = self.suppressed[valid, at]
        discernibility = self.squares[valid, at] + gone * self.n_records
        height = self.vectors[valid].sum(axis=1)
        costs = {
            "discernibility": discernibility,
            "ncp": self.penalty[valid, at] + gone * self.vectors.shape[1],
            "height": height,
        }
        order = np.lexsort((*self.vectors[valid].T[::-1], height, discernibility, costs[cost]))
        best: NDArray[np.int64] = self.vectors[valid[order[0]]]
        return best


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Rows:
    """Rows whose first attributes have their levels: prefix, index in the next attribute, rest.

    Equal prefixes are numbered 0, 1, 2 and so on; ``penalty`` is the cost of the prefix.
    """

    prefix: NDArray[np.int64]
    n_prefixes: int
    place: NDArray[np.int64]
    rest: NDArray[np.int64]
    sizes: NDArray[np.int64]
    penalty: NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class _Survey:
    """Walks all vectors, attribute by attribute, from the values up.

    ``rests[a]`` numbers the remainder of rows from attribute ``a`` on: its code, and the number
    of the remainder after it. A prefix that leaves more than ``limit`` records in classes smaller
    than the smallest k does so with any further attribute, and is not followed [Incognito,
    subset property].
    """

    levels: tuple[AttributeLevels, ...]
    rests: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    ks: NDArray[np.int64]
    limit: int
    vectors: list[list[int]] = field(default_factory=list)
    figures: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = field(
        default_factory=list
    )

    def walk(self, rows: _Rows, chosen: list[int]) -> None:
        """Measure every vector that begins with the chosen levels."""
        a = len(chosen)
        if a == len(self.levels):
            self.vectors.append(chosen)
            self.figures.append(self._figures(rows))
            return
        for level in range(len(self.levels[a])):
            rows = self._rolled_up(rows, a, level)
            prefixed = self._prefixed(rows, a, level)
            sizes = np.bincount(prefixed.prefix, weights=prefixed.sizes)
            if sizes[sizes < self.ks[0]].sum() <= self.limit:
                self.walk(prefixed, [*chosen, level])
                if a + 1 == len(self.levels) and self.figures[-1][0][-1] == 0:
                    break  # no record is suppressed any more: higher levels cost more

    def _rolled_up(self, rows: _Rows, a: int, level: int) -> _Rows:
        """Return the rows with the attribute one level higher, with equal ones merged."""
        place = self.levels[a].parents[level][rows.place]
        n_places, n_rests = len(self.levels[a].ranges[level]), self._n_rests(a + 1)
        keys = (rows.prefix * n_places + place) * n_rests + rows.rest
        one, sizes = _classes(keys, rows.sizes, rows.n_prefixes * n_places * n_rests)
        return _Rows(
            prefix=rows.prefix[one],
            n_prefixes=rows.n_prefixes,
            place=place[one],
            rest=rows.rest[one],
            sizes=sizes,
            penalty=rows.penalty[one],
        )

    def _prefixed(self, rows: _Rows, a: int, level: int) -> _Rows:
        """Return the rows with the attribute added to the prefix; the next one follows."""
        keys = rows.prefix * len(self.levels[a].ranges[level]) + rows.place
        # Rolled-up rows are sorted, so that equal prefixes are adjacent.
        prefix = np.cumsum(np.diff(keys, prepend=keys[:1]) > 0, dtype=np.int64)
        last = a + 1 == len(self.levels)
        codes, after = self.rests[a + 1] if not last else (None, None)
        return _Rows(
            prefix=prefix,
            n_prefixes=int(prefix[-1]) + 1,
            place=rows.rest if codes is None else codes[rows.rest],
            rest=rows.rest if after is None else after[rows.rest],
            sizes=rows.sizes,
            penalty=rows.penalty + self.levels[a].penalties[level][rows.place],
        )

    def _n_rests(self, a: int) -> int:
        return len(self.rests[a][0]) if a < len(self.rests) else 1

    def _figures(
        self, rows: _Rows
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return suppressed records, squares and penalty for every k; each row is a class now."""
        order = np.argsort(rows.sizes, kind="stable")
        sizes = rows.sizes[order]
        at = np.searchsorted(sizes, self.ks)
        suppressed = _sums_before(sizes)[at]
        squares = _sums_before(sizes**2)
        penalty = _sums_before(sizes * rows.penalty[order])
        return suppressed, squares[-1] - squares[at], penalty[-1] - penalty[at]


def measured(
    rows: DistinctRows,
    levels: tuple[AttributeLevels, ...],
    *,
    ks: Sequence[int],
    suppression: Fraction,
) -> MeasuredLevels:
    """Return the figures of all vectors of levels, without some that are valid for no k.

    One walk serves all of ``ks``.
    """
    wanted = np.array(sorted(set(ks)), dtype=np.int64)
    n_records = int(rows.sizes.sum())
    rests = _rests(rows.codes)
    codes, after = rests[0]  # distinct rows are sorted, and so are their numbers
    start = _Rows(
        prefix=np.zeros(len(rows), dtype=np.int64),
        n_prefixes=1,
        place=codes,
        rest=after,
        sizes=rows.sizes,
        penalty=np.zeros(len(rows)),
    )
    survey = _Survey(levels=levels, rests=rests, ks=wanted, limit=int(suppression * n_records))
    survey.walk(start, [])
    suppressed, squares, penalty = (np.stack(each) for each in zip(*survey.figures, strict=True))
    return MeasuredLevels(
        ks=wanted,
        vectors=np.array(survey.vectors, dtype=np.int64),
        suppressed=suppressed,
        squares=squares,
        penalty=penalty,
        n_records=n_records,
    )


def _rests(codes: DistinctColumns) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Number the remainder of rows from each attribute on: its code and the next number."""
    rest, n_rests = np.zeros(len(codes[0]), dtype=np.int64), 1
    found = []
    for column in reversed(codes):
        keys, number = np.unique(column * n_rests + rest, return_inverse=True)
        found.append(np.divmod(keys, n_rests))
        rest, n_rests = number.ravel(), len(keys)
    return found[::-1]


def _classes(
    keys: NDArray[np.int64], sizes: NDArray[np.int64], n_keys: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one row of each key, in the order of keys, and the sums of sizes."""
    if n_keys <= _DENSE * len(keys):
        sums = np.bincount(keys, weights=sizes, minlength=n_keys).astype(np.int64)
        one = np.zeros(n_keys, dtype=np.int64)
        one[keys] = np.arange(len(keys))
        occupied = np.flatnonzero(sums)
        return one[occupied], sums[occupied]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return order[starts], np.add.reduceat(sizes[order], starts)


def _sums_before(values: NDArray[_Number]) -> NDArray[_Number]:
    """Return, for each position and the end, the sum of the values before it."""
    return np.concatenate([np.zeros(1, dtype=values.dtype), np.cumsum(values)])
