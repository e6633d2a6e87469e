"""[DiffMulti, Figs. 5 and 6] again: discernibility and NCP of releases of UCI Adult.

Run as ``python benchmarks/diffmulti_tables.py penalties|eq10|accuracy [--runs N]``.
Complete records, 14 predictors. Penalties, at epsilon = 1, are those of the true records in the
published boxes, as in the paper: for the data owner, not private. Accuracy is that of a
decision tree, as in ``diffgen_accuracy.py``. ``eq10`` compares ways to read Eq. (10), two of
which are not private.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

import numpy as np

from diffgen_accuracy import adult, rows
from hedgerow.count.memory import MemoryEngine
from hedgerow.encode.table import EncodedTable
from hedgerow.evaluate.classification import tree_accuracy
from hedgerow.partition.diffgen import DiffGen
from hedgerow.partition.diffmulti import DiffMulti
from hedgerow.partition.diffmulti_budget import fair_shares
from hedgerow.partition.diffmulti_growth import PrintedGrowth
from hedgerow.partition.diffmulti_scores import multi_score
from hedgerow.partition.groups import Groups
from hedgerow.partition.locate import box_of
from hedgerow.partition.method import Method
from hedgerow.partition.scores import SCORES
from hedgerow.partition.topdown import Level
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SystemSource

ONE = Fraction(1)
STEPS = [300, 1_000, 10_000]
DIFFGEN_STEPS = [5, 10, 15]
EPSILONS = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), ONE]


def ranges_of_records(groups: Groups, table: EncodedTable) -> np.ndarray:
    """Return, by attribute and record, the index of the range that holds the record."""
    if groups.is_cut:
        return np.stack(
            [
                ranges.partition_of(attribute.domain.size)[codes]
                for ranges, attribute, codes in zip(
                    groups.ranges, table.schema.attributes, table.codes, strict=True
                )
            ]
        )
    box = box_of(groups.tree, table.codes)
    return np.stack([column[box] for column in groups.boxes])


def penalties(groups: Groups, table: EncodedTable) -> tuple[float, float]:
    """Return discernibility [Eq. (4)] and NCP [Eq. (7)] of the records in their boxes."""
    index = ranges_of_records(groups, table)
    _, sizes = np.unique(index, axis=1, return_counts=True)
    ncp = []
    for ranges, attribute, place in zip(groups.ranges, table.schema.attributes, index, strict=True):
        width = ranges.stop - ranges.first
        ncp.append(np.where(width == 1, 0, width / attribute.domain.size)[place].mean())
    return float((sizes.astype(np.float64) ** 2).sum()), float(np.mean(ncp))


def diffmulti(h: int, score: str, faithful: bool) -> DiffMulti:
    return DiffMulti(
        specialisations=h,
        score=multi_score(score, faithful=faithful),
        fair=True,
        depth=None,
        faithful=faithful,
    )


def diffgen(h: int, score: str, faithful: bool) -> DiffGen:
    return DiffGen(specialisations=h, score=SCORES[score], faithful=faithful)


def run(method: Method, table: EncodedTable, epsilon: Fraction) -> Groups:
    return method.publish(
        MemoryEngine(table=table),
        epsilon=epsilon,
        ledger=PathLedger(epsilon),
        source=SystemSource(),
    )


def penalty_job(method: Method) -> tuple[float, float, float, float]:
    table = adult()
    start = time.perf_counter()
    groups = run(method, table, ONE)
    seconds = time.perf_counter() - start
    return *penalties(groups, table), len(np.unique(np.stack(groups.index), axis=1).T), seconds


def as_printed(growth: PrintedGrowth, level: Level, parents: np.ndarray) -> np.ndarray:
    """Eq. (10) as printed: a true zero test and a true divisor. Not private."""
    first, sizes = np.flatnonzero(np.diff(parents, prepend=-1)), level.classes().sum(axis=1)
    owner = np.repeat(np.arange(len(first)), np.diff(first, append=len(parents)))
    total = np.maximum(np.add.reduceat(sizes, first), 1)[owner]
    parts = growth._noisy_sizes(level) * (growth.left[parents[first]] - 1)[owner] // total
    return np.where(sizes == 0, 0, np.maximum(parts, 0))


def by_true_counts(growth: PrintedGrowth, level: Level, parents: np.ndarray) -> np.ndarray:
    """Eq. (10) without any noise. Not private."""
    first, sizes = np.flatnonzero(np.diff(parents, prepend=-1)), level.classes().sum(axis=1)
    growth._noisy_sizes(level)  # paid for all the same
    starts = np.append(first, len(parents))
    return fair_shares(growth.left[parents[first]], sizes, starts, source=growth.source)


READINGS = {
    "noisy counts only (ours)": PrintedGrowth._handed_down,
    "as printed (not private)": as_printed,
    "true counts (not private)": by_true_counts,
}


def reading_job(job: tuple[str, str, int]) -> tuple[float, float, float, float]:
    reading, score, h = job
    PrintedGrowth._handed_down = READINGS[reading]
    groups = run(diffmulti(h, score, True), adult(), ONE)
    specialised = len(np.unique(groups.tree.parent[1:]))
    return *penalties(groups, adult()), len(groups.boxes[0]), specialised


def print_readings(pool: ProcessPoolExecutor, runs: int) -> None:
    print("| Eq. (10) | score | h | specialisations made | discernibility (million) | NCP |")
    print("|---|---|---|---|---|---|")
    for reading in READINGS:
        for score in ("discernibility", "ncp"):
            for h in STEPS:
                results = list(pool.map(reading_job, [(reading, score, h)] * runs))
                dm, ncp, _, made = (statistics.mean(c) for c in zip(*results, strict=True))
                cells = f"{made:,.0f} | {dm / 1e6:.1f} | {ncp:.2f}"
                print(f"| {reading} | {score} | {h:,} | {cells} |", flush=True)


def accuracy_job(job: tuple[Method, Fraction, int]) -> float:
    method, epsilon, split = job
    table = adult()
    order = np.random.default_rng(split).permutation(len(table))
    cut = len(table) * 2 // 3
    train, test = rows(table, order[:cut]), rows(table, order[cut:])
    return 100 * tree_accuracy(run(method, train, epsilon), train=train, test=test).release


def print_penalties(pool: ProcessPoolExecutor, runs: int) -> None:
    print("| method | score | h | discernibility (million) | NCP | boxes | seconds |")
    print("|---|---|---|---|---|---|---|")
    methods = [("DiffGen, faithful", "max", h, diffgen(h, "max", True)) for h in DIFFGEN_STEPS]
    for faithful in (True, False):
        kind = "faithful" if faithful else "improved"
        methods += [
            (f"DiffMulti, {kind}", score, h, diffmulti(h, score, faithful))
            for score in ("discernibility", "ncp", "max")
            for h in STEPS
        ]
    for name, score, h, method in methods:
        results = list(pool.map(penalty_job, [method] * runs))
        dm, ncp, boxes, seconds = (statistics.mean(column) for column in zip(*results, strict=True))
        print(
            f"| {name} | {score} | {h:,} | {dm / 1e6:.1f} | {ncp:.2f} |"
            f" {boxes:,.0f} | {seconds:.1f} |",
            flush=True,
        )


def print_accuracy(pool: ProcessPoolExecutor, runs: int) -> None:
    print("| method | score | h | " + " | ".join(f"ε = {float(e):g}" for e in EPSILONS) + " |")
    print("|---|---|---|" + "---|" * len(EPSILONS))
    for faithful in (True, False):
        for score in ("max", "infogain"):
            for h in (300, 1_000):
                cells = []
                for epsilon in EPSILONS:
                    jobs = [
                        (diffmulti(h, score, faithful), epsilon, split) for split in range(runs)
                    ]
                    cells.append(f"{statistics.mean(pool.map(accuracy_job, jobs)):.1f}")
                kind = "faithful" if faithful else "improved"
                print(f"| {kind} | {score} | {h:,} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["penalties", "eq10", "accuracy"])
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    show = {"penalties": print_penalties, "eq10": print_readings, "accuracy": print_accuracy}
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        show[options.what](pool, options.runs)


if __name__ == "__main__":
    main()
