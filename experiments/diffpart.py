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
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.evaluation.itemsets import top_itemsets, top_k_utility
from hedgerow.evaluation.queries import CLASSES, SANITY, Queries, answers, random_queries
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.methods.basic.basic import Basic
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.method import BasketMethod
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import RandomSource

METHODS: dict[str, BasketMethod] = {
    "DiffPart": DiffPart(faithful=True),
    "hedgerow's default": DiffPart(),
    "Basic": Basic(),
}
TOPS = (20, 40, 60, 80, 100)
MIDDLE = 2
"""The class of queries of up to 60 % of the longest record, from 0."""

QUERY_SEED = 1
PERCENT = tuple(100 * (i + 1) // CLASSES for i in range(CLASSES))
FIXED_SIZE = 800_000
"""Records of every test set where the universe varies [DiffPart, Sec. 5.2]."""


@dataclass(frozen=True, eq=False)
class Workload:
    """A data set with its queries and their true answers, computed once."""

    baskets: EncodedBaskets
    n_queries: int
    longest: int

    @cached_property
    def records(self) -> WeightedSets:
        """The records as weighted sets."""
        return WeightedSets.of_records(self.baskets)

    @cached_property
    def queries(self) -> Queries:
        """Random queries in five classes of lengths."""
        n_items = self.baskets.taxonomy.n_leaves
        return random_queries(n_items, longest=self.longest, n=self.n_queries, seed=QUERY_SEED)

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
            BasketMemory(baskets=self.baskets),
            epsilon=budget,
            ledger=PathLedger(budget),
            source=source,
        )
        return WeightedSets.of_release(noisy)

    def errors(self, release: WeightedSets | None) -> NDArray[np.float64]:
        """Return the average relative error of each class; without a release, of answering 0."""
        told = 0 if release is None else answers(release, self.queries)
        scale = np.maximum(self.true, float(SANITY * self.records.total))
        of_class = self.queries.length_class
        total = np.bincount(of_class, weights=np.abs(told - self.true) / scale, minlength=CLASSES)
        return total / np.bincount(of_class, minlength=CLASSES)


@lru_cache(maxsize=3)
def subject(
    scene: Scene,
    data: str,
    *,
    fan_out: int = 10,
    size: int | None = None,
    n_items: int | None = None,
    longest: int | None = None,
) -> Workload:
    """Return a data set, or a part of it, ready to be asked."""
    baskets = DATA[data](scene, fan_out=fan_out)
    if n_items is not None:
        baskets = with_limit(baskets, n_items, size or len(baskets))
    elif size is not None:
        baskets = part_of(baskets, size, seed=size)
    n_queries = scene.pick(full=50_000, quick=500)
    return Workload(baskets, n_queries, longest or int(baskets.lengths.max()))


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
    """Return errors by fan-out, queries of up to 60 % of the longest record [DiffPart, Fig. 5]."""
    asked = subject(scene, unit["data"], fan_out=unit["f"])
    release = asked.release(METHODS["DiffPart"], _budget(unit), unit.source)
    return [
        FigurePoint(unit["data"], _named(unit), unit["f"], float(asked.errors(release)[MIDDLE]))
    ]


def by_universe(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return errors by the size of the universe, queries of up to 10 items [DiffPart, Fig. 6]."""
    size = scene.pick(full=FIXED_SIZE, quick=2_000)
    asked = subject(scene, "STM", n_items=unit["items"], size=size, longest=10)
    release = asked.release(METHODS["DiffPart"], _budget(unit), unit.source)
    error = float(asked.errors(release)[CLASSES - 1])
    return [
        FigurePoint("by universe", _named(unit), unit["items"], error),
        FigurePoint("by budget", f"|I| = {unit['items']}", unit["B"], error),
    ]


def by_size(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return errors by the number of records [DiffPart, Fig. 7]."""
    asked = subject(scene, unit["data"], size=unit["size"])
    release = asked.release(METHODS["DiffPart"], _budget(unit), unit.source)
    error = float(asked.errors(release)[MIDDLE])
    return [
        FigurePoint(unit["data"], _named(unit), unit["size"], error),
        FigurePoint("smallest set", unit["data"], unit["B"], error if unit["smallest"] else np.nan),
    ]


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
