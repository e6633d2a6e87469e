"""Compiled loops that place items into baskets. Import lazily: loading Numba takes a while.

They read noisy values only. Numpy has its full name here: tests that watch the methods give
them another one under its short name, which no compiled loop can take.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray

from hedgerow.count.compiled.features import mixed_word
from hedgerow.model.compiling import compile_loop

WholeArray = NDArray[numpy.int64]
RealArray = NDArray[numpy.float64]
WordArray = NDArray[numpy.uint64]

BasketArrays = tuple[
    WholeArray, WholeArray, WholeArray, WholeArray, WholeArray, WholeArray, WordArray
]
"""Items, where baskets begin, the basket of each place; where the places of each item begin, those
places, and where each place is among them; a bit for every basket and item that it holds."""

PairArrays = tuple[RealArray, RealArray, RealArray]
"""Counts, targets and weights of pairs."""

TripleArrays = tuple[
    WholeArray, WholeArray, WholeArray, WholeArray, RealArray, RealArray, RealArray
]
"""Members; the triples of each item, the two members beside it in each, and where they begin;
counts, targets and weights."""

TRIES = 200
"""How often a place is looked for, for an item that a basket holds twice."""


@compile_loop
def draw_below(state: WordArray, bound: int) -> numpy.int64:
    """Return a number from 0 to below a bound, and move the stream on."""
    state[0] = mixed_word(state[0], numpy.uint64(1))
    return numpy.int64((state[0] >> numpy.uint64(32)) % numpy.uint64(bound))


@compile_loop
def draw_unit(state: WordArray) -> float:
    """Return a number from 0 to below 1, and move the stream on."""
    state[0] = mixed_word(state[0], numpy.uint64(1))
    return numpy.float64(state[0] >> numpy.uint64(11)) * 2.0**-53


@compile_loop
def find(items: WholeArray, first: int, stop: int, item: int) -> int:
    """Return where an item is in a basket, or -1."""
    for k in range(first, stop):
        if items[k] == item:
            return k
    return -1


@compile_loop
def part_twins(items: WholeArray, offsets: WholeArray, state: WordArray) -> None:
    """Swap items that a basket holds twice with those of other baskets, where that can be."""
    n = len(offsets) - 1
    for b in range(n):
        first, stop = offsets[b], offsets[b + 1]
        for k in range(first, stop):
            x = items[k]
            if find(items, first, k, x) < 0:
                continue
            for _ in range(TRIES):
                c = draw_below(state, n)
                if c == b or offsets[c] == offsets[c + 1]:
                    continue
                j = offsets[c] + draw_below(state, offsets[c + 1] - offsets[c])
                y = items[j]
                if y == x or find(items, first, stop, y) >= 0:
                    continue
                if find(items, offsets[c], offsets[c + 1], x) >= 0:
                    continue
                items[k], items[j] = y, x
                break


@compile_loop
def holds(members: WordArray, basket: int, item: int) -> bool:
    """Say whether a basket holds an item."""
    word = members[basket, item >> 6] >> numpy.uint64(item & 63)
    return bool((word & numpy.uint64(1)) != numpy.uint64(0))


@compile_loop
def note_members(items: WholeArray, offsets: WholeArray, members: WordArray) -> None:
    """Set the bits of all items that baskets hold."""
    for b in range(len(offsets) - 1):
        for k in range(offsets[b], offsets[b + 1]):
            members[b, items[k] >> 6] |= numpy.uint64(1) << numpy.uint64(items[k] & 63)


@compile_loop
def note_change(baskets: BasketArrays, basket: int, left: int, came: int) -> None:
    """Bring a basket's bits up to date, after one item has come in another's place."""
    items, offsets, members = baskets[0], baskets[1], baskets[6]
    if find(items, offsets[basket], offsets[basket + 1], left) < 0:
        members[basket, left >> 6] &= ~(numpy.uint64(1) << numpy.uint64(left & 63))
    members[basket, came >> 6] |= numpy.uint64(1) << numpy.uint64(came & 63)


@compile_loop
def count_combinations(
    items: WholeArray,
    offsets: WholeArray,
    members: WordArray,
    pairs: RealArray,
    triples: TripleArrays,
) -> None:
    """Add up the pairs and the listed triples of all baskets."""
    of_triple, of_item, beside, starts, counts, _, _ = triples
    for b in range(len(offsets) - 1):
        first, stop = offsets[b], offsets[b + 1]
        for k in range(first, stop):
            x = items[k]
            for j in range(k + 1, stop):
                pairs[x, items[j]] += 1
                pairs[items[j], x] += 1
            if stop - first < 3:
                continue
            for u in range(starts[x], starts[x + 1]):
                y, z = beside[u, 0], beside[u, 1]
                if of_triple[of_item[u], 0] == x and holds(members, b, y) and holds(members, b, z):
                    counts[of_item[u]] += 1


@compile_loop
def change_of(
    baskets: BasketArrays, b: int, place: int, comes: int, pairs: PairArrays, triples: TripleArrays
) -> float:
    """Return how the distance to all targets changes when an item comes in another's place."""
    items, offsets = baskets[0], baskets[1]
    counts, targets, weights = pairs
    first, stop, leaves = offsets[b], offsets[b + 1], items[place]
    change = 0.0
    for k in range(first, stop):
        if k != place:
            o = items[k]
            change += weights[leaves, o] * (1 - 2 * (counts[leaves, o] - targets[leaves, o]))
            change += weights[comes, o] * (1 + 2 * (counts[comes, o] - targets[comes, o]))
    if stop - first < 3:
        return change
    members = baskets[6]
    _, of_item, beside, starts, held, wanted, weight = triples
    for u in range(starts[leaves], starts[leaves + 1]):
        if holds(members, b, beside[u, 0]) and holds(members, b, beside[u, 1]):
            t = of_item[u]
            change += weight[t] * (1 - 2 * (held[t] - wanted[t]))
    for u in range(starts[comes], starts[comes + 1]):
        y, z = beside[u, 0], beside[u, 1]
        if leaves not in (y, z) and holds(members, b, y) and holds(members, b, z):
            t = of_item[u]
            change += weight[t] * (1 + 2 * (held[t] - wanted[t]))
    return change


