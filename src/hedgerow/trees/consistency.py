"""Consistent estimates from many noisy counts of a tree: weighted least squares, level by level.

Post-processing: it uses noisy counts only and costs nothing [Hay et al., VLDB 2010].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def tree_levels(parent: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Return the nodes of each level; parents come before their children.

    >>> [level.tolist() for level in tree_levels(np.array([-1, 0, 0, 1], dtype=np.int32))]
    [[0], [1, 2], [3]]
    """
    depth = np.zeros(len(parent), dtype=np.int64)
    pending = np.arange(1, len(parent))
    while len(pending):
        depth[pending] = depth[parent[pending]] + 1
        wrong = depth[pending] != depth[parent[pending]] + 1
        pending = pending[wrong]
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def consistent(
    parent: NDArray[np.int32], weighted: NDArray[np.float64], precision: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return estimates of all nodes that add up along the tree, and the root's precision.

    ``weighted`` (nodes, classes) are sums of noisy counts times their precision, and
    ``precision`` (nodes,) sums of precisions; a node without a count of its own has 0.
    Of all estimates that add up, these are nearest to the counts, weighted by precision.
    """
    levels = tree_levels(parent)
    best, sure = weighted.copy(), precision.copy()
    child_sum, child_spread = np.zeros_like(best), np.zeros_like(sure)
    for level in reversed(levels):
        inner = level[child_spread[level] > 0]
        through = 1 / child_spread[inner]
        best[inner] += child_sum[inner] * through[:, None]
        sure[inner] += through
        best[level] /= sure[level][:, None]
        children = level[parent[level] >= 0]
        np.add.at(child_sum, parent[children], best[children])
        np.add.at(child_spread, parent[children], 1 / sure[children])
    for level in levels[1:]:
        above = parent[level]
        missing = best[above] - child_sum[above]
        best[level] += missing * (1 / sure[level] / child_spread[above])[:, None]
    return best, float(sure[0])
