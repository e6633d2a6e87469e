"""Items dealt to baskets: sets that are to come together first, then all others by lot."""

from __future__ import annotations

import numpy

from hedgerow.methods.coterie.compiled.draws import (
    RealArray,
    SingleArray,
    WholeArray,
    WordArray,
    draw_below,
    draw_unit,
    holds,
    note,
)
from hedgerow.model.compiling import compile_loop

PLANT_TRIES = 12
DEAL_TRIES = 24
SWAP_TRIES = 200
"""Tries to find a basket, a token or another place before an item is left as it is."""

GIVE_UP = 5
"""A set is planted no more where that failed so often, one after the other."""


@compile_loop
def plant_sets(
    sets: WholeArray,
    times: WholeArray,
    again: RealArray,
    baskets: tuple[WholeArray, WholeArray, WholeArray, WholeArray, WordArray],
    left: WholeArray,
    state: WordArray,
) -> None:
    """Put sets of two or three items into baskets with room; ``left`` are tokens of each item.

    Baskets are offsets (longest first), the basket of each place, how many places of each are
    taken, items, and a bit for every basket and item. A third item below 0 is none. ``again`` is
    how likely a set comes to a basket that has an item of it already.
    """
    offsets, basket_of, taken, items, members = baskets
    starts = numpy.zeros(len(left) + 1, dtype=numpy.int64)
    starts[1:] = numpy.cumsum(left)
    having = numpy.empty(starts[-1], dtype=basket_of.dtype)
    for s in range(len(sets)):
        size = 3 if sets[s, 2] >= 0 else 2
        n_places = offsets[first_shorter(offsets, size)]
        if n_places == 0:
            continue
        failed = 0
        for _ in range(times[s]):
            if failed == GIVE_UP:
                break
            failed += 1
            for _try in range(PLANT_TRIES):
                b = basket_of[draw_below(state, n_places)]
                fewest = size
                for k in range(size):
                    x = sets[s, k]
                    had = starts[x + 1] - starts[x] - left[x]
                    if had > 0 and again[x] > 0 and draw_unit(state) < again[x]:
                        b, fewest = having[starts[x] + draw_below(state, had)], 1
                lacks = 0
                for k in range(size):
                    if not holds(members, b, sets[s, k]):
                        lacks += 1 if left[sets[s, k]] > 0 else size + 1
                if fewest <= lacks <= min(size, offsets[b + 1] - offsets[b] - taken[b]):
                    break
            else:
                continue
            failed = 0
            for k in range(size):
                x = sets[s, k]
                if not holds(members, b, x):
                    items[offsets[b] + taken[b]] = x
                    having[starts[x + 1] - left[x]] = b
                    taken[b] += 1
                    left[x] -= 1
                    note(members, b, x)


@compile_loop
def first_shorter(offsets: WholeArray, size: int) -> int:
    """Return the first basket with fewer places than a size; longer ones come first."""
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high) // 2
        if offsets[middle + 1] - offsets[middle] >= size:
            low = middle + 1
        else:
            high = middle
    return low


@compile_loop
def deal_tokens(
    tokens: WholeArray,
    welcome: SingleArray,
    baskets: tuple[WholeArray, WholeArray, WholeArray, WholeArray, WordArray],
    state: WordArray,
) -> None:
    """Give every place that is left one of the tokens, by lot, and no basket an item twice.

    ``welcome`` is how likely an item is let in beside another.

    Long baskets come first, since they are the hardest to fill with different items. Where no
    fitting token is found, a place that is filled already gives its own.
    """
    offsets, _, taken, items, members = baskets
    n_tokens, t = len(tokens), 0
    for b in range(len(offsets) - 1):
        for place in range(offsets[b] + taken[b], offsets[b + 1]):
            if t == n_tokens:
                return
            for _ in range(DEAL_TRIES):
                j = t + draw_below(state, n_tokens - t)
                if holds(members, b, tokens[j]):
                    continue
                chance = 1.0
                for k in range(offsets[b], place):
                    chance *= welcome[tokens[j], items[k]]
                if chance >= 1 or draw_unit(state) < chance:
                    break
            x = tokens[j]
            tokens[j] = tokens[t]
            t += 1
            if holds(members, b, x):
                x = taken_in_exchange(x, b, offsets[b], baskets, state)
            items[place] = x
            note(members, b, x)


@compile_loop
def taken_in_exchange(
    x: int,
    b: int,
    n_filled: int,
    baskets: tuple[WholeArray, WholeArray, WholeArray, WholeArray, WordArray],
    state: WordArray,
) -> int:
    """Return an item that a basket lacks, for one that it has: from a basket that lacks that."""
    _, basket_of, _, items, members = baskets
    if n_filled == 0:
        return x
    for _ in range(SWAP_TRIES):
        place = draw_below(state, n_filled)
        c, y = basket_of[place], items[place]
        if holds(members, b, y) or holds(members, c, x):
            continue
        items[place] = x
        members[c, y >> 6] &= ~(numpy.uint64(1) << numpy.uint64(y & 63))
        note(members, c, x)
        return int(y)
    return x


@compile_loop
def list_places(
    items: WholeArray, starts: WholeArray, held: WholeArray, slot_of: WholeArray, n_items: int
) -> None:
    """List the places of each item, and where each place is in that list."""
    following = starts[:n_items].copy()
    for place in range(len(items)):
        slot = following[items[place]]
        following[items[place]] += 1
        held[slot], slot_of[place] = place, slot


@compile_loop
def count_combinations(
    offsets: WholeArray,
    items: WholeArray,
    members: WordArray,
    pairs: RealArray,
    triples: tuple[WholeArray, WholeArray, WholeArray, WholeArray],
    counts: RealArray,
) -> None:
    """Add up the pairs and the listed triples of all baskets."""
    of_triple, of_item, beside, starts = triples
    for b in range(len(offsets) - 1):
        first, stop = offsets[b], offsets[b + 1]
        for k in range(first, stop):
            x = items[k]
            for j in range(k + 1, stop):
                pairs[x, items[j]] += 1
            if stop - first < 3:
                continue
            for u in range(starts[x], starts[x + 1]):
                y, z = beside[u, 0], beside[u, 1]
                if of_triple[of_item[u], 0] == x and holds(members, b, y) and holds(members, b, z):
                    counts[of_item[u]] += 1
    for i in range(len(pairs)):
        for j in range(i):
            pairs[i, j] += pairs[j, i]
            pairs[j, i] = pairs[i, j]
