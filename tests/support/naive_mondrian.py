"""Strict Mondrian as its paper describes it, on raw values: slow, short, and on its own.

Nothing here comes from the package: values are those of the file, taxonomies are rows of text,
boxes are lists of record numbers, and one box is cut at a time, by recursion.
"""

from __future__ import annotations

import numpy as np


class Numbers:
    """A numeric column; its boxes need no state."""

    top = None

    def __init__(self, values):
        self.values = np.asarray(values, dtype=np.float64)
        self.range = np.ptp(self.values)

    def width(self, records, _):
        return np.ptp(self.values[records]) / self.range

    def parts(self, records, _, k):
        values = self.values[records]
        median = np.sort(values)[(len(values) - 1) // 2]
        for left in (values <= median, values < median):
            if min(left.sum(), (~left).sum()) >= k:
                return [(records[left], None), (records[~left], None)]
        return None

    def loss(self, records):
        return self.width(records, None)


class Categories:
    """A column of leaves, each with its way up; a box's state is (depth, label)."""

    def __init__(self, values, ways):
        """``ways`` are lists of labels from each leaf to the root."""
        number = {label: i for i, label in enumerate(sorted({x for way in ways for x in way}))}
        down = {way[0]: [number[label] for label in way[::-1]] for way in ways}
        height = max(map(len, down.values()))
        padded = {leaf: way + way[-1:] * (height - len(way)) for leaf, way in down.items()}
        self.paths = np.array([padded[value] for value in values])
        self.all = np.array(list(padded.values()))
        self.top = (0, number[ways[0][-1]])
        self.known = {}

    def leaves(self, node):
        if node not in self.known:
            self.known[node] = int((self.all[:, node[0]] == node[1]).sum())
        return self.known[node]

    def width(self, _, node):
        return self.leaves(node) / len(self.all)

    def parts(self, records, node, k):
        if self.leaves(node) == 1:
            return None
        depth = node[0] + 1
        while len(set(self.all[self.all[:, node[0]] == node[1], depth])) == 1:
            depth += 1  # a node with one child says no less than the child
        sizes = np.bincount(self.paths[records, depth])
        if sizes[sizes > 0].min() < k:
            return None
        return [
            (records[self.paths[records, depth] == label], (depth, int(label)))
            for label in np.flatnonzero(sizes)
        ]

    def loss(self, records):
        paths = self.paths[records]
        common = (paths == paths[0]).all(axis=0).sum() - 1
        n = self.leaves((int(common), int(paths[0, common])))
        return 0.0 if n == 1 else n / len(self.all)


def mondrian(columns, k):
    """Return the boxes of strict Mondrian as arrays of record numbers [Mondrian, Anonymize]."""
    boxes = []

    def anonymise(records, nodes):
        if len(records) >= k:
            widths = [
                column.width(records, node) for column, node in zip(columns, nodes, strict=True)
            ]
            for at in sorted(range(len(columns)), key=lambda at: -widths[at]):
                parts = columns[at].parts(records, nodes[at], k)
                if parts is not None:
                    for part, node in parts:
                        anonymise(part, [*nodes[:at], node, *nodes[at + 1 :]])
                    return
        boxes.append(records)

    n = len(columns[0].values if isinstance(columns[0], Numbers) else columns[0].paths)
    anonymise(np.arange(n), [column.top for column in columns])
    return boxes


def discernibility(boxes):
    """Return the sum of the squares of the boxes' sizes."""
    return sum(len(records) ** 2 for records in boxes)


def certainty_penalty(columns, boxes):
    """Return the mean loss of a record and attribute: the range of the values in its box."""
    lost = sum(len(box) * column.loss(box) for box in boxes for column in columns)
    return lost / len(columns) / sum(map(len, boxes))
