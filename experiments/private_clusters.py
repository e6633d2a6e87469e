"""[DiffMulti, Fig. 11] once more: clusters of the raw records, as printed, beside private ones.

``python benchmarks/diffmulti_clusters.py`` prints the table of docs/papers/diffmulti.md. The
printed workflow takes each record's cluster among all raw records for its class, which is not
private: it runs here, on public data, and nowhere in the package.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from experiments.figure import Unit
from experiments.releases import diffmulti, released
from hedgerow.evaluation.clustering import cluster, match_point
from hedgerow.evaluation.examples import Examples
from hedgerow.methods.diffmulti.clusters import CLUSTERS
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.builders import flat
from hedgerow.taxonomy.domain import CategoricalDomain

ONE = Fraction(1)
LINES = (
    "clusters of the raw records, as printed (not private)",
    "private clusters, faithful",
    "private clusters, improved",
    "discernibility, faithful (DistortMP)",
)


def raw_labelled(table: EncodedTable, n_clusters: int) -> EncodedTable:
    """Return a table without a class, with the cluster of each raw record as its class."""
    examples = Examples.of_records(table)
    labels = cluster(examples, examples, clusters=n_clusters)
    names = [str(i) for i in range(n_clusters)]
    domain = CategoricalDomain.over(flat(names), other=None, missing=None)
    schema = Schema(
        attributes=table.schema.attributes,
        class_attribute=Attribute(name="cluster", domain=domain),
    )
    return EncodedTable.from_codes(schema, table.codes, labels)


def release_of(
    line: str, h: int, plain: EncodedTable, labelled: EncodedTable, *, run: int
) -> Groups:
    """Return the release that a line of the figure stands for."""
    source = Unit(settings={"line": line, "h": h}, run=run).source
    if line == LINES[0]:
        return released(diffmulti(h, score="max"), labelled, epsilon=ONE, source=source)
    if line == LINES[3]:
        method = diffmulti(h, score="discernibility")
        return released(method, labelled, epsilon=ONE, source=source)
    n_clusters = 0 if labelled.schema.class_attribute is None else labelled.schema.n_classes
    private: DiffMulti = replace(
        diffmulti(h, faithful=line == LINES[1]), score=CLUSTERS, clusters=n_clusters
    )
    return released(private, plain, epsilon=ONE, source=source)


def match_points_of(
    line: str, h: int, plain: EncodedTable, labelled: EncodedTable, *, runs: int
) -> list[float]:
    """Return the Match Point, in per cent, of raw and generalised records, for every run."""
    truth = np.asarray(labelled.classes, dtype=np.int64)
    found = []
    for run in range(runs):
        boxed = Examples.of_rows(release_of(line, h, plain, labelled, run=run), plain)
        labels = cluster(boxed, boxed, clusters=labelled.schema.n_classes)
        found.append(100 * match_point(truth, labels))
    return found
