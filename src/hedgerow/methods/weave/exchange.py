"""Drawn records exchanged for others of the pool: post-processing.

A sample of the pool has tables that are off by chance, those of pairs that nobody counted above
all. One drawn record after another is compared with a record of the pool, and where the tables
of all pairs of columns come nearer to the pool's, the two are exchanged.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.pool import Pool
from hedgerow.methods.weave.weighing import COMPILED_FROM, bare, weighed

TRIED = 10
"""Records of the pool that each drawn one is compared with, at the most ..."""

LEAST_TRIED = 2
"""... and at the least: with fewer, nothing is exchanged."""

MOST_STEPS = 60_000_000
"""Cells that are looked up for all comparisons together, at the most."""

MOST_CELLS = 1 << 21
"""Cells of the tables of all pairs, at the most."""

PARTS = 16
"""Tables of the pool are rounded to 1 / PARTS of a record, so that sums are exact."""

HEAVIEST = 1 << 10
"""The weight of a cell without records; others weigh less, as chance moves them more."""


def exchanged(pool: Pool, taken: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return records of the pool whose tables of pairs are nearer to the pool's than those given.

    Nothing changes if there are too few records for compiled loops to pay, or enough that
    chance matters little. Public numbers decide.
    """
    columns = [*pool.columns, pool.classes]
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    pairs = list(combinations(range(len(columns)), 2))
    cells = [sizes[a] * sizes[b] for a, b in pairs]
    tried = min(TRIED, MOST_STEPS // max(len(pairs) * len(taken), 1))
    small = len(pool.weights) < COMPILED_FROM or not len(taken)
    if small or tried < LEAST_TRIED or sum(cells) > MOST_CELLS:
        return taken
    from hedgerow.count.compiled.exchange import exchange_records

    starts = np.concatenate([[0], np.cumsum(cells, dtype=np.int64)])
    away = np.empty(int(starts[-1]), dtype=np.int64)
    weights = np.empty(int(starts[-1]), dtype=np.int64)
    of_all = len(taken) / float(pool.weights.sum())
    for at, (a, b) in enumerate(pairs):
        part = slice(int(starts[at]), int(starts[at + 1]))
        keys = columns[a] * np.int32(sizes[b]) + columns[b]
        wanted = weighed(keys, pool.weights, cells[at]) * of_all
        there = np.bincount(keys[taken], minlength=cells[at])
        away[part] = there * PARTS - np.rint(wanted * PARTS).astype(np.int64)
        weights[part] = np.rint(HEAVIEST / np.sqrt(wanted + 1)).astype(np.int64)
    taken = rng.permutation(taken)
    ends = np.cumsum(pool.weights)
    others = np.searchsorted(ends, rng.random(tried * len(taken)) * ends[-1], side="right")
    exchange_records(
        bare(np.stack(columns, axis=1).astype(np.int16)),
        bare(taken),
        bare(np.minimum(others, len(ends) - 1)),
        bare(np.array(sizes, dtype=np.int64)),
        bare(starts),
        bare(away),
        bare(np.maximum(weights, 1)),
        PARTS,
    )
    return taken
