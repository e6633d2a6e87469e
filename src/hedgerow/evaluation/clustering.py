"""How alike the clusters of records are before and after generalisation.

For the data owner: the figures here compare with the raw table and are not private.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError
from hedgerow.evaluation.bisections import bisected
from hedgerow.evaluation.classification import examples_of
from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.examples import MOST_LEAVES, Examples
from hedgerow.evaluation.placing import is_placed, rows_of
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, unheard

MOST_CLUSTERED = 50_000
"""Records that are clustered; of a larger table that many are drawn."""

MOST_NUMBERS = 5_000_000
"""Coordinates of all records together: of a wide table fewer records are clustered."""

LEAST_CLUSTERED = 5_000
"""Records of a large table that are clustered, however wide it is."""

CLUSTERS = (2, 5, 10)

Labels = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ClusterMatch:
    """How alike two clusterings of the same records are, from 0 to 1.

    ``generalised`` clusters the records themselves, generalised by the release's boxes
    (``None`` where these do not divide the domain); ``release`` clusters the release, by
    its counts, and puts every record in the cluster nearest to it. ``by_chance`` is what
    clusters of the same sizes would reach with records at random.
    """

    clusters: int
    generalised: float | None
    release: float
    by_chance: float


def match_point(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> float:
    """Return the share of pairs of records on which two clusterings agree.

    [DiffMulti, Eq. (15)]: pairs (i, j), i = j included, that are together in both
    clusterings or apart in both. Counted from the contingency table of the labels, so
    nothing of the size of all pairs is ever held.

    >>> match_point(np.array([0, 0, 1]), np.array([5, 5, 5]))
    0.5555555555555556
    """
    if len(first) != len(second) or not len(first):
        raise DataError(
            "two clusterings of the same records are needed",
            where="evaluation",
            do="Give a label per record in both.",
        )
    table = contingency(first, second).astype(np.float64)
    n = float(len(first))
    together = (table**2).sum()
    apart = n * n - (table.sum(axis=1) ** 2).sum() - (table.sum(axis=0) ** 2).sum() + together
    return float((together + apart) / (n * n))


def contingency(
    first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """Return how many records have each pair of labels."""
    rows, a = np.unique(first, return_inverse=True)
    columns, b = np.unique(second, return_inverse=True)
    counts = np.bincount(a * len(columns) + b, minlength=len(rows) * len(columns))
    return counts.reshape(len(rows), len(columns))


def match_by_chance(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> float:
    """Return the Match Point to expect of labels of the same sizes that are independent."""
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
        raise DataError("there are no records to cluster", where="evaluation", do="Give some.")
    some = _at_most(table, seed)
    raw = Examples.of_records(some)
    boxed = Examples.of_rows(groups, some) if is_placed(groups) else None
    learnt, asked = examples_of(groups, some, by=None, seed=seed)
    learnt = learnt.sampled(most_clustered(table.schema), seed=seed)
    done(0)
    truths = _Clustering.of(raw, raw).labels(clusters, seed=seed)
    done(1 / 3)
    owns = _Clustering.of(learnt, asked).labels(clusters, seed=seed)
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


def cluster(learnt: Examples, asked: Examples, *, clusters: int, seed: int = 0) -> Labels:
    """Return the cluster of each asked example, among clusters of the learnt ones.

    Equal examples are clustered once, by their weight. Where there are fewer distinct
    examples than clusters, there are fewer clusters.
    """
    return _Clustering.of(learnt, asked).labels([clusters], seed=seed)[0]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Clustering:
    """Distinct learnt examples as points, those asked about, and whose point each is."""

    points: NDArray[np.float32]
    weights: NDArray[np.float64]
    asked: NDArray[np.float32]
    whose: NDArray[np.int64]

    @classmethod
    def of(cls, learnt: Examples, asked: Examples) -> _Clustering:
        number, first = row_numbers(list(learnt.places.T))
        points = _points(learnt, first)
        if asked is learnt:
            whose, others = number, points
        else:
            whose, one_of_each = row_numbers(list(asked.places.T))
            others = _points(asked, one_of_each)
        weights = np.bincount(number, weights=learnt.weights).astype(np.float64)
        return cls(points=points, weights=weights, asked=others, whose=whose)

    def labels(self, clusters: Sequence[int], *, seed: int) -> list[Labels]:
        """Return the cluster of each example asked about, for each number of clusters."""
        if not len(self.points) or not len(self.whose):
            return [np.zeros(len(self.whose), dtype=np.int64) for _ in clusters]
        enough = _distinct(self.points, max(clusters))
        numbers = [max(1, min(k, enough)) for k in clusters]
        found = bisected(self.points, self.weights, self.asked, clusters=numbers, seed=seed)
        return [labels[self.whose] for labels in found]


def _points(examples: Examples, which: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return examples as points; two different values of a categorical attribute are 1 apart."""
    few = replace(
        examples, places=examples.places[which], classes=None, weights=np.ones(len(which))
    )
    points: NDArray[np.float32] = (
        few.spread(categorical=math.sqrt(0.5)).astype(np.float32).toarray()
    )
    return points


def _distinct(points: NDArray[np.float32], enough: int) -> int:
    """Return how many points differ, or that they are enough without counting them all."""
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
    """Return how many records are clustered at the most, from the public domains alone."""
    sizes = (
        1 if attribute.domain.kind == "numeric" else min(attribute.domain.size, MOST_LEAVES)
        for attribute in schema.attributes
    )
    return min(MOST_CLUSTERED, max(LEAST_CLUSTERED, MOST_NUMBERS // max(sum(sizes), 1)))
