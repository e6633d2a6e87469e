"""Agreement of clusters of records before and after generalisation.

For the data owner: figures compare with the raw table and are not private.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError, MissingExtraError
from hedgerow.evaluation.classification import examples_of
from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.examples import MOST_LEAVES, Examples
from hedgerow.evaluation.placing import is_placed, rows_of
from hedgerow.evaluation.threads import one_thread
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, unheard

MOST_CLUSTERED = 50_000
"""Maximum number of records that are clustered; larger tables are sampled."""

MOST_NUMBERS = 5_000_000
"""Maximum number of coordinates of all records: fewer records of wide tables are clustered."""

LEAST_CLUSTERED = 5_000
"""Minimum number of records of a large table that are clustered, whatever its width."""

CLUSTERS = (2, 5, 10)

Labels = NDArray[np.int64]
Points = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class ClusterMatch:
    """Agreement of two clusterings of the same records, from 0 to 1.

    ``generalised`` clusters the records themselves, generalised by the release's boxes
    (``None`` where these do not divide the domain); ``release`` clusters the release, by
    its counts, and assigns every record to the nearest cluster. ``by_chance`` is the expected
    agreement of random clusters of the same sizes.
    """

    clusters: int
    generalised: float | None
    release: float
    by_chance: float


def match_point(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> float:
    """Return the share of pairs of records on which two clusterings agree.

    [DiffMulti, Eq. (15)]: pairs (i, j), i = j included, that are in one cluster in both
    clusterings or in different clusters in both. Computed from the contingency table of the
    labels, in memory proportional to it.

    >>> match_point(np.array([0, 0, 1]), np.array([5, 5, 5]))
    0.5555555555555556
    """
    if len(first) != len(second) or not len(first):
        raise DataError(
            "Two clusterings of the same records are needed.",
            where="evaluation",
            do="Give both one label per record.",
        )
    table = contingency(first, second).astype(np.float64)
    n = float(len(first))
    in_both = (table**2).sum()
    in_neither = n * n - (table.sum(axis=1) ** 2).sum() - (table.sum(axis=0) ** 2).sum() + in_both
    return float((in_both + in_neither) / (n * n))


def contingency(
    first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """Return the number of records with each pair of labels."""
    rows, a = np.unique(first, return_inverse=True)
    columns, b = np.unique(second, return_inverse=True)
    counts = np.bincount(a * len(columns) + b, minlength=len(rows) * len(columns))
    return counts.reshape(len(rows), len(columns))


def match_by_chance(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> float:
    """Return the expected Match Point of independent labels with the same cluster sizes."""
    sizes = [np.unique(labels, return_counts=True)[1] / len(labels) for labels in (first, second)]
    a, b = (float((size**2).sum()) for size in sizes)
    return a * b + (1 - a) * (1 - b)


def match_points(
    groups: Groups,
    table: EncodedTable,
    *,
    clusters: Sequence[int] = CLUSTERS,
    seed: int = 0,
    done: Done = unheard,
) -> tuple[ClusterMatch, ...]:
    """Return the Match Point of a release for each number of clusters.

    Bisecting k-means [DiffMulti, Sec. 5.1] of the raw records on one side; the class is
    left out. Numeric attributes are scaled from 0 to 1 by their public bounds, and the
    distance of two values of a categorical attribute is 1, of ranges less.

    Departs: the paper uses the cosine measure of CLUTO; here distances are Euclidean.
    """
    if not len(table):
        raise DataError(
            "There are no records to cluster.", where="evaluation", do="Give a table with records."
        )
    some = _at_most(table, seed)
    raw = Examples.of_records(some)
    boxed = Examples.of_rows(groups, some) if is_placed(groups) else None
    learnt, targets = examples_of(groups, some, by=None, seed=seed)
    learnt = learnt.sampled(most_clustered(table.schema), seed=seed)
    done(0)
    truths = _Clustering.of(raw, raw).labels(clusters, seed=seed)
    done(1 / 3)
    owns = _Clustering.of(learnt, targets).labels(clusters, seed=seed)
    done(2 / 3)
    sames = None if boxed is None else _Clustering.of(boxed, boxed).labels(clusters, seed=seed)
    return tuple(
        ClusterMatch(
            clusters=k,
            generalised=None if sames is None else match_point(truths[at], sames[at]),
            release=match_point(truths[at], owns[at]),
            by_chance=match_by_chance(truths[at], owns[at]),
        )
        for at, k in enumerate(clusters)
    )


def cluster(learnt: Examples, targets: Examples, *, clusters: int, seed: int = 0) -> Labels:
    """Return the cluster of each example of ``targets``, among clusters of ``learnt``.

    Equal examples are clustered once, by their weight. Fewer distinct examples than clusters
    give fewer clusters.
    """
    return _Clustering.of(learnt, targets).labels([clusters], seed=seed)[0]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Clustering:
    """Distinct training examples and targets as points, and the point of each example."""

    points: NDArray[np.float32]
    weights: NDArray[np.float64]
    targets: NDArray[np.float32]
    whose: NDArray[np.int64]

    @classmethod
    def of(cls, learnt: Examples, targets: Examples) -> _Clustering:
        number, first = row_numbers(list(learnt.places.T))
        points = _points(learnt, first)
        if targets is learnt:
            whose, others = number, points
        else:
            whose, one_of_each = row_numbers(list(targets.places.T))
            others = _points(targets, one_of_each)
        weights = np.bincount(number, weights=learnt.weights).astype(np.float64)
        return cls(points=points, weights=weights, targets=others, whose=whose)

    def labels(self, clusters: Sequence[int], *, seed: int) -> list[Labels]:
        """Return the cluster of each target, for each number of clusters."""
        if not len(self.points) or not len(self.whose):
            return [np.zeros(len(self.whose), dtype=np.int64) for _ in clusters]
        enough = _distinct(self.points, max(clusters))
        numbers = [max(1, min(k, enough)) for k in clusters]
        found = bisected(self.points, self.weights, self.targets, clusters=numbers, seed=seed)
        return [labels[self.whose] for labels in found]


def _points(examples: Examples, which: NDArray[np.int64]) -> Points:
    """Return examples as points; two different values of a category have distance 1."""
    few = replace(
        examples, places=examples.places[which], classes=None, weights=np.ones(len(which))
    )
    points: NDArray[np.float32] = (
        few.spread(categorical=math.sqrt(0.5)).astype(np.float32).toarray()
    )
    return points


def _distinct(points: NDArray[np.float32], enough: int) -> int:
    """Return the number of distinct points, counting no further than needed."""
    few = points[: 20 * enough]
    found = len(np.unique(few, axis=0))
    return found if found >= enough else len(np.unique(points, axis=0))


def _at_most(table: EncodedTable, seed: int) -> EncodedTable:
    most = most_clustered(table.schema)
    if len(table) <= most:
        return table
    kept = np.random.default_rng(seed).choice(len(table), most, replace=False)
    return rows_of(table, np.sort(kept))


def most_clustered(schema: Schema) -> int:
    """Return the maximum number of records that are clustered, from the public domains alone."""
    sizes = (
        1 if attribute.domain.kind == "numeric" else min(attribute.domain.size, MOST_LEAVES)
        for attribute in schema.attributes
    )
    return min(MOST_CLUSTERED, max(LEAST_CLUSTERED, MOST_NUMBERS // max(sum(sizes), 1)))


def bisected(
    points: Points,
    weights: NDArray[np.float64],
    targets: Points,
    *,
    clusters: Sequence[int],
    seed: int,
) -> list[NDArray[np.int64]]:
    """Return the cluster of each point of ``targets``, for each number of clusters of ``points``.

    There must be at least as many distinct points as clusters. Ten clusters are five of which some
    were bisected further, with the same random draws. So only the largest number is fitted; the
    others follow from the order of its bisections.
    """
    try:  # before threads are limited, which works for loaded libraries only
        from sklearn.cluster import BisectingKMeans
    except ImportError as error:
        raise MissingExtraError("Clustering", extra="evaluate") from error

    def fitted(n: int) -> Any:
        model = BisectingKMeans(n_clusters=n, random_state=seed, init="k-means++", n_init=3)
        return model.fit(points, sample_weight=weights)

    most = max(clusters)
    with one_thread(of=None):
        model = fitted(most)
        labels = np.asarray(model.predict(targets), dtype=np.int64)
        # A private attribute of the library: without it, each number is fitted separately.
        root = getattr(model, "_bisecting_tree", None)
        if root is None:
            return [np.asarray(fitted(n).predict(targets), dtype=np.int64) for n in clusters]
    return [_earlier(root, n)[labels] for n in clusters]


def _earlier(root: Any, clusters: int) -> NDArray[np.int64]:
    """Return, for each final cluster, its cluster when there were ``clusters`` of them."""
    nodes = [root]
    while (
        len(nodes) < clusters
    ):  # the cluster with the largest inertia is split next, the leftmost of equal ones
        at = max(range(len(nodes)), key=lambda at: nodes[at].score)
        nodes[at : at + 1] = [nodes[at].left, nodes[at].right]
    # Final clusters are numbered from left to right, so those of a node are consecutive.
    return np.repeat(np.arange(len(nodes)), [_n_leaves(node) for node in nodes])


def _n_leaves(node: Any) -> int:
    return 1 if node.left is None else _n_leaves(node.left) + _n_leaves(node.right)
