"""Compiled loops over features of records. Import lazily: loading Numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop

SetArrays = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Starts of sets and their items (increasing); sets by their last item, and starts of these."""

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@compile_loop
def mixed_word(total: np.uint64, word: np.uint64) -> np.uint64:
    """Return a mix of both, the same as ``hedgerow.encode.people.mixed``."""
    mixed = (total ^ word) + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


@compile_loop
def hash_records(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    hashes: NDArray[np.uint64],
) -> None:
    """Write a hash of each record's items."""
    for r in range(len(hashes)):
        total = np.uint64(offsets[r + 1] - offsets[r])
        for j in range(offsets[r], offsets[r + 1]):
            total = mixed_word(total, np.uint64(items[j]))
        hashes[r] = total


@compile_loop
def are_equal(
    offsets: NDArray[np.int64], items: NDArray[np.unsignedinteger], first: int, second: int
) -> bool:
    """Return whether two records have the same items."""
    a, b = offsets[first], offsets[second]
    length = offsets[first + 1] - a
    if offsets[second + 1] - b != length:
        return False
    equal = True
    for j in range(length):
        equal = equal and items[a + j] == items[b + j]
    return equal


@compile_loop
def number_distinct(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    hashes: NDArray[np.uint64],
    slots: NDArray[np.signedinteger],
    first: NDArray[np.signedinteger],
    number: NDArray[np.signedinteger],
) -> int:
    """Number records by the record that they are equal to; write the first of each.

    Returns the number of distinct records. ``slots`` has at least twice as many entries as there
    are records, a power of two, all -1.
    """
    shift = np.uint64(64)
    while np.uint64(1) << (np.uint64(64) - shift) < np.uint64(len(slots)):
        shift -= np.uint64(1)
    last, n = len(slots) - 1, 0
    for r in range(len(hashes)):
        # Use the high bits: the low ones may have been used to divide the records into parts.
        at = np.int64(hashes[r] >> shift) & last
        while slots[at] >= 0:
            found = first[slots[at]]
            if hashes[found] == hashes[r] and are_equal(offsets, items, found, r):
                break
            at = (at + 1) & last
        if slots[at] < 0:
            slots[at], first[n] = n, r
            n += 1
        number[r] = slots[at]
    return n


@compile_loop
def take_records(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    taken: NDArray[np.signedinteger],
    starts: NDArray[np.int64],
    into: NDArray[np.unsignedinteger],
) -> None:
    """Copy some records, one after the other, to their new positions."""
    for k in range(len(taken)):
        source, target = offsets[taken[k]], starts[k]
        for j in range(starts[k + 1] - target):
            into[target + j] = items[source + j]


@compile_loop
def count_ranked(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    rank: NDArray[np.int32],
    held: NDArray[np.int64],
) -> None:
    """Add the number of ranked items of each record."""
    for r in range(len(held)):
        for j in range(offsets[r], offsets[r + 1]):
            held[r] += rank[items[j]] >= 0


