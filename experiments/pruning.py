"""Pruning a tree as C4.5 does, by a pessimistic guess of the errors of its nodes.

A node that would err no more than its branches together answers for all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Tree
from hedgerow.model.locate import levels

_Z = 0.6744897501960817
"""The normal quantile of C4.5's default confidence, 25 per cent."""


def pruned(tree: Tree, counts: NDArray[np.int64], *, keep_all: bool = False) -> NDArray[np.int64]:
    """Return the class that each box of a tree answers, once the tree is pruned.

    ``counts`` are (noisy) class counts by box. ``keep_all`` prunes nothing. A node without
    a positive count answers as its parent does.

    >>> leaf = np.array([-1, 0, 0], np.int32)
    >>> tree = Tree(parent=leaf, attribute=leaf, first=leaf, stop=leaf,
    ...             box=np.array([-1, 0, 1], np.int32), sizes=np.zeros(3))
    >>> pruned(tree, np.array([[9, 1], [0, 0]])).tolist()
    [0, 0]
    """
    nodes = _node_counts(tree, counts)
    own = _pessimistic(nodes)
    below = own.copy()  # what the branches of a node err together, once they are pruned
    cut = np.zeros(len(tree), dtype=np.bool_)
    inner = tree.box < 0
    for level in reversed(levels(tree)):
        here = np.arange(level.start, level.stop)
        branching = here[inner[here]]
        cut[branching] = own[branching] <= below[branching] + 1e-9
        below[branching] = np.minimum(own[branching], below[branching])
        parents = tree.parent[here]
        if level.start:
            _gather(below, parents, below[here])
    answer = _answers(tree, nodes, cut & (not keep_all))
    found = np.zeros(len(counts), dtype=np.int64)
    found[tree.box[~inner]] = answer[~inner]
    return found


def _gather(
    below: NDArray[np.float64], parents: NDArray[np.int32], errors: NDArray[np.float64]
) -> None:
    """Set the errors below each parent to the sum of its children's."""
    below[np.unique(parents)] = 0.0
    np.add.at(below, parents, errors)


def _node_counts(tree: Tree, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return class counts of all nodes, those of a box cut at zero."""
    nodes = np.zeros((len(tree), counts.shape[1]))
    leaves = tree.box >= 0
    nodes[leaves] = np.maximum(counts[tree.box[leaves]], 0)
    for level in reversed(levels(tree)[1:]):
        np.add.at(nodes, tree.parent[level], nodes[level])
    return nodes


def _pessimistic(nodes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the upper limit of the errors of each node, if it were a leaf (Wilson's bound)."""
    n = nodes.sum(axis=1)
    size = np.maximum(n, 1e-9)
    rate = 1 - nodes.max(axis=1) / size
    spread = _Z * np.sqrt(rate * (1 - rate) / size + _Z**2 / (4 * size**2))
    upper = (rate + _Z**2 / (2 * size) + spread) / (1 + _Z**2 / size)
    errors: NDArray[np.float64] = np.where(n > 0, upper * n, 0.0)
    return errors


def _answers(tree: Tree, nodes: NDArray[np.float64], cut: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return each node's class: its own majority, or its parent's answer below a cut."""
    answer: NDArray[np.int64] = nodes.argmax(axis=1).astype(np.int64)
    settled = cut.copy()
    for level in levels(tree)[1:]:
        parents = tree.parent[level]
        follows = settled[parents] | (nodes[level].sum(axis=1) <= 0)
        answer[level] = np.where(follows, answer[parents], answer[level])
        settled[level] |= settled[parents]
    return answer
