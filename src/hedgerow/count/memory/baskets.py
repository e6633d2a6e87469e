"""The in-memory engine of set-valued data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.basket_kernels import DENSE_UP_TO, tally_of
from hedgerow.count.folding import fold
from hedgerow.count.kernels import require_keys
from hedgerow.errors import InternalError
from hedgerow.model.baskets import EncodedBaskets, ItemCodes, item_dtype, offsets_of
from hedgerow.model.compiler import pays
from hedgerow.model.engine import (
    BasketBatch,
    BasketKernel,
    FeatureKernel,
    FoldedBaskets,
    SequenceBatch,
    SequenceKernel,
    SparseCounts,
)
from hedgerow.taxonomy.tree import Taxonomy

MASKED_UP_TO = 22
"""Maximum number of items of a universe for folding equal records to one row with a weight."""

COMPILED_FROM = 2_000_000
"""Minimum total number of items for which loading compiled loops pays."""


STEPS_COMPILED_FROM = 300_000
"""The same for sequences."""


def walk_compiled(n_items: int) -> bool:
    """Return whether compiled loops follow records with this total number of items."""
    return pays(n_items, COMPILED_FROM, loops="count.compiled.baskets")


def steps_compiled(n_items: int) -> bool:
    """Return whether compiled loops follow sequences with this total number of items.

    The minimum is lower than for baskets: every level follows all sequences.
    """
    return pays(n_items, STEPS_COMPILED_FROM, loops="count.compiled.sequences")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BasketMemory:
    """Counts baskets in memory; without ``compiled``, their size decides on the loops."""

    baskets: EncodedBaskets
    name: str = "memory"
    compiled: bool | None = None

    @property
    def taxonomy(self) -> Taxonomy:
        """The public taxonomy of the items."""
        return self.baskets.taxonomy

    def walk(self, *, max_length: int | None) -> MemoryWalk:
        """Return all records in partition 0, each cut to ``max_length`` items by a public rule."""
        offsets, items = self.baskets.offsets, self.baskets.items
        if max_length is not None:
            offsets, items = cut_to_length(offsets, items, max_length)
        n_items = self.taxonomy.n_leaves
        if n_items > MASKED_UP_TO:
            return MemoryWalk(offsets, items, n_items=n_items, weights=None, compiled=self.compiled)
        folded = _fold(offsets, items, n_items)
        offsets, items = sets_of_masks(folded.keys, n_items)
        return MemoryWalk(offsets, items, n_items=n_items, weights=folded.counts)

    def rehearsing(self, baskets: EncodedBaskets) -> BasketMemory:
        """Return an engine that counts simulated baskets by the same loops."""
        return BasketMemory(baskets=baskets, compiled=walk_compiled(len(self.baskets.items)))

    def close(self) -> None:
        """Do nothing: the baskets are freed with the engine."""

    def itemsets(self) -> SparseCounts:
        """Return the frequency of each set of items, as masks; for small universes."""
        return _fold(self.baskets.offsets, self.baskets.items, self.taxonomy.n_leaves)

    def features(self, kernel: FeatureKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel's vectors over all records (confidential)."""
        return kernel.count(self._folded)

    @cached_property
    def _folded(self) -> FoldedBaskets:
        # In the types of the kernels, so that they need not convert them.
        return fold(self.baskets.offsets, self.baskets.items.astype(np.uint32))

    def sum(self, kernel: SequenceKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel over all records in their order (confidential)."""
        items = self.baskets.items
        compiled = steps_compiled(len(items)) if self.compiled is None else self.compiled
        batch = SequenceBatch(offsets=self.baskets.offsets, items=items, compiled=compiled)
        return kernel.count(batch)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WalkRows:
    """Records on their way down, as plain arrays (confidential)."""

    offsets: NDArray[np.int64]
    items: ItemCodes
    partition: NDArray[np.int32]
    weights: NDArray[np.int64] | None


class MemoryWalk:
    """Records in memory on their way down; those no longer followed are dropped."""

    def __init__(
        self,
        offsets: NDArray[np.int64],
        items: ItemCodes,
        *,
        n_items: int,
        weights: NDArray[np.int64] | None,
        partition: NDArray[np.int32] | None = None,
        compiled: bool | None = None,
    ) -> None:
        self._compiled = walk_compiled(len(items)) if compiled is None else compiled
        self._offsets = offsets
        self._items = items
        self._n_items = n_items
        self._weights = weights
        start = np.zeros(len(offsets) - 1, dtype=np.int32)
        self._partition = start if partition is None else partition
        self._keys: NDArray[np.int64] | None = None
        self._n_keys = 0

    def size(self) -> int:
        """Return the number of records (confidential)."""
        return len(self._partition) if self._weights is None else int(self._weights.sum())

    def item_counts(self) -> NDArray[np.int64]:
        """Return the number of records with each item, after cutting (confidential)."""
        weights = self._weights
        if weights is not None:
            weights = np.repeat(weights, np.diff(self._offsets))
        counts = np.bincount(self._items, weights=weights, minlength=self._n_items)
        return counts.astype(np.int64)

    def tally(self, kernel: BasketKernel) -> SparseCounts:
        """Return the number of records in each sub-partition (confidential)."""
        batch = BasketBatch(
            offsets=self._offsets,
            items=self._items,
            partition=self._partition,
            weights=self._weights,
            compiled=self._compiled,
        )
        self._keys = kernel.keys(batch)
        self._n_keys = len(kernel.first) << kernel.bits
        return tally_of(self._keys, self._weights, n_keys=self._n_keys)

    def descend(self, keys: NDArray[np.int64]) -> None:
        """Make the sub-partitions of the last tally with these keys the partitions 0, 1, ..."""
        if self._keys is None:
            raise InternalError("Records were sent down before they were counted.")
        place = item_places(self._keys, keys, n_keys=self._n_keys)
        kept = place >= 0
        lengths = np.diff(self._offsets)
        offsets = offsets_of(lengths[kept])
        self._items = self._kept_items(kept, lengths, offsets)
        self._partition = place[kept]
        self._weights = None if self._weights is None else self._weights[kept]
        self._offsets = offsets
        self._keys = None

    def rows(self) -> WalkRows:
        """Return the records that are still followed, for storage."""
        return WalkRows(
            offsets=self._offsets,
            items=self._items,
            partition=self._partition,
            weights=self._weights,
        )

    def _kept_items(
        self, kept: NDArray[np.bool_], lengths: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> ItemCodes:
        if not self._compiled:
            return self._items[np.repeat(kept, lengths)]
        from hedgerow.count.compiled import baskets as compiled_baskets

        items = np.empty(offsets[-1], dtype=self._items.dtype)
        place = np.where(kept, 0, -1).astype(np.int32)
        compiled_baskets.keep_records(self._offsets, self._items, place, offsets, items)
        return items


def item_places(
    wanted: NDArray[np.int64], keys: NDArray[np.int64], *, n_keys: int
) -> NDArray[np.int32]:
    """Return the position of each of ``wanted`` among increasing ``keys``, -1 if absent.

    >>> item_places(np.array([7, 3, 5]), np.array([3, 7]), n_keys=8).tolist()
    [1, 0, -1]
    """
    if n_keys <= DENSE_UP_TO:
        table = np.full(n_keys, -1, dtype=np.int32)
        table[keys] = np.arange(len(keys), dtype=np.int32)
        return table[wanted]
    place = np.searchsorted(keys, wanted).astype(np.int32)
    place[place == len(keys)] = 0
    found = keys[place] == wanted if len(keys) else np.zeros(len(wanted), dtype=np.bool_)
    return np.where(found, place, -1).astype(np.int32)


def cut_to_length(
    offsets: NDArray[np.int64], items: ItemCodes, max_length: int
) -> tuple[NDArray[np.int64], ItemCodes]:
    """Return the records with at most ``max_length`` items each, taken evenly from longer ones.

    The rule depends on each record alone: of its n items in code order, the one at position j is
    kept if j * max_length / n passes an integer.

    >>> cut_to_length(np.array([0, 4, 5]), np.array([1, 3, 5, 7, 2], dtype=np.uint16), 2)[1]
    array([3, 7, 2], dtype=uint16)
    """
    lengths = np.diff(offsets)
    if not len(lengths) or lengths.max() <= max_length:
        return offsets, items
    long = np.flatnonzero(lengths > max_length)
    size = np.repeat(lengths[long], lengths[long])
    starts = offsets_of(lengths[long])[:-1]
    j = np.arange(len(size)) - np.repeat(starts, lengths[long])
    kept = np.ones(len(items), dtype=np.bool_)
    kept[j + np.repeat(offsets[long], lengths[long])] = (
        j + 1
    ) * max_length // size > j * max_length // size
    return offsets_of(np.minimum(lengths, max_length)), items[kept]


def _fold(offsets: NDArray[np.int64], items: ItemCodes, n_items: int) -> SparseCounts:
    """Return the distinct records as masks, with their frequencies."""
    if len(offsets) == 1:
        nothing = np.zeros(0, dtype=np.int64)
        return SparseCounts(keys=nothing, counts=nothing)
    require_keys(1 << n_items)
    bits = np.left_shift(np.int64(1), np.arange(n_items, dtype=np.int64))
    masks = np.bitwise_or.reduceat(bits[items], offsets[:-1])
    return tally_of(masks, None, n_keys=1 << n_items)


def sets_of_masks(masks: NDArray[np.int64], n_items: int) -> tuple[NDArray[np.int64], ItemCodes]:
    """Return the sets that masks represent, as offsets and items.

    >>> sets_of_masks(np.array([0b101, 0b010]), 3)[1].tolist()
    [0, 2, 1]
    """
    present = (masks[:, None] >> np.arange(n_items)) & 1
    rows, items = np.nonzero(present)
    lengths = np.bincount(rows, minlength=len(masks))
    return offsets_of(lengths), items.astype(item_dtype(n_items))
