"""What `hedge` keeps for classification, on UCI Adult and on diabetes-130.

Run as ``python benchmarks/hedge_accuracy.py [adult|diabetes] [--splits N]``. Two thirds are
published, a pruned decision tree (entropy) is tested on the rest, generalised by the
release's own boxes. Beside it, for `records.csv`: gradient boosting trained on records
drawn from the boxes and tested on raw rows, and the mean total-variation error of all
two-way marginals (numeric attributes in 16 equal bins).
"""

from __future__ import annotations

import argparse
import os
import statistics
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import combinations

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from adult_records import adult, rows
from hedge_choice import table as tuned_on
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation.classification import tree_accuracy
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model.groups import Groups
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import SystemSource
from hedgerow.release.records import weighted_codes
from hedgerow.trees.box_scores import GINI

EPSILONS = [Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)]


def drawn(groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and classes of records drawn from the boxes, as `records.csv` has them."""
    columns = []
    classes = np.repeat(groups.classes, groups.counts)
    for a, (ranges, index) in enumerate(zip(groups.ranges, groups.index, strict=True)):
        first = np.repeat(ranges.first[index], groups.counts)
        stop = np.repeat(ranges.stop[index], groups.counts)
        columns.append(
            weighted_codes(first, stop, groups.marginals[a], classes=classes, source=SystemSource())
        )
    return np.stack(columns, axis=1), classes


def binned(codes: np.ndarray, table: EncodedTable) -> np.ndarray:
    """Return numeric codes in 16 equal bins, others as they are."""
    out = codes.astype(np.int64).copy()
    for a, attribute in enumerate(table.schema.attributes):
        if attribute.domain.kind == "numeric":
            out[:, a] = out[:, a] * 16 // attribute.domain.size
    return out


def marginal_error(ours: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean total-variation error of all two-way marginals."""
    errors = []
    for a, b in combinations(range(truth.shape[1]), 2):
        width = int(max(truth[:, b].max(), ours[:, b].max())) + 1
        keys = [table[:, a] * width + table[:, b] for table in (ours, truth)]
        size = int(max(key.max() for key in keys)) + 1
        shares = [np.bincount(key, minlength=size) / len(key) for key in keys]
        errors.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(errors))


def measured(job: tuple[str, Fraction, int]) -> tuple[float, ...]:
    """Return tree, floor, ceiling, boosting and marginal error of one split."""
    name, epsilon, split = job
    whole = adult() if name == "adult" else tuned_on("diabetes")
    order = np.random.default_rng(split).permutation(len(whole))
    cut = len(whole) * 2 // 3
    train, test = rows(whole, order[:cut]), rows(whole, order[cut:])
    groups = Hedge(score=GINI).publish(
        Run.start(MemoryEngine(table=train), epsilon=epsilon, source=SystemSource())
    )
    told = tree_accuracy(groups, train=train, test=test)
    codes, classes = drawn(groups)
    model = HistGradientBoostingClassifier(random_state=0, max_iter=60).fit(codes, classes)
    boosted = float(np.mean(model.predict(np.stack(test.codes, axis=1)) == test.classes))
    error = marginal_error(binned(codes, train), binned(np.stack(train.codes, axis=1), train))
    return told.release, told.floor, told.ceiling, boosted, error


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", default=["adult", "diabetes"])
    parser.add_argument("--splits", type=int, default=10)
    given = parser.parse_args()
    print("| table | ε | tree | floor | ceiling | boosting on records | 2-way error |")
    print("|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name in given.tables:
            for epsilon in EPSILONS:
                jobs = [(name, epsilon, split) for split in range(given.splits)]
                columns = list(zip(*pool.map(measured, jobs), strict=True))
                mean = [statistics.mean(column) for column in columns]
                spread = statistics.stdev(columns[0]) if given.splits > 1 else 0.0
                print(
                    f"| {name} | {float(epsilon):g} | {100 * mean[0]:.1f} ± {100 * spread:.1f}"
                    f" | {100 * mean[1]:.1f} | {100 * mean[2]:.1f} | {100 * mean[3]:.1f}"
                    f" | {mean[4]:.3f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
