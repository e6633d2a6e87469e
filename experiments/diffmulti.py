"""[DiffMulti, Figs. 5 to 8 and 11]: penalties, accuracy and clusters, against other methods."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from experiments.figure import FigurePoint, Scene, Unit
from experiments.releases import (
    accuracy,
    bounds,
    diffgen,
    diffmulti,
    mondrian,
    released,
    released_plainly,
)
from experiments.tables import adult, classless, split
from hedgerow.evaluation.clustering import cluster, match_point
from hedgerow.evaluation.examples import Examples
from hedgerow.evaluation.loss import losses_of_records
from hedgerow.methods.diffmulti.scores import ScoreName
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.builders import flat
from hedgerow.taxonomy.domain import CategoricalDomain

ONE = Fraction(1)
MULTI_STEPS = (300, 1_000, 3_000, 10_000)
GEN_STEPS = (4, 8, 12, 16)
ACCURACY_STEPS = (1_000, 3_000, 5_000, 7_000, 10_000)
ACCURACY_GEN_STEPS = (2, 6, 10, 15, 20)


def penalty(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return discernibility or NCP of the true records in the boxes [Figs. 5, 6]."""
    table = adult(scene)
    measure, h = unit["measure"], unit["h"]
    if unit["method"] == "DiffGen":
        groups = released(diffgen(h), table, epsilon=ONE, source=unit.source)
    else:
        faithful = unit["method"] == "DiffMulti"
        of_boxes = diffmulti(h, score=measure, faithful=faithful)
        groups = released(of_boxes, table, epsilon=ONE, source=unit.source)
    found = losses_of_records(groups, table)
    value = found.ncp if measure == "ncp" else found.discernibility / 1e6
    return [FigurePoint("penalty", unit["method"], h, value)]


def by_budget(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the accuracy of a tree by h, for one budget [Fig. 7]."""
    train, test = split(adult(scene), unit.run)
    steps = scene.pick(full=(300, 600, 900, 1_200, 1_500), quick=(300, 1_500))
    if unit["variant"] == "raw":
        floor, ceiling = bounds(train, test)
        return [
            *(FigurePoint("as printed", "BA", h, ceiling) for h in steps),
            *(FigurePoint("as printed", "LA", h, floor) for h in steps),
        ]
    method = diffmulti(unit["h"], faithful=unit["variant"] == "as printed")
    epsilon = Fraction(str(unit["epsilon"]))
    groups = released(method, train, epsilon=epsilon, source=unit.source)
    return [
        FigurePoint(unit["variant"], f"ε = {unit['epsilon']:g}", unit["h"], accuracy(groups, test))
    ]


def beside_others(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the accuracy of a tree, DiffMulti, DiffGen and Mondrian [Fig. 8]."""
    train, test = split(adult(scene), unit.run)
    places = scene.pick(full=ACCURACY_STEPS, quick=ACCURACY_STEPS[::4])
    name = unit["method"]
    if name == "raw":
        floor, ceiling = bounds(train, test)
        told = {"BA": ceiling, "LA": floor}
        return [FigurePoint("accuracy", line, x, y) for line, y in told.items() for x in places]
    if name.startswith("Mondrian"):
        method = mondrian(60, by_class="InfoGain" in name)
        found = accuracy(released_plainly(method, train, source=unit.source), test)
        return [FigurePoint("accuracy", name, x, found) for x in places]
    h = unit["h"]
    if name == "DiffGen":
        groups = released(diffgen(h), train, epsilon=ONE, source=unit.source)
    else:
        boxes = diffmulti(h, faithful=name == "DiffMulti")
        groups = released(boxes, train, epsilon=ONE, source=unit.source)
    return [FigurePoint("accuracy", name, h, accuracy(groups, test))]


@cache
def _clustered(scene: Scene) -> EncodedTable:
    """Return Adult with its cluster, of two, as the class."""
    table = classless(adult(scene))
    examples = Examples.of_records(table)
    labels = cluster(examples, examples, clusters=2)
    domain = CategoricalDomain.over(flat(["first", "second"]), other=None, missing=None)
    schema = Schema(
        attributes=table.schema.attributes,
        class_attribute=Attribute(name="cluster", domain=domain),
    )
    return EncodedTable.from_codes(schema, table.codes, labels)


def clusters(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the Match Point of raw and generalised records, two clusters [Fig. 11]."""
    table = _clustered(scene)
    score: ScoreName = "max" if unit["line"] == "ClusterMP" else "discernibility"
    method = diffmulti(unit["h"], score=score)
    groups = released(method, table, epsilon=ONE, source=unit.source)
    boxed = Examples.of_rows(groups, classless(table))
    labels = cluster(boxed, boxed, clusters=2)
    truth = np.asarray(table.classes, dtype=np.int64)
    return [FigurePoint("match", unit["line"], unit["h"], 100 * match_point(truth, labels))]
