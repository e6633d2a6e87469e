"""What the differentially private baselines keep of UCI Adult.

Run as ``python benchmarks/private_baselines.py [--epsilon 1] [--splits 1] [METHOD ...]``. Two
thirds are published; a decision tree learns from the release (boxes, or invented records)
and is tested on the rest, as is gradient boosting on records drawn from the release. The
error is the mean total variation distance of two-way marginals, numbers in 16 bins.
"""

from __future__ import annotations

import argparse
import statistics
import time
from fractions import Fraction

import numpy as np

from adult_records import adult, rows
from hedgerow.baselines.basic_table.basic_table import BasicTable
from hedgerow.baselines.dpcube.dpcube import TwoPhaseCube
from hedgerow.baselines.privbayes.privbayes import BayesianNetwork
from hedgerow.baselines.rps.rps import RecursiveMedians
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation.classification import release_accuracies
from hedgerow.evaluation.marginals import marginal_errors
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model.method import TableMethod
from hedgerow.model.run import Run
from hedgerow.privacy.source import SystemSource
from hedgerow.trees.box_scores import GINI

METHODS: dict[str, TableMethod] = {
    "basic-table, 65,536 cells": BasicTable(cells=65_536),
    "rps, height 8": RecursiveMedians(height=8),
    "dpcube, 65,536 cells": TwoPhaseCube(cells=65_536),
    "privbayes, degree 3": BayesianNetwork(degree=3),
    "hedge": Hedge(score=GINI),
}


def measured(method: TableMethod, epsilon: Fraction, split: int) -> tuple[float, ...]:
    """Return tree, boosting, two-way error and processor seconds of one release."""
    whole = adult()
    order = np.random.default_rng(split).permutation(len(whole))
    cut = len(whole) * 2 // 3
    train, test = rows(whole, order[:cut]), rows(whole, order[cut:])
    began = time.process_time()
    groups = method.publish(
        Run.start(MemoryEngine(table=train), epsilon=epsilon, source=SystemSource())
    )
    seconds = time.process_time() - began
    tree = release_accuracies(groups, test=test, learners=("tree",))["tree"]
    boosting = release_accuracies(groups, test=test, learners=("boosting",), by="records")
    error = marginal_errors(groups, train, ways=2).mean
    return 100 * tree, 100 * boosting["boosting"], error, seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("methods", nargs="*", default=[])
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1))
    parser.add_argument("--splits", type=int, default=1)
    given = parser.parse_args()
    print("| method | tree | boosting on records | 2-way error | CPU seconds |")
    print("|---|---|---|---|---|")
    for name, method in METHODS.items():
        if given.methods and method.about.name not in given.methods:
            continue
        runs = [measured(method, given.epsilon, split) for split in range(given.splits)]
        tree, boosting, error, seconds = map(statistics.mean, zip(*runs, strict=True))
        print(f"| {name} | {tree:.1f} | {boosting:.1f} | {error:.3f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
