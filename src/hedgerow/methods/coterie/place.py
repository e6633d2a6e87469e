"""Frequent items dealt to baskets, and swapped until pairs and triples are as measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.coterie.lengths import whole_numbers
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.planting import Plants
from hedgerow.methods.coterie.targets import Targets
from hedgerow.model.arrays import Floats
from hedgerow.model.baskets import offsets_of

BLOCKS = 800
PER_BLOCK = 4_000
"""Blocks of swaps, and how many are tried in each."""

ENOUGH = 0.2
"""Swapping ends where squares are that part of the noise's variance, in the mean of what is off."""

STOP = 20
"""Swapping ends when fewer than one in this number of tries succeed."""

BITS = 64
"""Items whose presence in a basket is stored in one word."""

TRIES_A_PLACE = 20
"""Swaps tried in a block for every place of small data."""

MANY = 1 << 31


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedItems:
    """Baskets of frequent items, by rank: ``items[offsets[b]:offsets[b + 1]]``.

    ``members`` has a bit for every basket and item, ``basket_of`` the basket of each place.
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int16]
    basket_of: NDArray[np.signedinteger]
    members: NDArray[np.uint64]


def dealt(targets: Targets, lengths: NDArray[np.int64], plants: Plants, lots: Lots) -> PlacedItems:
    """Return baskets of these lengths, longest first, with as many of each item as wanted.

    Sets that are to be planted are put together first, and all else is dealt by lot.
    """
    from hedgerow.methods.coterie.compiled import dealing, draws

    n_top, offsets = len(targets.items), offsets_of(lengths)
    whole = np.int32 if offsets[-1] < MANY else np.int64
    baskets = PlacedItems(
        offsets=offsets,
        items=np.zeros(offsets[-1], dtype=np.int16),
        basket_of=np.repeat(np.arange(len(lengths), dtype=whole), lengths),
        members=np.zeros((len(lengths), n_top // BITS + 1), dtype=np.uint64),
    )
    taken = np.zeros(len(lengths), dtype=np.int16)
    arrays = draws.unwrapped(offsets, baskets.basket_of, taken, baskets.items, baskets.members)
    sets, expected = plants.listed(targets)
    times, left = whole_numbers(expected, lots), np.minimum(targets.items, len(lengths))
    sets, times, again, left, welcome, state = draws.unwrapped(
        sets, times, plants.again, left, plants.welcome.astype(np.float32), lots.stream()
    )
    dealing.plant_sets(sets, times, again, arrays, left, state)
    tokens = np.repeat(np.arange(n_top, dtype=np.int16), left)
    dealing.deal_tokens(tokens.view(np.ndarray), welcome, arrays, state)
    return baskets


def combinations_in(baskets: PlacedItems, targets: Targets) -> tuple[Floats, Floats]:
    """Return how many baskets hold each pair, and each of the targets' triples."""
    from hedgerow.methods.coterie.compiled import dealing, draws

    n_top = len(targets.items)
    counts, held = draws.unwrapped(np.zeros((n_top, n_top)), np.zeros(len(targets.triples)))
    offsets, items, members = draws.unwrapped(baskets.offsets, baskets.items, baskets.members)
    triples = draws.unwrapped(targets.triples, *_triples_of_items(targets.triples, n_top))
    dealing.count_combinations(offsets, items, members, counts, triples, held)
    return counts, held


def swap(baskets: PlacedItems, targets: Targets, lots: Lots) -> None:
    """Swap items in place until few swaps bring the baskets nearer to their targets."""
    from hedgerow.methods.coterie.compiled import dealing, draws, swapping

    n_top, n_places = len(targets.items), len(baskets.items)
    if n_top < 2 or not n_places:
        return
    counts, held = combinations_in(baskets, targets)
    offsets, items, basket_of, members = draws.unwrapped(
        baskets.offsets, baskets.items, baskets.basket_of, baskets.members
    )
    starts = offsets_of(np.bincount(items, minlength=n_top)).view(np.ndarray)
    places, slots = np.empty_like(basket_of), np.empty_like(basket_of)
    dealing.list_places(items, starts, places, slots, n_top)
    triples = draws.unwrapped(
        targets.triples,
        *_triples_of_items(targets.triples, n_top),
        held,
        targets.triple_supports,
        targets.triple_weights,
    )
    pairs, state = draws.unwrapped(_distances(counts, targets), lots.stream())
    swapping.swap_items(
        (items, offsets, basket_of, starts, places, slots, members),
        pairs,
        triples,
        BLOCKS,
        min(PER_BLOCK, TRIES_A_PLACE * n_places),
        STOP,
        ENOUGH,
        state,
    )


def _distances(counts: Floats, targets: Targets) -> Floats:
    """Return, for every pair, twice its weight times how far it is off, and the weight.

    Pairs that were not measured are to stay as dealing gives them, rather than by a formula.
    """
    off = np.where(targets.measured, counts - targets.pairs, 0.0)
    return np.stack([2 * targets.pair_weights * off, targets.pair_weights], axis=2)


def _triples_of_items(
    triples: NDArray[np.int64], n_top: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the triples of each item, one after the other, what is beside it, where each begin.

    >>> [each.tolist() for each in _triples_of_items(np.array([[0, 1, 3]]), 4)]
    [[0, 0, 0], [[1, 3], [3, 0], [0, 1]], [0, 1, 2, 2, 3]]
    """
    order = np.argsort(triples.ravel(), kind="stable")
    which, place = np.divmod(order, 3)
    beside = np.stack([triples[which, (place + 1) % 3], triples[which, (place + 2) % 3]], axis=1)
    return which, beside, offsets_of(np.bincount(triples.ravel(), minlength=n_top))