@compile_loop
def apply_change(
    baskets: BasketArrays, b: int, place: int, comes: int, pairs: PairArrays, triples: TripleArrays
) -> None:
    """Bring the counts up to date for one item that comes in another's place."""
    items, offsets, counts = baskets[0], baskets[1], pairs[0]
    first, stop, leaves = offsets[b], offsets[b + 1], items[place]
    for k in range(first, stop):
        if k != place:
            o = items[k]
            counts[leaves, o] -= 1
            counts[o, leaves] -= 1
            counts[comes, o] += 1
            counts[o, comes] += 1
    members = baskets[6]
    _, of_item, beside, starts, held, _, _ = triples
    for u in range(starts[leaves], starts[leaves + 1]):
        if holds(members, b, beside[u, 0]) and holds(members, b, beside[u, 1]):
            held[of_item[u]] -= 1
    for u in range(starts[comes], starts[comes + 1]):
        y, z = beside[u, 0], beside[u, 1]
        if leaves not in (y, z) and holds(members, b, y) and holds(members, b, z):
            held[of_item[u]] += 1


@compile_loop
def off_target(pairs: PairArrays, triples: TripleArrays, codes: WholeArray, ends: RealArray) -> int:
    """List pairs and triples that are off, with running sums of how much; return how many."""
    counts, targets, weights = pairs
    _, _, _, _, held, wanted, weight = triples
    n = len(targets)
    total, count = 0.0, 0
    for i in range(n):
        for j in range(i + 1, n):
            off = counts[i, j] - targets[i, j]
            cost = off * off * weights[i, j]
            if abs(off) >= 1.0 and cost > 0.01:
                total += cost
                codes[count], ends[count] = i * n + j, total
                count += 1
    for t in range(len(wanted)):
        off = held[t] - wanted[t]
        cost = off * off * weight[t]
        if abs(off) >= 1.0 and cost > 0.01:
            total += cost
            codes[count], ends[count] = n * n + t, total
            count += 1
    return count


@compile_loop
def set_off(
    code: int, pairs: PairArrays, triples: TripleArrays, state: WordArray
) -> tuple[int, int, int, bool]:
    """Return an item that is to come or go, the one or two beside it, and whether to come."""
    counts, targets, _ = pairs
    n = len(targets)
    if code < n * n:
        i, j = code // n, code % n
        comes = targets[i, j] > counts[i, j]
        if draw_below(state, 2) == 0:
            return i, j, -1, comes
        return j, i, -1, comes
    members, _, _, _, held, wanted, _ = triples
    t, u = code - n * n, draw_below(state, 3)
    comes = wanted[t] > held[t]
    return members[t, u], members[t, (u + 1) % 3], members[t, (u + 2) % 3], comes


