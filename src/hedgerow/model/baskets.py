"""Baskets as codes in one array with offsets: confidential ones and noisy ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.groups import CountOrigin
from hedgerow.model.order import canonical_order
from hedgerow.taxonomy.tree import Taxonomy

ItemCodes: TypeAlias = NDArray[np.unsignedinteger[Any]]


def item_dtype(n_items: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the type that holds the codes of a universe of ``n_items`` items.

    >>> item_dtype(17), item_dtype(100_000)
    (dtype('uint16'), dtype('uint32'))
    """
    return np.dtype(np.uint16) if n_items <= 1 << 16 else np.dtype(np.uint32)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EncodedBaskets:
    """Records that are sets of items of a public universe.

    Record ``r`` holds ``items[offsets[r]:offsets[r + 1]]``, strictly increasing and never empty; an
    item's code is its leaf in ``taxonomy``. Sequences are stored in the same way: their items are
    in the order of the record, and may repeat. Everything but the taxonomy is confidential, the
    number of records included.
    """

    taxonomy: Taxonomy
    offsets: NDArray[np.int64]
    items: ItemCodes

    def __post_init__(self) -> None:
        if self.items.dtype != item_dtype(self.taxonomy.n_leaves):
            raise InternalError("The item codes do not have the type of their universe.")
        if not len(self.offsets) or self.offsets[0] != 0 or self.offsets[-1] != len(self.items):
            raise InternalError("The offsets of the baskets do not cover their items.")

    def __repr__(self) -> str:
        return f"EncodedBaskets({self.taxonomy.n_leaves} items in the universe)"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of items of each record (confidential)."""
        return np.diff(self.offsets)

    def without(self, record: int) -> EncodedBaskets:
        """Return the neighbouring baskets that lack one record."""
        if not 0 <= record < len(self):
            raise IndexError("There is no such record.")
        kept = np.arange(len(self)) != record
        return self.kept(kept)

    def kept(self, records: NDArray[np.bool_]) -> EncodedBaskets:
        """Return only the flagged records, in the same order."""
        lengths = self.lengths
        return EncodedBaskets(
            taxonomy=self.taxonomy,
            offsets=offsets_of(lengths[records]),
            items=self.items[np.repeat(records, lengths)],
        )

    @classmethod
    def from_sets(cls, taxonomy: Taxonomy, sets: Iterable[Collection[int]]) -> EncodedBaskets:
        """Build baskets from collections of codes; drop repeats and empty collections.

        >>> baskets = EncodedBaskets.from_sets(Taxonomy.flat(["a", "b", "c"]), [{2, 0}, (), [1]])
        >>> baskets.offsets.tolist(), baskets.items.tolist()
        ([0, 2, 3], [0, 2, 1])
        """
        records = [sorted(set(record)) for record in sets]
        codes = np.array([code for record in records for code in record], dtype=np.int64)
        if codes.size and (codes.min() < 0 or codes.max() >= taxonomy.n_leaves):
            raise InternalError("Item codes are outside the universe.")
        return cls(
            taxonomy=taxonomy,
            offsets=offsets_of(np.array([len(each) for each in records if each], dtype=np.int64)),
            items=codes.astype(item_dtype(taxonomy.n_leaves)),
        )


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the start of each run, and the end of the last one.

    >>> offsets_of(np.array([2, 1, 3])).tolist()
    [0, 2, 3, 6]
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyBaskets:
    """Distinct baskets with noisy counts, sorted by their item codes.

    Everything here is publishable: basket ``b`` holds ``items[offsets[b]:offsets[b + 1]]``
    (strictly increasing, at least one), ``counts`` are noisy, whole and positive, and the order is
    that of the codes compared one by one, so it reveals nothing about the data. A basket that is
    not listed has the noisy count 0.
    """

    taxonomy: Taxonomy
    offsets: NDArray[np.int64]
    items: ItemCodes
    counts: NDArray[np.int64]
    origin: CountOrigin | None = None

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.counts) + 1 or self.offsets[-1] != len(self.items):
            raise InternalError("The offsets of noisy baskets do not cover their items.")
        if len(self.counts) and self.counts.min() < 1:
            raise InternalError("A published basket has no positive count.")

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of items of each basket."""
        return np.diff(self.offsets)

    @classmethod
    def sorted_of(
        cls,
        taxonomy: Taxonomy,
        *,
        offsets: NDArray[np.int64],
        items: NDArray[np.integer],
        counts: NDArray[np.int64],
        origin: CountOrigin | None = None,
    ) -> NoisyBaskets:
        """Return baskets in their canonical order.

        Equal baskets become one with the sum of their counts. Baskets without a positive count are
        left out.
        """
        order, new = canonical_order(offsets, items)
        first = np.flatnonzero(new)
        sums = np.add.reduceat(counts[order], first) if len(first) else counts[:0]
        order = order[first][sums > 0]
        lengths = np.diff(offsets)[order]
        starts = offsets_of(lengths)
        places = np.arange(starts[-1]) + np.repeat(offsets[:-1][order] - starts[:-1], lengths)
        return cls(
            taxonomy=taxonomy,
            offsets=starts,
            items=items[places].astype(item_dtype(taxonomy.n_leaves)),
            counts=sums[sums > 0].astype(np.int64),
            origin=origin,
        )