@compile_loop
def sum_masks(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    bits: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Add up records by the subset of some items that they contain; each item has a bit."""
    for r in range(len(weights)):
        mask = 0
        for j in range(offsets[r], offsets[r + 1]):
            mask |= bits[items[j]]
        sums[mask] += weights[r]


@compile_loop
def choose_features(
    count: int, cap: int, state: np.uint64, found: NDArray[np.int64], lot: NDArray[np.int64]
) -> None:
    """Move ``cap`` of the first ``count`` features to the front of ``lot``, at random."""
    for t in range(count):
        lot[t] = found[t]
    for t in range(cap):
        state = mixed_word(state, np.uint64(t))
        u = t + np.int64((state >> np.uint64(32)) % np.uint64(count - t))
        lot[t], lot[u] = lot[u], lot[t]


@compile_loop
def add_features(
    count: int,
    found: NDArray[np.int64],
    cap: int,
    weight: int,
    coins: np.uint64,
    lot: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Add some equal records: all their features up to the cap, or a random selection."""
    n_features = len(sums) // 2
    if count <= cap:
        for t in range(count):
            sums[found[t]] += weight
        return
    for number in range(weight):
        choose_features(count, cap, mixed_word(coins, np.uint64(number)), found, lot)
        for t in range(cap):
            sums[n_features + lot[t]] += 1


@compile_loop
def sum_items(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    cap: int,
    key: np.uint64,
    sums: NDArray[np.int64],
) -> None:
    """Add up the items of records, at most ``cap`` of each."""
    n_items = len(sums) // 2
    found = np.empty(n_items, dtype=np.int64)
    lot = np.empty(n_items, dtype=np.int64)
    for r in range(len(weights)):
        count = 0
        for j in range(offsets[r], offsets[r + 1]):
            found[count] = items[j]
            count += 1
        add_features(count, found, cap, weights[r], mixed_word(key, hashes[r]), lot, sums)


@compile_loop
def sum_pairs(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    rank: NDArray[np.int32],
    n_top: int,
    cap: int,
    key: np.uint64,
    sums: NDArray[np.int64],
) -> None:
    """Add up the pairs of ranked items of records, at most ``cap`` of each."""
    found = np.empty(n_top * n_top, dtype=np.int64)
    lot = np.empty(n_top * n_top, dtype=np.int64)
    held = np.empty(n_top, dtype=np.int64)
    for r in range(len(weights)):
        n_held = 0
        for j in range(offsets[r], offsets[r + 1]):
            if rank[items[j]] >= 0:
                held[n_held] = rank[items[j]]
                n_held += 1
        count = 0
        for a in range(n_held):
            for b in range(a + 1, n_held):
                low, high = min(held[a], held[b]), max(held[a], held[b])
                # The pairs before those of a low item, then the position among its own.
                found[count] = low * (2 * n_top - low - 1) // 2 + high - low - 1
                count += 1
        add_features(count, found, cap, weights[r], mixed_word(key, hashes[r]), lot, sums)


@compile_loop
def sets_held(
    first: int,
    stop: int,
    items: NDArray[np.unsignedinteger],
    ranks: tuple[NDArray[np.int32], NDArray[np.bool_]],
    sets: SetArrays,
    found: NDArray[np.int64],
) -> int:
    """Write which of some sets of ranked items a record contains; return their number.

    ``ranks`` are those of items, and a flag for each that is set meanwhile.
    """
    rank, marks = ranks
    set_offsets, set_items, of_last, starts = sets
    for j in range(first, stop):
        if rank[items[j]] >= 0:
            marks[rank[items[j]]] = True
    count = 0
    for j in range(first, stop):
        last = rank[items[j]]
        if last < 0:
            continue
        # A set is examined if the record has its last item, which is the rarest.
        for u in range(starts[last], starts[last + 1]):
            s, holds = of_last[u], True
            for e in range(set_offsets[s], set_offsets[s + 1] - 1):
                holds = holds and marks[set_items[e]]
            if holds:
                found[count] = s
                count += 1
    for j in range(first, stop):
        if rank[items[j]] >= 0:
            marks[rank[items[j]]] = False
    return count


@compile_loop
def sum_sets(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    rank: NDArray[np.int32],
    sets: SetArrays,
    cap: int,
    key: np.uint64,
    sums: NDArray[np.int64],
) -> None:
    """Add up the sets that records contain, at most ``cap`` of each."""
    ranks = (rank, np.zeros(len(sets[3]), dtype=np.bool_))
    found = np.empty(len(sets[0]), dtype=np.int64)
    lot = np.empty(len(sets[0]), dtype=np.int64)
    for r in range(len(weights)):
        count = sets_held(offsets[r], offsets[r + 1], items, ranks, sets, found)
        add_features(count, found, cap, weights[r], mixed_word(key, hashes[r]), lot, sums)


@compile_loop
def count_sets_held(
    offsets: NDArray[np.int64],
    items: NDArray[np.unsignedinteger],
    rank: NDArray[np.int32],
    sets: SetArrays,
    held: NDArray[np.int64],
) -> None:
    """Write the number of sets of ranked items that each record contains."""
    ranks = (rank, np.zeros(len(sets[3]), dtype=np.bool_))
    found = np.empty(len(sets[0]), dtype=np.int64)
    for r in range(len(held)):
        held[r] = sets_held(offsets[r], offsets[r + 1], items, ranks, sets, found)
