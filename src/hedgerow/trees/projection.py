"""Projection of noisy counts to non-negative integers with a given total; costs no budget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.source import RandomSource


def simplex_shift(noisy: NDArray[np.int64] | NDArray[np.float64], total: float) -> float:
    """Return t such that the sum of ``max(0, noisy - t)`` is ``total``, which is above 0.

    The Euclidean projection on {x >= 0, sum x = total} subtracts one number from all
    and sets negative values to zero; sorting finds it.

    >>> simplex_shift(np.array([5, 3, -2]), 6)
    1.0
    """
    falling = np.sort(noisy)[::-1]
    surplus = np.cumsum(falling) - total
    ranks = np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling * ranks > surplus)[-1])
    return float(surplus[last]) / (last + 1)


def on_simplex(
    noisy: NDArray[np.int64], total: int, *, only_down: bool, source: RandomSource
) -> tuple[NDArray[np.int64], float]:
    """Return the non-negative integers nearest to ``noisy`` with a total, and the shift.

    Every count is shifted by the same amount, so all that stay positive have the same
    fractional part; those that are rounded up are selected at random. With ``only_down``
    nothing is added if ``noisy`` falls short of the total: for lists whose small counts have
    been dropped already.
    """
    if total <= 0 or not len(noisy):
        return np.zeros(len(noisy), dtype=np.int64), 0.0
    shift = simplex_shift(noisy, total)
    if only_down and shift < 0:
        return np.maximum(noisy, 0), 0.0
    shifted = np.maximum(noisy - shift, 0.0)
    whole = np.floor(shifted).astype(np.int64)
    positive = np.flatnonzero(shifted > 0)
    missing = min(max(total - int(whole.sum()), 0), len(positive))
    order = np.argsort(source.words(len(positive)), kind="stable")
    whole[positive[order[:missing]]] += 1
    return whole, shift
