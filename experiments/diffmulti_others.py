"""[DiffMulti, Figs. 9, 10, 12, 13 and Sec. 5.1]: DPCube, PrivBayes, RPS, and run time."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

from experiments.blow_up import seconds_to_publish
from experiments.figure import FigurePoint, Scene, Unit
from experiments.releases import accuracy, bounds, diffgen, diffmulti, released
from experiments.tables import (
    ADULT_TRAINING,
    adult,
    fold,
    rows,
    split,
    with_attributes,
)
from hedgerow.baselines.dpcube.dpcube import TwoPhaseCube
from hedgerow.baselines.privbayes.privbayes import BayesianNetwork
from hedgerow.baselines.rps.rps import RecursiveMedians
from hedgerow.model.method import TableMethod
from hedgerow.model.table import EncodedTable

ONE = Fraction(1)
CUBE_ATTRIBUTES = ["workclass", "marital-status", "race", "sex"]
CUBE_CELLS = 10_000
CUBE_STEPS = 1_000
DEGREE = 3
"""The degree of PrivBayes' network in the paper's run."""

WITHOUT = {"fnlwgt", "capital-gain", "capital-loss"}
HEIGHTS = (4, 6, 8, 10, 12, 14)
FOLDS = 5
BUDGETS = (0.1, 0.25, 0.5, 0.75, 1.0)
RUN_TIME_STEPS = (10_000, 40_000, 70_000, 100_000)
RUN_TIME_GEN_STEPS = (2, 8, 14, 20)


def _first_file(table: EncodedTable, scene: Scene) -> tuple[EncodedTable, EncodedTable]:
    """Return the records of UCI's training and test files; two thirds of a sample."""
    cut = len(table) * 2 // 3 if scene.quick else ADULT_TRAINING
    return rows(table, np.arange(cut)), rows(table, np.arange(cut, len(table)))


def beside_dpcube(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the accuracy on four attributes, by budget [Fig. 9]."""
    table = with_attributes(adult(scene), CUBE_ATTRIBUTES)
    train, test = _first_file(table, scene)
    if unit["method"] == "raw":
        floor, ceiling = bounds(train, test, learner="id3")
        budgets = scene.pick(full=BUDGETS, quick=(0.1, 1.0))
        told = {"BA": ceiling, "LA": floor}
        return [FigurePoint("accuracy", line, x, y) for line, y in told.items() for x in budgets]
    methods: dict[str, TableMethod] = {
        "DiffMulti": diffmulti(CUBE_STEPS),
        "DPCube": TwoPhaseCube(cells=CUBE_CELLS),
    }
    epsilon = Fraction(str(unit["epsilon"]))
    groups = released(methods[unit["method"]], train, epsilon=epsilon, source=unit.source)
    found = accuracy(groups, test, learner="id3")
    return [FigurePoint("accuracy", unit["method"], unit["epsilon"], found)]


def beside_privbayes(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the accuracy of a linear SVM, by budget [Fig. 10]."""
    train, test = split(adult(scene), unit.run, share=4 / 5)
    if unit["method"] == "raw":
        floor, ceiling = bounds(train, test, learner="svm")
        budgets = scene.pick(full=BUDGETS, quick=(0.1, 1.0))
        told = {"BA": ceiling, "LA": floor}
        return [FigurePoint("accuracy", line, x, y) for line, y in told.items() for x in budgets]
    methods: dict[str, TableMethod] = {
        "DiffMulti": diffmulti(10_000),
        "PrivBayes": BayesianNetwork(degree=DEGREE),
    }
    epsilon = Fraction(str(unit["epsilon"]))
    start = time.process_time()
    groups = released(methods[unit["method"]], train, epsilon=epsilon, source=unit.source)
    seconds = time.process_time() - start
    found = accuracy(groups, test, learner="svm")
    return [
        FigurePoint("accuracy", unit["method"], unit["epsilon"], found),
        FigurePoint("run time", unit["method"], unit["epsilon"], seconds),
    ]


def beside_rps(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the accuracy by the height of RPS's tree, five folds [Sec. 5.1]."""
    whole = adult(scene)
    names = [a.name for a in whole.schema.attributes if a.name not in WITHOUT]
    table, _ = _first_file(with_attributes(whole, names), scene)
    train, test = fold(table, unit.run, folds=FOLDS)
    heights = scene.pick(full=HEIGHTS, quick=(4, 8))
    if unit["method"] == "raw":
        floor, ceiling = bounds(train, test)
        told = {"BA": ceiling, "LA": floor}
        return [FigurePoint("accuracy", line, x, y) for line, y in told.items() for x in heights]
    if unit["method"] == "RPS":
        method: TableMethod = RecursiveMedians(height=unit["height"])
        groups = released(method, train, epsilon=ONE, source=unit.source)
        return [FigurePoint("accuracy", "RPS", unit["height"], accuracy(groups, test))]
    groups = released(diffmulti(1_000), train, epsilon=ONE, source=unit.source)
    found = accuracy(groups, test)
    return [FigurePoint("accuracy", "DiffMulti", x, found) for x in heights]


def growth_run_time(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the CPU seconds of a release by the number of specialisations [Fig. 12]."""
    table, h = adult(scene), unit["h"]
    method: TableMethod = diffgen(h) if unit["method"] == "DiffGen" else diffmulti(h)
    few = rows(table, np.arange(1_000))
    released(method, few, epsilon=ONE, source=unit.source)  # loads what is compiled
    start = time.process_time()
    released(method, table, epsilon=ONE, source=unit.source)
    return [FigurePoint("run time", unit["method"], h, time.process_time() - start)]


def scalability(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the CPU seconds from a file to a written release, by size [Fig. 13]."""
    size = unit["size"]
    seconds = seconds_to_publish(size, method="diffmulti", h=1_000, seed=unit.run)
    return [FigurePoint("run time", "DiffMulti", size, seconds)]
