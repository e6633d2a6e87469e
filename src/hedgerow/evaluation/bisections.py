"""Bisecting k-means for several numbers of clusters at once.

Ten clusters are five of which some were bisected further, by the same draws. So the largest number
is fitted, and the others are read from the order of its bisections.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import MissingExtraError
from hedgerow.evaluation.threads import one_thread

Points = NDArray[np.float32]


def bisected(
    points: Points,
    weights: NDArray[np.float64],
    asked: Points,
    *,
    clusters: Sequence[int],
    seed: int,
) -> list[NDArray[np.int64]]:
    """Return the cluster of each point asked about, for each number of clusters of the points.

    There must be as many distinct points as clusters.
    """
    try:  # first of all, as threads can be limited only of what is loaded
        from sklearn.cluster import BisectingKMeans
    except ImportError as error:
        raise MissingExtraError("Clustering", extra="evaluate") from error

    def fitted(n: int) -> Any:
        model = BisectingKMeans(n_clusters=n, random_state=seed, init="k-means++", n_init=3)
        return model.fit(points, sample_weight=weights)

    most = max(clusters)
    with one_thread(of=None):
        model = fitted(most)
        labels = np.asarray(model.predict(asked), dtype=np.int64)
        # Not part of the library's interface: where it is missing, each number is fitted.
        root = getattr(model, "_bisecting_tree", None)
        if root is None:
            return [np.asarray(fitted(n).predict(asked), dtype=np.int64) for n in clusters]
    return [_earlier(root, n)[labels] for n in clusters]


def _earlier(root: Any, clusters: int) -> NDArray[np.int64]:
    """Return, by final cluster, where it was when there were so many clusters."""
    nodes = [root]
    while len(nodes) < clusters:  # the one of most inertia is next; of equals, the leftmost
        at = max(range(len(nodes)), key=lambda at: nodes[at].score)
        nodes[at : at + 1] = [nodes[at].left, nodes[at].right]
    # Final clusters are numbered from left to right, so that those of a node follow each other.
    return np.repeat(np.arange(len(nodes)), [_n_leaves(node) for node in nodes])


def _n_leaves(node: Any) -> int:
    return 1 if node.left is None else _n_leaves(node.left) + _n_leaves(node.right)
