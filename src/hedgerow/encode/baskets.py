"""The confidential baskets as codes: sets of items, one after the other in one array."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.taxonomy.tree import Taxonomy

ItemCodes: TypeAlias = NDArray[np.unsignedinteger[Any]]


def item_dtype(n_items: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the type that holds the codes of a universe of so many items.

    >>> item_dtype(17), item_dtype(100_000)
    (dtype('uint16'), dtype('uint32'))
    """
    return np.dtype(np.uint16) if n_items <= 1 << 16 else np.dtype(np.uint32)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EncodedBaskets:
    """Records that are sets of items of a public universe.

    Record ``r`` holds ``items[offsets[r]:offsets[r + 1]]``, strictly increasing and never
    empty; an item's code is its leaf in ``taxonomy``. Everything but the taxonomy is
    confidential, the number of records included.
    """

    taxonomy: Taxonomy
    offsets: NDArray[np.int64]
    items: ItemCodes

    def __post_init__(self) -> None:
        if self.items.dtype != item_dtype(self.taxonomy.n_leaves):
            raise InternalError("the item codes have not the type of their universe")
        if not len(self.offsets) or self.offsets[0] != 0 or self.offsets[-1] != len(self.items):
            raise InternalError("the offsets of the baskets do not cover their items")

    def __repr__(self) -> str:
        return f"EncodedBaskets({self.taxonomy.n_leaves} items in the universe)"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of items of each record (confidential)."""
        return np.diff(self.offsets)

    def without(self, record: int) -> EncodedBaskets:
        """Return the neighbouring baskets that lack one record."""
        if not 0 <= record < len(self):
            raise IndexError("no such record")
        kept = np.arange(len(self)) != record
        return self.kept(kept)

    def kept(self, records: NDArray[np.bool_]) -> EncodedBaskets:
        """Return the flagged records only, in the same order."""
        lengths = self.lengths
        return EncodedBaskets(
            taxonomy=self.taxonomy,
            offsets=offsets_of(lengths[records]),
            items=self.items[np.repeat(records, lengths)],
        )

    @classmethod
    def from_sets(cls, taxonomy: Taxonomy, sets: Iterable[Collection[int]]) -> EncodedBaskets:
        """Build baskets from collections of codes; repeats count once, empty ones are left out.

        >>> baskets = EncodedBaskets.from_sets(Taxonomy.flat(["a", "b", "c"]), [{2, 0}, (), [1]])
        >>> baskets.offsets.tolist(), baskets.items.tolist()
        ([0, 2, 3], [0, 2, 1])
        """
        records = [sorted(set(record)) for record in sets]
        codes = np.array([code for record in records for code in record], dtype=np.int64)
        if codes.size and (codes.min() < 0 or codes.max() >= taxonomy.n_leaves):
            raise InternalError("item codes lie outside the universe")
        return cls(
            taxonomy=taxonomy,
            offsets=offsets_of(np.array([len(each) for each in records if each], dtype=np.int64)),
            items=codes.astype(item_dtype(taxonomy.n_leaves)),
        )


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of some runs begins, and where the last one ends.

    >>> offsets_of(np.array([2, 1, 3])).tolist()
    [0, 2, 3, 6]
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
