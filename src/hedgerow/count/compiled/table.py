"""Compiled inner loops, cached on disk. Import lazily: loading Numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop

LANES = 4
"""Number of sub-histograms, so that adjacent records rarely wait for the same cell."""


@compile_loop
def class_histogram(
    codes: NDArray[np.unsignedinteger],
    classes: NDArray[np.unsignedinteger],
    n_classes: int,
    lanes: NDArray[np.int64],
) -> None:
    """Add one attribute's codes and classes to ``lanes``, of shape (LANES, cells)."""
    whole = len(codes) - len(codes) % 4
    for i in range(0, whole, 4):
        lanes[0, np.int64(codes[i]) * n_classes + classes[i]] += 1
        lanes[1, np.int64(codes[i + 1]) * n_classes + classes[i + 1]] += 1
        lanes[2, np.int64(codes[i + 2]) * n_classes + classes[i + 2]] += 1
        lanes[3, np.int64(codes[i + 3]) * n_classes + classes[i + 3]] += 1
    for i in range(whole, len(codes)):
        lanes[0, np.int64(codes[i]) * n_classes + classes[i]] += 1


@compile_loop
def add_steps(
    keys: NDArray[np.int64],
    codes: NDArray[np.unsignedinteger],
    steps: NDArray[np.int64],
) -> None:
    """Add ``steps[code]`` to each record's key, in place."""
    for i in range(len(keys)):
        keys[i] += steps[codes[i]]
