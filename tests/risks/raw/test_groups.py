"""k, l and t of groups, against brute force and printed examples."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.risks.raw.groups import diversity_of, size_bars


def moved_on_a_line(p, q):
    """Return the earth mover's distance of two distributions over the same ordered values."""
    return sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(len(p))) / (len(p) - 1)


def shares(values, n_values):
    counted = Counter(values)
    return [counted[v] / len(values) for v in range(n_values)]


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=40),
    ordered=st.booleans(),
)
def test_l_and_t_are_those_of_brute_force(rows, ordered):
    order = sorted({group for group, _ in rows})
    group = np.array([order.index(each) for each, _ in rows])
    values = np.array([value for _, value in rows])
    found = diversity_of("d", group, values, n_values=6, ordered=ordered)
    inside = [values[group == each].tolist() for each in range(len(order))]
    overall = shares(values.tolist(), 6)
    assert found.distinct == min(len(set(each)) for each in inside)
    entropies = [-sum(p * math.log(p) for p in shares(each, 6) if p > 0) for each in inside]
    assert found.entropy == pytest.approx(math.exp(min(entropies)))
    distances = [
        moved_on_a_line(shares(each, 6), overall)
        if ordered
        else sum(abs(p - q) for p, q in zip(shares(each, 6), overall, strict=True)) / 2
        for each in inside
    ]
    assert found.closeness == pytest.approx(max(distances))
    alone = sum(len(each) for each in inside if len(set(each)) == 1)
    assert found.homogeneous == pytest.approx(alone / len(rows))


@pytest.mark.parametrize(("chosen", "printed"), [([0, 1, 2], 0.375), ([3, 5, 8], 0.167)])
def test_the_distance_by_hand_is_as_printed(chosen, printed):
    # [LiLV07], Sec. 3: salaries of 3k to 11k; {3k, 4k, 5k} is .375 away, {6k, 8k, 11k} .167.
    assert moved_on_a_line(shares(chosen, 9), [1 / 9] * 9) == pytest.approx(printed, abs=5e-4)


def test_t_of_the_printed_table_is_that_of_its_worst_group():
    salaries = np.arange(9)
    group = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1])  # the three groups of the printed table
    found = diversity_of("salary", group, salaries, n_values=9, ordered=True)
    assert found.closeness == pytest.approx(0.375)


@given(sizes=st.lists(st.integers(1, 300), min_size=1, max_size=50))
def test_bars_hold_every_group_and_record_once(sizes):
    bars = size_bars(np.array(sizes))
    assert sum(bar.groups for bar in bars) == len(sizes)
    assert sum(bar.records for bar in bars) == sum(sizes)
