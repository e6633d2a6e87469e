"""Compiled loops over sets of columns. Import lazily: loading Numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop


@compile_loop
def count_up_to_two(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    third: NDArray[np.int32],
    width: int,
    depth: int,
    weights: NDArray[np.uint8],
    seen: NDArray[np.uint8],
) -> None:
    """Add up the weights of each cell (first, second, third), where 2 means 2 or more."""
    for i in range(len(first)):
        cell = (np.int64(first[i]) * width + second[i]) * depth + third[i]
        seen[cell] = min(np.uint8(2), np.uint8(seen[cell] + weights[i]))
