"""Sets of items with weights: the form of records and releases in evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.baskets import EncodedBaskets, NoisyBaskets

SUPERSETS_UP_TO = 22
"""Maximum number of items for which queries are answered from sums over all masks."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WeightedSets:
    """Sets of items ``items[offsets[r]:offsets[r + 1]]`` with the weights ``weights[r]``."""

    n_items: int
    offsets: NDArray[np.int64]
    items: NDArray[np.integer]
    weights: NDArray[np.int64]

    @classmethod
    def of_records(cls, baskets: EncodedBaskets) -> WeightedSets:
        """Return confidential records, each with weight 1."""
        return cls(
            n_items=baskets.taxonomy.n_leaves,
            offsets=baskets.offsets,
            items=baskets.items,
            weights=np.ones(len(baskets), dtype=np.int64),
        )

    @classmethod
    def of_release(cls, baskets: NoisyBaskets) -> WeightedSets:
        """Return published baskets with their noisy counts."""
        return cls(
            n_items=baskets.taxonomy.n_leaves,
            offsets=baskets.offsets,
            items=baskets.items,
            weights=baskets.counts,
        )

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def total(self) -> int:
        """Sum of all weights."""
        return int(self.weights.sum())

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """Set that each entry of ``items`` belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def supports(self) -> NDArray[np.int64]:
        """Total weight of the sets that contain each item."""
        weights = self.weights[self.owners]
        return np.bincount(self.items, weights=weights, minlength=self.n_items).astype(np.int64)

    @cached_property
    def by_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sets that contain each item, in increasing order, as offsets and sets."""
        order = np.argsort(self.items, kind="stable")
        starts = np.searchsorted(self.items[order], np.arange(self.n_items + 1))
        return starts.astype(np.int64), self.owners[order]

    @cached_property
    def superset_sums(self) -> NDArray[np.int64]:
        """Total weight of the sets that include each mask of a small universe."""
        sums = np.zeros(1 << self.n_items, dtype=np.int64)
        if len(self):
            bits = np.left_shift(np.int64(1), np.arange(self.n_items, dtype=np.int64))
            masks = np.bitwise_or.reduceat(bits[self.items], self.offsets[:-1])
            sums += np.bincount(masks, weights=self.weights, minlength=len(sums)).astype(np.int64)
        for item in range(self.n_items):
            halves = sums.reshape(-1, 2, 1 << item)
            halves[:, 0] += halves[:, 1]
        return sums

    @cached_property
    def distinct(self) -> frozenset[bytes]:
        """All sets as bytes."""
        return frozenset(self.each())

    def each(self) -> Iterator[bytes]:
        """Yield each set as bytes; equal sets give equal bytes."""
        codes = np.ascontiguousarray(self.items, dtype=np.uint32)
        bounds = (self.offsets * codes.itemsize).tolist()
        every = codes.tobytes()
        for start, stop in pairwise(bounds):
            yield every[start:stop]
