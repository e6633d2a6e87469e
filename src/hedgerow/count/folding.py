"""Folding of equal records into one row with their number, which numbers equal records."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.baskets import ItemCodes, offsets_of
from hedgerow.model.engine import FoldedBaskets

Wholes: TypeAlias = NDArray[np.signedinteger[Any]]


def hashed(offsets: NDArray[np.int64], items: ItemCodes) -> NDArray[np.uint64]:
    """Return a hash of each record's items, the same on every machine (confidential)."""
    from hedgerow.count.compiled import features

    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    features.hash_records(offsets, items.astype(np.uint32, copy=False), hashes)
    return hashes


def fold(
    offsets: NDArray[np.int64], items: ItemCodes, weights: NDArray[np.int64] | None = None
) -> FoldedBaskets:
    """Return the distinct records with their frequencies (confidential).

    Records are compared by their items, and the hash is only for the lookup: if another record
    could change a number among equals, the bound on one record's effect would not hold.
    """
    from hedgerow.count.compiled import features

    codes, hashes = items.astype(np.uint32, copy=False), hashed(offsets, items)
    n = len(hashes)
    whole = np.dtype(np.int32 if n < 1 << 30 else np.int64)
    slots: Wholes = np.full(2 << n.bit_length(), -1, dtype=whole)
    first: Wholes = np.empty(n, dtype=whole)
    number: Wholes = np.empty(n, dtype=whole)
    n_distinct = features.number_distinct(offsets, codes, hashes, slots, first, number)
    first = first[:n_distinct]
    sums = np.bincount(number, minlength=n_distinct)
    if weights is not None:
        sums = np.zeros(n_distinct, dtype=np.int64)
        np.add.at(sums, number, weights)
    starts = offsets_of(np.diff(offsets)[first])
    kept = np.empty(starts[-1], dtype=np.uint32)
    features.take_records(offsets, codes, first, starts, kept)
    return FoldedBaskets(
        offsets=starts,
        items=kept.astype(items.dtype, copy=False),
        weights=sums.astype(np.int64),
        hashes=hashes[first],
    )
