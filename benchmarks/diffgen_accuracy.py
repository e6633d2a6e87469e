"""[DiffGen, Fig. 3] again: accuracy of a decision tree learnt from releases of UCI Adult.

Run as ``python benchmarks/diffgen_accuracy.py [--splits N]``. Complete records, 14
predictors; two thirds are published, a pruned tree is tested on the rest, generalised by
the release's own boxes. Every split draws its noise from the operating system.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from hedgerow.count.memory import MemoryEngine
from hedgerow.demo import adult_table, lay_out
from hedgerow.encode.encode import encode_table
from hedgerow.encode.table import EncodedTable
from hedgerow.evaluate.classification import tree_accuracy
from hedgerow.partition.diffgen import DiffGen
from hedgerow.partition.scores import SCORES
from hedgerow.pipeline import prepare
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SystemSource
from hedgerow.read.open import open_table

EPSILONS = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1)]
STEPS = [4, 10, 16]
VARIANTS = {
    "faithful, max": (True, "max"),
    "faithful, infogain": (True, "infogain"),
    "improved, max": (False, "max"),
    "improved, gini": (False, "gini"),
}


@cache
def adult() -> EncodedTable:
    """Return the encoded table, complete records only."""
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder), force=True)
        schema = prepare(Path(folder) / "plan.yaml").schema
    return encode_table(open_table(adult_table()), schema)


def rows(table: EncodedTable, which: np.ndarray) -> EncodedTable:
    """Return some records of a table."""
    return EncodedTable(
        schema=table.schema,
        codes=tuple(codes[which] for codes in table.codes),
        classes=table.classes[which],
    )


def accuracy(job: tuple[str, Fraction, int, int]) -> tuple[float, float, float]:
    """Return floor, release and ceiling of one split."""
    variant, epsilon, steps, split = job
    table = adult()
    order = np.random.default_rng(split).permutation(len(table))
    cut = len(table) * 2 // 3
    train, test = rows(table, order[:cut]), rows(table, order[cut:])
    faithful, score = VARIANTS[variant]
    groups = DiffGen(specialisations=steps, score=SCORES[score], faithful=faithful).publish(
        MemoryEngine(table=train),
        epsilon=epsilon,
        ledger=PathLedger(epsilon),
        source=SystemSource(),
    )
    result = tree_accuracy(groups, train=train, test=test)
    return result.floor, result.release, result.ceiling


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=10)
    splits = parser.parse_args().splits
    print("| variant | h | " + " | ".join(f"ε = {float(epsilon):g}" for epsilon in EPSILONS) + " |")
    print("|---|---|" + "---|" * len(EPSILONS))
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for variant, steps in product(VARIANTS, STEPS):
            cells = []
            for epsilon in EPSILONS:
                jobs = [(variant, epsilon, steps, split) for split in range(splits)]
                results = list(pool.map(accuracy, jobs))
                release = [100 * result[1] for result in results]
                cells.append(f"{statistics.mean(release):.1f} ± {statistics.stdev(release):.1f}")
            print(f"| {variant} | {steps} | " + " | ".join(cells) + " |", flush=True)
        floor = statistics.mean(100 * result[0] for result in results)
        ceiling = statistics.mean(100 * result[2] for result in results)
    print(f"\nfloor (majority) {floor:.1f}, ceiling (raw records) {ceiling:.1f}")


if __name__ == "__main__":
    main()
