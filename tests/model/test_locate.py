"""A tree of boxes leads every record to the one box that holds it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import InternalError
from hedgerow.model import locate
from hedgerow.model.groups import Tree
from hedgerow.model.locate import (
    box_of,
    box_ranges,
    boxes_of_groups,
    check_tree,
    levels,
    node_bounds,
    split_attributes,
)
from hedgerow.model.schema import Schema
from support.box_trees import groups_of, random_tree
from support.tables import domains, grid, schema_of, values

SCHEMA = schema_of(grid(12), values(9, fan_out=3))
schemas = st.builds(lambda some: schema_of(*some), st.lists(domains, min_size=1, max_size=4))
seeds = st.integers(0, 2**32 - 1)


def sizes_of(schema: Schema) -> list[int]:
    return [attribute.domain.size for attribute in schema.attributes]


def grown(schema: Schema, seed: int, depth: int = 4, splits: float = 0.7) -> Tree:
    return random_tree(schema, np.random.default_rng(seed), depth=depth, splits=splits)


@given(schema=schemas, seed=seeds)
@settings(max_examples=80, deadline=None)
def test_every_record_is_led_to_the_only_box_that_holds_it(schema, seed):
    tree = grown(schema, seed)
    check_tree(tree, sizes_of(schema))
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, 40).astype(np.uint8) for size in sizes_of(schema)]
    ranges, boxes = box_ranges(tree, sizes_of(schema))
    holds = np.ones((40, len(boxes[0])), dtype=bool)
    for column, table, index in zip(codes, ranges, boxes, strict=True):
        holds &= column[:, None] >= table.first[index]
        holds &= column[:, None] < table.stop[index]
    assert (holds.sum(axis=1) == 1).all()
    assert np.array_equal(box_of(tree, codes), holds.argmax(axis=1))


def test_records_beyond_one_block_are_found_as_well(monkeypatch):
    tree = grown(SCHEMA, 3, splits=0.9)
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, size, 101) for size in sizes_of(SCHEMA)]
    whole = box_of(tree, codes)
    monkeypatch.setattr(locate, "_BLOCK", 7)
    assert np.array_equal(box_of(tree, codes), whole)
    assert len(set(whole.tolist())) > 3


def test_no_record_has_no_box():
    none = [np.zeros(0, np.uint8), np.zeros(0, np.uint8)]
    assert box_of(grown(SCHEMA, 1), none).shape == (0,)


def test_a_tree_of_one_node_is_one_box():
    tree = grown(SCHEMA, 1, depth=0)
    check_tree(tree, sizes_of(SCHEMA))
    assert box_of(tree, [np.array([0, 11]), np.array([8, 0])]).tolist() == [0, 0]
    assert [len(table) for table in box_ranges(tree, sizes_of(SCHEMA))[0]] == [1, 1]
    assert split_attributes(tree).tolist() == [-1]


def test_levels_and_bounds_follow_the_tree():
    tree = Tree(
        parent=np.array([-1, 0, 0, 1, 1], np.int32),
        attribute=np.array([-1, 0, 0, 1, 1], np.int32),
        first=np.array([0, 0, 5, 0, 3], np.int32),
        stop=np.array([0, 5, 12, 3, 9], np.int32),
        box=np.array([-1, -1, 2, 0, 1], np.int32),
        sizes=np.zeros(5),
    )
    check_tree(tree, [12, 9])
    assert levels(tree) == [slice(0, 1), slice(1, 3), slice(3, 5)]
    first, stop = node_bounds(tree, [12, 9])
    assert first.tolist() == [[0, 0], [0, 0], [5, 0], [0, 0], [0, 3]]
    assert stop.tolist() == [[12, 9], [5, 9], [12, 9], [5, 3], [5, 9]]
    assert split_attributes(tree).tolist() == [0, 1, -1, -1, -1]
    ranges, boxes = box_ranges(tree, [12, 9])
    assert ranges[0].stop[boxes[0]].tolist() == [5, 5, 12]
    assert ranges[1].first[boxes[1]].tolist() == [0, 3, 0]


@pytest.mark.parametrize(
    ("column", "node", "value"),
    [
        ("parent", 0, 0),
        ("parent", 1, -1),
        ("parent", 2, 4),
        ("parent", 4, 2),
        ("attribute", 0, 0),
        ("attribute", 1, 2),
        ("attribute", 1, 1),
        ("attribute", 3, -1),
        ("first", 1, 1),
        ("first", 2, 6),
        ("stop", 2, 11),
        ("stop", 3, 4),
        ("stop", 3, 0),
        ("box", 1, 3),
        ("box", 2, 0),
        ("box", 2, -1),
        ("box", 3, 7),
    ],
)
def test_a_tree_that_loses_records_is_refused(column, node, value):
    tree = Tree(
        parent=np.array([-1, 0, 0, 1, 1], np.int32),
        attribute=np.array([-1, 0, 0, 1, 1], np.int32),
        first=np.array([0, 0, 5, 0, 3], np.int32),
        stop=np.array([0, 5, 12, 3, 9], np.int32),
        box=np.array([-1, -1, 2, 0, 1], np.int32),
        sizes=np.zeros(5),
    )
    changed = getattr(tree, column).copy()
    changed[node] = value
    with pytest.raises(InternalError):
        check_tree(replace(tree, **{column: changed}), [12, 9])


def test_columns_of_a_tree_must_be_of_one_length():
    tree = grown(SCHEMA, 1)
    with pytest.raises(InternalError, match="differ in length"):
        check_tree(replace(tree, sizes=tree.sizes[1:]), sizes_of(SCHEMA))


def test_groups_know_their_boxes():
    rng = np.random.default_rng(5)
    groups = groups_of(SCHEMA, grown(SCHEMA, 5, splits=0.9), rng)
    assert len(groups.boxes[0]) > 5
    box = boxes_of_groups(groups)
    for index, of_boxes in zip(groups.index, groups.boxes, strict=True):
        assert np.array_equal(of_boxes[box], index)
    assert len({*zip(box.tolist(), groups.classes.tolist(), strict=True)}) == len(groups)


def test_a_group_in_no_box_is_refused():
    rng = np.random.default_rng(5)
    groups = groups_of(SCHEMA, grown(SCHEMA, 5, splits=0.9), rng)
    assert len(groups.boxes[0]) > 5
    moved = groups.index[0].copy()
    moved[0] = (moved[0] + 1) % len(groups.ranges[0])
    with pytest.raises(InternalError, match="no box"):
        boxes_of_groups(replace(groups, index=(moved, groups.index[1])))
    with pytest.raises(InternalError, match="without a tree"):
        boxes_of_groups(replace(groups, tree=None))
