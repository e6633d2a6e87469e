"""Distinct rows of integers and their counts, without sorting rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Columns, Floats

_LARGEST = 1 << 62


def row_numbers(columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a number per row, equal for equal rows, and the first row with each number.

    Numbers are 0, 1, 2 and so on, in the lexicographic order of the rows.

    >>> row_numbers([np.array([2, 1, 2]), np.array([5, 0, 5])])
    (array([1, 0, 1]), array([1, 0]))
    """
    if not columns:
        raise ValueError("Rows need at least one column.")
    key = np.zeros(len(columns[0]), dtype=np.int64)
    reach = 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if reach > _LARGEST // size:
            _, key = np.unique(key, return_inverse=True)
            reach = int(key.max(initial=0)) + 1
        key = key * size + column.astype(np.int64)
        reach *= size
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number.astype(np.int64), first.astype(np.int64)


def cell_weights(
    bins: Sequence[NDArray[np.integer[Any]]], shape: Sequence[int], weights: Floats | None = None
) -> Floats:
    """Return the weight of the rows in each cell of a table; without weights, their number.

    ``bins`` are the coordinates of each row, one array per dimension.

    >>> cell_weights([np.array([0, 1, 1]), np.array([1, 0, 0])], [2, 2]).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    n_cells = int(np.prod(shape))
    # Moving cell numbers takes most of the time, so they are short; weights need int64.
    short = np.uint16 if n_cells < 1 << 16 else np.int32 if n_cells < 1 << 31 else np.int64
    cell: NDArray[Any] = bins[0].astype(short if weights is None else np.int64)
    for column, size in zip(bins[1:], shape[1:], strict=True):
        cell *= size
        cell += column.astype(cell.dtype, copy=False)
    counts = np.bincount(cell, weights=weights, minlength=n_cells)
    return counts.astype(np.float64).reshape(shape)
