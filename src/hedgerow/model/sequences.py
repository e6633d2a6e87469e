"""Publishable sequences of items, and the prefixes with which they begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.baskets import ItemCodes, NoisyBaskets, item_dtype, offsets_of
from hedgerow.model.groups import CountOrigin
from hedgerow.model.order import canonical_order
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True, eq=False)
class Prefixes:
    """Number of published sequences with each prefix, in the order of the codes.

    Prefix ``p`` is ``items[offsets[p]:offsets[p + 1]]``. ``errors`` are the standard errors of the
    counts by noise, ``ends`` the number of sequences that equal the prefix (-1: not distinguished
    from longer ones).
    """

    offsets: NDArray[np.int64]
    items: ItemCodes
    counts: NDArray[np.int64]
    errors: NDArray[np.float64]
    ends: NDArray[np.int64]

    def __post_init__(self) -> None:
        n = len(self.counts)
        if len(self.offsets) != n + 1 or len(self.errors) != n or len(self.ends) != n:
            raise InternalError("The table of prefixes has columns of different lengths.")

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
        origin: CountOrigin | None = None,
        prefixes: Prefixes | None = None,
    ) -> NoisySequences:
        """Return sequences in their canonical order, with the counts of equal ones added up."""
        order, new = canonical_order(offsets, items)
        first = np.flatnonzero(new)
        sums = np.add.reduceat(counts[order], first) if len(first) else counts[:0]
        kept = sums > 0
        starts, codes = taken(offsets, items, order[first][kept])
        return cls(
            taxonomy=taxonomy,
            offsets=starts,
            items=codes.astype(item_dtype(taxonomy.n_leaves)),
            counts=sums[kept].astype(np.int64),
            origin=origin,
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
