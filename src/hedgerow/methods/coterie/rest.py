"""The other items, which are placed by length alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.coterie.items import Items
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.place import PlacedItems
from hedgerow.model.baskets import offsets_of

ROOM = 1.05
"""How many places there are for every item that is known, at least."""

WholeBaskets = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Baskets: where each begins, and their items."""


def with_others(
    placed: PlacedItems, n_others: NDArray[np.int64], items: Items, *, n_top: int, lots: Lots
) -> WholeBaskets:
    """Return the baskets with all their items, as codes; empty ones are left out.

    Known items that are not frequent go to places drawn by length. A basket that would stay
    empty gets an item that is not known, any of them.
    """
    n_items, n_baskets = len(items.supports), len(n_others)
    top, rest = items.known[:n_top], items.known[n_top:]
    tokens = np.repeat(rest, np.round(items.supports[rest]).astype(np.int64))
    tokens = tokens[lots.order(len(tokens))]
    places = n_others
    short = int(ROOM * len(tokens)) - int(n_others.sum())
    if short > 0 and n_baskets:
        picked = lots.picks(short, np.asarray(n_others + 0.3, dtype=np.float64))
        places = n_others + np.bincount(picked, minlength=n_baskets)
    owners = np.repeat(np.arange(n_baskets), places)
    lonely = (np.diff(placed.offsets) == 0) & (places > 0)
    first = np.zeros(len(owners), dtype=np.bool_)
    first[offsets_of(places)[:-1][lonely]] = True
    # Baskets without any item come first.
    order = np.argsort(~first[shuffled := lots.order(len(owners))], kind="stable")
    order = shuffled[order]
    filled = min(len(order), len(tokens))
    baskets, codes = owners[order[:filled]], tokens[:filled]
    unknown = np.setdiff1d(np.arange(n_items), items.known)
    still = order[filled:][first[order[filled:]]]
    if len(unknown) and len(still):
        baskets = np.concatenate([baskets, owners[still]])
        picked = lots.picks(len(still), np.ones(len(unknown)))
        codes = np.concatenate([codes, unknown[picked]])
    frequent = np.repeat(np.arange(n_baskets), np.diff(placed.offsets))
    return _joined(
        np.concatenate([frequent, baskets]),
        np.concatenate([top[placed.items], codes]),
        n_items,
    )


def _joined(baskets: NDArray[np.int64], codes: NDArray[np.int64], n_items: int) -> WholeBaskets:
    """Return baskets of sorted, different items from one row for each item."""
    places = np.sort(baskets * n_items + codes)
    owners, items = np.divmod(places[np.diff(places, prepend=-1) > 0], n_items)
    lengths = np.bincount(owners)
    return offsets_of(lengths[lengths > 0]), items
