"""Compiled loops over baskets, cached on disk. Import lazily: loading Numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop


@compile_loop
def split_keys(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    partition: NDArray[np.int32],
    first: NDArray[np.int32],
    stop: NDArray[np.int32],
    depth: NDArray[np.int32],
    slots: NDArray[np.uint8],
    bits: int,
    keys: NDArray[np.int64],
) -> None:
    """Write each record's key: its partition, then the mask of the children with its items."""
    for r in range(len(partition)):
        p = partition[r]
        low, high, level = first[p], stop[p], depth[p]
        mask = np.int64(0)
        for j in range(offsets[r], offsets[r + 1]):
            item = np.int64(items[j])
            if item >= low and item < high:
                mask |= np.int64(1) << np.int64(slots[level, item])
        keys[r] = (np.int64(p) << bits) | mask


@compile_loop
def keep_records(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    place: NDArray[np.int32],
    new_offsets: NDArray[np.int64],
    new_items: NDArray[np.unsignedinteger],
) -> None:
    """Copy the items of records with a place of at least 0 to that place."""
    record = 0
    for r in range(len(place)):
        if place[r] >= 0:
            start = new_offsets[record]
            for j in range(offsets[r], offsets[r + 1]):
                new_items[start + j - offsets[r]] = items[j]
            record += 1
