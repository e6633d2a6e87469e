"""The engines side by side: time, memory and passes over the data, by the number of records.

Run as ``python benchmarks/bench_engines.py [RECORDS ...] [--engines E ...] [--methods M ...]``;
``make bench-large`` adds 100 million records. Every run has a process of its own. Memory is
the peak of that process; for Spark also that of the Java process it starts. Times are from
the opened file to the noisy groups; starting Spark is told apart, and what its workers and
the Java process compute is in the time on the clock only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METHODS: dict[str, dict[str, object]] = {
    "diffgen": {"method": "diffgen", "h": 10},
    "hedge": {"method": "hedge"},
}
ENGINES = ("memory", "stream", "spark")
MEMORY_UP_TO = 20_000_000
SPARK_UP_TO = 10_000_000

Fastest = dict[str, dict[int, list[tuple[float, str]]]]
"""Seconds and engine of every run, by method and number of records."""


def peak_memory(process: str = "self") -> int:
    """Return the peak of a process in bytes."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def java_peak() -> int:
    """Return the peak of the Java process that this one started, 0 where there is none."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = status.read_text(encoding="ascii")
        except OSError:
            continue
        is_mine = f"\nPPid:\t{os.getpid()}\n" in lines
        if is_mine and lines.startswith("Name:\tjava"):
            return peak_memory(status.parent.name)
    return 0


def worker(engine: str, method: str, path: Path, memory: str) -> None:
    import hedgerow
    from hedgerow.count.settings import EngineSettings
    from hedgerow.demo import lay_out
    from hedgerow.model.run import Run
    from hedgerow.pipeline.open import open_engine
    from hedgerow.pipeline.place import DataPlace
    from hedgerow.pipeline.prepare import prepare
    from hedgerow.privacy.source import SystemSource
    from hedgerow.progress import no_progress

    folder = path.parent / "demo"
    if not folder.exists():
        lay_out(folder)
    plan = hedgerow.load_plan(folder / "plan.yaml").model_copy(update={"publish": None}).at(folder)
    ready = prepare(plan, epsilon=1, **METHODS[method])
    settings = EngineSettings.of(
        engine,
        memory=memory if engine == "stream" else None,
        scratch=path.parent if engine == "stream" else None,
        master="local[2]" if engine == "spark" else None,
    )
    begun = time.perf_counter()
    if engine == "spark":
        from hedgerow.count.spark.session import spark_session

        session = spark_session(settings, None).spark
        session.range(1).count()
        settings = EngineSettings(kind="spark", session=session)
    started, cpu = time.perf_counter(), time.process_time()
    table = open_engine(ready.schema, DataPlace(data=path), settings=settings, progress=no_progress)
    opened = time.perf_counter()
    groups = ready.method.publish(Run.start(table, epsilon=ready.epsilon, source=SystemSource()))
    done = time.perf_counter()
    result = {
        "start": started - begun,
        "read": opened - started,
        "count": done - opened,
        "cpu": time.process_time() - cpu,
        "peak": peak_memory(),
        "java": java_peak(),
        "passes": getattr(table, "passes", None),
        "groups": len(groups),
    }
    table.close()
    print(json.dumps(result))


def measure(engine: str, method: str, path: Path, memory: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", engine, method, str(path), memory]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{engine} {method} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(path: Path, n_records: int, given: argparse.Namespace, fastest: Fastest) -> None:
    print(f"{n_records:,} records, {path.stat().st_size / 1e6:,.0f} MB of Parquet")
    for method in given.methods:
        for engine in given.engines:
            most = {"memory": MEMORY_UP_TO, "spark": SPARK_UP_TO}.get(engine, n_records)
            if n_records > most:
                continue
            told = measure(engine, method, path, given.memory)
            spent = told["read"] + told["count"]
            fastest[method].setdefault(n_records, []).append((spent, engine))
            print(
                f"  {method:8} {engine:7} {spent:7.1f} s (reading {told['read']:.1f})"
                f"   {told['cpu']:7.1f} s of this process's processors,"
                f" {1e6 * told['cpu'] / n_records:6.3f} us a record"
                f"   peak {told['peak'] / 1e6:6.0f} MB"
                + (f" + {told['java'] / 1e6:.0f} MB Java" if told["java"] else "")
                + (f"   {told['passes']} passes" if told["passes"] is not None else "")
                + (f"   Spark began in {told['start']:.0f} s" if engine == "spark" else ""),
                flush=True,
            )


def crossover(fastest: Fastest) -> None:
    """Tell which engine was fastest at which size."""
    for method, sizes in fastest.items():
        told = [f"{min(times)[1]} at {n:,}" for n, times in sorted(sizes.items())]
        print(f"{method}: fastest is {', '.join(told)}")


def main() -> None:
    from adult_like import write

    parser = argparse.ArgumentParser()
    parser.add_argument("records", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="*", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--memory", default="2GB", help="for streaming")
    parser.add_argument("--folder", type=Path, help="keep the tables here, and reuse them")
    given = parser.parse_args()
    fastest: Fastest = {method: {} for method in given.methods}
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for n_records in given.records:
            path = folder / f"adult-{n_records}.parquet"
            if not path.exists():
                write(path, n_records)
            compare(path, n_records, given, fastest)
            if given.folder is None:
                path.unlink()
    crossover(fastest)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], sys.argv[3], Path(sys.argv[4]), sys.argv[5])
    else:
        main()
