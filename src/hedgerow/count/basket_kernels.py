"""The counting kernel of set-valued data: partitions and masks of the children present."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.kernels import require_keys
from hedgerow.errors import InternalError
from hedgerow.model.engine import BasketBatch, SparseCounts

DENSE_UP_TO = 1 << 22
"""Maximum number of keys for a tally in one dense array; more are sorted."""

MOST_PARTITIONS = (1 << 31) - 1
"""Maximum number of partitions of a level, which have 32-bit numbers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitCounts:
    """Number of records in each sub-partition if every partition expands one node.

    Partition ``p`` expands the node of codes ``[first[p], stop[p])`` at ``depth[p]``;
    ``slots[d, code]`` is the child, of the node at depth ``d`` above an item, to which the item
    belongs. A record's key is its partition, shifted by ``bits``, and the mask of the children
    in which it has items. One kernel serves all partitions of a level
    [DiffPart, Procedure 1, lines 3-4].
    """

    first: NDArray[np.int32] = field(repr=False)
    stop: NDArray[np.int32] = field(repr=False)
    depth: NDArray[np.int32] = field(repr=False)
    slots: NDArray[np.uint8] = field(repr=False)
    bits: int

    def __post_init__(self) -> None:
        if len(self.first) > MOST_PARTITIONS:
            raise InternalError("A level has more partitions than 32-bit numbers.")
        require_keys(len(self.first) << self.bits)

    def count(self, batch: BasketBatch) -> SparseCounts:
        """Return the occupied sub-partitions of a batch."""
        return tally_of(self.keys(batch), batch.weights, n_keys=len(self.first) << self.bits)

    def keys(self, batch: BasketBatch) -> NDArray[np.int64]:
        """Return each record's key (confidential)."""
        return self._compiled(batch) if batch.compiled else self._by_numpy(batch)

    def _by_numpy(self, batch: BasketBatch) -> NDArray[np.int64]:
        lengths = np.diff(batch.offsets)
        partition = batch.partition.astype(np.int64)
        where = np.repeat(partition, lengths)
        inside = (batch.items >= self.first[where]) & (batch.items < self.stop[where])
        bit = np.int64(1) << self.slots[self.depth[where], batch.items].astype(np.int64)
        bit[~inside] = 0
        if not len(bit):
            return partition << self.bits
        masks: NDArray[np.int64] = np.bitwise_or.reduceat(bit, batch.offsets[:-1])
        return (partition << self.bits) | masks

    def _compiled(self, batch: BasketBatch) -> NDArray[np.int64]:
        from hedgerow.count.compiled import baskets as compiled_baskets

        keys = np.empty(len(batch.partition), dtype=np.int64)
        compiled_baskets.split_keys(
            batch.offsets,
            batch.items,
            batch.partition,
            self.first,
            self.stop,
            self.depth,
            self.slots,
            self.bits,
            keys,
        )
        return keys


def tally_of(
    keys: NDArray[np.int64], weights: NDArray[np.int64] | None, *, n_keys: int
) -> SparseCounts:
    """Return the frequency of each key, with each row counted by its weight."""
    if n_keys <= DENSE_UP_TO:
        # Sums of integer weights are exact in floating point below 2**53 records.
        dense = np.bincount(keys, weights=weights, minlength=0).astype(np.int64, copy=False)
        occupied = np.flatnonzero(dense)
        return SparseCounts(keys=occupied.astype(np.int64), counts=dense[occupied])
    unique, place = np.unique(keys, return_inverse=True)
    sums = np.bincount(place, weights=weights, minlength=len(unique)).astype(np.int64, copy=False)
    return SparseCounts(keys=unique, counts=sums)
