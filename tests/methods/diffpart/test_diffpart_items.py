"""Noisy counts of items, and drawn baskets brought into line with them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.methods.diffpart.items import (
    PASSING,
    Drawn,
    handed_out,
    item_threshold,
    limited,
    noisy_items,
)
from hedgerow.methods.diffpart.rest import Patterns
from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.run import Run
from hedgerow.privacy.source import SeededSource
from support.basket_sets import ONE, encoded_baskets, published, universe


@settings(max_examples=60)
@given(
    baskets=encoded_baskets(min_records=1, most_items=30),
    dropped=st.integers(0, 10**6),
    max_length=st.integers(1, 6),
)
def test_one_record_moves_as_many_item_counts_by_one_as_it_may_have_items(
    baskets, dropped, max_length
):
    r = dropped % len(baskets)
    sets = [
        baskets.items[baskets.offsets[i] : baskets.offsets[i + 1]].tolist()
        for i in range(len(baskets))
        if i != r
    ]
    neighbour = EncodedBaskets.from_sets(baskets.taxonomy, sets)
    counts = [
        BasketMemory(baskets=each).walk(max_length=max_length).item_counts()
        for each in (baskets, neighbour)
    ]
    moved = counts[0] - counts[1]
    assert len(moved) == baskets.taxonomy.n_leaves
    assert moved.min() >= 0
    assert moved.max() <= 1
    assert 1 <= moved.sum() <= max_length


def bought(records, *, share=Fraction(1, 3), max_length=8, n_items=4000):
    engine = BasketMemory(baskets=EncodedBaskets.from_sets(universe(n_items), records))
    run = Run.start(engine, epsilon=ONE, source=SeededSource(6))
    walk = engine.walk(max_length=max_length)
    return noisy_items(run, walk, max_length=max_length, share=share), run.ledger


def test_item_counts_cost_their_share_once_and_have_noise_for_a_part_of_it(monkeypatch):
    from hedgerow.privacy import mechanisms

    asked = []

    def seen(n, *, epsilon, source):
        asked.append((n, epsilon))
        return np.zeros(n, dtype=np.int64)

    monkeypatch.setattr(mechanisms, "discrete_laplace", seen)
    _, ledger = bought([{1}])
    assert [(line.on, line.share, line.times) for line in ledger.bookings] == [
        ("items", Fraction(1, 3), 1)
    ]
    assert asked == [(4000, Fraction(1, 24))]


def test_items_that_nobody_has_pass_for_known_as_rarely_as_is_said():
    items, _ = bought([])
    expected = 4000 * float(PASSING)
    assert abs(np.count_nonzero(items.known) - expected) < 6 * math.sqrt(expected)
    assert items.known[items.known > 0].min() >= items.threshold
    assert items.threshold == item_threshold(Fraction(1, 3), 8)


def test_a_frequent_item_is_known_by_about_its_count():
    items, _ = bought([{7}] * 3000)
    assert items.known[7] == pytest.approx(3000, abs=300)
    assert items.most[7] == items.known[7]
    assert items.most[np.flatnonzero(items.known == 0)].max() == items.threshold


def pairs(*rows):
    owner, item = zip(*rows, strict=True) if rows else ((), ())
    return Drawn(owner=np.array(owner, dtype=np.int64), item=np.array(item, dtype=np.int64))


def test_drawn_items_are_limited_by_their_counts_and_records_by_their_length():
    many = pairs(*((r, 0) for r in range(1000)), *((3, i) for i in range(1, 10)))
    per_item = np.array([250] + [10] * 9)
    drawn = limited(many, per_item=per_item, max_length=4, source=SeededSource(1))
    assert np.count_nonzero(drawn.item == 0) == pytest.approx(250, abs=90)
    assert np.bincount(drawn.owner).max() <= 4
    assert set(zip(drawn.owner.tolist(), drawn.item.tolist(), strict=True)) <= set(
        zip(many.owner.tolist(), many.item.tolist(), strict=True)
    )


@settings(max_examples=60)
@given(data=st.data(), seed=st.integers(0, 1000), max_length=st.integers(1, 4))
def test_items_are_handed_out_below_the_cuts_alone_and_never_twice(data, seed, max_length):
    tree = SplitTree.of(universe(9, fan_out=3))
    n_records = data.draw(st.integers(1, 6))
    nodes = st.integers(0, len(tree.first) - 1)
    cuts = [(r, node) for r in range(n_records) for node in data.draw(st.sets(nodes, max_size=3))]
    owners = np.array([r for r, _ in cuts], dtype=np.int64)
    cut_nodes = np.array([node for _, node in cuts], dtype=np.int32)
    missing = np.array(data.draw(st.lists(st.integers(0, 5), min_size=9, max_size=9)))
    held = pairs((0, 4))
    result = handed_out(
        missing, held, (owners, cut_nodes), tree, max_length=max_length, source=SeededSource(seed)
    )
    rows = list(zip(result.owner.tolist(), result.item.tolist(), strict=True))
    assert rows == sorted(set(rows))
    assert (0, 4) in rows
    assert np.bincount(result.owner).max() <= max_length
    new = [row for row in rows if row != (0, 4)]
    assert (np.bincount([item for _, item in new], minlength=9) <= missing).all()
    for r, item in new:
        above = [node for owner, node in cuts if owner == r and tree.height[node] > 0]
        assert any(tree.first[node] <= item < tree.stop[node] for node in above)


def test_what_finds_no_place_below_a_low_node_is_handed_out_below_a_higher_one():
    tree = SplitTree.of(universe(4))  # node 1 is the first pair of items, node 0 the root
    owners = np.array([0, 1, 2], dtype=np.int64)
    nodes = np.array([1, 0, 0], dtype=np.int32)
    result = handed_out(
        np.array([3, 0, 0, 0]),
        pairs(),
        (owners, nodes),
        tree,
        max_length=8,
        source=SeededSource(2),
    )
    assert result.owner.tolist()[0] == 0  # the record of which most is known comes first
    assert 2 <= len(result) <= 3
    assert set(result.item.tolist()) == {0}


@pytest.mark.parametrize("max_length", [2, None])
def test_no_published_basket_is_longer_than_records_are_cut_to(max_length):
    rng = np.random.default_rng(8)
    sets = [{int(i) % 300 for i in rng.zipf(1.2, 14)} for _ in range(8000)]
    baskets = EncodedBaskets.from_sets(universe(300, fan_out=10), sets)
    for seed in range(3):
        noisy, _ = published(DiffPart(max_length=max_length), baskets, seed=seed)
        assert noisy.lengths.max() <= (max_length or 8)


def test_frequent_items_of_a_sparse_universe_keep_about_their_counts():
    rng = np.random.default_rng(9)
    sets = [{int(i) % 3000 for i in rng.zipf(1.3, 6)} for _ in range(30_000)]
    baskets = EncodedBaskets.from_sets(universe(3000, fan_out=10), sets)
    noisy, _ = published(DiffPart(), baskets)
    true = np.bincount(baskets.items, minlength=3000)
    found = np.bincount(noisy.items, weights=np.repeat(noisy.counts, noisy.lengths), minlength=3000)
    frequent = np.argsort(-true)[:40]
    assert np.abs(found - true)[frequent].sum() < 0.2 * true[frequent].sum()


def test_which_items_of_too_long_a_record_are_kept_is_random():
    """Each of ten items stays in a fifth of 2,000 records: 400, within six deviations of 18."""
    n_records, n_items = 2000, 10
    drawn = Drawn(
        owner=np.repeat(np.arange(n_records), n_items), item=np.tile(np.arange(n_items), n_records)
    )
    many = np.full(n_items, n_records)
    kept = limited(drawn, per_item=many, max_length=2, source=SeededSource(1))
    assert set(np.bincount(kept.owner).tolist()) == {2}
    assert np.abs(np.bincount(kept.item, minlength=n_items) - 400).max() < 108


def test_patterns_are_drawn_by_their_weights_anew_for_every_record():
    """Of weights 3 : 1 the first is drawn 1,500 times in 2,000, within six deviations of 20."""
    patterns = Patterns(
        starts=np.array([0, 2]),
        offsets=np.array([0, 1, 2]),
        children=np.array([1, 2], dtype=np.int32),
        ends=np.array([0.0, 3000.0, 4000.0]),
    )
    drawn = patterns.draw(np.zeros(2000, dtype=np.int32), source=SeededSource(1))
    assert set(drawn.tolist()) == {0, 1}
    assert abs(int((drawn == 0).sum()) - 1500) < 120
