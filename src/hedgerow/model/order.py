"""The canonical order of records: their codes compared one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def canonical_order(
    offsets: NDArray[np.int64], items: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the order of records by their codes, and which of them differ from their predecessor.

    Several codes are compared at a time, and only records that agree so far go on.
    A record comes before those that begin with it.

    >>> offsets, items = np.array([0, 2, 3, 5]), np.array([1, 1, 0, 1, 1])
    >>> order, new = canonical_order(offsets, items)
    >>> items[offsets[order]].tolist(), new.tolist()
    ([0, 1, 1], [True, True, False])
    """
    lengths = np.diff(offsets)
    bits = (int(items.max(initial=0)) + 1).bit_length()  # 0 is the end of a record
    per_word = 63 // bits
    order = np.arange(len(lengths), dtype=np.int64)
    new = np.zeros(len(lengths), dtype=np.bool_)
    new[:1] = True
    group = np.zeros(len(lengths), dtype=np.int64)
    places = np.arange(len(lengths), dtype=np.int64)  # positions of records not yet distinguished
    start = 0
    while len(places):
        rows = order[places]
        words = _words(offsets, items, lengths, rows, start=start, bits=bits)
        by_word = np.lexsort((words, group)) if start else np.argsort(words)
        order[places] = rows[by_word]
        words, sorted_group = words[by_word], group[by_word]
        differs = np.ones(len(places), dtype=np.bool_)
        differs[1:] = (words[1:] != words[:-1]) | (sorted_group[1:] != sorted_group[:-1])
        new[places] |= differs
        start += per_word
        tied = ~differs
        tied[:-1] |= tied[1:]
        # Records that end here come first.
        open_ends = np.flatnonzero(tied)
        open_ends = open_ends[lengths[order[places[open_ends]]] >= start]
        places, group = places[open_ends], np.cumsum(differs, dtype=np.int64)[open_ends]
    return order, new


def _words(
    offsets: NDArray[np.int64],
    items: NDArray[np.integer],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
    *,
    start: int,
    bits: int,
) -> NDArray[np.int64]:
    """Return the next codes of some records, packed into one number each."""
    per_word = 63 // bits
    words = np.zeros(len(rows), dtype=np.int64)
    left = np.arange(len(rows))
    for place in range(start, start + per_word):
        left = left[lengths[rows[left]] > place]
        if not len(left):
            break
        codes = items[offsets[rows[left]] + place].astype(np.int64) + 1
        words[left] |= codes << (bits * (start + per_word - 1 - place))
    return words
