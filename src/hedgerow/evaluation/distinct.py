"""Rows of whole numbers, told apart and counted without sorting rows as such."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Columns

_LARGEST = 1 << 62


def row_numbers(columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a number per row, equal for equal rows, and the first row of each number.

    Numbers are 0, 1, 2 and so on, in the order of the rows compared column by column.

    >>> row_numbers([np.array([2, 1, 2]), np.array([5, 0, 5])])
    (array([1, 0, 1]), array([1, 0]))
    """
    if not columns:
        raise ValueError("rows need a column")
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
