"""Publishing a wide table against merely reading it and counting every column with polars.

Run as ``python benchmarks/bench_wide.py [--columns 42] [--records 200000] [--method hedge]``. The
table is that of ``evaluate_wide.py``, as CSV and as Parquet. Both ways run in turn in one process,
after a first run of each; times are CPU seconds, the best of several.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from bench_publish import reference
from evaluate_wide import wide_table
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.domain import CategoricalDomain


def values_of(domain: Any) -> list[str]:
    return [f"v{i}" for i in range(domain.size)]


def as_arrow(table: EncodedTable) -> pa.Table:
    """Return the table with values in place of codes."""
    target = table.schema.class_attribute
    columns = {}
    for attribute, codes in zip(
        (*table.schema.attributes, target), (*table.codes, table.classes), strict=True
    ):
        numbers = pa.array(codes.astype("int32"))
        listed = isinstance(attribute.domain, CategoricalDomain)
        columns[attribute.name] = (
            pa.array(values_of(attribute.domain)).take(numbers) if listed else numbers
        )
    return pa.table(columns)


def plan_of(table: EncodedTable, folder: Path) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        each.name: {"values": values_of(each.domain)}
        if isinstance(each.domain, CategoricalDomain)
        else {"numeric": [0, each.domain.size - 1], "step": 1}
        for each in table.schema.attributes
    }
    attributes["class"] = {"role": "class", "values": ["v0", "v1"]}
    return {
        "records": len(table),
        "one-record-per-person": True,
        "attributes": attributes,
        "confirmed": True,
        "ledger": {"dataset": "wide", "cap": 50, "file": str(folder / "ledger.sqlite")},
    }


def ours(plan: dict[str, Any], path: Path, method: str) -> None:
    """Publish the file at epsilon = 1, report and all, on a ledger of its own."""
    import hedgerow

    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        own = {**plan, "ledger": {**plan["ledger"], "file": f"{scratch}/ledger.sqlite"}}
        hedgerow.publish(own, data=path, out=Path(scratch) / "release", method=method, epsilon=1)


def seconds(run: Callable[[], None]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def compare(plan: dict[str, Any], path: Path, method: str, runs: int) -> None:
    spent: dict[str, list[float]] = {"polars": [], method: []}
    for _ in range(runs + 1):
        spent["polars"].append(seconds(lambda: reference(path)))
        spent[method].append(seconds(lambda: ours(plan, path, method)))
    least = {way: min(times[1:]) for way, times in spent.items()}
    print(
        f"  {path.suffix[1:]:8} polars {least['polars']:5.2f} s   {method} {least[method]:5.2f} s"
        f"   {least[method] / least['polars']:5.1f} x reading and counting",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", type=int, default=42)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--method", default="hedge")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    table = wide_table(given.columns, given.records)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        plan, arrow = plan_of(table, folder), as_arrow(table)
        pyarrow.csv.write_csv(arrow, folder / "wide.csv")
        pq.write_table(arrow, folder / "wide.parquet")
        print(f"{given.records:,} records x {given.columns} columns, CPU seconds")
        for suffix in ("csv", "parquet"):
            compare(plan, folder / f"wide.{suffix}", given.method, given.runs)


if __name__ == "__main__":
    main()
