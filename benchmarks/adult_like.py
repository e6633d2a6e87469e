"""Adult-like tables of any size: the blow-up of [DiffGen, Sec. 5].

For each record of UCI Adult, variants with some values redrawn from the domain.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from hedgerow.demo import adult_table

CHUNK = 1_000_000
REDRAWN = 0.2
"""The chance that a value of a variant is redrawn from those that the table holds."""


def chunk(n_records: int, rng: np.random.Generator) -> pa.Table:
    """Return ``n_records`` variants of complete Adult records."""
    table = adult_table().drop_null()
    rows = rng.integers(0, len(table), n_records)
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        values = column.dictionary if pa.types.is_dictionary(column.type) else column.unique()
        codes = column.indices if pa.types.is_dictionary(column.type) else None
        source = codes if codes is not None else column
        own = source.to_numpy(zero_copy_only=False)[rows]
        pool = (
            np.arange(len(values)) if codes is not None else values.to_numpy(zero_copy_only=False)
        )
        redrawn = rng.random(n_records) < (0 if name == "income" else REDRAWN)
        mixed = np.where(redrawn, rng.choice(pool, n_records), own)
        columns[name] = values.take(pa.array(mixed)) if codes is not None else pa.array(mixed)
    return pa.table(columns)


def write(path: Path, n_records: int) -> None:
    """Write a table as Parquet or CSV, by the suffix, chunk by chunk."""
    rng = np.random.default_rng(1)
    writer = None
    for start in range(0, n_records, CHUNK):
        table = chunk(min(CHUNK, n_records - start), rng)
        if writer is None:
            is_csv = path.suffix == ".csv"
            writer = (
                pyarrow.csv.CSVWriter(path, table.schema)
                if is_csv
                else pq.ParquetWriter(path, table.schema)
            )
        writer.write_table(table)
    if writer is not None:
        writer.close()
