"""[DiffPart]: what its figures measure, on MSNBC and on the stand-in for STM."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from experiments.baskets import DATA, part_of, with_limit
from experiments.figure import FigurePoint, Scene, Unit
from hedgerow.baselines.basic.basic import Basic
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.evaluation.itemsets import top_itemsets, top_k_utility
from hedgerow.evaluation.queries import (
    CLASSES,
    SANITY,
    Queries,
    answers,
    queries_of_length,
    random_queries,
)
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.method import BasketMethod
from hedgerow.model.run import Run
from hedgerow.privacy.source import RandomSource

METHODS: dict[str, BasketMethod] = {
    "DiffPart": DiffPart(faithful=True),
    "hedgerow's default": DiffPart(),
    "Basic": Basic(),
}
TOPS = (20, 40, 60, 80, 100)
MIDDLE = 0.6
"""Queries have that part of the longest record's items in Figs. 5 and 7."""

EXACTLY, UP_TO = "exactly", "up to"
"""Two readings of a query length: of each query, or of the longest in a set of queries."""

FIXED_LENGTH = 10
"""Items of every query in Fig. 6."""

QUERY_SEED = 1
PERCENT = tuple(100 * (i + 1) // CLASSES for i in range(CLASSES))
FIXED_SIZE = 800_000
"""Records of every test set where the universe varies [DiffPart, Sec. 5.2]."""


@dataclass(frozen=True, eq=False)
class Workload:
    """A data set with its queries and their true answers, computed once."""

    baskets: EncodedBaskets
    n_queries: int
    length: int | None = None
    up_to: bool = True

    @cached_property
    def records(self) -> WeightedSets:
        """The records as weighted sets."""
        return WeightedSets.of_records(self.baskets)

    @cached_property
    def queries(self) -> Queries:
        """Random queries in five classes up to a length, or all of one length."""
        n_items = self.baskets.taxonomy.n_leaves
        longest = self.length or int(self.baskets.lengths.max())
        if self.up_to:
            return random_queries(n_items, longest=longest, n=self.n_queries, seed=QUERY_SEED)
        return queries_of_length(n_items, longest, n=self.n_queries, seed=QUERY_SEED)

    def both_errors(self, release: WeightedSets) -> dict[str, float]:
        """Return the error of queries of exactly the longest length, and of up to it."""
        readings = {EXACTLY: self.fixed, UP_TO: self}
        return {name: float(asked.errors(release)[-1]) for name, asked in readings.items()}

    @cached_property
    def fixed(self) -> Workload:
        """The same records, asked with queries of one length only."""
        return replace(self, up_to=False)

    @cached_property
    def true(self) -> NDArray[np.int64]:
        """The records' own answers."""
        return answers(self.records, self.queries)

    @cached_property
    def top(self) -> list[tuple[tuple[int, ...], int]]:
        """The records' most frequent itemsets."""
        return list(top_itemsets(self.records, max(TOPS)).items())

    def release(self, method: BasketMethod, budget: Fraction, source: RandomSource) -> WeightedSets:
        """Return a release as weighted sets."""
        noisy = method.publish(
            Run.start(BasketMemory(baskets=self.baskets), epsilon=budget, source=source)
        )
        return WeightedSets.of_release(noisy)

    def errors(self, release: WeightedSets | None) -> NDArray[np.float64]:
        """Return the average relative error of each class; without a release, of answering 0."""
        told = 0 if release is None else answers(release, self.queries)
        scale = np.maximum(self.true, float(SANITY * self.records.total))
        of_class = self.queries.length_class
        total = np.bincount(of_class, weights=np.abs(told - self.true) / scale)
        return total / np.bincount(of_class)


@lru_cache(maxsize=3)
def subject(
    scene: Scene,
    data: str,
    *,
    fan_out: int = 10,
    size: int | None = None,
    n_items: int | None = None,
    length: int | float | None = None,
) -> Workload:
    """Return a data set, or a part of it, ready to be asked.

    ``length`` is the longest query, as a number or as a part of the longest record.
    """
    baskets = DATA[data](scene, fan_out=fan_out)
    if n_items is not None:
        baskets = with_limit(baskets, n_items, size or len(baskets))
    elif size is not None:
        baskets = part_of(baskets, size, seed=size)
    n_queries = scene.pick(full=50_000, quick=500)
    if isinstance(length, float):
        length = round(length * int(baskets.lengths.max()))
    return Workload(baskets=baskets, n_queries=n_queries, length=length)


def _budget(unit: Unit) -> Fraction:
    return Fraction(str(unit["B"]))


def _named(unit: Unit) -> str:
    return f"B = {unit['B']}"


def by_length(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return errors by class of query lengths [DiffPart, Fig. 3]."""
    asked = subject(scene, unit["data"])
    method = unit["method"]
    if method == "answering 0":
        errors = asked.errors(None)
    else:
        errors = asked.errors(asked.release(METHODS[method], _budget(unit), unit.source))
    panel = f"{unit['data']}, {_named(unit)}"
    points = [
        FigurePoint(panel, method, x, y) for x, y in zip(PERCENT, errors.tolist(), strict=True)
    ]
    mean = float(errors.mean())
    return [*points, FigurePoint(f"{unit['data']}, all lengths", method, unit["B"], mean)]


def basket_run_time(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the CPU seconds from encoded records to the release [DiffPart, Fig. 4]."""
    data, size, n_items = unit["data"], unit["size"], unit["items"]
    asked = subject(scene, data, size=size, n_items=n_items or None)
    few = replace(asked, baskets=part_of(asked.baskets, 1_000, seed=0))
    few.release(METHODS["DiffPart"], Fraction(1), unit.source)  # loads what is compiled
    start = time.process_time()
    asked.release(METHODS["DiffPart"], Fraction(1), unit.source)
    seconds = time.process_time() - start
    if n_items:
        return [FigurePoint("by universe", data, n_items, seconds)]
    return [FigurePoint("by records", data, size, seconds)]


def by_fan_out(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return errors by fan-out, queries of 60 % of the longest record [DiffPart, Fig. 5]."""
    asked = subject(scene, unit["data"], fan_out=unit["f"], length=MIDDLE)
    release = asked.release(METHODS["DiffPart"], _budget(unit), unit.source)
    return [
        FigurePoint(f"{unit['data']}, {reading}", _named(unit), unit["f"], error)
        for reading, error in asked.both_errors(release).items()
    ]


def by_universe(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return errors by the size of the universe, queries of 10 items [DiffPart, Fig. 6]."""
    size = scene.pick(full=FIXED_SIZE, quick=2_000)
    asked = subject(scene, "STM", n_items=unit["items"], size=size, length=FIXED_LENGTH)
    release = asked.release(METHODS["DiffPart"], _budget(unit), unit.source)
    points = []
    for reading, error in asked.both_errors(release).items():
        points += [
            FigurePoint(f"by universe, {reading}", _named(unit), unit["items"], error),
            FigurePoint(f"by budget, {reading}", f"|I| = {unit['items']}", unit["B"], error),
        ]
    return points


def by_size(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return errors by the number of records [DiffPart, Fig. 7]."""
    asked = subject(scene, unit["data"], size=unit["size"], length=MIDDLE)
    release = asked.release(METHODS["DiffPart"], _budget(unit), unit.source)
    points = []
    for reading, error in asked.both_errors(release).items():
        least = error if unit["smallest"] else np.nan
        points += [
            FigurePoint(f"{unit['data']}, {reading}", _named(unit), unit["size"], error),
            FigurePoint(f"smallest set, {reading}", unit["data"], unit["B"], least),
        ]
    return points


def by_top(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return the utility of the top K itemsets [DiffPart, Fig. 8]."""
    asked = subject(scene, unit["data"])
    release = asked.release(METHODS[unit["method"]], _budget(unit), unit.source)
    top = list(top_itemsets(release, max(TOPS)).items())
    line = _named(unit) if unit["method"] == "DiffPart" else f"{unit['method']}, {_named(unit)}"
    return [
        FigurePoint(unit["data"], line, k, top_k_utility(dict(asked.top[:k]), dict(top[:k])))
        for k in TOPS
    ]