@compile_loop
def propose_joining(
    baskets: BasketArrays, x: int, beside: int, third: int, state: WordArray
) -> tuple[int, int]:
    """Return a place in a basket that lacks an item beside others, and a place of that item."""
    items, offsets, basket_of, starts, held, _, members = baskets
    n_beside = starts[beside + 1] - starts[beside]
    for _ in range(12 if third < 0 else 30):
        a = basket_of[held[starts[beside] + draw_below(state, n_beside)]]
        first, stop = offsets[a], offsets[a + 1]
        if stop - first < (2 if third < 0 else 3) or holds(members, a, x):
            continue
        if third >= 0 and not holds(members, a, third):
            continue
        place = first + draw_below(state, stop - first)
        if items[place] == beside or items[place] == third:
            return -1, -1
        return place, held[starts[x] + draw_below(state, starts[x + 1] - starts[x])]
    return -1, -1


@compile_loop
def propose_parting(
    baskets: BasketArrays, x: int, beside: int, third: int, state: WordArray
) -> tuple[int, int]:
    """Return the place of an item that is beside others, and any place of any other basket."""
    _, offsets, basket_of, starts, held, _, members = baskets
    n_x = starts[x + 1] - starts[x]
    for _ in range(30):
        place = held[starts[x] + draw_below(state, n_x)]
        a = basket_of[place]
        if not holds(members, a, beside):
            continue
        if third >= 0 and not holds(members, a, third):
            continue
        b = draw_below(state, len(offsets) - 1)
        if offsets[b + 1] == offsets[b]:
            return -1, -1
        return place, offsets[b] + draw_below(state, offsets[b + 1] - offsets[b])
    return -1, -1


@compile_loop
def swap_if_nearer(
    baskets: BasketArrays, place: int, other: int, pairs: PairArrays, triples: TripleArrays
) -> bool:
    """Swap the items of two places of two baskets where that is nearer to the targets."""
    items, _, basket_of, _, held, slot_of, members = baskets
    a, b, x, y = basket_of[place], basket_of[other], items[place], items[other]
    if a == b or x == y:
        return False
    if holds(members, a, y) or holds(members, b, x):
        return False
    change = change_of(baskets, a, place, y, pairs, triples)
    change += change_of(baskets, b, other, x, pairs, triples)
    if change >= 0:
        return False
    apply_change(baskets, a, place, y, pairs, triples)
    apply_change(baskets, b, other, x, pairs, triples)
    items[place], items[other] = y, x
    note_change(baskets, a, x, y)
    note_change(baskets, b, y, x)
    slot_x, slot_y = slot_of[place], slot_of[other]
    held[slot_x], held[slot_y] = other, place
    slot_of[place], slot_of[other] = slot_y, slot_x
    return True


@compile_loop
def swap_items(
    baskets: BasketArrays,
    pairs: PairArrays,
    triples: TripleArrays,
    blocks: int,
    per_block: int,
    stop: int,
    enough: float,
    state: WordArray,
) -> int:
    """Swap items between baskets while the weighted squared distance to targets falls.

    Supports and lengths stay as they are. What is off is listed anew for every block, and most
    is tried where most is off. Ends where less than one try in ``stop`` succeeds, or where what is
    off is so by ``enough`` of its variance on average; returns how many swaps were made.
    """
    n, starts = len(pairs[1]), baskets[3]
    codes = numpy.empty(n * (n - 1) // 2 + len(triples[0]), dtype=numpy.int64)
    ends = numpy.empty(len(codes), dtype=numpy.float64)
    made = 0
    for _block in range(blocks):
        count = off_target(pairs, triples, codes, ends)
        if count == 0 or ends[count - 1] < enough * count:
            break
        before = made
        for _try in range(per_block):
            at = numpy.searchsorted(ends[:count], draw_unit(state) * ends[count - 1])
            x, beside, third, comes = set_off(codes[min(at, count - 1)], pairs, triples, state)
            if starts[x] == starts[x + 1] or starts[beside] == starts[beside + 1]:
                continue
            if comes:
                place, other = propose_joining(baskets, x, beside, third, state)
            else:
                place, other = propose_parting(baskets, x, beside, third, state)
            if place >= 0 and swap_if_nearer(baskets, place, other, pairs, triples):
                made += 1
        if made - before < per_block // stop:
            break
    return made


def unwrapped(arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
    """Return arrays without what tests wrap around them."""
    return tuple(array.view(numpy.ndarray) for array in arrays)
