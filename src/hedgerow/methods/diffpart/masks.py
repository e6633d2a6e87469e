"""Combinations of children as masks, in blocks that share a threshold, with their ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskBlocks:
    """All combinations of some children, the empty one left out, in blocks.

    ``masks[b]`` lists block ``b`` in increasing order, ``block`` and ``rank`` tell where a
    mask is to be found; a mask that belongs to no block has block -1.
    """

    masks: tuple[NDArray[np.int64], ...]
    block: NDArray[np.int8]
    rank: NDArray[np.int32]


@lru_cache(maxsize=64)
def all_masks(n_children: int) -> MaskBlocks:
    """Return the 2^l - 1 combinations in one block: the empty one is not a sub-partition.

    Departs: [DiffPart, Procedure 1, line 12] tests 2^l - |S| empty ones, one too many.
    """
    masks = np.arange(1, 1 << n_children, dtype=np.int64)
    rank = np.arange(-1, len(masks), dtype=np.int32)
    block = np.zeros(1 << n_children, dtype=np.int8)
    block[0] = -1
    return MaskBlocks(masks=(masks,), block=block, rank=rank)


@lru_cache(maxsize=64)
def masks_by_size(n_children: int, most: int) -> MaskBlocks:
    """Return the combinations of at most ``most`` children, a block for every size."""
    every = np.arange(1 << n_children, dtype=np.int64)
    size = np.bitwise_count(every)
    masks = tuple(every[size == s] for s in range(1, most + 1))
    block = np.where(size <= most, size.astype(np.int8) - 1, -1).astype(np.int8)
    rank = np.zeros(len(every), dtype=np.int32)
    for members in masks:
        rank[members] = np.arange(len(members), dtype=np.int32)
    return MaskBlocks(masks=masks, block=block, rank=rank)


def bits_of(masks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and bits that are set, bit by bit.

    >>> rows, bits = bits_of(np.array([0b101, 0b110]))
    >>> rows.tolist(), bits.tolist()
    ([0, 1, 0, 1], [0, 1, 2, 2])
    """
    highest = int(masks.max(initial=0)).bit_length()
    rows = [np.flatnonzero(masks & (1 << bit)) for bit in range(highest)]
    sizes = np.array([len(each) for each in rows], dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *rows]), np.repeat(np.arange(highest), sizes)
