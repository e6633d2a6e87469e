"""A tree learnt from boxes classifies records by the boxes they lie in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import ReleaseError
from hedgerow.evaluation.classification import tree_accuracy
from hedgerow.model.groups import Groups, Tree
from hedgerow.model.locate import box_ranges
from hedgerow.model.table import EncodedTable
from support.tables import grid, schema_of

SCHEMA = schema_of(grid(10), grid(10))


@pytest.fixture
def groups() -> Groups:
    """Three boxes: the left half; the right half below and above 7. Classes 0, 1, 0."""
    tree = Tree(
        parent=np.array([-1, 0, 0, 2, 2], np.int32),
        attribute=np.array([-1, 0, 0, 1, 1], np.int32),
        first=np.array([0, 0, 5, 0, 7], np.int32),
        stop=np.array([0, 5, 10, 7, 10], np.int32),
        box=np.array([-1, 0, -1, 1, 2], np.int32),
        sizes=np.zeros(5),
    )
    ranges, boxes = box_ranges(tree, [10, 10])
    return Groups(
        ranges=ranges,
        index=boxes,
        classes=np.array([0, 1, 0], np.int32),
        counts=np.array([50, 40, 30], np.int64),
        is_cut=False,
        tree=tree,
        boxes=boxes,
    )


@pytest.fixture
def table() -> EncodedTable:
    left, right = (each.ravel() for each in np.meshgrid(np.arange(10), np.arange(10)))
    return EncodedTable.from_codes(SCHEMA, [left, right], ((left >= 5) & (right < 7)).astype(int))


def test_records_are_classified_by_their_own_box(groups, table):
    found = tree_accuracy(groups, train=table, test=table)
    assert found.release == 1.0
    assert found.floor == 0.65


def test_boxes_without_a_tree_cannot_be_evaluated(groups, table):
    with pytest.raises(ReleaseError, match="no tree"):
        tree_accuracy(replace(groups, tree=None, boxes=None), train=table, test=table)
