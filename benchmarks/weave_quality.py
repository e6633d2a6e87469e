"""What weave keeps, beside hedge and PrivBayes: tables, correlations, empty cells, learners.

Run as ``python benchmarks/weave_quality.py [--data adult diabetes] [--splits N] [--epsilon E ...]
[--methods M ...]``. Two thirds of the records are published and the rest is classified by
learners trained on drawn records. Printed are means over splits of

- 1-way, wide, 2-way: total variation of marginals in cells of the raw data (docs/evaluate.md), the
  class included; wide: columns of more than 24 values; worst: the largest 1-way error;
- mean: error of means in standard deviations; top: counts of the ten most frequent values of wide
  columns, off by; occurs: records whose value occurs, wide columns; corr.: distance of
  correlations;
- TV1, TV2, TV3, TV2c: marginals of predictors with numbers in 16 equal bins, and all 2-way ones
  with the class, to compare with earlier figures;
- empty: the part of drawn records whose pair of values is empty in the raw table, over all pairs;
- tree, bayes, boosting: accuracy in %, and the most frequent class beside it;
- CPU seconds to the noisy groups.
"""

from __future__ import annotations

import argparse
import os
import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

from adult_records import adult, rows
from experiments import tables
from experiments.figure import Scene
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation.classification import majority_accuracy, release_accuracies
from hedgerow.evaluation.fidelity import WIDE, fidelity
from hedgerow.evaluation.marginals import bin_edges, marginal_errors
from hedgerow.model.groups import Groups
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.source import SeededSource
from hedgerow.release.records import uniform_codes, weighted_codes

LEARNERS = ("tree", "bayes", "boosting")


def diabetes() -> EncodedTable:
    """Return diabetes-130, from the folder HEDGEROW_DATA or ../shared/data."""
    place = os.environ.get("HEDGEROW_DATA", Path(__file__).parents[2] / "shared" / "data")
    return tables.diabetes(Scene(folder=Path(place), quick=False))


DATA = {"adult": adult, "diabetes": diabetes}


def drawn(groups: Groups, source: SeededSource) -> list[np.ndarray]:
    """Return codes of records drawn from the groups, by attribute."""
    group = np.repeat(np.arange(len(groups)), groups.counts)
    classes = None if groups.classes is None else groups.classes[group]
    columns = []
    for at, (ranges, index) in enumerate(zip(groups.ranges, groups.index, strict=True)):
        first, stop = ranges.first[index[group]], ranges.stop[index[group]]
        if groups.marginals is None:
            columns.append(uniform_codes(first, stop, source=source))
        else:
            weights = groups.marginals[at]
            columns.append(weighted_codes(first, stop, weights, classes=classes, source=source))
    return columns


def neutral(groups: Groups, table: EncodedTable) -> list[float]:
    """Return the measures in cells of the raw data; NaN where a table has no such column."""
    found = fidelity(groups, table, with_class=True, most_pairs=10**6)
    wide = [each for each in found.columns if each.size > WIDE]
    numbers = [each.number for each in found.columns if each.number is not None]
    away = [abs(each.release - each.records) for each in found.correlations]
    return [
        found.one_way,
        _mean([each.error for each in wide]),
        found.two_way or 0.0,
        found.worst_column.error,
        _mean([each.mean_error for each in numbers]),
        _mean([each.top for each in wide]),
        _mean([each.occurs or 0.0 for each in wide]),
        _mean(away),
    ]


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def in_empty_cells(ours: list[np.ndarray], table: EncodedTable) -> float:
    """Return the part of records in pair cells that are empty in the table, over all pairs."""
    edges = [bin_edges(each) for each in table.schema.attributes]
    here, there = (
        [np.searchsorted(e, np.asarray(c), "right") - 1 for e, c in zip(edges, codes, strict=True)]
        for codes in (ours, table.codes)
    )
    parts = []
    for a, b in combinations(range(len(edges)), 2):
        n = len(edges[b])
        filled = np.bincount(there[a] * n + there[b], minlength=len(edges[a]) * n) > 0
        parts.append(1 - filled[here[a] * n + here[b]].mean())
    return float(np.mean(parts))


def measured(method: str, epsilon: str, table: EncodedTable, split: int) -> list[float]:
    """Return all measures of one release of one split."""
    order = np.random.default_rng(split).permutation(len(table))
    cut = len(table) * 2 // 3
    train, test = rows(table, order[:cut]), rows(table, order[cut:])
    settings = METHODS[method].model_validate({"method": method, "epsilon": epsilon})
    began = time.process_time()
    groups = settings.build(has_class=True).publish(
        Run.start(MemoryEngine(table=train), epsilon=Fraction(epsilon), source=SeededSource(split))
    )
    seconds = time.process_time() - began
    found = neutral(groups, train)
    found += [marginal_errors(groups, train, ways=ways).mean for ways in (1, 2, 3)]
    found.append(marginal_errors(groups, train, ways=2, most=10**6, with_class=True).mean)
    codes = drawn(groups, SeededSource(split))
    found.append(in_empty_cells(codes, train))
    told = release_accuracies(groups, test=test, learners=LEARNERS, by="records")
    found += [100 * told[learner] for learner in LEARNERS]
    return [*found, 100 * majority_accuracy(train=train, test=test), seconds]


HEADER = (
    f"{'data':9}{'method':10}{'eps':>5}  1-way  wide   2-way  worst  mean   top    occurs corr. "
    " TV1    TV2    TV3    TV2c   empty    tree  bayes  boost  floor    CPU s"
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--epsilon", nargs="*", default=["1", "1/2", "1/4", "1/10"])
    parser.add_argument("--methods", nargs="*", default=["weave", "hedge", "privbayes"])
    given = parser.parse_args()
    print(HEADER)
    for name in given.data:
        table = DATA[name]()
        for method in given.methods:
            for epsilon in given.epsilon:
                runs = [measured(method, epsilon, table, at) for at in range(given.splits)]
                mean = np.mean(runs, axis=0)
                tv = " ".join(f"{x:.4f}" for x in mean[:13])
                learnt = " ".join(f"{x:6.2f}" for x in mean[13:17])
                print(f"{name:9}{method:10}{epsilon:>5}  {tv} {learnt} {mean[17]:8.2f}", flush=True)


if __name__ == "__main__":
    main()
