"""Whole baskets: the frequent items of each, and others by lot."""

from __future__ import annotations

from hedgerow.methods.coterie.compiled.draws import WholeArray, WordArray, draw_below
from hedgerow.model.compiling import compile_loop

TRIES = 8
"""Tries to take another token when a basket already has the item."""

Frequent = tuple[WholeArray, WholeArray, WholeArray]
"""Start of each basket, items of the baskets by rank, and the code of each rank."""


@compile_loop
def shuffle(tokens: WholeArray, state: WordArray) -> None:
    """Bring tokens into a random order."""
    for t in range(len(tokens) - 1, 0, -1):
        j = draw_below(state, t + 1)
        tokens[t], tokens[j] = tokens[j], tokens[t]


@compile_loop
def fill_baskets(
    frequent: Frequent,
    n_others: WholeArray,
    tokens: WholeArray,
    unknown: WholeArray,
    state: WordArray,
    offsets: WholeArray,
    items: WholeArray,
) -> int:
    """Write baskets of different items, each rising; return how many are not empty.

    ``tokens`` are other items in a random order, and go to some of the places, any of them
    alike; but a basket without a frequent item has one before all. Where there are too few, it
    has an item that is not known.
    """
    starts, ranks, codes = frequent
    n_lonely, n_places = 0, 0
    for b in range(len(n_others)):
        n_places += n_others[b]
        if starts[b] == starts[b + 1] and n_others[b] > 0:
            n_lonely += 1
    # The tokens of lonely baskets lie before those of all other places.
    lonely, others = 0, min(n_lonely, len(tokens))
    wanted, left = len(tokens) - others, n_places - n_lonely
    finished, stop = 0, 0
    for b in range(len(n_others)):
        first, free = stop, n_others[b]
        for place in range(starts[b], starts[b + 1]):
            stop = put(items, first, stop, codes[ranks[place]])
        if starts[b] == starts[b + 1] and free > 0:
            free -= 1
            if lonely < min(n_lonely, len(tokens)):
                stop = put(items, first, stop, tokens[lonely])
                lonely += 1
            elif len(unknown):
                stop = put(items, first, stop, unknown[draw_below(state, len(unknown))])
        for _ in range(free):
            if draw_below(state, left) < wanted:
                wanted -= 1
                for _try in range(TRIES):
                    before = stop
                    stop = put(items, first, stop, tokens[others])
                    if stop > before:
                        break
                    j = others + draw_below(state, len(tokens) - others)
                    tokens[others], tokens[j] = tokens[j], tokens[others]
                others += 1
            left -= 1
        if stop > first:
            finished += 1
            offsets[finished] = stop
    return finished


@compile_loop
def put(items: WholeArray, first: int, stop: int, item: int) -> int:
    """Put an item among those of a basket, which rise; return where the basket ends."""
    k = stop
    while k > first and items[k - 1] > item:
        k -= 1
    if k > first and items[k - 1] == item:
        return stop
    for j in range(stop, k, -1):
        items[j] = items[j - 1]
    items[k] = item
    return stop + 1
