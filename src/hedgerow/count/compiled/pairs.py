"""Compiled loops over all pairs of columns. Import lazily: loading Numba takes a while.

Tables of pairs (a, b) with a < b lie one after another, pair by pair in rising order; a cell is
(group of a, group of b, class), the class varying fastest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop


@compile_loop
def add_pairs(
    cells: NDArray[np.int16],
    by_class: NDArray[np.int16],
    strides: NDArray[np.int64],
    starts: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Add one to each record's cell of every pair; ``cells`` has one row per record."""
    n, width = cells.shape
    first = 0
    for a in range(width - 1):
        for i in range(n):
            base = np.int64(cells[i, a])
            for b in range(a + 1, width):
                at = starts[first + b - a - 1] + base * strides[b] + by_class[i, b]
                sums[at] += 1
        first += width - 1 - a


@compile_loop
def weigh_pairs(
    cells: NDArray[np.int16],
    by_class: NDArray[np.int16],
    weights: NDArray[np.float64],
    strides: NDArray[np.int64],
    starts: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """Add each record's weight to its cell of every pair; as :func:`add_pairs`."""
    n, width = cells.shape
    first = 0
    for a in range(width - 1):
        for i in range(n):
            base = np.int64(cells[i, a])
            for b in range(a + 1, width):
                at = starts[first + b - a - 1] + base * strides[b] + by_class[i, b]
                sums[at] += weights[i]
        first += width - 1 - a


@compile_loop
def weigh_cells(
    keys: NDArray[np.int32], weights: NDArray[np.float64], sums: NDArray[np.float64]
) -> None:
    """Add each record's weight to its cell of one table."""
    for i in range(len(keys)):
        sums[keys[i]] += weights[i]


@compile_loop
def scale_and_weigh(
    keys: NDArray[np.int32],
    factors: NDArray[np.float64],
    weights: NDArray[np.float64],
    after: NDArray[np.int32],
    sums: NDArray[np.float64],
) -> None:
    """Multiply each record's weight by its cell's factor, then add it to its other cell."""
    for i in range(len(keys)):
        weight = weights[i] * factors[keys[i]]
        weights[i] = weight
        sums[after[i]] += weight
