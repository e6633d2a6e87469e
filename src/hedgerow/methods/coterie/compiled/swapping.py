"""Items swapped between baskets, while that brings combinations nearer to their targets."""

from __future__ import annotations

import numpy

from hedgerow.methods.coterie.compiled.draws import (
    RealArray,
    WholeArray,
    WordArray,
    draw_below,
    draw_unit,
    holds,
    note,
)
from hedgerow.model.compiling import compile_loop

BasketArrays = tuple[
    WholeArray, WholeArray, WholeArray, WholeArray, WholeArray, WholeArray, WordArray
]
"""Items, where baskets begin, the basket of each place; where the places of each item begin, those
places, and where each place is among them; a bit for every basket and item that it holds."""

TripleArrays = tuple[
    WholeArray, WholeArray, WholeArray, WholeArray, RealArray, RealArray, RealArray
]
"""Members; the triples of each item, the two members beside it in each, and where they begin;
counts, targets and weights."""

WORTH = 0.01
"""A set is off where its count is so by 1, and its square by that part of its variance."""


@compile_loop
def change_of(
    baskets: BasketArrays, b: int, place: int, comes: int, pairs: RealArray, triples: TripleArrays
) -> float:
    """Return how the distance to all targets changes when an item comes in another's place.

    ``pairs`` are twice the weight times how far each is off, and the weight.
    """
    items, offsets = baskets[0], baskets[1]
    first, stop, leaves = offsets[b], offsets[b + 1], items[place]
    change = 0.0
    for k in range(first, stop):
        if k != place:
            o = items[k]
            change += pairs[leaves, o, 1] - pairs[leaves, o, 0]
            change += pairs[comes, o, 1] + pairs[comes, o, 0]
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
    baskets: BasketArrays, b: int, place: int, comes: int, pairs: RealArray, triples: TripleArrays
) -> None:
    """Bring the counts up to date for one item that comes in another's place."""
    items, offsets = baskets[0], baskets[1]
    first, stop, leaves = offsets[b], offsets[b + 1], items[place]
    for k in range(first, stop):
        if k != place:
            o = items[k]
            pairs[leaves, o, 0] -= 2 * pairs[leaves, o, 1]
            pairs[o, leaves, 0] = pairs[leaves, o, 0]
            pairs[comes, o, 0] += 2 * pairs[comes, o, 1]
            pairs[o, comes, 0] = pairs[comes, o, 0]
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
def off_target(pairs: RealArray, triples: TripleArrays, codes: WholeArray, ends: RealArray) -> int:
    """List pairs and triples that are off, with running sums of how much; return how many."""
    _, _, _, _, held, wanted, weight = triples
    n = len(pairs)
    total, count = 0.0, 0
    for i in range(n):
        for j in range(i + 1, n):
            double, w = pairs[i, j, 0], pairs[i, j, 1]
            if w <= 0:
                continue
            cost = double * double / (4 * w)
            if cost > WORTH and abs(double) >= 2 * w:
                total += cost
                codes[count], ends[count] = i * n + j, total
                count += 1
    for t in range(len(wanted)):
        off = held[t] - wanted[t]
        cost = off * off * weight[t]
        if abs(off) >= 1.0 and cost > WORTH:
            total += cost
            codes[count], ends[count] = n * n + t, total
            count += 1
    return count


@compile_loop
def set_off(
    code: int, pairs: RealArray, triples: TripleArrays, state: WordArray
) -> tuple[int, int, int, bool]:
    """Return an item that is to come or go, the one or two beside it, and whether to come."""
    n = len(pairs)
    if code < n * n:
        i, j = code // n, code % n
        comes = pairs[i, j, 0] < 0
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
        for _step in range(stop - first):
            if items[place] not in (beside, third):
                break
            place = place + 1 if place + 1 < stop else first
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
def is_twice(baskets: BasketArrays, basket: int, item: int) -> bool:
    """Say whether a basket still holds an item, one place of which has gone."""
    items, offsets = baskets[0], baskets[1]
    found = False
    for place in range(offsets[basket], offsets[basket + 1]):
        found = found or items[place] == item
    return found


@compile_loop
def swap_if_nearer(
    baskets: BasketArrays, place: int, other: int, pairs: RealArray, triples: TripleArrays
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
    if not is_twice(baskets, a, x):
        members[a, x >> 6] &= ~(numpy.uint64(1) << numpy.uint64(x & 63))
    if not is_twice(baskets, b, y):
        members[b, y >> 6] &= ~(numpy.uint64(1) << numpy.uint64(y & 63))
    note(members, a, y)
    note(members, b, x)
    slot_x, slot_y = slot_of[place], slot_of[other]
    held[slot_x], held[slot_y] = other, place
    slot_of[place], slot_of[other] = slot_y, slot_x
    return True


@compile_loop
def swap_items(
    baskets: BasketArrays,
    pairs: RealArray,
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
    n, starts = len(pairs), baskets[3]
    codes = numpy.empty(n * (n - 1) // 2 + len(triples[0]), dtype=numpy.int64)
    ends = numpy.empty(len(codes), dtype=numpy.float64)
    swapped = 0
    for _block in range(blocks):
        count = off_target(pairs, triples, codes, ends)
        if count == 0 or ends[count - 1] < enough * count:
            break
        before = swapped
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
                swapped += 1
        if swapped - before < per_block // stop:
            break
    return swapped
