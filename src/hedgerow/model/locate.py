"""Location of records in a tree of boxes, and the ranges of its boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.arrays import Columns
from hedgerow.model.groups import Groups, Ranges, Tree

_BLOCK = 1 << 16  # records walked at a time, so that the work stays in the cache


def box_of(tree: Tree, codes: Columns) -> NDArray[np.int32]:
    """Return the box of each record, from its codes by column.

    All records go down the tree together, one level at a time. The tree must be sound
    (:func:`check_tree`) and the codes inside their domains.

    Privacy: none is added; the result is as confidential as the codes.
    """
    n_records = len(codes[0]) if codes else 0
    found = np.empty(n_records, dtype=np.int32)
    walk = _Walk(tree)
    for start in range(0, n_records, _BLOCK):
        block = slice(start, start + _BLOCK)
        found[block] = walk.boxes(np.stack([column[block] for column in codes]))
    return found


class _Walk:
    """The children of every node, found by a key of their parent and first code."""

    def __init__(self, tree: Tree) -> None:
        self.box = tree.box
        self.width = int(tree.stop.max(initial=0)) + 1
        keys = tree.parent[1:].astype(np.int64) * self.width + tree.first[1:]
        self.order = np.argsort(keys, kind="stable") + 1
        self.keys = keys[self.order - 1]
        self.splits_by = split_attributes(tree)

    def boxes(self, codes: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        node = np.zeros(codes.shape[1], dtype=np.int64)
        walking = np.arange(codes.shape[1]) if self.box[0] < 0 else np.zeros(0, dtype=np.int64)
        while walking.size:
            here = node[walking]
            key = here * self.width + codes[self.splits_by[here], walking].astype(np.int64)
            child = self.order[np.searchsorted(self.keys, key, side="right") - 1]
            node[walking] = child
            walking = walking[self.box[child] < 0]
        return self.box[node]


def split_attributes(tree: Tree) -> NDArray[np.int32]:
    """Return the attribute that splits each node, -1 for boxes."""
    splits_by = np.full(len(tree), -1, dtype=np.int32)
    splits_by[tree.parent[1:]] = tree.attribute[1:]
    return splits_by


def levels(tree: Tree) -> list[slice]:
    """Return the nodes of each level, from the root down."""
    found = [slice(0, 1)]
    while found[-1].stop < len(tree):
        start = found[-1].stop
        stop = start + int(np.count_nonzero(tree.parent[start:] < start))
        above = tree.parent[start:stop]
        if stop == start or above.min() < found[-1].start or above.max() >= start:
            raise InternalError("The nodes of a tree are not numbered level by level.")
        found.append(slice(start, stop))
    return found


def node_bounds(tree: Tree, sizes: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the start and end of the nodes' ranges: two arrays, by node and attribute.

    ``sizes`` are the sizes of the attributes' domains.
    """
    first = np.zeros((len(tree), len(sizes)), dtype=np.int32)
    stop = np.tile(np.array(sizes, dtype=np.int32), (len(tree), 1))
    for level in levels(tree)[1:]:
        nodes = np.arange(level.start, level.stop)
        parents, attributes = tree.parent[level], tree.attribute[level]
        first[level], stop[level] = first[parents], stop[parents]
        first[nodes, attributes] = tree.first[level]
        stop[nodes, attributes] = tree.stop[level]
    return first, stop


def box_bounds(tree: Tree, sizes: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the start and end of each box (boxes, attributes), in the order of boxes."""
    first, stop = node_bounds(tree, sizes)
    leaves = np.flatnonzero(tree.box >= 0)
    leaves = leaves[np.argsort(tree.box[leaves])]
    return first[leaves], stop[leaves]


def box_ranges(
    tree: Tree, sizes: Sequence[int]
) -> tuple[tuple[Ranges, ...], tuple[NDArray[np.int32], ...]]:
    """Return, per attribute, the distinct ranges of the boxes and the index of each box."""
    first, stop = box_bounds(tree, sizes)
    tables: list[Ranges] = []
    index: list[NDArray[np.int32]] = []
    for at, size in enumerate(sizes):
        keys = first[:, at].astype(np.int64) * (size + 1) + stop[:, at]
        distinct, which = np.unique(keys, return_inverse=True)
        ends = np.divmod(distinct, size + 1)
        tables.append(Ranges(first=ends[0].astype(np.int32), stop=ends[1].astype(np.int32)))
        index.append(which.astype(np.int32))
    return tuple(tables), tuple(index)


def check_tree(tree: Tree, sizes: Sequence[int]) -> None:
    """Raise unless the tree leads every record of the domain to exactly one box."""
    n = len(tree)
    columns = (tree.attribute, tree.first, tree.stop, tree.box, tree.sizes)
    if n == 0 or any(len(column) != n for column in columns):
        raise InternalError("The columns of a tree are empty or differ in length.")
    below_root = tree.attribute[1:]
    if tree.parent[0] != -1 or tree.attribute[0] != -1 or (tree.parent[1:] < 0).any():
        raise InternalError("A tree does not have exactly one root.")
    if ((below_root < 0) | (below_root >= len(sizes))).any():
        raise InternalError("A tree splits an attribute that does not exist.")
    levels(tree)
    _check_boxes(tree)
    _check_children(tree, sizes)


def _check_boxes(tree: Tree) -> None:
    """Check that the nodes without children are the boxes, numbered 0, 1, 2 and so on."""
    inner = np.zeros(len(tree), dtype=np.bool_)
    inner[tree.parent[1:]] = True
    numbers = np.sort(tree.box[~inner])
    if (tree.box[inner] != -1).any() or not np.array_equal(numbers, np.arange(len(numbers))):
        raise InternalError("The boxes of a tree are not the nodes without children.")


def _check_children(tree: Tree, sizes: Sequence[int]) -> None:
    """Check that the children of a node tile its range of one attribute."""
    if len(tree) == 1:
        return
    first, stop = node_bounds(tree, sizes)
    parent, attribute = tree.parent[1:], tree.attribute[1:]
    low, high = first[parent, attribute], stop[parent, attribute]
    begins = np.append(True, parent[1:] != parent[:-1])
    ends = np.append(begins[1:], True)
    after = np.append(low[:1], tree.stop[1:-1])  # end of the previous sibling
    sound = (
        len(np.unique(parent)) == np.count_nonzero(begins)
        and (tree.first[1:] < tree.stop[1:]).all()
        and (tree.first[1:] == np.where(begins, low, after)).all()
        and (tree.stop[1:] == high)[ends].all()
        and (begins[1:] | (attribute[1:] == attribute[:-1])).all()
    )
    if not sound:
        raise InternalError("The children of a node do not tile it.")


def boxes_of_groups(groups: Groups) -> NDArray[np.int32]:
    """Return the box of each group of a release that has a tree, or raise if it has none."""
    if groups.tree is None or groups.boxes is None:
        raise InternalError("A release without a tree has no numbered boxes.")
    corners = [
        ranges.first[index] for ranges, index in zip(groups.ranges, groups.index, strict=True)
    ]
    box = box_of(groups.tree, corners)
    for index, of_boxes in zip(groups.index, groups.boxes, strict=True):
        if not np.array_equal(of_boxes[box], index):
            raise InternalError("A group is in no box of its release.")
    return box
