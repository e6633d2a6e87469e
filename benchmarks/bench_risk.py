"""How long the risk of a raw table takes, against one pass that counts one column.

``python benchmarks/bench_risk.py [RECORDS] [COLUMNS]`` prints seconds and the ratio to counting a
single column of the same table by NumPy, in the same run.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from hedgerow.evaluation.distinct import row_numbers
from hedgerow.risks.raw.subsets import CountedRows, unique_on_sets


def columns_of(n_records: int, n_columns: int) -> list[np.ndarray]:
    """Return skewed columns of 2 to 100 values."""
    rng = np.random.default_rng(7)
    sizes = np.geomspace(2, 100, n_columns).astype(int)
    return [np.minimum(rng.geometric(2 / size, n_records), size) - 1 for size in sizes]


def main() -> None:
    """Time the search over sets of columns."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("records", type=int, nargs="?", default=1_000_000)
    asked.add_argument("columns", type=int, nargs="?", default=20)
    told = asked.parse_args()
    columns = columns_of(told.records, told.columns)
    unique_on_sets(CountedRows.of([columns[0][:9]], np.arange(9), np.ones(9, dtype=np.int64)))
    begin = time.process_time()
    for column in columns:
        np.bincount(column)
    reference = (time.process_time() - begin) / len(columns)
    begin = time.process_time()
    group, first = row_numbers(columns)
    sizes = np.bincount(group)
    grouped = time.process_time() - begin
    begin = time.process_time()
    found = unique_on_sets(CountedRows.of(columns, first, sizes))
    counted = time.process_time() - begin
    print(f"{told.records:,} x {told.columns}: {len(sizes):,} groups in {grouped:.2f} CPU s")
    print(
        f"{len(found.sets):,} of {found.n_possible:,} sets in {counted:.2f} CPU s,"
        f" {counted / len(found.sets) / reference:.1f} times counting one column each"
    )


if __name__ == "__main__":
    main()
