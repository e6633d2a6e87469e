"""Records that are unique on small sets of columns, against brute force."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.evaluation.distinct import row_numbers
from hedgerow.risks.raw.subsets import CountedRows, unique_on_sets


def distinct_rows(columns):
    group, first = row_numbers(columns)
    return CountedRows.of(columns, first, np.bincount(group))


def unique_by_hand(columns, chosen):
    rows = list(zip(*(columns[at].tolist() for at in chosen), strict=True))
    return sum(1 for n in Counter(rows).values() if n == 1)


@st.composite
def tables(draw):
    n_columns = draw(st.integers(1, 5))
    n_rows = draw(st.integers(1, 40))
    values = [0, 1, 2, 40_000, 2_000_000_000]
    return [
        np.array(draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows)))
        for _ in range(n_columns)
    ]


@given(columns=tables(), compiled=st.booleans())
def test_unique_records_are_those_of_brute_force(columns, compiled):
    rows = distinct_rows(columns)
    for size in range(1, min(3, len(columns)) + 1):
        for chosen in combinations(range(len(columns)), size):
            assert rows.n_unique(chosen, compiled=compiled) == unique_by_hand(columns, chosen)


@given(columns=tables())
def test_sorting_agrees_with_counting_in_an_array(columns):
    rows = distinct_rows(columns)
    chosen = tuple(range(min(3, len(columns))))
    assert rows._unique_by_sorting(chosen) == rows.n_unique(chosen, compiled=False)


def test_many_values_of_three_columns_do_not_overflow():
    rng = np.random.default_rng(1)
    columns = [rng.permutation(70_000) for _ in range(3)]
    rows = distinct_rows(columns)
    assert rows.n_unique((0, 1, 2), compiled=False) == 70_000


def test_every_set_is_counted_where_there_are_few():
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, 4, 300) for _ in range(6)]
    found = unique_on_sets(distinct_rows(columns))
    assert found.is_complete
    assert len(found.sets) == 6 + 15 + 20
    assert all(each.unique == unique_by_hand(columns, each.columns) for each in found.sets)


def test_with_a_limit_larger_sets_extend_the_worst_ones():
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 3, 500) for _ in range(8)]
    columns += [rng.integers(0, 200, 500), rng.integers(0, 200, 500)]
    found = unique_on_sets(distinct_rows(columns), most=60)
    assert not found.is_complete
    assert len(found.sets) <= 60
    assert found.worst(2, 1)[0].columns == (8, 9)
    assert {8, 9} <= set(found.worst(3, 1)[0].columns)


def test_a_record_that_is_unique_on_a_set_is_unique_on_larger_ones():
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, 6, 400) for _ in range(5)]
    unique = {each.columns: each.unique for each in unique_on_sets(distinct_rows(columns)).sets}
    for chosen, n in unique.items():
        for smaller in combinations(chosen, len(chosen) - 1):
            assert n >= unique.get(smaller, 0)


@pytest.mark.parametrize("compiled", [False, True])
def test_rows_that_occur_many_times_are_not_unique(compiled):
    columns = [np.array([0] * 600 + [1])]
    assert distinct_rows(columns).n_unique((0,), compiled=compiled) == 1
