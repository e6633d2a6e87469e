"""Equal records as one row with their number, so that each has a number among its equals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.baskets import ItemCodes, offsets_of, packed
from hedgerow.model.engine import FoldedBaskets


def hashed(offsets: NDArray[np.int64], items: ItemCodes) -> NDArray[np.uint64]:
    """Return a hash of each record's items: the same wherever it is computed (confidential)."""
    from hedgerow.count.compiled import features

    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    features.hash_records(offsets, items.astype(np.uint32), hashes)
    return hashes


def fold(
    offsets: NDArray[np.int64], items: ItemCodes, weights: NDArray[np.int64] | None = None
) -> FoldedBaskets:
    """Return the distinct records, with how many equal ones there are of each (confidential).

    Records are told apart by their items. The hash only sorts them, and where it puts two
    different records together, the items do the sorting: a number among equals that another
    record could move would break the bound on what one record changes.
    """
    from hedgerow.count.compiled import features

    hashes = hashed(offsets, items)
    order = np.argsort(hashes, kind="stable")
    new = np.ones(len(order), dtype=np.bool_)
    features.flag_new(offsets, items.astype(np.uint32), order, new)
    if np.any(new[1:] & (hashes[order][1:] == hashes[order][:-1])):
        order = np.lexsort(packed(offsets, items)[::-1])
        features.flag_new(offsets, items.astype(np.uint32), order, new)
    first = np.flatnonzero(new)
    if weights is None:
        sums = np.diff(first, append=len(order))
    else:
        sums = np.add.reduceat(weights[order], first) if len(first) else weights[:0]
    kept = order[first]
    lengths = np.diff(offsets)[kept]
    starts = offsets_of(lengths)
    places = np.arange(starts[-1]) + np.repeat(offsets[:-1][kept] - starts[:-1], lengths)
    return FoldedBaskets(
        offsets=starts,
        items=items[places],
        weights=sums.astype(np.int64),
        hashes=hashes[kept],
    )
