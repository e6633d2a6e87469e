"""The parts of DiffPart: tree, kernel, masks, rules, what is drawn for the rest."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.basket_kernels import SplitCounts, tally_of
from hedgerow.count.memory.baskets import BasketMemory, cut_to_length, sets_of_masks
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.methods.diffpart.factors import count_factor, passing_by_noise
from hedgerow.methods.diffpart.level import Expansion, PartitionLevel
from hedgerow.methods.diffpart.masks import all_masks, masks_by_size
from hedgerow.methods.diffpart.rules import PublicRules, ceil_sqrt
from hedgerow.methods.diffpart.small_universe import near_in_queries, rounded
from hedgerow.methods.diffpart.tree import MOST_CHILDREN, SplitTree
from hedgerow.model.baskets import EncodedBaskets, NoisyBaskets, offsets_of
from hedgerow.model.engine import BasketBatch
from hedgerow.model.order import canonical_order
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.tree import Taxonomy
from support.basket_sets import encoded_baskets, listed, taxonomies, universe

ONE = Fraction(1)


def sets_in(baskets):
    return [set(baskets.items[a:b].tolist()) for a, b in pairwise(baskets.offsets.tolist())]


@settings(max_examples=40)
@given(taxonomy=taxonomies(most_items=30))
def test_a_split_tree_divides_every_node_among_its_children(taxonomy):
    tree = SplitTree.of(taxonomy)
    assert (tree.first[0], tree.stop[0]) == (0, taxonomy.n_leaves)
    for node in range(len(tree.first)):
        below = tree.children[tree.child_start[node] : tree.child_start[node + 1]]
        assert (len(below) == 0) == (tree.height[node] == 0)
        if len(below):
            assert len(below) > 1 or taxonomy.n_leaves == 1
            bounds = [*tree.first[below].tolist(), int(tree.stop[node])]
            assert bounds[0] == tree.first[node]
            assert bounds[1:] == tree.stop[below].tolist()
            assert tree.internal[node] == 1 + tree.internal[below].sum()
    leaves = tree.height == 0
    assert sorted(tree.first[leaves].tolist()) == list(range(taxonomy.n_leaves))


@pytest.mark.parametrize("n_items", [20, 21, 400, 858, 4321])
def test_wide_nodes_are_regrouped_for_masks(n_items):
    tree = SplitTree.of(Taxonomy.flat([str(code) for code in range(n_items)]))
    assert tree.n_children.max() <= MOST_CHILDREN
    assert (tree.height == 0).sum() == n_items


def kernel_at_root(taxonomy):
    tree = SplitTree.of(taxonomy)
    level = PartitionLevel.top(noisy_total=0)
    return Expansion(level=level, tree=tree, chosen=np.zeros(1, dtype=np.int64)).kernel()


def batch_of(baskets, *, compiled=False):
    return BasketBatch(
        offsets=baskets.offsets,
        items=baskets.items,
        partition=np.zeros(len(baskets), dtype=np.int32),
        weights=None,
        compiled=compiled,
    )


@settings(max_examples=30)
@given(baskets=encoded_baskets(min_records=1))
def test_compiled_and_numpy_forms_of_the_kernel_agree_with_a_loop(baskets):
    tree = SplitTree.of(baskets.taxonomy)
    kernel = kernel_at_root(baskets.taxonomy)
    below = tree.children[: tree.n_children[0]]
    expected = [
        sum(
            1 << slot
            for slot, child in enumerate(below)
            if any(tree.first[child] <= item < tree.stop[child] for item in items)
        )
        for items in sets_in(baskets)
    ]
    assert kernel.keys(batch_of(baskets)).tolist() == expected
    assert kernel.keys(batch_of(baskets, compiled=True)).tolist() == expected


@settings(max_examples=40)
@given(baskets=encoded_baskets(min_records=1), data=st.data())
def test_one_record_moves_one_count_by_one(baskets, data):
    neighbour = baskets.without(data.draw(st.integers(0, len(baskets) - 1)))
    kernel = kernel_at_root(baskets.taxonomy)
    dense = np.zeros((2, 1 << kernel.bits), dtype=np.int64)
    for row, each in enumerate((baskets, neighbour)):
        tally = BasketMemory(baskets=each).walk(max_length=None).tally(kernel)
        dense[row, tally.keys] = tally.counts
    assert sorted((dense[0] - dense[1]).tolist())[-2:] in ([0, 1], [1])
    assert np.abs(dense[0] - dense[1]).sum() == 1


@settings(max_examples=40)
@given(baskets=encoded_baskets(min_records=1), compiled=st.booleans())
def test_records_follow_the_sub_partitions_that_are_kept(baskets, compiled):
    kernel = kernel_at_root(baskets.taxonomy)
    walk = BasketMemory(baskets=baskets).walk(max_length=None)
    walk._compiled = compiled
    tally = walk.tally(kernel)
    kept = tally.keys[::2]
    walk.descend(kept)
    same = SplitCounts(
        first=np.repeat(kernel.first, len(kept)),
        stop=np.repeat(kernel.stop, len(kept)),
        depth=np.repeat(kernel.depth, len(kept)),
        slots=kernel.slots,
        bits=kernel.bits,
    )
    again = walk.tally(same)
    assert (again.keys & ((1 << kernel.bits) - 1)).tolist() == kept.tolist()
    assert (again.keys >> kernel.bits).tolist() == list(range(len(kept)))
    assert again.counts.tolist() == tally.counts[::2].tolist()


def test_sparse_and_dense_tallies_agree():
    keys = np.array([5, 1, 5, 7, 1, 1])
    for weights in (None, np.array([1, 2, 3, 4, 5, 6])):
        dense = tally_of(keys, weights, n_keys=8)
        sparse = tally_of(keys, weights, n_keys=1 << 40)
        assert dense.keys.tolist() == sparse.keys.tolist() == [1, 5, 7]
        assert dense.counts.tolist() == sparse.counts.tolist()


@settings(max_examples=40)
@given(baskets=encoded_baskets(min_records=1), most=st.integers(1, 5))
def test_records_are_cut_one_by_one_to_a_public_length(baskets, most):
    offsets, items = cut_to_length(baskets.offsets, baskets.items, most)
    cut = EncodedBaskets(taxonomy=baskets.taxonomy, offsets=offsets, items=items)
    for whole, left in zip(sets_in(baskets), sets_in(cut), strict=True):
        assert left <= whole
        assert len(left) == min(len(whole), most)


@pytest.mark.parametrize("n_children", [1, 2, 5, 10])
def test_masks_are_ranked_within_their_blocks_and_the_empty_one_has_none(n_children):
    for blocks in (all_masks(n_children), masks_by_size(n_children, max(1, n_children - 2))):
        assert blocks.block[0] == -1
        for b, members in enumerate(blocks.masks):
            assert (np.diff(members) > 0).all()
            assert (blocks.block[members] == b).all()
            assert blocks.rank[members].tolist() == list(range(len(members)))
    assert sum(len(m) for m in all_masks(n_children).masks) == 2**n_children - 1


@pytest.mark.parametrize(
    ("kind", "target", "allowed"),
    [("tests", Fraction(1, 2), 0.5), ("counts", Fraction(1, 2), 1), ("counts", Fraction(3), 3)],
)
def test_thresholds_allow_the_false_positives_they_are_made_for(kind, target, allowed):
    rules = PublicRules(epsilon=Fraction(1), false_positives=target, max_length=4)
    share, shape = Fraction(1, 10), (10, 4)
    a = np.exp(-float(share))
    expected = sum(
        len(masks) * a ** rules.threshold(kind, share, shape, block=b) / (1 + a)
        for b, masks in enumerate(rules.blocks(shape).masks)
    )
    # Rounding up the threshold only lowers it; a threshold is at least 1.
    assert 0.7 * allowed < expected <= 1.1 * allowed


@pytest.mark.parametrize("n_children", [2, 4, 6, 10, 16, 20])
@pytest.mark.parametrize("most", [5, 300, np.inf])
def test_the_factor_of_counts_has_the_best_odds_for_the_worst_number_of_itemsets(n_children, most):
    """By a search over all thresholds, for all numbers of itemsets that may occur."""
    masks = 2**n_children - 1
    occurring = np.unique(np.geomspace(1, min(most, masks // 2), 500).astype(int))
    lost = occurring / 2  # of itemsets with as many records as the threshold

    def worst(x):
        return np.abs(np.log((masks - occurring) / 2 * np.exp(-x) / lost)).max()

    tried = np.linspace(0, np.log(masks) + 1, 2001)
    best = min(worst(x) for x in tried)
    factor = count_factor(masks, most)
    if factor > 1:  # the least that the paper allows
        # Rounding up to tenths moves x by at most 0.15.
        assert worst(np.sqrt(2) * float(factor)) <= best + 0.15


@pytest.mark.parametrize(
    ("fan_out", "factors"),
    [(4, (1, 1.5)), (6, (1.5, 2.5)), (10, (2.5, 4.5)), (16, (4, 7.4))],
)
def test_the_factors_of_thresholds_follow_from_public_sizes(fan_out, factors):
    tree = SplitTree.of(context_free([f"i{i}" for i in range(17)], fan_out=fan_out))
    rules = DiffPart(faithful=True)._rules(tree, Fraction(1))
    assert (rules.count_factor(ONE), float(rules.c2)) == factors
    assert passing_by_noise(rules.c2, tree) <= 1
    by_size = [rules.count_factor(ONE, bits=bits) for bits in range(1, 40)]
    assert by_size == sorted(by_size, reverse=True)
    assert 1 <= by_size[-1] == factors[0] <= by_size[0] <= rules.c2  # the paper's range
    given_c1 = DiffPart(faithful=True, c1=Fraction(3))._rules(tree, ONE)
    assert {given_c1.count_factor(ONE, bits=b) for b in range(9)} == {3}


def test_whole_thresholds_are_the_square_roots_rounded_up():
    for x in (Fraction(0), Fraction(1, 3), Fraction(2), Fraction(9), Fraction(10**12, 7)):
        root = ceil_sqrt(x)
        assert root**2 >= x
        assert root == 0 or (root - 1) ** 2 < x


@settings(max_examples=40)
@given(
    sets=st.lists(st.frozensets(st.integers(0, 5), min_size=1), min_size=1, max_size=30),
)
def test_equal_sets_are_joined_with_the_sum_of_their_counts(sets):
    rows = [sorted(items) for items in sets]
    offsets = offsets_of(np.array([len(row) for row in rows]))
    items = np.array([item for row in rows for item in row])
    baskets = NoisyBaskets.sorted_of(
        universe(6), offsets=offsets, items=items, counts=np.ones(len(sets), dtype=np.int64)
    )
    assert listed(baskets) == Counter(tuple(row) for row in rows)
    assert list(listed(baskets)) == sorted(listed(baskets))


@settings(max_examples=40)
@given(sets=st.lists(st.frozensets(st.integers(0, 3000), min_size=1, max_size=14), max_size=12))
def test_baskets_are_ordered_by_their_codes_however_long_they_are(sets):
    rows = [sorted(items) for items in sets]
    offsets = offsets_of(np.array([len(row) for row in rows], dtype=np.int64))
    items = np.array([item for row in rows for item in row], dtype=np.int64)
    order, new = canonical_order(offsets, items)
    ordered = [rows[at] for at in order]
    assert ordered == sorted(rows)
    before = [None, *ordered][: len(ordered)]
    assert new.tolist() == [row != last for row, last in zip(ordered, before, strict=True)]


def test_masks_and_sets_stand_for_each_other():
    offsets, items = sets_of_masks(np.array([0b1011, 0b0100]), 4)
    assert (offsets.tolist(), items.tolist()) == ([0, 3, 4], [0, 1, 3, 2])


def superset_sums(cells, n_items):
    masks = np.arange(1 << n_items)
    return np.array([cells[(masks & s) == s].sum() for s in masks])


@pytest.mark.parametrize("seed", range(4))
def test_counts_near_in_queries_answer_better_than_counts_cut_at_zero(seed):
    rng = np.random.default_rng(seed)
    true = np.zeros(512)
    true[rng.integers(1, 512, 30)] = rng.geometric(0.02, 30)
    noisy = np.round(true + rng.laplace(0, 10, 512)).astype(np.int64)
    noisy[0] = 0
    near = near_in_queries(noisy, 9)
    assert near.min() >= 0
    assert near[0] == 0
    wanted = superset_sums(true, 9)[1:]

    def error(cells):
        return np.abs(superset_sums(cells, 9)[1:] - wanted).mean()

    assert error(near) < error(np.maximum(noisy, 0)) / 2


def test_counts_that_need_no_change_stay():
    noisy = np.array([0, 40, 7, 0, 3, 0, 0, 12])
    assert near_in_queries(noisy, 3) == pytest.approx(noisy, abs=1e-3)


@settings(max_examples=40)
@given(values=st.lists(st.floats(0, 50), max_size=40), seed=st.integers(0, 1000))
def test_rounding_keeps_running_sums_and_moves_nothing_by_one_or_more(values, seed):
    given_values = np.array(values)
    whole = rounded(given_values, source=SeededSource(seed))
    assert (np.abs(whole - given_values) < 1 + 1e-9).all()
    assert (np.abs(np.cumsum(whole) - np.cumsum(given_values)) < 1 + 1e-9).all()
