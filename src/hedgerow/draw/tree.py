"""The first levels of the tree of boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.pictures import Branch, Branches, shortened
from hedgerow.model.groups import Tree
from hedgerow.model.locate import levels, split_attributes
from hedgerow.model.schema import Schema

MOST_LEVELS = 4
MOST_NODES = 80
MOST_CHILDREN = 24
"""Maximum number of children drawn per node, the largest first; the others are only counted."""


@dataclass(frozen=True, kw_only=True)
class TreeRow:
    """One node: its range, its noisy size and the attribute that splits it.

    A row with ``n_more`` above 0 stands for that number of smaller siblings that are not drawn.
    """

    attribute: str
    label: str
    branches: Branches
    size: int
    percent: float
    split_by: str
    n_boxes: int
    is_open: bool
    n_more: int = 0


@dataclass(frozen=True, kw_only=True)
class TreePicture:
    """The first levels of a tree."""

    rows: tuple[TreeRow, ...]
    n_boxes: int
    n_levels: int
    n_not_drawn: int


def tree_picture(schema: Schema, tree: Tree) -> TreePicture:
    """Return the first levels of the tree; larger nodes are expanded first."""
    drawing = _Drawing(schema, tree)
    rows = tuple(drawing.rows())
    return TreePicture(
        rows=rows,
        n_boxes=int(drawing.n_boxes[0]),
        n_levels=len(levels(tree)) - 1,
        n_not_drawn=len(tree) - sum(not row.n_more for row in rows),
    )


class _Drawing:
    def __init__(self, schema: Schema, tree: Tree) -> None:
        self.schema, self.tree = schema, tree
        self.sizes = np.maximum(tree.sizes, 0.0)
        self.splits_by = split_attributes(tree)
        self.n_boxes = _boxes_below(tree)
        self.shown = self._opened()

    def _opened(self) -> dict[int, NDArray[np.int64]]:
        """Return the nodes that are drawn expanded, with the children that are drawn."""
        shown: dict[int, NDArray[np.int64]] = {}
        n_drawn, row = 1, np.zeros(1, dtype=np.int64)
        for _ in range(MOST_LEVELS):
            after: list[NDArray[np.int64]] = []
            for node in row[np.argsort(-self.sizes[row], kind="stable")].tolist():
                children = self._largest_children(node)
                if len(children) and n_drawn + len(children) <= MOST_NODES:
                    shown[node] = children
                    after.append(children)
                    n_drawn += len(children)
            row = np.concatenate(after) if after else np.zeros(0, dtype=np.int64)
        return shown

    def _largest_children(self, node: int) -> NDArray[np.int64]:
        children = np.flatnonzero(self.tree.parent == node)
        largest = np.argsort(-self.sizes[children], kind="stable")[:MOST_CHILDREN]
        return np.sort(children[largest])

    def rows(self) -> Iterator[TreeRow]:
        after: dict[Branch, Branch] = {"tee": "line", "elbow": "blank"}
        stack: list[tuple[int, Branches]] = [(0, ())]
        while stack:
            node, branches = stack.pop()
            if node < 0:
                yield self._more(-node - 1, branches)
                continue
            yield self._row(node, branches)
            if node in self.shown:
                before = tuple(after.get(branch, branch) for branch in branches)
                below = self.shown[node].tolist()
                if len(below) < np.count_nonzero(self.tree.parent == node):
                    below.append(-node - 1)
                stack.extend(
                    (child, (*before, "tee" if rank else "elbow"))
                    for rank, child in enumerate(reversed(below))
                )

    def _row(self, node: int, branches: Branches) -> TreeRow:
        tree, attributes = self.tree, self.schema.attributes
        attribute, split_by = int(tree.attribute[node]), int(self.splits_by[node])
        label = "all records"
        if attribute >= 0:
            span = int(tree.first[node]), int(tree.stop[node])
            label = attributes[attribute].domain.label(*span)
        return TreeRow(
            attribute=shortened(attributes[attribute].name, 30) if attribute >= 0 else "",
            label=shortened(label, 40),
            branches=branches,
            size=round(float(self.sizes[node])),
            percent=self._percent(float(self.sizes[node])),
            split_by=shortened(attributes[split_by].name, 30) if split_by >= 0 else "",
            n_boxes=int(self.n_boxes[node]),
            is_open=node in self.shown,
        )

    def _more(self, node: int, branches: Branches) -> TreeRow:
        """Return a row that sums up the children that are not drawn."""
        children = np.setdiff1d(np.flatnonzero(self.tree.parent == node), self.shown[node])
        size = float(self.sizes[children].sum())
        return TreeRow(
            attribute="",
            label="",
            branches=branches,
            size=round(size),
            percent=self._percent(size),
            split_by="",
            n_boxes=int(self.n_boxes[children].sum()),
            is_open=False,
            n_more=len(children),
        )

    def _percent(self, size: float) -> float:
        total = max(float(self.sizes[0]), float(self.sizes.max()), 1.0)
        return round(100 * size / total, 1)


def _boxes_below(tree: Tree) -> NDArray[np.int64]:
    """Return the number of boxes below each node, 1 for a box itself."""
    n_boxes = (tree.box >= 0).astype(np.int64)
    for level in reversed(levels(tree)[1:]):
        np.add.at(n_boxes, tree.parent[level], n_boxes[level])
    return n_boxes
