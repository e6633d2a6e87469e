"""Vectors over records: what each counts, and how far one record moves it."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.feature_kernels import (
    CappedItems,
    CappedPairs,
    CappedSets,
    CoreMasks,
    LengthBins,
    OtherLengthBins,
    RankedLengthBins,
    SetsHeld,
    binned,
)
from hedgerow.count.folding import fold
from hedgerow.methods.coterie.bins import Bins
from hedgerow.model.baskets import EncodedBaskets
from support.basket_sets import encoded_baskets

EDGES = np.array([0, 1, 2, 3, 5])
CAPPED = ("items", "pairs", "sets")
HISTOGRAMS = ("lengths", "ranked", "others", "core", "held")


def kernel_of(name, n_items, *, cap=2, key=7):
    """A kernel over a universe; every other item is ranked, backwards."""
    ranked = np.arange(0, n_items, 2)[::-1]
    rank = np.full(n_items, -1, dtype=np.int32)
    rank[ranked] = np.arange(len(ranked))
    top = {"rank": rank, "n_top": len(ranked)}
    within = [
        tuple(sorted(each)) for size in (1, 2, 3) for each in combinations(range(len(ranked)), size)
    ]
    sets = tuple(within[:20])
    return {
        "lengths": lambda: LengthBins(edges=EDGES),
        "ranked": lambda: RankedLengthBins(edges=EDGES, rank=rank),
        "others": lambda: OtherLengthBins(
            edges=EDGES, rank=rank, classes=np.array([0, 1, 1, 2, 2])
        ),
        "core": lambda: CoreMasks(core=ranked[:3].astype(np.int64), n_items=n_items),
        "held": lambda: SetsHeld(edges=EDGES, sets=sets, **top),
        "items": lambda: CappedItems(n_items=n_items, cap=cap, key=key),
        "pairs": lambda: CappedPairs(cap=cap, key=key, **top),
        "sets": lambda: CappedSets(sets=sets, cap=cap, key=key, **top),
    }[name]()


def summed(kernel, baskets):
    return kernel.count(fold(baskets.offsets, baskets.items))


def rows_of(baskets):
    return [baskets.items[a:b].tolist() for a, b in pairwise(baskets.offsets.tolist())]


def features_of(kernel, row):
    """The features of one record, by their place in table 0."""
    if isinstance(kernel, CappedItems):
        return list(row)
    ranks = sorted(int(kernel.rank[i]) for i in row if kernel.rank[i] >= 0)
    if isinstance(kernel, CappedPairs):
        every = list(combinations(range(kernel.n_top), 2))
        return [every.index(pair) for pair in combinations(ranks, 2)]
    return [s for s, each in enumerate(kernel.sets) if set(each) <= set(ranks)]


@pytest.mark.parametrize("name", HISTOGRAMS)
@settings(max_examples=20)
@given(baskets=encoded_baskets(min_records=1), dropped=st.integers(0, 10**6))
def test_one_record_moves_one_cell_of_a_histogram_by_one(name, baskets, dropped):
    kernel = kernel_of(name, baskets.taxonomy.n_leaves)
    moved = summed(kernel, baskets) - summed(kernel, baskets.without(dropped % len(baskets)))
    assert moved.min() == 0
    assert moved.sum() == moved.max() == 1
    assert len(moved) == kernel.size


@pytest.mark.parametrize("name", CAPPED)
@settings(max_examples=30)
@given(
    baskets=encoded_baskets(min_records=1),
    dropped=st.integers(0, 10**6),
    cap=st.integers(1, 6),
    key=st.integers(0, 2**64 - 1),
)
def test_one_record_moves_capped_counts_by_the_cap_at_most(name, baskets, dropped, cap, key):
    kernel = kernel_of(name, baskets.taxonomy.n_leaves, cap=cap, key=key)
    record = dropped % len(baskets)
    moved = summed(kernel, baskets) - summed(kernel, baskets.without(record))
    n_features = len(features_of(kernel, rows_of(baskets)[record]))
    assert moved.min(initial=0) >= 0
    assert moved.max(initial=0) <= 1
    assert moved.sum() == min(n_features, cap)
    assert len(moved) == kernel.size


@pytest.mark.parametrize("name", CAPPED)
@settings(max_examples=30)
@given(baskets=encoded_baskets(), cap=st.integers(1, 6))
def test_capped_counts_are_those_of_a_loop_over_records(name, baskets, cap):
    kernel = kernel_of(name, baskets.taxonomy.n_leaves, cap=cap)
    within, above = summed(kernel, baskets).reshape(2, -1)
    expected = np.zeros(len(within), dtype=np.int64)
    most, total = np.zeros(len(within), dtype=np.int64), 0
    for row in rows_of(baskets):
        found = features_of(kernel, row)
        if len(found) <= cap:
            expected[found] += 1
        else:
            most[found] += 1
            total += cap
    assert np.array_equal(within, expected)
    assert (above <= most).all()
    assert above.sum() == total


def test_histograms_are_those_of_a_loop_over_records():
    rng = np.random.default_rng(3)
    sets = [set(rng.integers(0, 9, 4).tolist()) for _ in range(200)]
    from support.basket_sets import universe

    baskets = EncodedBaskets.from_sets(universe(9), sets)
    for name in HISTOGRAMS:
        kernel = kernel_of(name, 9)
        expected = np.zeros(kernel.size, dtype=np.int64)
        for row in rows_of(baskets):
            expected[_cell(name, kernel, row)] += 1
        assert np.array_equal(summed(kernel, baskets), expected), name


def _cell(name, kernel, row):
    def in_bin(n):
        return int(binned(np.array([n]), EDGES)[0])

    if name == "lengths":
        return in_bin(len(row))
    if name == "core":
        return sum(1 << place for place, item in enumerate(kernel.core.tolist()) if item in row)
    ranked = sum(int(kernel.rank[i]) >= 0 for i in row)
    if name == "ranked":
        return in_bin(ranked)
    if name == "others":
        return int(kernel.classes[in_bin(ranked)]) * len(EDGES) + in_bin(len(row) - ranked)
    return in_bin(len(features_of(kernel, row)))


def test_lots_are_even_and_differ_between_equal_records():
    from support.basket_sets import universe

    n = 6000
    baskets = EncodedBaskets.from_sets(universe(12), [set(range(12))] * n)
    _, above = summed(CappedItems(n_items=12, cap=3, key=5), baskets).reshape(2, -1)
    # Each of 6000 records keeps an item with chance 1/4: sd 33.5, and 12 items stay within 6 sd
    # but once in 10^7 keys.
    assert np.abs(above - n / 4).max() < 6 * np.sqrt(n * 3 / 16)
    _, other = summed(CappedItems(n_items=12, cap=3, key=6), baskets).reshape(2, -1)
    assert not np.array_equal(above, other)


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("most", [1, 2, 9, 19, 70, 500])
def test_every_number_is_in_the_bin_that_begins_last_before_it(most, zero):
    edges = Bins.up_to(most, zero=zero).edges
    numbers = np.arange(0 if zero else 1, most + 1)
    expected = [max(b for b, edge in enumerate(edges.tolist()) if edge <= n) for n in numbers]
    assert binned(numbers, edges).tolist() == expected
