from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.evaluation import itemsets as module
from hedgerow.evaluation.itemsets import mine, top_itemsets, top_k_utility
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import EncodedBaskets
from support.basket_sets import encoded_baskets, universe


def sets_in(offsets, items):
    return [set(items[a:b].tolist()) for a, b in pairwise(offsets.tolist())]


def brute_force(sets, weights):
    """All itemsets that occur, with their supports."""
    supports = {}
    for items, weight in zip(sets, weights, strict=True):
        for size in range(1, len(items) + 1):
            for chosen in combinations(sorted(items), size):
                supports[chosen] = supports.get(chosen, 0) + weight
    return supports


def zipf_sets(n_items=60, n=800):
    rng = np.random.default_rng(6)
    sets = [{int(i) - 1 for i in rng.zipf(1.4, 6) if i <= n_items} or {0} for _ in range(n)]
    return WeightedSets.of_records(EncodedBaskets.from_sets(universe(n_items), sets))


@settings(max_examples=30)
@given(baskets=encoded_baskets(min_records=1, most_items=8), k=st.integers(1, 40))
def test_the_top_itemsets_are_those_of_brute_force(baskets, k):
    sets = WeightedSets.of_records(baskets)
    every = brute_force(sets_in(sets.offsets, sets.items), sets.weights.tolist())
    expected = sorted(every.items(), key=lambda each: (-each[1], len(each[0]), each[0]))[:k]
    assert list(top_itemsets(sets, k).items()) == expected


def test_superset_sums_and_the_miner_give_the_same_top_itemsets(monkeypatch):
    sets = zipf_sets(n_items=15)
    by_masks = top_itemsets(sets, 80)
    monkeypatch.setattr(module, "SUPERSETS_UP_TO", 0)
    assert top_itemsets(sets, 80) == by_masks


def test_a_second_miner_finds_the_same_itemsets():
    frequent_patterns = pytest.importorskip("mlxtend.frequent_patterns")
    import pandas as pd

    sets = zipf_sets()
    table = np.zeros((len(sets), sets.n_items), dtype=bool)
    table[sets.owners, sets.items] = True
    found = frequent_patterns.fpgrowth(
        pd.DataFrame(table), min_support=24.5 / len(sets), use_colnames=True
    )
    other = {
        tuple(sorted(int(item) for item in items)): round(support * len(sets))
        for support, items in zip(found["support"], found["itemsets"], strict=True)
    }
    assert mine(sets, least=25) == other
    assert len(other) > 50


def test_the_utility_is_the_papers():
    records = {(0,): 100, (1,): 50}
    assert top_k_utility(records, records) == 1
    assert top_k_utility(records, {}) == 0
    assert top_k_utility(records, {(0,): 90, (2,): 60}) == pytest.approx(1 - (0.1 + 1) / 2)


def test_an_empty_release_has_no_itemsets():
    empty = WeightedSets.of_records(EncodedBaskets.from_sets(universe(30), []))
    assert top_itemsets(empty, 10) == {}
