"""Prefixes, substrings and patterns equal a count by hand, whichever way they are counted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.evaluation import grams as module
from hedgerow.evaluation.grams import gram_counts, top_patterns
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import offsets_of
from support.sequences import sequences

N_ITEMS = 3
weighted = sequences(n_items=N_ITEMS, min_records=1).flatmap(
    lambda made: st.tuples(
        st.just(made), st.lists(st.integers(0, 5), min_size=len(made), max_size=len(made))
    )
)


def held(records, weights):
    return WeightedSets(
        n_items=N_ITEMS,
        offsets=offsets_of(np.array([len(each) for each in records])),
        items=np.array([item for each in records for item in each], dtype=np.int64),
        weights=np.array(weights, dtype=np.int64),
    )


def name_of(run):
    return sum(item * N_ITEMS**place for place, item in enumerate(reversed(run)))


@pytest.fixture(params=["by name", "sorted"], autouse=True)
def way(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", module.DENSE if request.param == "by name" else 0)
        yield


@settings(max_examples=40)
@given(made=weighted, n=st.integers(1, 4))
def test_prefixes_and_substrings(made, n):
    begun, anywhere = Counter(), Counter()
    for each, weight in zip(*made, strict=True):
        for start in range(len(each) - n + 1):
            anywhere[name_of(each[start : start + n])] += weight
            if not start:
                begun[name_of(each[:n])] += weight
    for true, begins in ((begun, True), (anywhere, False)):
        names, counts = gram_counts(held(*made), n, begins=begins)
        assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == true
        assert names.tolist() == sorted(names.tolist())


@settings(max_examples=40)
@given(made=weighted, k=st.integers(1, 12))
def test_the_most_frequent_patterns(made, k):
    supports = Counter()
    for each, weight in zip(*made, strict=True):
        stretches = [(a, b) for a in range(len(each)) for b in range(a + 1, len(each) + 1)]
        for run in {each[a:b] for a, b in stretches}:
            supports[run] += weight
    ordered = sorted(
        ((run, n) for run, n in supports.items() if n), key=lambda entry: (-entry[1], entry[0])
    )
    assert list(top_patterns(held(*made), k).items()) == ordered[:k]
