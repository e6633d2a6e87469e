"""Binary splits of boxes, as recursive partitions make them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.placed import Borders, ragged
from hedgerow.trees.topdown import STOP, Split


def split_in_two(attribute: NDArray[np.int32], position: NDArray[np.int32]) -> Split:
    """Return the split of every box at one position of one attribute.

    Boxes whose attribute is ``STOP`` are never split again; their position is ignored.
    """
    divided = attribute != STOP
    starts, _ = ragged(divided.astype(np.int64))
    return Split(
        attribute=attribute.astype(np.int32),
        borders=Borders(starts=starts, values=position[divided].astype(np.int32)),
    )


def no_splits(n_boxes: int) -> Split:
    """Return the decision that all boxes stop."""
    return split_in_two(np.full(n_boxes, STOP, dtype=np.int32), np.zeros(n_boxes, dtype=np.int32))


def borders_of_some(borders: Borders, which: NDArray[np.int64], n_boxes: int) -> Borders:
    """Return borders of all boxes from those of some boxes; the others have none.

    >>> borders_of_some(Borders.of([[3, 5]]), np.array([1]), 3).starts.tolist()
    [0, 0, 2, 2]
    """
    lengths = np.zeros(n_boxes, dtype=np.int64)
    lengths[which] = np.diff(borders.starts)
    starts, _ = ragged(lengths)
    return Borders(starts=starts, values=borders.values)


def smaller_sides(counts: NDArray[np.int64], borders: Borders) -> NDArray[np.int64]:
    """Return, for every border, the number of records on the side that has fewer.

    ``counts`` are those of the bins between the borders, box by box.

    Privacy: the result is confidential. Adding a record to one side adds 1 or nothing to
    the smaller one, so the score is monotone with sensitivity 1; the border with the largest
    score is nearest to the median.
    """
    box = np.repeat(np.arange(borders.n_boxes), np.diff(borders.starts))
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    base = running[borders.bin_starts]
    left = running[np.arange(len(box)) + box + 1] - base[:-1][box]
    smaller: NDArray[np.int64] = np.minimum(left, (base[1:] - base[:-1])[box] - left)
    return smaller
