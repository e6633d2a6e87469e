"""What bounding the records of people adds to publishing, and how much memory it takes.

Run as ``python benchmarks/bench_people.py [RECORDS] [--runs N]``: the same table is published
with `person:` and without, each in processes of their own, in turn; the ratio is of processor
seconds, imports and compiled loops apart. The target is 1.5 at a million records.

``--stream MEMORY`` publishes once on disk within that memory instead, and tells the peak of the
process: ``python benchmarks/bench_people.py 100000000 --stream 2GB --folder DIR`` (about 5 GB for
the table and as much for scratch; the table is written piece by piece, and kept in the folder).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

RECORDS_EACH = 10
DISTINCT_CHUNKS = 4
"""Chunks of records that are drawn; larger tables repeat them, with people of their own."""

WAYS: dict[str, dict[str, object]] = {
    "records alone": {"protects": "records"},
    "4 records a person": {"person": ("who",), "records_per_person": 4},
    "people": {"person": ("who",), "records_per_person": 8, "count": "people"},
    "chosen": {"person": ("who",), "records_per_person": "auto"},
}


def write(path: Path, n_records: int) -> None:
    """Write Adult-like records of people, ten each on average, in no order, as Parquet."""
    from adult_like import CHUNK, chunk

    rng = np.random.default_rng(1)
    writer, drawn = None, []
    for start in range(0, n_records, CHUNK):
        if len(drawn) < DISTINCT_CHUNKS:
            drawn.append(_in_dictionaries(chunk(min(CHUNK, n_records - start), rng)))
        table = drawn[start // CHUNK % len(drawn)].slice(0, n_records - start)
        # Half of all records are those of a tenth of the people.
        n_people = max(n_records // RECORDS_EACH, 1)
        often = rng.random(len(table)) < 0.5
        who = np.where(
            often,
            rng.integers(0, max(n_people // 10, 1), len(table)),
            rng.integers(0, n_people, len(table)),
        )
        table = table.append_column("who", pa.array(who))
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema, store_schema=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _in_dictionaries(table: pa.Table) -> pa.Table:
    """Return a table whose texts are written in less time, to the same file."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(place, field.name, table.column(place).dictionary_encode())
    return table


def publish(path: Path, way: str, method: str, stream: str | None) -> None:
    """Publish the table at epsilon = 1, report and all."""
    import hedgerow
    from hedgerow.demo import lay_out

    folder = path.parent / "demo"
    if not folder.exists():
        lay_out(folder)
    plan = hedgerow.load_plan(folder / "plan.yaml")
    engine: dict[str, Any] = {}
    if stream is not None:
        engine = {"engine": "stream", "memory": stream, "scratch": path.parent}
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        ledger = plan.ledger.model_copy(update={"file": f"{scratch}/ledger.sqlite"})
        changed = {"ledger": ledger, "publish": None, "one_record_per_person": None, **WAYS[way]}
        plan = plan.model_copy(update=changed).at(folder)
        out = Path(scratch) / "release"
        hedgerow.publish(plan, data=path, out=out, method=method, epsilon=1, **engine)


def peak_memory() -> int:
    """Return this process's own peak in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def worker(way: str, path: Path, method: str, stream: str | None) -> None:
    """Publish, and again where it is quick; tell processor seconds and the peak of memory."""
    start = time.process_time()
    publish(path, way, method, stream)
    first = time.process_time() - start
    again = first
    if stream is None:
        start = time.process_time()
        publish(path, way, method, stream)
        again = time.process_time() - start
    print(json.dumps({"first": first, "again": again, "peak": peak_memory()}))


def measure(way: str, path: Path, method: str, stream: str | None) -> dict[str, float]:
    """Return what one process tells."""
    command = [sys.executable, __file__, "--worker", way, str(path), method, stream or ""]
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{way} failed:\n{done.stderr[-2000:]}")
    return {**json.loads(done.stdout.splitlines()[-1]), "clock": time.perf_counter() - begun}


def compare(path: Path, given: argparse.Namespace) -> None:
    """Print a line for each way, with its ratio to records alone."""
    found: dict[str, list[dict[str, float]]] = {way: [] for way in given.ways}
    for _ in range(given.runs):
        for way, results in found.items():
            results.append(measure(way, path, given.method, given.stream))
    alone: float | None = None
    for way, results in found.items():
        told = {key: statistics.median(each[key] for each in results) for key in results[0]}
        alone = told["again"] if alone is None else alone
        print(
            f"  {way:20} {told['again']:7.2f} s of processors   ratio {told['again'] / alone:5.2f}"
            f"   peak {told['peak'] / 1e6:6.0f} MB   {told['clock']:6.0f} s on the clock",
            flush=True,
        )


def main() -> None:
    """Write the table, and publish it in every way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--method", default="hedge")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--stream", metavar="MEMORY", help="on disk, within that much memory")
    parser.add_argument("--folder", type=Path, help="keep the table here, and reuse it")
    given = parser.parse_args()
    if given.stream:
        given.runs = 1
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"people-{given.records}.parquet"
        if not path.exists():
            write(path, given.records)
        size = path.stat().st_size / 1e6
        print(f"{given.records:,} records, {size:,.0f} MB of Parquet, {given.method}", flush=True)
        compare(path, given)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], Path(sys.argv[3]), sys.argv[4], sys.argv[5] or None)
    else:
        main()
