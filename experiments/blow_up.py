"""Adult-like files of any size, and the time that a whole release of one takes.

[DiffGen, Sec. 5] and [DiffMulti, Sec. 5.2] add variations of Adult's records, with some
values replaced at random, until there are up to a million.
"""

from __future__ import annotations

import tempfile
import time
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.pipeline.publish import publish

if TYPE_CHECKING:
    import pyarrow as pa

REDRAWN = 0.2
"""The chance that a value of a variation is replaced; the papers do not give one."""

SEED = 2011


def variations(n_records: int) -> pa.Table:
    """Return complete Adult records and variations of them, that many in all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with as_file(files("hedgerow") / "demo" / "adult" / "adult.parquet") as path:
        table = pq.read_table(path).drop_null()
    rng = np.random.default_rng(SEED)
    rows = np.arange(n_records) % len(table)
    is_variation = np.arange(n_records) >= len(table)
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks().dictionary_encode()
        own = column.indices.to_numpy(zero_copy_only=False)[rows]
        drawn = rng.integers(0, len(column.dictionary), n_records)
        replaced = is_variation & (rng.random(n_records) < REDRAWN) & (name != "income")
        codes = np.where(replaced, drawn, own).astype(np.int32)
        columns[name] = column.dictionary.take(pa.array(codes))
    return pa.table(columns)


def seconds_to_publish(n_records: int, *, method: str, h: int, seed: int) -> float:
    """Return the CPU seconds to read a CSV file, publish it as printed and write the release."""
    _warm_up(method)
    return _seconds(n_records, method, h, seed)


@cache
def _warm_up(method: str) -> None:
    """Load what is compiled or imported at the first call, so that no time has it."""
    _seconds(1_000, method, 4, 0)


def _seconds(n_records: int, method: str, h: int, seed: int) -> float:
    import pyarrow.csv

    with (
        tempfile.TemporaryDirectory() as folder,
        as_file(files("hedgerow") / "demo" / "adult") as adult,
    ):
        path = Path(folder) / "records.csv"
        pyarrow.csv.write_csv(variations(n_records), path)
        start = time.process_time()
        publish(
            adult / "plan.yaml",
            data=path,
            out=Path(folder) / "release",
            method=method,
            epsilon=1,
            faithful=True,
            seed=seed,
            h=h,
            score="max",
            even_if_noise=True,
        )
        return time.process_time() - start
