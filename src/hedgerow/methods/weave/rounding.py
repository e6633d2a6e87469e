"""Random numbers of the fit, and whole numbers that follow given weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.source import RandomSource


def generator_of(source: RandomSource) -> np.random.Generator:
    """Return a generator that two words of the source start.

    It serves what comes after the mechanisms only: permutations, rounding and the draw. Noise
    and choices take their words from the source itself.
    """
    return np.random.Generator(np.random.Philox(key=source.words(2)))


def shared_out(
    weights: NDArray[np.float64], total: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return whole numbers adding up to ``total``, each its weight's part rounded up or down.

    >>> shared_out(np.array([1.0, 1.0]), 4, np.random.default_rng(1)).tolist()
    [2, 2]
    """
    mass = float(weights.sum())
    if mass <= 0 or total <= 0:
        return np.zeros(len(weights), dtype=np.int64)
    ends = np.floor(np.cumsum(weights) / mass * total + rng.random())
    ends[-1] = total
    return np.diff(np.minimum(ends, total), prepend=0.0).astype(np.int64)


def rows_shared_out(
    weights: NDArray[np.float64], totals: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return whole numbers in rows that add up to ``totals``, each by the weights of its row."""
    mass = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    starts = rng.random((len(totals), 1))
    parts = np.cumsum(weights, axis=1) / mass
    ends = np.minimum(np.floor(parts * totals[:, None] + starts), totals[:, None])
    ends = np.where(parts >= 1 - 1e-12, totals[:, None], ends)  # nothing after the last weight
    ends[:, -1] = totals
    return np.diff(ends, prepend=0.0, axis=1).astype(np.int64)


def fitted_to_margins(
    table: NDArray[np.float64], rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the table scaled to given margins, by iterative proportional fitting."""
    table = np.maximum(table, 1e-9)
    for _ in range(20):
        table = table * (rows / np.maximum(table.sum(axis=1), 1e-12))[:, None]
        table = table * (columns / np.maximum(table.sum(axis=0), 1e-12))[None, :]
    return table
