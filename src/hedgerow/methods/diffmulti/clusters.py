"""Clusters as the class that boxes are made for, found privately [DiffMulti, Sec. 5.1].

The paper clusters the raw records and takes each record's cluster for its class (ClusterMP). A
record then moves the labels of others, and no step pays for that. Here the centres come from
a first release: whoever knows them learns nothing more, and a record's label is that of the
nearest one, a function of the record alone.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.diffmulti.scores import MAX, MultiScore
from hedgerow.methods.weave.weave import Weave
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.trees.box_scores import Children

SHARE = Fraction(1, 5)
"""Share of epsilon for the first release, which centres are computed from."""

FIRST = Weave(purpose="clustering")
"""The first release: synthetic records that keep relations between columns."""

MOST_ROWS = 4_000
"""Synthetic records that centres are computed from."""

STARTS, ROUNDS = 12, 25
"""Beginnings of the search for centres, and its rounds; all of them are free."""

UNIT = 1 << 20
"""Distances are whole numbers of these."""


def noisy_centres(run: Run[Engine], n_clusters: int, *, share: Fraction) -> NearestCentre:
    """Return the centres of the clusters, and with them a label for any record.

    Privacy: costs ``share``, all of it for a first release, which is not published; what
    follows is post-processing.
    """
    groups = FIRST.publish(run.part(share, on="cluster centres, from a first release"))
    run.progress("finding clusters", None)
    return centres_of(groups, run.engine.schema, n_clusters)


def centres_of(groups: Groups, schema: Schema, n_clusters: int) -> NearestCentre:
    """Return the centres of released records, by the best of several runs of k-means.

    A function of the release alone: it is as fixed as the release is.
    """
    rows = [
        ((each.first[index] + each.stop[index] - 1) // 2).astype(np.int64)
        for each, index in zip(groups.ranges, groups.index, strict=True)
    ]
    rng = np.random.default_rng(n_clusters)
    total = int(groups.counts.sum())
    if not total:
        rows = [np.zeros(1, dtype=np.int64) for _ in rows]
        drawn = np.zeros(1, dtype=np.int64)
    else:
        shares = groups.counts / total
        drawn = rng.choice(len(groups.counts), min(total, MOST_ROWS), p=shares)
    points = [column[drawn] for column in rows]
    found = [_search(points, schema, n_clusters, rng) for _ in range(STARTS)]
    tables = min(found, key=lambda each: each[0])[1]
    return NearestCentre(distances=tuple(np.rint(t * UNIT).astype(np.int64) for t in tables))


def _search(
    points: list[NDArray[np.int64]], schema: Schema, k: int, rng: np.random.Generator
) -> tuple[float, list[NDArray[np.float64]]]:
    """Return the cost of k-means from one beginning, and the distances to its centres."""
    labels = rng.integers(0, k, len(points[0]))
    seeds = rng.choice(len(points[0]), k, replace=len(points[0]) < k)
    labels[seeds] = np.arange(k)
    tables = _distances([p[seeds] for p in points], np.arange(k), schema, k)
    cost = np.inf
    for _ in range(ROUNDS):
        away = sum(table[column] for table, column in zip(tables, points, strict=True))
        labels = np.argmin(away, axis=1)
        now = float(np.min(away, axis=1).sum())
        if now >= cost:
            break
        cost = now
        tables = _distances(points, labels, schema, k)
    return cost, tables


def _distances(
    points: list[NDArray[np.int64]], labels: NDArray[np.int64], schema: Schema, k: int
) -> list[NDArray[np.float64]]:
    """Return, for each attribute, squared distances (codes, centres) to the labels' means.

    Numbers lie between 0 and 1; two values of a categorical attribute are 1 apart.
    """
    sizes = np.maximum(np.bincount(labels, minlength=k), 1)
    tables = []
    for attribute, column in zip(schema.attributes, points, strict=True):
        n_codes = attribute.domain.size
        if attribute.domain.kind == "numeric":
            place = np.arange(n_codes) / max(n_codes - 1, 1)
            mean = np.bincount(labels, weights=place[column], minlength=k) / sizes
            tables.append((place[:, None] - mean) ** 2)
            continue
        counts = np.bincount(column * k + labels, minlength=n_codes * k).reshape(n_codes, k)
        part = counts / sizes
        tables.append((1 - 2 * part + (part**2).sum(axis=0)) / 2)
    return tables


def cluster_score(n_clusters: int) -> MultiScore:
    """Return the score Max over clusters, for counts (children, clusters x classes).

    Privacy: a record raises the largest cluster of one child by 0 or 1, as in Max.
    """

    def of(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
        counts = _by_cluster(children.counts, n_clusters).sum(axis=2)
        return children.add(counts.max(axis=1))

    return replace(MAX, name="clusters", needs_class=True, of=of)


CLUSTERS = replace(MAX, name="clusters", needs_class=False)
"""The score before there are clusters: it asks for no class of the plan."""


def without_labels(counts: NDArray[np.int64], n_clusters: int | None) -> NDArray[np.int64]:
    """Return counts (boxes, clusters x classes) added up over clusters."""
    if n_clusters is None:
        return counts
    summed: NDArray[np.int64] = _by_cluster(counts, n_clusters).sum(axis=1)
    return summed


def _by_cluster(counts: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Return counts of shape (rows, clusters, classes)."""
    return counts.reshape(len(counts), n_clusters, counts.shape[1] // n_clusters)
