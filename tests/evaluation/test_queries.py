from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import SettingError
from hedgerow.evaluation import queries as module
from hedgerow.evaluation.queries import (
    answers,
    kept,
    queries_of_length,
    random_queries,
    relative_errors,
)
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import EncodedBaskets
from support.basket_sets import encoded_baskets, universe


def weighted(sets, counts, n_items):
    baskets = EncodedBaskets.from_sets(universe(n_items), sets)
    return WeightedSets(
        n_items=n_items, offsets=baskets.offsets, items=baskets.items, weights=np.array(counts)
    )


def sets_in(offsets, items):
    return [set(items[a:b].tolist()) for a, b in pairwise(offsets.tolist())]


@settings(max_examples=40)
@given(baskets=encoded_baskets(min_records=1), seed=st.integers(0, 999))
def test_both_ways_to_answer_agree_with_counting_supersets(baskets, seed):
    sets = WeightedSets.of_records(baskets)
    asked = random_queries(sets.n_items, longest=sets.n_items, n=40, seed=seed)
    records = sets_in(baskets.offsets, baskets.items)
    expected = [
        sum(query <= record for record in records) for query in sets_in(asked.offsets, asked.items)
    ]
    assert answers(sets, asked).tolist() == expected
    assert module._by_intersection(sets, asked).tolist() == expected


def test_weights_count_as_often_as_they_say():
    sets = weighted([{0, 1}, {1}], [5, 7], 3)
    assert sets.supports.tolist() == [5, 12, 0]
    assert sets.superset_sums[[0b001, 0b010, 0b011, 0b100]].tolist() == [5, 12, 5, 0]


# 267 of 497 items, drawn one by one, are hardly ever all different: that took for ever once.
@pytest.mark.parametrize(
    ("n_items", "longest"), [(17, 17), (1265, 36), (3, 3), (70, 64), (497, 267), (2000, 150)]
)
def test_queries_fall_into_five_classes_of_uniform_lengths(n_items, longest):
    asked = random_queries(n_items, longest=longest, n=5000, seed=1)
    lengths = np.diff(asked.offsets)
    for i in range(5):
        most = max(1, (i + 1) * longest // 5)
        here = lengths[asked.length_class == i]
        assert len(here) == 1000
        counts = np.bincount(here, minlength=most + 1)[1:]
        assert len(counts) == most
        assert np.abs(counts - 1000 / most).max() < 6 * np.sqrt(1000 / most)
    for query in sets_in(asked.offsets, asked.items)[:200]:
        assert max(query) < n_items
    assert [len(q) for q in sets_in(asked.offsets, asked.items)] == lengths.tolist()


def test_the_relative_error_is_the_papers_with_its_sanity_bound():
    records = weighted([{0}, {1}], [3000, 1], 2)
    release = weighted([{0}, {1}], [2700, 2], 2)
    asked = module.Queries(
        offsets=np.arange(6), items=np.array([0, 1, 0, 0, 1]), length_class=np.arange(5)
    )
    errors = relative_errors(records, release, asked)
    assert errors.by_class == pytest.approx((0.1, 1 / 3.001, 0.1, 0.1, 1 / 3.001))
    assert errors.answering_zero == pytest.approx((1, 1 / 3.001, 1, 1, 1 / 3.001))


def test_released_mass_and_true_sets_are_told_apart():
    records = weighted([{0}, {1, 2}], [6, 4], 4)
    release = weighted([{0}, {3}], [6, 2], 4)
    told = kept(records, release)
    assert (told.mass, told.true_sets) == (0.8, 0.75)


def test_queries_of_one_length_have_that_many_distinct_items():
    asked = queries_of_length(17, 10, n=300, seed=1)
    assert np.diff(asked.offsets).tolist() == [10] * 300
    sets = np.sort(asked.items.reshape(300, 10), axis=1)
    assert (np.diff(sets, axis=1) > 0).all()
    assert sets.max() == 16
    with pytest.raises(SettingError):
        queries_of_length(17, 18, seed=1)
