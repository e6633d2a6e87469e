"""A compiled loop that sends records down a tree. Import lazily: loading Numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.compiled.placed import n_reached
from hedgerow.model.compiling import compile_loop

BLOCK = 1 << 12
"""Number of records that go down at once, so that their codes and boxes stay in cache."""

_FEW = 8  # maximum number of borders that are all compared, without branches to mispredict


@compile_loop
def walk_down(
    codes: NDArray[np.unsignedinteger],
    levels: NDArray[np.int64],
    split: NDArray[np.int32],
    first_child: NDArray[np.int64],
    starts: NDArray[np.int64],
    values: NDArray[np.int32],
    boxes: NDArray[np.int32],
) -> None:
    """Write the box of every record at the end of several levels, or -1 if it is finished.

    The boxes of all levels are numbered from ``levels``. Box ``b`` splits on the row
    ``split[b]`` of ``codes``, at ``values[starts[b]:starts[b + 1]]``; -1 finishes it.
    """
    n_rows = codes.shape[1]
    for block in range(0, n_rows, BLOCK):
        stop = min(block + BLOCK, n_rows)
        for row in range(block, stop):
            boxes[row] = 0
        for level in range(len(levels)):
            first = levels[level]
            for row in range(block, stop):
                if boxes[row] < 0:
                    continue
                box = first + boxes[row]
                if split[box] < 0:
                    boxes[row] = -1
                    continue
                code, low, high = codes[split[box], row], starts[box], starts[box + 1]
                reached = np.int64(0)
                if high - low <= _FEW:
                    for border in range(low, high):
                        reached += np.int64(values[border] <= code)
                else:
                    reached = np.int64(n_reached(values, low, high, code))
                boxes[row] = first_child[box] + reached
