"""Sequences of items that may be published, and the prefixes that they begin with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.baskets import ItemCodes, NoisyBaskets, item_dtype, offsets_of
from hedgerow.model.groups import CountsMade
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True, eq=False)
class Prefixes:
    """How many published sequences begin with each prefix, in the order of their codes.

    Prefix ``p`` is ``items[offsets[p]:offsets[p + 1]]``. ``errors`` are the standard errors of
    the counts by noise, ``ends`` how many sequences are the prefix and nothing more (-1: not
    told apart from longer ones).
    """

    offsets: NDArray[np.int64]
    items: ItemCodes
    counts: NDArray[np.int64]
    errors: NDArray[np.float64]
    ends: NDArray[np.int64]

    def __post_init__(self) -> None:
        n = len(self.counts)
        if len(self.offsets) != n + 1 or len(self.errors) != n or len(self.ends) != n:
            raise InternalError("the table of prefixes has columns of different lengths")

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisySequences(NoisyBaskets):
    """Distinct sequences with noisy counts, sorted by their item codes.

    As baskets whose items have an order and may repeat. ``prefixes`` are those that were counted.
    """

    prefixes: Prefixes | None = None

    @classmethod
    def distinct_of(
        cls,
        taxonomy: Taxonomy,
        *,
        offsets: NDArray[np.int64],
        items: NDArray[np.integer],
        counts: NDArray[np.int64],
        made: CountsMade | None = None,
        prefixes: Prefixes | None = None,
    ) -> NoisySequences:
        """Return sequences in their canonical order, equal ones added up, whatever their order."""
        order, new = sequence_order(offsets, items)
        first = np.flatnonzero(new)
        sums = np.add.reduceat(counts[order], first) if len(first) else counts[:0]
        kept = sums > 0
        starts, codes = taken(offsets, items, order[first][kept])
        return cls(
            taxonomy=taxonomy,
            offsets=starts,
            items=codes.astype(item_dtype(taxonomy.n_leaves)),
            counts=sums[kept].astype(np.int64),
            made=made,
            prefixes=prefixes,
        )


def taken(
    offsets: NDArray[np.int64], items: NDArray[np.integer], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """Return some of the sequences, in the order of ``rows``, as offsets and items."""
    lengths = np.diff(offsets)[rows]
    starts = offsets_of(lengths)
    places = np.arange(starts[-1]) + np.repeat(offsets[:-1][rows] - starts[:-1], lengths)
    return starts, items[places]


def sequence_order(
    offsets: NDArray[np.int64], items: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the order of sequences by their codes, and which of them differ from the one before.

    Several codes are compared at a time, and only sequences that agree so far go on.

    >>> offsets, items = np.array([0, 2, 3, 5]), np.array([1, 1, 0, 1, 1])
    >>> order, new = sequence_order(offsets, items)
    >>> order.tolist(), new.tolist()
    ([1, 0, 2], [True, True, False])
    """
    lengths = np.diff(offsets)
    bits = (int(items.max(initial=0)) + 1).bit_length()  # 0 is the end of a sequence
    per_word = 63 // bits
    order = np.arange(len(lengths), dtype=np.int64)
    new = np.zeros(len(lengths), dtype=np.bool_)
    new[:1] = True
    group = np.zeros(len(lengths), dtype=np.int64)
    places = np.arange(len(lengths), dtype=np.int64)  # of what is still to be told apart
    start = 0
    while len(places):
        rows = order[places]
        words = _words(offsets, items, lengths, rows, start=start, bits=bits)
        by_word = np.lexsort((words, group))
        order[places] = rows[by_word]
        words, sorted_group = words[by_word], group[by_word]
        differs = np.ones(len(places), dtype=np.bool_)
        differs[1:] = (words[1:] != words[:-1]) | (sorted_group[1:] != sorted_group[:-1])
        new[places] |= differs
        start += per_word
        number = np.cumsum(differs) - 1
        alone = np.bincount(number)[number] == 1
        longest = np.maximum.reduceat(lengths[order[places]], np.flatnonzero(differs))
        goes_on = ~alone & (longest[number] > start)  # with those that end here: they come first
        places, group = places[goes_on], number[goes_on]
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
    """Return the next codes of some sequences, packed into one number each."""
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
