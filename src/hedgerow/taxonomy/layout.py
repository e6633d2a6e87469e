"""Layout of the nodes of a tree: levels, sizes, depth-first positions.

Everything works on whole levels at a time, so large taxonomies are fast. ``parent`` holds each
node's parent, -1 for the root; nodes may be in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.labels import MOST_LEVELS, displayed, too_deep

LevelRows: TypeAlias = Sequence[NDArray[np.intp]]
"""The nodes of each depth, the root's first."""


def rows_by_depth(labels: Sequence[str], parent: NDArray[np.integer]) -> LevelRows:
    """Return the nodes of each depth; refuse anything but one tree of at most ``most`` levels."""
    if len(labels) == 0 or len(labels) != len(parent):
        raise TaxonomyError(
            f"{len(labels)} labels do not match {len(parent)} parents.",
            do="Give one parent per label, -1 for the root.",
        )
    roots = np.flatnonzero(parent < 0)
    if len(roots) != 1 or parent.max(initial=-1) >= len(labels):
        raise TaxonomyError(
            f"{len(roots)} nodes have no parent, or a parent is not among the nodes.",
            do="Give exactly one root.",
        )
    levels: list[NDArray[np.intp]] = [roots]
    reached = np.zeros(len(labels), dtype=bool)
    while len(levels[-1]):
        reached[levels[-1]] = True
        on_level = np.zeros(len(labels), dtype=bool)
        on_level[levels[-1]] = True
        levels.append(np.flatnonzero(on_level[parent] & (parent >= 0)))
        if len(levels) > MOST_LEVELS + 1 and len(levels[-1]):
            raise too_deep(labels[levels[-1][0]])
    if not reached.all():
        lost = labels[int(np.argmin(reached))]
        raise TaxonomyError(
            f"The parents of {displayed(lost)} form a circle.",
            value=lost,
            do="Every path up must end at the root.",
        )
    return levels[:-1]


def _upwards(
    parent: NDArray[np.integer], levels: LevelRows
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.integer]]]:
    """Yield each level below the root, the deepest first, with the parents of its nodes."""
    return ((nodes, parent[nodes]) for nodes in reversed(levels[1:]))


def subtree_sizes(parent: NDArray[np.integer], levels: LevelRows) -> NDArray[np.int64]:
    """Return the number of nodes at and below each node."""
    size = np.ones(len(parent), dtype=np.int64)
    for nodes, above in _upwards(parent, levels):
        np.add.at(size, above, size[nodes])
    return size


def heights(parent: NDArray[np.integer], levels: LevelRows) -> NDArray[np.int64]:
    """Return the longest path from each node down to a leaf."""
    height = np.zeros(len(parent), dtype=np.int64)
    for nodes, above in _upwards(parent, levels):
        np.maximum.at(height, above, height[nodes] + 1)
    return height


def depths(levels: LevelRows, n_nodes: int) -> NDArray[np.int64]:
    """Return the number of levels above each node."""
    depth = np.zeros(n_nodes, dtype=np.int64)
    for level, nodes in enumerate(levels):
        depth[nodes] = level
    return depth


def preorder(
    parent: NDArray[np.integer],
    levels: LevelRows,
    size: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the depth-first position of each node, siblings in their order."""
    position = np.zeros(len(parent), dtype=np.int64)
    for level in levels[1:]:
        nodes = level[np.argsort(parent[level], kind="stable")]
        above = parent[nodes]
        before = np.cumsum(size[nodes]) - size[nodes]
        # Subtract the positions of the earlier families of this level.
        eldest = np.append(True, above[1:] != above[:-1])
        family = np.cumsum(eldest) - 1
        position[nodes] = position[above] + 1 + before - before[eldest][family]
    return position
