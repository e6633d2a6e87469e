"""Counting kernels against NumPy's bincount and polars' group-by, in one run.

Run as ``python benchmarks/bench_count.py [RECORDS]``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from hedgerow.count.kernels import ClassHistograms, GroupCounts
from hedgerow.model.engine import Batch

ATTRIBUTES = 14
SIZE = 64
RANGES = 4


def best_of(run: Callable[[], object], times: int = 3) -> float:
    """Return the shortest of several runs, in seconds."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        spent.append(time.perf_counter() - start)
    return min(spent)


def main(n_records: int) -> None:
    rng = np.random.default_rng(0)
    codes = tuple(rng.integers(0, SIZE, n_records, dtype=np.uint8) for _ in range(ATTRIBUTES))
    classes = rng.integers(0, 2, n_records, dtype=np.uint8)
    histograms = ClassHistograms(sizes=(SIZE,) * ATTRIBUTES, n_classes=2)
    places = tuple(np.repeat(np.arange(RANGES, dtype=np.int32), SIZE // RANGES) for _ in range(8))
    flat = tuple(np.zeros(SIZE, dtype=np.int32) for _ in range(ATTRIBUTES - 8))
    groups = GroupCounts(
        places=places + flat, n_ranges=(RANGES,) * 8 + (1,) * (ATTRIBUTES - 8), n_classes=2
    )
    frame = pl.DataFrame({f"a{i}": column for i, column in enumerate(codes)} | {"y": classes})

    def batch(*, compiled: bool) -> Batch:
        return Batch(codes=codes, classes=classes, n_records=n_records, compiled=compiled)

    histograms.count(batch(compiled=True))  # compile or load, not timed
    groups.count(batch(compiled=True))
    jobs: dict[str, dict[str, Callable[[], object]]] = {
        "class histograms": {
            "compiled": lambda: histograms.count(batch(compiled=True)),
            "numpy": lambda: histograms.count(batch(compiled=False)),
            "polars group-by": lambda: [
                frame.group_by(f"a{i}", "y").len() for i in range(ATTRIBUTES)
            ],
        },
        "group counts": {
            "compiled": lambda: groups.count(batch(compiled=True)),
            "numpy": lambda: groups.count(batch(compiled=False)),
            "polars group-by": lambda: frame.group_by(
                *[pl.col(f"a{i}") // (SIZE // RANGES) for i in range(8)], "y"
            ).len(),
        },
    }
    print(f"{n_records:,} records x {ATTRIBUTES} attributes")
    for job, ways in jobs.items():
        times = {way: best_of(run) for way, run in ways.items()}
        for way, seconds in times.items():
            ratio = seconds / times["compiled"]
            print(f"  {job:18} {way:16} {seconds * 1e3:9.1f} ms   {ratio:6.1f} x compiled")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
