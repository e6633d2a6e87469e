"""The taxonomy that DiffPart expands: narrow enough for masks of children, in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.taxonomy.tree import Taxonomy

MOST_CHILDREN = 20
"""A node with more children than this is regrouped: its sub-partitions are masks of them."""

REGROUPED = 10
"""Number of children of a group where a wide node is regrouped."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitTree:
    """A taxonomy's nodes in depth-first order, each a range of codes, node 0 the root.

    Children of node ``u`` are ``children[child_start[u]:child_start[u + 1]]``. Nodes with
    one child are skipped (there is nothing to tell apart), nodes of more than
    ``MOST_CHILDREN`` get groups in between, in the order their children have; both are
    public rules. ``internal`` counts the internal nodes of each subtree [DiffPart, Thm 4.1].
    """

    first: NDArray[np.int32]
    stop: NDArray[np.int32]
    depth: NDArray[np.int32]
    height: NDArray[np.int32]
    internal: NDArray[np.int64]
    child_start: NDArray[np.int64]
    children: NDArray[np.int32]

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> SplitTree:
        """Return the tree to expand, with the leaf codes of ``taxonomy``."""
        first: list[int] = []
        stop: list[int] = []
        parent: list[int] = []
        for low, high, above in _narrowed(taxonomy):
            first.append(low)
            stop.append(high)
            parent.append(above)
        n = len(first)
        height = [0] * n
        internal = [0] * n
        depth = [0] * n
        for node in range(n - 1, 0, -1):
            above = parent[node]
            height[above] = max(height[above], height[node] + 1)
            internal[node] += height[node] > 0
            internal[above] += internal[node]
        internal[0] += 1
        for node in range(1, n):
            depth[node] = depth[parent[node]] + 1
        below = np.array(parent[1:], dtype=np.int64)
        start = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(below, minlength=n), out=start[1:])
        return cls(
            first=np.array(first, dtype=np.int32),
            stop=np.array(stop, dtype=np.int32),
            depth=np.array(depth, dtype=np.int32),
            height=np.array(height, dtype=np.int32),
            internal=np.array(internal, dtype=np.int64),
            child_start=start,
            children=(np.argsort(below, kind="stable") + 1).astype(np.int32),
        )

    @property
    def n_items(self) -> int:
        """The size of the universe."""
        return int(self.stop[0])

    @cached_property
    def n_children(self) -> NDArray[np.int64]:
        """Number of children of each node."""
        return np.diff(self.child_start)

    @cached_property
    def leaf_slots(self) -> NDArray[np.int64]:
        """For each node the mask of its children that are leaves."""
        parents = np.repeat(np.arange(len(self.first)), self.n_children)
        slot = np.arange(len(self.children)) - self.child_start[parents]
        bit = np.where(self.height[self.children] == 0, np.int64(1) << slot, 0)
        masks = np.zeros(len(self.first), dtype=np.int64)
        np.add.at(masks, parents, bit)
        return masks

    @cached_property
    def slots(self) -> NDArray[np.uint8]:
        """For each depth and code, which child of the node there the code belongs to."""
        table = np.zeros((int(self.height[0]), self.n_items), dtype=np.uint8)
        for node in np.flatnonzero(self.height > 0).tolist():
            below = self.children[self.child_start[node] : self.child_start[node + 1]]
            sizes = self.stop[below] - self.first[below]
            places = np.repeat(np.arange(len(below), dtype=np.uint8), sizes)
            table[self.depth[node], self.first[node] : self.stop[node]] = places
        return table


def _narrowed(taxonomy: Taxonomy) -> Iterator[tuple[int, int, int]]:
    """Yield (first, stop, parent) of every node in preorder, narrowed."""
    waiting: list[tuple[list[int], int]] = [([0], -1)]  # nodes of the taxonomy, parent
    number = 0
    while waiting:
        members, above = waiting.pop()
        yield int(taxonomy.first[members[0]]), int(taxonomy.stop[members[-1]]), above
        below = _expanded(taxonomy, members)
        groups = _grouped(below)
        waiting.extend((group, number) for group in reversed(groups))
        number += 1


def _expanded(taxonomy: Taxonomy, members: list[int]) -> list[int]:
    """Return what lies below some siblings taken together: themselves, if more than one."""
    if len(members) > 1:
        return members
    below = taxonomy.children(members[0]).tolist()
    while len(below) == 1 and not taxonomy.is_leaf(below[0]):
        below = taxonomy.children(below[0]).tolist()
    # Below the root a node above a single leaf is that leaf.
    return below if len(below) > 1 or members[0] == 0 else []


def _grouped(below: list[int]) -> list[list[int]]:
    """Return siblings one by one, or in groups where they are too many."""
    if len(below) <= MOST_CHILDREN:
        return [[node] for node in below]
    size = REGROUPED
    while -(-len(below) // size) > MOST_CHILDREN:
        size *= REGROUPED
    return [below[start : start + size] for start in range(0, len(below), size)]
