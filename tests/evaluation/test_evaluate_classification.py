"""Accuracy of models learnt from a release: by boxes, by records, beside floor and ceiling."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import DataError, ReleaseError
from hedgerow.evaluation.classification import (
    accuracies,
    majority_accuracy,
    raw_accuracies,
    release_accuracies,
)
from hedgerow.evaluation.learners import LEARNERS
from hedgerow.evaluation.placing import drawn, is_placed, is_pointlike, places, rows_of
from hedgerow.model.groups import Groups, LeafTable, Ranges, Tree
from hedgerow.model.table import EncodedTable
from support.tables import grid, schema_of, table_of

SCHEMA = schema_of(grid(8), grid(8))


@pytest.fixture
def table() -> EncodedTable:
    """All points of a square; class 1 right of 4."""
    left, right = (each.ravel() for each in np.meshgrid(np.arange(8), np.arange(8)))
    return EncodedTable.from_codes(SCHEMA, [left, right], (left >= 4).astype(int))


@pytest.fixture
def cut() -> Groups:
    """The square cut at 4 and not at all: 32 records a side."""
    return Groups(
        ranges=(Ranges.of([(0, 4), (4, 8)]), Ranges.of([(0, 8)])),
        index=(np.array([0, 1], np.int32), np.array([0, 0], np.int32)),
        classes=np.array([0, 1], np.int32),
        counts=np.array([32, 32], np.int64),
        is_cut=True,
    )


def cut_at_four() -> Tree:
    """A tree that cuts the square at 4."""
    return Tree(
        parent=np.array([-1, 0, 0], np.int32),
        attribute=np.array([-1, 0, 0], np.int32),
        first=np.array([0, 0, 4], np.int32),
        stop=np.array([0, 4, 8], np.int32),
        box=np.array([-1, 0, 1], np.int32),
        sizes=np.array([64.0, 32.0, 32.0]),
    )


@pytest.fixture
def points() -> Groups:
    """Synthetic records in place of the square: four points with counts."""
    return Groups(
        ranges=(Ranges.of([(1, 2), (6, 7)]), Ranges.of([(2, 3), (5, 6)])),
        index=(np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)),
        classes=np.array([0, 0, 1, 1], np.int32),
        counts=np.array([50_000_000] * 4, np.int64),
        is_cut=False,
    )


def test_a_perfect_cut_teaches_all_there_is(cut, table):
    for learner, told in accuracies(cut, train=table, test=table).items():
        assert told.floor == 0.5
        assert told.release == 1.0, learner
        assert told.ceiling >= 0.9, learner


@pytest.mark.parametrize("by", ["boxes", "records"])
def test_both_ways_to_learn_from_boxes_agree_where_classes_are_apart(cut, table, by):
    told = release_accuracies(cut, test=table, by=by)
    assert set(told) == set(LEARNERS)
    assert min(told.values()) == 1.0


def test_points_are_learnt_from_by_weight_and_test_rows_stay_as_they_are(points, table):
    # Two hundred million records would not fit: nothing is multiplied out.
    assert is_pointlike(points)
    assert not is_placed(points)
    told = release_accuracies(points, test=table, learners=("tree", "svm"))
    assert min(told.values()) == 1.0


def test_loose_boxes_are_not_learnt_from_by_boxes(points, table):
    with pytest.raises(ReleaseError, match="no tree"):
        release_accuracies(points, test=table, by="boxes")
    with pytest.raises(ReleaseError, match="no tree"):
        places(points, table)


def test_the_floor_is_what_the_training_rows_say(table):
    mostly_one = rows_of(table, np.flatnonzero(table.classes == 1))
    assert majority_accuracy(train=mostly_one, test=table) == 0.5
    assert raw_accuracies(train=mostly_one, test=table, learners=["tree"]) == {"tree": 0.5}


def test_tables_without_a_class_cannot_be_classified(cut):
    plain = table_of(schema_of(grid(8), grid(8), classes=None), [(1, 2)])
    with pytest.raises(DataError, match="no records with a class"):
        release_accuracies(cut, test=plain)


def test_drawn_records_lie_in_their_boxes(cut, table):
    records = drawn(cut, table.schema, seed=3)
    assert len(records) == 64
    assert ((records.codes[0] >= 4) == records.classes).all()
    assert len(drawn(cut, table.schema, most=10)) == 10


def test_a_leaf_table_teaches_by_its_boxes_and_the_release_by_its_records(points, table):
    half = LeafTable(tree=cut_at_four(), counts=np.array([[30, 2], [3, 29]]), share=Fraction(1))
    wrong = replace(half, counts=half.counts[::-1])
    for leaves, of_boxes in ((half, 1.0), (wrong, 0.0)):
        release = replace(points, leaves=leaves)
        assert release_accuracies(release, test=table, learners=("tree",)) == {"tree": 1.0}
        by_boxes = release_accuracies(release, test=table, learners=("tree",), by="boxes")
        assert by_boxes == {"tree": of_boxes}
