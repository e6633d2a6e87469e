"""Compiled loops over all pairs of columns. Import lazily: loading Numba takes a while.

Tables of pairs (a, b) with a < b are stored one after another in increasing order; a cell is
(group of a, group of b, class), with the class varying fastest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop


@compile_loop
def add_pairs(
    cells: NDArray[np.int16],
    by_class: NDArray[np.signedinteger],
    strides: NDArray[np.int64],
    starts: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Add one to each record's cell of every pair; ``cells`` has one row per column.

    Goes pair by pair, so that only one small table is written at a time.
    """
    width, n = cells.shape
    pair = 0
    for a in range(width - 1):
        for b in range(a + 1, width):
            start, stride = starts[pair], strides[b]
            for i in range(n):
                sums[start + np.int64(cells[a, i]) * stride + by_class[b, i]] += 1
            pair += 1


@compile_loop
def weigh_pairs(
    cells: NDArray[np.int16],
    by_class: NDArray[np.signedinteger],
    weights: NDArray[np.float64],
    strides: NDArray[np.int64],
    starts: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """Add each record's weight to its cell of every pair; as :func:`add_pairs`.

    Processes two pairs at a time, so that sums need not wait for each other.
    """
    width, n = cells.shape
    pair = 0
    for a in range(width - 1):
        for b in range(a + 1, width - 1, 2):
            start, stride = starts[pair], strides[b]
            after, wide = starts[pair + 1], strides[b + 1]
            for i in range(n):
                at = np.int64(cells[a, i])
                sums[start + at * stride + by_class[b, i]] += weights[i]
                sums[after + at * wide + by_class[b + 1, i]] += weights[i]
            pair += 2
        if (width - 1 - a) % 2:
            start, stride = starts[pair], strides[width - 1]
            for i in range(n):
                at = start + np.int64(cells[a, i]) * stride + by_class[width - 1, i]
                sums[at] += weights[i]
            pair += 1


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


@compile_loop
def merge_tables(
    finest: NDArray[Any],
    begins: NDArray[np.int64],
    groups: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    shapes: NDArray[np.int64],
    strides: NDArray[np.int64],
    starts: NDArray[np.int64],
    sums: NDArray[Any],
) -> None:
    """Add up tables of pairs by coarser groups.

    Table ``t`` is a sum over the finest one at ``begins[t]`` of (rows, columns, classes) as in
    ``shapes[t]``; ``groups[first[t]:]`` and ``groups[second[t]:]`` are the groups of its rows
    and columns, ``strides[t]`` are the strides of a row's group, of a column's and of a class.
    """
    for t in range(len(begins)):
        at = begins[t]
        for a in range(shapes[t, 0]):
            row = starts[t] + groups[first[t] + a] * strides[t, 0]
            for b in range(shapes[t, 1]):
                cell = row + groups[second[t] + b] * strides[t, 1]
                for c in range(shapes[t, 2]):
                    sums[cell + c * strides[t, 2]] += finest[at]
                    at += 1
