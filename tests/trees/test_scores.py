from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hedgerow.trees.scores import (
    GINI,
    GINI_UNIT,
    INFOGAIN,
    INFORMATION_UNIT,
    MAX,
    SCORES,
    gini_count,
    information_gain,
    max_class,
)

small_counts = hnp.arrays(
    np.int64,
    hnp.array_shapes(min_dims=3, max_dims=3, min_side=1, max_side=4),
    elements=st.integers(0, 40),
)


def neighbours(counts):
    """Every table with one more record in the first candidate."""
    for child, label in itertools.product(range(counts.shape[1]), range(counts.shape[2])):
        more = counts.copy()
        more[:, child, label] += 1
        yield more


@pytest.mark.parametrize("score", SCORES.values(), ids=list(SCORES))
@given(counts=small_counts)
def test_one_record_moves_a_score_by_at_most_its_sensitivity(score, counts):
    before = score.of(counts)
    for more in neighbours(counts):
        moved = score.of(more) - before
        assert (np.abs(moved) <= score.sensitivity).all()
        if score.monotone:
            assert (moved >= 0).all()


@pytest.mark.parametrize("score", [GINI, INFOGAIN], ids=lambda score: score.name)
def test_sensitivities_hold_exhaustively_for_few_records(score):
    cells = np.array(list(itertools.product(range(4), repeat=4)), dtype=np.int64)
    counts = cells.reshape(-1, 2, 2)
    before = score.of(counts)
    largest = max(int(np.abs(score.of(more) - before).max()) for more in neighbours(counts))
    assert largest <= score.sensitivity
    # The bound is not loose: half of it would be broken.
    assert largest > score.sensitivity / 2


def partitions(n):
    """Every way to name n things so that only equal names matter."""
    names = [[0]]
    for _ in range(n - 1):
        names = [[*each, name] for each in names for name in range(max(each) + 2)]
    return np.array(names)


@pytest.mark.parametrize("n", range(1, 6))
def test_information_gain_of_few_records_moves_by_one_bit_at_most_in_any_table(n):
    """Every table of n + 1 records, up to the names of children and classes, and all but the last.

    The finite part of the proof for any number of either (docs/privacy.md, "Scores").
    """
    names = partitions(n + 1)
    pairs = np.array(list(itertools.product(range(len(names)), repeat=2)))
    child, label = names[pairs[:, 0]], names[pairs[:, 1]]
    table = np.arange(len(pairs))
    counts = np.zeros((len(pairs), n + 1, n + 1), dtype=np.int64)
    for record in range(n):
        counts[table, child[:, record], label[:, record]] += 1
    before = information_gain(counts)
    counts[table, child[:, n], label[:, n]] += 1
    moved = np.abs(information_gain(counts) - before).max() * float(INFORMATION_UNIT)
    chance = 1 / (n + 1)
    coin = -chance * np.log2(chance) - (1 - chance) * np.log2(1 - chance)
    assert moved == pytest.approx(coin, abs=1e-8)
    assert moved <= 1


def test_half_the_sensitivity_of_max_would_be_broken():
    counts = np.zeros((1, 2, 2), dtype=np.int64)
    assert max(int(max_class(more)[0]) for more in neighbours(counts)) > MAX.sensitivity / 2


@given(counts=small_counts)
def test_information_gain_is_the_mutual_information_of_child_and_class(counts):
    table = counts[0].astype(float)
    n = table.sum()
    expected = 0.0
    for row, label in itertools.product(range(table.shape[0]), range(table.shape[1])):
        if table[row, label]:
            joint = table[row, label] / n
            expected += joint * np.log2(joint / (table[row].sum() / n * table[:, label].sum() / n))
    assert float(information_gain(counts)[0] * INFORMATION_UNIT) == pytest.approx(
        expected, abs=1e-8
    )


@given(counts=small_counts)
def test_the_gini_count_is_what_random_guessing_gets_right(counts):
    expected = sum(
        (
            sum(Fraction(int(n)) ** 2 for n in child) / int(child.sum())
            for child in counts[0]
            if child.sum()
        ),
        Fraction(0),
    )
    assert abs(int(gini_count(counts)[0]) * GINI_UNIT - expected) <= GINI_UNIT


def test_scores_of_empty_candidates_are_zero():
    nothing = np.zeros((3, 2, 4), dtype=np.int64)
    for score in SCORES.values():
        assert score.of(nothing).tolist() == [0, 0, 0]
