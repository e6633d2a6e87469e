"""The other items, which are placed by length alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.coterie.items import Items
from hedgerow.methods.coterie.lengths import whole_numbers
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.place import PlacedItems

ROOM = 1.05
"""Minimum number of places for every known item."""

EVEN_WITHOUT = 0.3
"""Further places are given in proportion to those there are and that many."""

WholeBaskets = tuple[NDArray[np.int64], NDArray[np.uint32]]
"""Baskets: where each begins, and their items."""


def with_others(
    placed: PlacedItems, n_others: NDArray[np.int64], items: Items, *, n_top: int, lots: Lots
) -> WholeBaskets:
    """Return the baskets with all their items, as codes; empty ones are left out.

    Known items that are not frequent go to places drawn by length. A basket that would stay
    empty gets an item that is not known, any of them.
    """
    from hedgerow.methods.coterie.compiled import draws, finishing

    n_items, n_baskets = len(items.supports), len(n_others)
    top, rest = (each.astype(np.uint32) for each in np.split(items.known, [n_top]))
    tokens = np.repeat(rest, np.round(items.supports[rest]).astype(np.int64))
    short = int(ROOM * len(tokens)) - int(n_others.sum())
    if short > 0 and n_baskets:
        weights = n_others + EVEN_WITHOUT
        n_others = n_others + whole_numbers(weights * (short / weights.sum()), lots)
    is_known = np.zeros(n_items, dtype=np.bool_)
    is_known[items.known] = True
    unknown = np.flatnonzero(~is_known).astype(np.uint32)
    offsets = np.zeros(n_baskets + 1, dtype=np.int64)
    codes = np.empty(len(placed.items) + int(n_others.sum()), dtype=np.uint32)
    starts, ranks, top, places, tokens, unknown, state, ends, filled = draws.unwrapped(
        placed.offsets, placed.items, top, n_others, tokens, unknown, lots.stream(), offsets, codes
    )
    finishing.shuffle(tokens, state)
    n_made = finishing.fill_baskets(
        (starts, ranks, top), places, tokens, unknown, state, ends, filled
    )
    return offsets[: n_made + 1], codes[: offsets[n_made]]
