"""Drawn records exchanged for others of the pool: post-processing.

A sample of the pool has tables that are off by chance, those of pairs that nobody counted above
all. Drawn records are compared with records of the pool, a batch at a time, and where the tables
of all pairs of columns come nearer to the pool's, the two are exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.pool import Pool
from hedgerow.methods.weave.weighing import weighed

TRIED = 3
"""Records of the pool that each drawn one is compared with, at the most."""

MOST_STEPS = 12_000_000
"""Cells that are looked up for all comparisons together, at the most."""

MOST_CELLS = 1 << 21
"""Cells of the tables of all pairs, at the most."""

PARTS = 16
"""Tables of the pool are rounded to 1 / PARTS of a record, so that sums are exact."""

HEAVIEST = 1 << 10
"""The weight of a cell without records; others weigh less, as chance moves them more."""

BATCH, BATCHES = 128, 200
"""Maximum records that are compared at once, each as if it were the only one, and the number of
batches that fewer records are divided into."""


def exchanged(pool: Pool, taken: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return records of the pool whose tables of pairs are nearer to the pool's than those given.

    Nothing changes if there are enough records that chance matters little. Public numbers decide.
    """
    columns = [*pool.columns, pool.classes]
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    n_pairs = len(columns) * (len(columns) - 1) // 2
    n_cells = sum(a * b for a, b in combinations(sizes, 2))
    tried = min(TRIED, MOST_STEPS // max(n_pairs * len(taken), 1))
    if not len(taken) or not tried or n_cells > MOST_CELLS:
        return taken
    tables = _Tables.of(columns, sizes)
    away, weights = tables.distance(columns, pool.weights, taken)
    taken = rng.permutation(taken)
    ends = np.cumsum(pool.weights)
    others = np.searchsorted(ends, rng.random(tried * len(taken)) * ends[-1], side="right")
    others = np.minimum(others, len(ends) - 1).reshape(tried, -1)
    batch = min(BATCH, max(len(taken) // BATCHES, 1))
    for offered in others:
        for start in range(0, len(taken), batch):
            part = slice(start, start + batch)
            better = tables.better(taken[part], offered[part], away, weights)
            taken[part] = np.where(better, offered[part], taken[part])
    return taken


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Tables:
    """The tables of all pairs of columns, one after another: ``rows`` has a row per column."""

    rows: NDArray[np.int32]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    strides: NDArray[np.int32]
    starts: NDArray[np.int32]
    n_cells: int

    @classmethod
    def of(cls, columns: list[NDArray[np.int32]], sizes: list[int]) -> _Tables:
        pairs = np.array(list(combinations(range(len(columns)), 2)))
        wide = np.array(sizes)
        cells = wide[pairs[:, 0]] * wide[pairs[:, 1]]
        starts = np.cumsum(cells) - cells
        return cls(
            rows=np.stack(columns),
            first=pairs[:, 0],
            second=pairs[:, 1],
            strides=wide[pairs[:, 1]].astype(np.int32)[:, None],
            starts=starts.astype(np.int32)[:, None],
            n_cells=int(cells.sum()),
        )

    def keys(self, records: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the cells (pairs, records) of some records of the pool."""
        rows = self.rows[:, records]
        keys: NDArray[np.int32] = rows[self.first] * self.strides
        keys += rows[self.second]
        keys += self.starts
        return keys

    def distance(
        self,
        columns: list[NDArray[np.int32]],
        pooled: NDArray[np.float64],
        taken: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many parts of a record each cell has too many, and the weight of each."""
        of_all = len(taken) / float(pooled.sum())
        away, weights = [], []
        ends = [*self.starts.ravel().tolist(), self.n_cells]
        for at, (a, b) in enumerate(zip(self.first.tolist(), self.second.tolist(), strict=True)):
            n_cells = ends[at + 1] - ends[at]
            keys = columns[a] * self.strides[at] + columns[b]
            wanted = weighed(keys, pooled, n_cells) * of_all
            there = np.bincount(keys[taken], minlength=n_cells)
            away.append(there * PARTS - np.rint(wanted * PARTS).astype(np.int64))
            weights.append(np.rint(HEAVIEST / np.sqrt(wanted + 1)).astype(np.int64))
        return np.concatenate(away), np.maximum(np.concatenate(weights), 1)

    def better(
        self,
        old: NDArray[np.int64],
        new: NDArray[np.int64],
        away: NDArray[np.int64],
        weights: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Say which exchanges lower the weighted sum of squares, and make these in ``away``."""
        gone, come = self.keys(old), self.keys(new)
        leaving, entering = weights * (PARTS - 2 * away), weights * (PARTS + 2 * away)
        rise = leaving[gone] + entering[come]
        rise[gone == come] = 0
        better: NDArray[np.bool_] = rise.sum(axis=0) < 0
        away -= PARTS * np.bincount(gone[:, better].ravel(), minlength=self.n_cells)
        away += PARTS * np.bincount(come[:, better].ravel(), minlength=self.n_cells)
        return better
