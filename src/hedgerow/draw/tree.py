"""The tree of boxes: its first levels as rows, or single nodes with the nodes below them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.pictures import Branch, Branches, shortened
from hedgerow.errors import InputError
from hedgerow.model.groups import Tree
from hedgerow.model.locate import levels, split_attributes
from hedgerow.model.schema import Schema

MOST_LEVELS = 4
MOST_NODES = 80
MOST_CHILDREN = 24
"""Maximum number of children drawn per node, the largest first; the others are only counted."""

MOST_BELOW = 60
"""The same for a single node."""

LONGEST_NAME, LONGEST_RANGE = 40, 60


class NodeFacts(TypedDict):
    """Texts and figures of one node of a tree."""

    attribute: str
    label: str
    size: int
    percent: float
    split_by: str
    n_boxes: int


@dataclass(frozen=True, kw_only=True)
class BoxNode:
    """One node with the nodes below it; ``n_more`` is the number of those that are omitted."""

    number: int
    attribute: str
    label: str
    size: int
    percent: float
    split_by: str
    n_boxes: int
    below: tuple[BoxNode, ...]
    n_more: int


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
        n_boxes=int(drawing.nodes.n_boxes[0]),
        n_levels=len(levels(tree)) - 1,
        n_not_drawn=len(tree) - sum(not row.n_more for row in rows),
    )


def box_node(schema: Schema, tree: Tree, number: int = 0, *, depth: int = 1) -> BoxNode:
    """Return a node of the tree with the nodes below it down to a depth, larger ones first."""
    if not 0 <= number < len(tree):
        raise InputError("The tree has no such node.", where="node", do="Load the page again.")
    return _box_node(_Nodes(schema=schema, tree=tree), number, depth)


def _box_node(nodes: _Nodes, number: int, depth: int) -> BoxNode:
    children = nodes.children(number) if depth else np.zeros(0, dtype=np.int64)
    shown = children[:MOST_BELOW].tolist()
    return BoxNode(
        number=number,
        **nodes.facts(number),
        below=tuple(_box_node(nodes, child, depth - 1) for child in shown),
        n_more=len(children) - len(shown),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Nodes:
    schema: Schema
    tree: Tree

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        return np.maximum(self.tree.sizes, 0.0)

    @cached_property
    def splits_by(self) -> NDArray[np.int64]:
        return split_attributes(self.tree).astype(np.int64)

    @cached_property
    def n_boxes(self) -> NDArray[np.int64]:
        return _boxes_below(self.tree)

    def children(self, node: int) -> NDArray[np.int64]:
        """Return the children of a node, the largest first."""
        children = np.flatnonzero(self.tree.parent == node)
        return children[np.argsort(-self.sizes[children], kind="stable")]

    def facts(self, node: int) -> NodeFacts:
        """Return the texts and figures of a node; the root has no attribute and no label."""
        tree, attributes = self.tree, self.schema.attributes
        attribute, split_by = int(tree.attribute[node]), int(self.splits_by[node])
        name = label = ""
        if attribute >= 0:
            span = int(tree.first[node]), int(tree.stop[node])
            name = shortened(attributes[attribute].name, LONGEST_NAME)
            label = shortened(attributes[attribute].domain.label(*span), LONGEST_RANGE)
        return NodeFacts(
            attribute=name,
            label=label,
            size=round(float(self.sizes[node])),
            percent=self.percent(float(self.sizes[node])),
            split_by=shortened(attributes[split_by].name, LONGEST_NAME) if split_by >= 0 else "",
            n_boxes=int(self.n_boxes[node]),
        )

    def percent(self, size: float) -> float:
        """Return a size in per cent of the whole table."""
        total = max(float(self.sizes[0]), float(self.sizes.max()), 1.0)
        return round(100 * size / total, 1)


class _Drawing:
    def __init__(self, schema: Schema, tree: Tree) -> None:
        self.nodes, self.tree = _Nodes(schema=schema, tree=tree), tree
        self.shown = self._opened()

    def _opened(self) -> dict[int, NDArray[np.int64]]:
        """Return the nodes that are drawn expanded, with the children that are drawn."""
        shown: dict[int, NDArray[np.int64]] = {}
        n_drawn, row = 1, np.zeros(1, dtype=np.int64)
        for _ in range(MOST_LEVELS):
            after: list[NDArray[np.int64]] = []
            for node in row[np.argsort(-self.nodes.sizes[row], kind="stable")].tolist():
                children = self._largest_children(node)
                if len(children) and n_drawn + len(children) <= MOST_NODES:
                    shown[node] = children
                    after.append(children)
                    n_drawn += len(children)
            row = np.concatenate(after) if after else np.zeros(0, dtype=np.int64)
        return shown

    def _largest_children(self, node: int) -> NDArray[np.int64]:
        return np.sort(self.nodes.children(node)[:MOST_CHILDREN])

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
        facts = self.nodes.facts(node)
        facts["label"] = facts["label"] or "all records"
        return TreeRow(**facts, branches=branches, is_open=node in self.shown)

    def _more(self, node: int, branches: Branches) -> TreeRow:
        """Return a row that sums up the children that are not drawn."""
        children = np.setdiff1d(np.flatnonzero(self.tree.parent == node), self.shown[node])
        size = float(self.nodes.sizes[children].sum())
        return TreeRow(
            attribute="",
            label="",
            branches=branches,
            size=round(size),
            percent=self.nodes.percent(size),
            split_by="",
            n_boxes=int(self.nodes.n_boxes[children].sum()),
            is_open=False,
            n_more=len(children),
        )


def _boxes_below(tree: Tree) -> NDArray[np.int64]:
    """Return the number of boxes below each node, 1 for a box itself."""
    n_boxes = (tree.box >= 0).astype(np.int64)
    for level in reversed(levels(tree)[1:]):
        np.add.at(n_boxes, tree.parent[level], n_boxes[level])
    return n_boxes
