"""Build the bundled UCI Adult table from the files of the UCI repository.

Run as ``python tools/build_adult.py FOLDER_WITH_adult.data.gz src/hedgerow/demo/adult``.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
NUMERIC = {
    "age",
    "fnlwgt",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
}


def records(folder: Path) -> list[list[str]]:
    """Return the cells of both files, the training part first, class labels made equal."""
    rows = []
    for name in ("adult.data.gz", "adult.test.gz"):
        with gzip.open(folder / name, "rt", encoding="ascii") as lines:
            cells = [[cell.strip() for cell in line.rstrip(".\n").split(",")] for line in lines]
        rows += [row for row in cells if len(row) == len(COLUMNS)]
    return rows


def main(source: str, target: str) -> None:
    """Write ``adult.parquet``; a missing value is null."""
    arrays = {}
    for name, column in zip(COLUMNS, zip(*records(Path(source)), strict=True), strict=True):
        cells = [None if cell == "?" else cell for cell in column]
        if name in NUMERIC:
            numbers = [None if cell is None else int(cell) for cell in cells]
            arrays[name] = pa.array(numbers, pa.int32())
        else:
            arrays[name] = pa.array(cells, pa.string()).dictionary_encode()
    pq.write_table(
        pa.table(arrays),
        Path(target) / "adult.parquet",
        compression="zstd",
        compression_level=19,
        store_schema=False,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
