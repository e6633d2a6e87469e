"""Learners: weights stand for repeated records, and every degenerate table has an answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

from hedgerow.errors import DataError
from hedgerow.evaluation.examples import Examples
from hedgerow.evaluation.learners import LEARNERS, NUMERIC_BINS, predict
from hedgerow.model.table import EncodedTable
from support.tables import encoded_tables, grid, schema_of, table_of, values

SCHEMA = schema_of(values(6, 2), grid(40), values(3), classes=3)


def random_table(n: int, seed: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, attribute.domain.size, n) for attribute in SCHEMA.attributes]
    classes = np.where(codes[1] < 15, 0, np.where(codes[0] < 3, 1, 2))
    noise = rng.random(n) < 0.1
    return EncodedTable.from_codes(SCHEMA, codes, np.where(noise, rng.integers(0, 3, n), classes))


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_finds_classes_that_follow_from_the_attributes(learner):
    train, test = random_table(2000, 1), random_table(1000, 2)
    told = predict(learner, Examples.of_records(train), Examples.of_records(test))
    assert np.mean(told == test.classes) > {"bayes": 0.75, "svm": 0.75}.get(learner, 0.85)


@pytest.mark.parametrize("learner", ["tree", "bayes", "svm"])
def test_a_weight_counts_as_so_many_equal_records(learner):
    table = random_table(150, 3)
    plain = Examples.of_records(table)
    times = np.random.default_rng(4).integers(1, 5, len(plain))
    weighted = replace(plain, weights=times.astype(np.float64))
    rows = np.repeat(np.arange(len(plain)), times)
    repeated = Examples.of_records(
        EncodedTable.from_codes(SCHEMA, [codes[rows] for codes in table.codes], table.classes[rows])
    )
    asked = Examples.of_records(random_table(300, 5))
    same = predict(learner, weighted, asked) == predict(learner, repeated, asked)
    # A tree breaks ties by the order of its rows, and the machine stops within a tolerance.
    assert np.mean(same) >= {"bayes": 1.0}.get(learner, 0.97)


@settings(max_examples=25)
@given(table=encoded_tables(min_records=2))
def test_naive_bayes_is_that_of_scikit_learn(table):
    plain = Examples.of_records(table)
    sizes = [attribute.domain.size for attribute in table.schema.attributes]
    assert max(sizes) <= NUMERIC_BINS
    if len(np.unique(table.classes)) == 1:
        return
    theirs = CategoricalNB(min_categories=sizes).fit(plain.places, plain.classes)
    ours = predict("bayes", plain, plain)
    chances = theirs.predict_log_proba(plain.places)
    mine = chances[np.arange(len(plain)), np.searchsorted(theirs.classes_, ours)]
    assert np.allclose(mine, chances.max(axis=1))  # ties may go either way


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_class_or_no_record_needs_no_model(learner):
    some = table_of(SCHEMA, [(0, 1, 2, 2), (1, 1, 1, 2)])
    none = table_of(SCHEMA, [])
    asked = Examples.of_records(some)
    assert predict(learner, asked, asked).tolist() == [2, 2]
    assert predict(learner, Examples.of_records(none), asked).tolist() == [0, 0]
    assert predict(learner, asked, Examples.of_records(none)).tolist() == []


def test_learning_without_a_class_is_refused():
    plain = schema_of(grid(4), classes=None)
    examples = Examples.of_records(table_of(plain, [(1,)]))
    with pytest.raises(DataError, match="No record has a class"):
        predict("tree", examples, examples)


@given(st.integers(1, 60), st.integers(0, 99))
@settings(max_examples=25)
def test_a_sample_stands_for_all_examples(most, seed):
    plain = Examples.of_records(random_table(50, 6))
    weighted = replace(plain, weights=np.arange(50, dtype=np.float64))
    few = weighted.sampled(most, seed=seed)
    assert len(few) <= max(most, 0) or most >= 50
    assert np.isclose(few.weights.sum(), weighted.weights.sum())
    assert len(plain.sampled(most, seed=seed)) == min(most, 50)


def test_a_range_has_equal_parts_of_its_values():
    examples = Examples.of_records(table_of(SCHEMA, [(4, 10, 1, 0)]))
    row = examples.spread().toarray()[0]
    assert row[:6].tolist() == [0, 0, 0, 0, 1, 0]
    assert row[6] == 10.5 / 40
    assert row[7:].tolist() == [0, 1, 0]
