"""Noisy densities averaged over runs that noise does not separate: post-processing.

A least-squares fit by constant pieces, with a price for each piece, by dynamic programming.
Spikes stay spikes, and plateaus are averaged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Floats

LEAST_PRICE, MOST_PRICE, RISE = 0.35, 1.0, 7.0
"""Price of a piece over (scale of noise times logarithm of the cells) squared: minimum, maximum,
and its factor of the root of noise over records. What seems to exceed noise that is large against
all records rarely does."""

FEWEST = 8
"""The logarithm is that of at least this many cells."""

LONGEST = 1024
"""Maximum cells of a piece, which bounds the work: that many steps per cell."""


def averaged(
    densities: Floats, widths: Floats, precisions: Floats, *, scale: float, total: float
) -> Floats:
    """Return densities averaged over the pieces that fit best, at a price per piece.

    ``densities`` are records per code of cells of these widths; ``precisions`` are the weights
    of their squared errors, in units of 1 / (2 scale^2) per record squared.
    """
    m = len(densities)
    if m < 2:
        return densities.copy()
    starts = _starts(densities, precisions, price=_price(m, scale, total))
    piece = np.zeros(m, dtype=np.int64)
    piece[starts[1:]] = 1
    piece = np.cumsum(piece)
    held = np.bincount(piece, densities * widths)
    wide = np.bincount(piece, widths)
    means: Floats = (held / wide)[piece]
    return means


def _price(n_cells: int, scale: float, total: float) -> float:
    part = float(np.clip(RISE * np.sqrt(scale / max(total, 1.0)), LEAST_PRICE, MOST_PRICE))
    return part * float(scale * np.log(max(n_cells, FEWEST))) ** 2


def _starts(values: Floats, weights: Floats, *, price: float) -> NDArray[np.int64]:
    """Return where the pieces begin that have the least sum of squares and prices."""
    m = len(values)
    w, s, q = (
        np.concatenate([[0.0], np.cumsum(each)])
        for each in (weights, weights * values, weights * values**2)
    )
    best = np.zeros(m + 1)
    begins = np.zeros(m + 1, dtype=np.int64)
    for end in range(1, m + 1):
        low = max(end - LONGEST, 0)
        before = slice(low, end)
        lost = (q[end] - q[before]) - (s[end] - s[before]) ** 2 / (w[end] - w[before])
        cost = best[before] + lost
        at = int(np.argmin(cost))
        best[end], begins[end] = cost[at] + price, low + at
    starts = [int(begins[m])]
    while starts[-1]:
        starts.append(int(begins[starts[-1]]))
    return np.array(starts[::-1], dtype=np.int64)
