"""Publishing a table against merely reading it and counting every column with polars.

Run as ``python benchmarks/bench_publish.py [RECORDS ...] [--only parquet|csv] [--methods M ...]``.
Every way runs in processes of its own, in turn, so that memory can be told apart; times are
inside the process, imports included, and the median of several. Ratios of CPU seconds, of the
second run, come last: they hold on a busy machine, too. Targets for these, from CSV: 2 for
hedge, 3 for DiffMulti.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 5


def reference(path: Path) -> None:
    """Read the file and count every column's values."""
    import polars as pl

    frame = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    for column in frame.columns:
        frame[column].value_counts()


METHODS: dict[str, dict[str, object]] = {
    "diffgen": {"method": "diffgen", "h": 10},
    "hedge": {"method": "hedge"},
    "weave": {"method": "weave"},
    "diffmulti": {"method": "diffmulti", "h": 10_000},
    "diffmulti-100000": {"method": "diffmulti", "h": 100_000},
}


def ours(path: Path, method: str = "diffgen", n_records: int = 1_000_000) -> None:
    """Publish the file of so many records at epsilon = 1, report and all."""
    import hedgerow
    from hedgerow.demo import lay_out

    folder = path.parent / "demo"
    if not folder.exists():
        lay_out(folder)
    plan = hedgerow.load_plan(folder / "plan.yaml")
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        ledger = plan.ledger.model_copy(update={"file": f"{scratch}/ledger.sqlite"})
        told = {"ledger": ledger, "publish": None, "records": n_records}
        plan = plan.model_copy(update=told).at(folder)
        settings = {"epsilon": 1, **METHODS[method]}
        hedgerow.publish(plan, data=path, out=Path(scratch) / "release", **settings)


def peak_memory() -> int:
    """Return this process's own peak in bytes; getrusage would count the parent's, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def worker(way: str, path: Path, n_records: int) -> None:
    def run() -> None:
        reference(path) if way == "polars" else ours(path, way, n_records)

    start = time.perf_counter()
    run()
    first = time.perf_counter() - start
    peak = peak_memory()
    start, cpu = time.perf_counter(), time.process_time()
    run()
    again, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"first": first, "again": again, "cpu": cpu, "peak": peak}))


def surroundings() -> dict[str, str]:
    """Return the environment of a process that may keep what Python compiles, as users' do."""
    return {name: told for name, told in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(way: str, path: Path, n_records: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", way, str(path), str(n_records)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings())
    return json.loads(done.stdout)


def compare(path: Path, n_records: int, runs: int, methods: list[str]) -> None:
    from adult_like import write

    write(path, n_records)
    ours(path, n_records=n_records)  # lays out the plan, warms the file cache
    by_way: dict[str, list[dict[str, float]]] = {way: [] for way in ("polars", *methods)}
    for _ in range(runs):
        for way, results in by_way.items():
            results.append(measure(way, path, n_records))
    size = path.stat().st_size / 1e6
    print(f"{n_records:,} records, {path.suffix[1:]}, {size:,.0f} MB")
    told = {
        way: {key: statistics.median(r[key] for r in results) for key in results[0]}
        for way, results in by_way.items()
    }
    for way, result in told.items():
        print(
            f"  {way:16} first {result['first']:6.2f} s   again {result['again']:6.2f} s"
            f"   peak {result['peak'] / 1e6:6.0f} MB"
            f"   ratio {result['first'] / told['polars']['first']:5.2f} first,"
            f" {result['again'] / told['polars']['again']:5.2f} again,"
            f" {result['cpu'] / told['polars']['cpu']:5.2f} in CPU time"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("records", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--only", choices=["parquet", "csv"])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for n_records in given.records:
            for suffix in ("parquet", "csv"):
                if given.only in (None, suffix):
                    path = Path(scratch) / f"adult-{n_records}.{suffix}"
                    compare(path, n_records, given.runs, given.methods)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
