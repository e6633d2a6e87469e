"""Candidates to read [DiffMulti, Eq. (10)], and what they do to discernibility and NCP.

Run as ``python benchmarks/diffmulti_eq10.py [--runs N]``. UCI Adult at epsilon = 1; penalties
are those of the true records in the published boxes. Two of the three readings are not
private. The figures themselves are run by ``python -m experiments run diffmulti``.
"""

from __future__ import annotations

import argparse
import os
import statistics
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

import numpy as np

from adult_records import adult
from experiments.releases import diffmulti, released
from hedgerow.evaluation.loss import losses_of_records
from hedgerow.methods.diffmulti.budget import fair_shares
from hedgerow.methods.diffmulti.growth import PrintedGrowth
from hedgerow.privacy.source import SystemSource
from hedgerow.trees.topdown import Level

STEPS = [300, 1_000, 10_000]


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
    return fair_shares(growth.left[parents[first]], sizes, starts, source=growth.run.source)


READINGS = {
    "noisy counts only (ours)": PrintedGrowth._handed_down,
    "as printed (not private)": as_printed,
    "true counts (not private)": by_true_counts,
}


def reading_job(job: tuple[str, str, int]) -> tuple[float, float, float]:
    reading, score, h = job
    PrintedGrowth._handed_down = READINGS[reading]
    method = diffmulti(h, score=score)
    groups = released(method, adult(), epsilon=Fraction(1), source=SystemSource())
    found = losses_of_records(groups, adult())
    return found.discernibility, found.ncp, len(np.unique(groups.tree.parent[1:]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=4)
    runs = parser.parse_args().runs
    print("| Eq. (10) | score | h | specialisations made | discernibility (million) | NCP |")
    print("|---|---|---|---|---|---|")
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for reading in READINGS:
            for score in ("discernibility", "ncp"):
                for h in STEPS:
                    results = list(pool.map(reading_job, [(reading, score, h)] * runs))
                    dm, ncp, made = (statistics.mean(c) for c in zip(*results, strict=True))
                    cells = f"{made:,.0f} | {dm / 1e6:.1f} | {ncp:.2f}"
                    print(f"| {reading} | {score} | {h:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
