"""Supports of pairs of frequent items: capped counts, set against what lengths alone give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.feature_kernels import CappedPairs
from hedgerow.methods.coterie.caps import best_cap
from hedgerow.methods.coterie.lengths import BasketLengths
from hedgerow.methods.coterie.shares import Measuring
from hedgerow.model.arrays import Floats

CAPS = range(2, 60)
SLACK = 2.0
USUAL_SUPPORT = 0.008
STANDS_OUT = 3.5
"""Pairs that many standard deviations off what lengths alone give are kept apart."""

CANDIDATE = 2.0
"""As many, upwards, make a pair a candidate to be counted again."""

AT_MOST = 0.9
LEAST = 0.01
"""Minimum count assumed for every pair, so that no spread is 0."""

NO_PAIR = 1e9
"""The spread of an item with itself, which is no pair."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Estimates for all pairs of frequent items (square, symmetric); all of it public.

    ``targets`` are the estimates of pairs that stand out, and what lengths alone give for
    the others; ``hopeful`` is higher where an estimate may be.
    """

    targets: Floats
    hopeful: Floats
    spread: Floats
    stands_out: NDArray[np.bool_]


def measure_pairs(
    measuring: Measuring,
    rank: NDArray[np.int32],
    supports: Floats,
    lengths: BasketLengths,
    n_records: int,
) -> Pairs:
    """Return the supports of pairs, for one share: capped counts of all pairs."""
    n_top, share = len(supports), measuring.share("pairs")
    held = lengths.means
    cap = best_cap(
        held * (held - 1) / 2,
        lengths.frequent,
        share=share,
        support=USUAL_SUPPORT * n_records,
        options=CAPS,
        slack=SLACK,
    )
    kernel = CappedPairs(rank=rank, n_top=n_top, cap=cap.most, key=measuring.key)
    tables = measuring.capped(kernel, on="pairs", cap=cap.most)
    within, above = (_square(table, n_top) for table in tables)
    # What every pair would be if only lengths and supports mattered, in short and long records.
    ordered = lengths.frequent * held * (held - 1)
    first, second = float((lengths.frequent * held).sum()), float(ordered.sum())
    long = float(ordered[held * (held - 1) / 2 > cap.most].sum())
    most = np.minimum.outer(supports, supports)
    alone = np.outer(supports, supports) * second / max(first, 1.0) ** 2
    base = np.maximum(np.minimum(alone, AT_MOST * most), LEAST)
    base_above = base * long / max(second, 1.0)
    # One factor on both, by least squares.
    noise = np.sqrt(2) * cap.most / share
    base_within, noise_above = base - base_above, cap.factor * noise
    known = base_within**2 / noise**2 + base_above**2 / noise_above**2
    lift = base_within * (within - base_within) / noise**2
    lift += base_above * (cap.factor * above - base_above) / noise_above**2
    found = base * (1 + lift / known)
    spread = base / np.sqrt(known)
    np.fill_diagonal(spread, NO_PAIR)
    stands_out = np.abs(found - base) >= STANDS_OUT * spread
    targets = np.clip(np.where(stands_out, found, base), 0, most)
    hopeful = np.where(found - base >= CANDIDATE * spread, np.minimum(found, most), targets)
    return Pairs(targets=targets, hopeful=hopeful, spread=spread, stands_out=stands_out)


def _square(upper: NDArray[np.int64], n: int) -> Floats:
    """Return a symmetric matrix from what is above its diagonal.

    >>> _square(np.array([1, 2, 3]), 3).astype(int).tolist()
    [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    """
    square = np.zeros((n, n))
    rows, columns = np.triu_indices(n, 1)
    square[rows, columns] = upper
    return np.asarray(square + square.T)
