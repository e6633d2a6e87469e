"""Compiled loops over sequences, cached on disk. Import lazily: loading Numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop


@compile_loop
def count_prefixes(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    slots: NDArray[np.int32],
    n_steps: NDArray[np.int32],
    width: int,
    tree: NDArray[np.int32],
    roots: NDArray[np.int32],
    further: NDArray[np.int32],
    first: int,
    counts: NDArray[np.int64],
) -> None:
    """Add up the children to which sequences go from the nodes from ``first`` on.

    Compiled form of :class:`hedgerow.count.sequence_kernels.PrefixCounts`; without ``roots``
    there is no second forest.
    """
    for r in range(len(offsets) - 1):
        at, stop = offsets[r], offsets[r + 1]
        node, step = np.int64(0), 0
        in_last = len(roots) == 0
        while True:
            slot = np.int64(width - 1)
            if at < stop:
                item = items[at]
                slot = np.int64(slots[item, step])
                step += 1
                if step == n_steps[item]:
                    step = 0
                    at += 1
            cell = node * width + slot
            if in_last:
                if node >= first:
                    counts[cell - first * width] += 1
                    break
                node = np.int64(further[cell]) if len(roots) else np.int64(tree[cell])
            else:
                node = np.int64(tree[cell])
                if node < 0:
                    node = np.int64(roots[cell])
                    in_last = True
            if node < 0:
                break
