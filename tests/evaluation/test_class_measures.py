"""Measures beside accuracy equal scikit-learn's, and floors are what they are called."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, recall_score, roc_auc_score

from hedgerow.evaluation.class_measures import Answered, always, auc, class_measures, mean_auc
from hedgerow.evaluation.classification import majority_measures, raw_measures, release_measures
from hedgerow.evaluation.examples import Examples
from hedgerow.evaluation.learners import (
    BOOSTED_BINS,
    LEARNERS,
    _binned,
    _log_odds,
    answered_by,
    predict,
)
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.table import EncodedTable
from support.tables import grid, schema_of, values


@st.composite
def answers(draw, most_classes=5):
    """Classes of rows, all of them there, and scores with many ties."""
    n_classes = draw(st.integers(2, most_classes))
    n = draw(st.integers(n_classes, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    scores = rng.integers(0, draw(st.integers(1, 12)), (n, n_classes)) / 7
    return truth, scores, rng.integers(0, n_classes, n)


@settings(max_examples=25)
@given(answers())
def test_every_measure_is_that_of_scikit_learn(found):
    truth, scores, told = found
    n_classes = scores.shape[1]
    measured = class_measures(truth, Answered(classes=told, scores=scores), usual=0)
    areas = [roc_auc_score(truth == at, scores[:, at]) for at in range(n_classes)]
    assert measured.auc == pytest.approx(np.mean(areas))
    assert measured.balanced == pytest.approx(balanced_accuracy_score(truth, told))
    recalls = recall_score(truth, told, average=None, labels=range(n_classes), zero_division=0)
    assert list(measured.recalls) == pytest.approx(recalls.tolist())
    assert measured.rare == pytest.approx(np.mean(recalls[1:]))
    assert measured.accuracy == pytest.approx(np.mean(truth == told))


def test_of_two_classes_it_is_the_area_that_everybody_means():
    rng = np.random.default_rng(1)
    truth = (rng.random(500) < 0.06).astype(np.int64)
    chance = np.clip(0.3 * truth + rng.normal(0.3, 0.2, 500), 0, 1)
    scores = np.stack([1 - chance, chance], axis=1)
    assert mean_auc(truth, scores) == pytest.approx(roc_auc_score(truth, chance))


def test_the_mean_over_several_classes_is_that_of_one_against_the_rest():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 4, 300)
    chances = rng.random((300, 4)) + np.eye(4)[truth]
    chances /= chances.sum(axis=1, keepdims=True)
    theirs = roc_auc_score(truth, chances, multi_class="ovr", average="macro")
    assert mean_auc(truth, chances) == pytest.approx(theirs)


def test_who_always_says_one_class_ranks_like_a_coin_and_finds_no_other():
    truth = np.array([0] * 94 + [1] * 4 + [2] * 2)
    floor = class_measures(truth, always(0, 100, 3), usual=0)
    assert (floor.accuracy, floor.auc, floor.rare) == (0.94, 0.5, 0.0)
    assert floor.balanced == pytest.approx(1 / 3)


def test_rows_of_one_class_only_have_no_ranking():
    one = np.ones(5, dtype=np.int64)
    measured = class_measures(one, always(0, 5, 3), usual=1)
    assert measured.auc is None
    assert measured.rare is None
    assert measured.recalls == (None, 0.0, None)


def test_a_perfect_and_a_reversed_ranking_are_one_and_nought():
    positive = np.array([True, False, False, True])
    scores = np.array([3.0, 1.0, 2.0, 4.0])
    assert auc(positive, scores) == 1.0
    assert auc(positive, -scores) == 0.0


def rare_table(n: int = 3000, seed: int = 0) -> EncodedTable:
    """A class of about 6 in 100 and one of about 20 that follow from numbers, of four classes."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 50, n), rng.integers(0, 6, n)
    classes = np.where(a >= 47, 2, np.where((a < 12) & (b < 4), 1, 0))
    return EncodedTable.from_codes(schema_of(grid(50), values(6), classes=4), [a, b], classes)


def exact_cut(table: EncodedTable, *borders: list[int]) -> Groups:
    """The boxes between some borders, with their true counts by class."""
    places = [
        np.searchsorted(each, codes, side="right") - 1
        for each, codes in zip(borders, table.codes, strict=True)
    ]
    rows, counts = np.unique(np.stack([*places, table.classes]), axis=1, return_counts=True)
    return Groups(
        ranges=tuple(Ranges.of(list(pairwise(each))) for each in borders),
        index=tuple(row.astype(np.int32) for row in rows[:-1]),
        classes=rows[-1].astype(np.int32),
        counts=counts.astype(np.int64),
        is_cut=True,
    )


@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_score_as_they_answer_and_put_unseen_classes_last(learner):
    train, test = rare_table(), rare_table(seed=1)
    learnt, asked = Examples.of_records(train), Examples.of_records(test)
    told = answered_by(learner, learnt, asked)
    assert told.scores.shape == (len(test), 4)
    assert np.array_equal(told.scores.argmax(axis=1), told.classes)
    assert np.array_equal(told.classes, predict(learner, learnt, asked))
    assert (told.scores[:, 3] < told.scores[:, :3].min()).all()
    measured = class_measures(test.classes.astype(np.int64), told, usual=0)
    assert measured.auc is not None
    assert measured.auc > 0.8


def test_log_odds_are_those_of_the_chances():
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 3, (200, 4))
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert np.allclose(_log_odds(scores), np.log(chances / (1 - chances)))
    far = np.array([[0.0, -800.0], [0.0, -900.0]])  # chances would be 1 and 0 in both rows
    odds = _log_odds(far)
    assert odds[0, 1] > odds[1, 1]
    assert odds[0, 0] < odds[1, 0]


def test_floor_release_and_ceiling_are_in_order_where_there_is_something_to_learn():
    table = rare_table()
    floor = majority_measures(train=table, test=table)
    ceiling = raw_measures(train=table, test=table, learners=("tree",))["tree"]
    groups = exact_cut(table, [0, 12, 47, 50], [0, 4, 6])
    told = release_measures(groups, test=table, usual=floor.usual, learners=("tree",))["tree"]
    assert floor.usual == 0
    assert floor.balanced < told.balanced <= ceiling.balanced == 1.0
    assert floor.auc == 0.5 < told.auc <= ceiling.auc == 1.0
    assert told.rare == 1.0


def test_long_columns_of_weighted_examples_are_binned_in_order_and_alike():
    rng = np.random.default_rng(7)
    schema = schema_of(grid(2000), grid(40))
    table = EncodedTable.from_codes(
        schema, [rng.integers(0, 2000, 900), rng.integers(0, 40, 900)], rng.integers(0, 2, 900)
    )
    examples = replace(Examples.of_records(table), weights=rng.integers(1, 9, 900).astype(float))
    known, asked = _binned(examples, examples)
    assert np.array_equal(known, asked)
    assert np.array_equal(known[:, 1], examples.places[:, 1])
    assert known[:, 0].max() < BOOSTED_BINS
    order = np.argsort(examples.places[:, 0], kind="stable")
    assert (np.diff(known[order, 0]) >= 0).all()
    weight = np.bincount(known[:, 0], examples.weights)
    assert weight.max() < 8 * weight.mean()
