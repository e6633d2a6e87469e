"""A taxonomy as ranges: every node is a contiguous range of leaf codes.

The leaves are numbered ``0..n_leaves-1`` in depth-first order, so a node is the range ``[first,
stop)`` of the codes below it, its children split that range into parts, and nothing that counts
records needs a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.labels import ROOT, check_labels, displayed
from hedgerow.taxonomy.layout import depths, heights, preorder, rows_by_depth, subtree_sizes
from hedgerow.taxonomy.outline import Nested, entries_of, outline_of

Nodes = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Taxonomy:
    """Taxonomy: an immutable tree of labels over the codes of one attribute.

    Nodes are numbered in depth-first preorder, node 0 being the root. All labels differ, and a
    root has at least one leaf. Build one with `from_nested`, `from_parents` or `flat`, or read
    one with `read_taxonomy`. The other arrays follow from the two parameters: ``first`` and
    ``stop`` bound the leaf codes below each node, ``depth`` is the number of levels above it
    and ``height`` the length of its longest path to a leaf.

    Parameters
    ----------
    labels : tuple of str
        Label of each node.
    parent : array of int
        Parent of each node; -1 for the root.

    Raises
    ------
    TaxonomyError
        If labels repeat or the parents are not a tree in preorder.

    Notes
    -----
    Privacy: a taxonomy is public. Its labels must not be taken from the data.

    Examples
    --------
    >>> jobs = Taxonomy.from_nested("Any", {"Indoor": ["office", "shop"], "Outdoor": ["farm"]})
    >>> jobs
    Taxonomy('Any', 3 leaves, 6 nodes, height 2)
    >>> jobs.leaf_labels
    ('office', 'shop', 'farm')
    >>> node = jobs.find("Indoor")
    >>> int(jobs.first[node]), int(jobs.stop[node])
    (0, 2)

    """

    labels: tuple[str, ...]
    parent: Nodes
    first: Nodes = field(init=False)
    stop: Nodes = field(init=False)
    depth: Nodes = field(init=False)
    height: Nodes = field(init=False)

    def __post_init__(self) -> None:
        labels, parent = tuple(self.labels), np.array(self.parent, dtype=np.int32)
        check_labels(labels)
        levels = rows_by_depth(labels, parent)
        size = subtree_sizes(parent, levels)
        if (preorder(parent, levels, size) != np.arange(len(labels))).any():
            raise TaxonomyError(
                "The nodes are not in depth-first order.", do="Build it with Taxonomy.from_parents."
            )
        if len(labels) == 1:
            raise TaxonomyError(
                f"The root {displayed(labels[0])} has no value below it.",
                value=labels[0],
                do="A taxonomy is a root above at least one value.",
            )
        leaf_count = np.append(0, np.cumsum(size == 1))
        nodes = np.arange(len(labels))
        self._keep("labels", labels)
        self._keep("parent", parent)
        self._keep("first", leaf_count[nodes])
        self._keep("stop", leaf_count[nodes + size])
        self._keep("depth", depths(levels, len(labels)))
        self._keep("height", heights(parent, levels))

    def _keep(self, name: str, value: object) -> None:
        if isinstance(value, np.ndarray):
            value = value.astype(np.int32)
            value.flags.writeable = False
        object.__setattr__(self, name, value)

    @classmethod
    def from_nested(cls, label: str, children: Nested) -> Taxonomy:
        """Return the taxonomy with root ``label`` above nested mappings and lists.

        A mapping holds groups, each with its content; a list holds values, and groups written as
        mappings: ``{"Indoor": ["office", {"Shop": ["till", "stock"]}]}``.
        """
        outline = outline_of(entries_of({label: children}))
        return cls(labels=tuple(outline.labels), parent=np.array(outline.parents, dtype=np.int32))

    @classmethod
    def from_parents(
        cls, labels: Sequence[str], parents: Sequence[int] | NDArray[np.integer]
    ) -> Taxonomy:
        """Return the taxonomy whose node ``i`` is below node ``parents[i]`` (-1 for the root).

        Nodes may be in any order; siblings keep their order.
        """
        check_labels(labels)
        parent = np.array(parents, dtype=np.int64)
        levels = rows_by_depth(labels, parent)
        position = preorder(parent, levels, subtree_sizes(parent, levels))
        order = np.argsort(position)
        # Index -1 (the parent of the root) would pick the last node, so it is handled separately.
        moved = np.where(parent[order] < 0, -1, position[parent[order]])
        return cls(labels=tuple(labels[i] for i in order), parent=moved.astype(np.int32))

    @classmethod
    def flat(cls, values: Sequence[str], *, root: str = ROOT) -> Taxonomy:
        """Return the taxonomy of values directly under one root."""
        parent = np.zeros(len(values) + 1, dtype=np.int32)
        parent[0] = -1
        return cls(labels=(root, *values), parent=parent)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves and root included."""
        return len(self.labels)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, which is the number of codes."""
        return int(self.stop[0])

    @cached_property
    def leaf_nodes(self) -> Nodes:
        """Node of each code."""
        nodes: Nodes = np.flatnonzero(self.height == 0).astype(np.int32)
        nodes.flags.writeable = False
        return nodes

    @cached_property
    def leaf_labels(self) -> tuple[str, ...]:
        """Label of each code."""
        return tuple(self.labels[node] for node in self.leaf_nodes)

    @cached_property
    def leaf_code(self) -> Mapping[str, int]:
        """Code of each leaf label."""
        return MappingProxyType({label: code for code, label in enumerate(self.leaf_labels)})

    def is_leaf(self, node: int) -> bool:
        """Return whether a node has no children."""
        return bool(self.height[node] == 0)

    def children(self, node: int) -> Nodes:
        """Return the children of a node, in order."""
        order, start = self._children
        below: Nodes = order[start[node] : start[node + 1]]
        return below

    def path(self, node: int) -> Nodes:
        """Return the nodes from the root to a node, both included; entry ``d`` has depth ``d``."""
        way = np.empty(int(self.depth[node]) + 1, dtype=np.int32)
        for depth in range(len(way) - 1, -1, -1):
            way[depth] = node
            node = int(self.parent[node])
        return way

    def level_ancestor(self, node: int, depth: int) -> int:
        """Return the ancestor of a node at a depth, or the node itself if it is higher up."""
        way = self.path(node)
        return int(way[min(depth, len(way) - 1)])

    def leaf_ancestors(self, depth: int) -> Nodes:
        """Return the ancestor of each code at a depth; leaves higher up are their own."""
        nodes = self.leaf_nodes.copy()
        for _ in range(int(self.height[0]) - depth):
            nodes = np.where(self.depth[nodes] > depth, self.parent[nodes], nodes)
        return nodes

    def find(self, label: str) -> int:
        """Return the node with this label. The error repeats the label, which must be public."""
        node = self._node_of.get(label)
        if node is None:
            raise TaxonomyError(
                f"There is no node {displayed(label)}.",
                value=label,
                do="Look at the labels with `hedgerow taxonomy show`.",
            )
        return node

    def node_at(self, first: int, stop: int) -> int | None:
        """Return the topmost node with exactly the range ``[first, stop)``, if there is one."""
        return self._node_at.get((first, stop))

    def with_leaf(self, label: str) -> Taxonomy:
        """Return the taxonomy with one more leaf, directly under the root, as its last code."""
        return Taxonomy(labels=(*self.labels, label), parent=np.append(self.parent, np.int32(0)))

    @cached_property
    def _children(self) -> tuple[Nodes, NDArray[np.int64]]:
        order: Nodes = np.argsort(self.parent, kind="stable").astype(np.int32)
        start = np.searchsorted(self.parent[order], np.arange(self.n_nodes + 1))
        order.flags.writeable = False
        return order, start.astype(np.int64)

    @cached_property
    def _node_of(self) -> dict[str, int]:
        return {label: node for node, label in enumerate(self.labels)}

    @cached_property
    def _node_at(self) -> dict[tuple[int, int], int]:
        ranges = list(zip(self.first.tolist(), self.stop.tolist(), strict=True))
        return {ranges[node]: node for node in range(self.n_nodes - 1, -1, -1)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return self.labels == other.labels and bool(np.array_equal(self.parent, other.parent))

    def __hash__(self) -> int:
        return hash((self.labels, self.parent.tobytes()))

    def __repr__(self) -> str:
        leaves = "1 leaf" if self.n_leaves == 1 else f"{self.n_leaves} leaves"
        root, height = displayed(self.labels[0]), int(self.height[0])
        return f"Taxonomy({root}, {leaves}, {self.n_nodes} nodes, height {height})"

    def __reduce__(self) -> tuple[object, tuple[tuple[str, ...], Nodes]]:
        return _rebuilt, (self.labels, self.parent)


def _rebuilt(labels: tuple[str, ...], parent: Nodes) -> Taxonomy:
    return Taxonomy(labels=labels, parent=parent)
