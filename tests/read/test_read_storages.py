"""One table in every storage: the same codes come out of each."""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from hedgerow.encode.table import encode_table
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.read.open import open_table
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

N_RECORDS = 500
JOBS = ["Bäuerin", "shop, small", 'so-called "clerk"', "office"]


def _table() -> pa.Table:
    rng = np.random.default_rng(2011)

    def some(values: list[Any], kind: pa.DataType) -> pa.Array:
        picked = rng.integers(0, len(values) + 1, N_RECORDS)
        return pa.array([values[i] if i < len(values) else None for i in picked], kind)

    return pa.table(
        {
            "name": ["SECRET123"] * N_RECORDS,
            "age": some(list(range(10, 95, 7)), pa.int64()),
            "rate": some([i / 10 for i in range(-1, 12)], pa.float64()),
            "job": some([*JOBS, "unheard of"], pa.string()),
            "rooms": some([1, 2, 3, 17], pa.int64()),
            "class": some(["no", "yes"], pa.string()),
        }
    )


TABLE = _table()


def schema_with(missing: str) -> Schema:
    kept = missing == "value"
    label = "missing" if kept else None
    tree = Taxonomy.from_nested("Any", {"Outdoor": JOBS[:1], "Indoor": JOBS[1:]})
    jobs = CategoricalDomain.over(tree, other="other", missing=label)
    rooms = Taxonomy.flat(["1", "2", "3", "17"])
    return Schema(
        attributes=(
            Attribute(name="job", domain=jobs),
            Attribute(name="age", domain=NumericDomain.even(low=17, high=90, step=1, missing=kept)),
            Attribute(
                name="rate", domain=NumericDomain.even(low=0, high=1, step="0.1", missing=kept)
            ),
            Attribute(name="rooms", domain=CategoricalDomain.over(rooms, missing=label)),
        ),
        class_attribute=Attribute(
            name="class", domain=CategoricalDomain(taxonomy=Taxonomy.flat(["no", "yes"]))
        ),
        missing=missing,
        missing_values=frozenset({"?"}),
    )


def as_text(delimiter: str, *, lacking: str = "", line_end: str = "\n", blank: str = "") -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end)
    writer.writerow(TABLE.column_names)
    for row in zip(*(column.to_pylist() for column in TABLE.columns), strict=True):
        writer.writerow([lacking if value is None else f"{value}{blank}" for value in row])
    return text.getvalue()


def written(name: str, write: Callable[[Path], object]) -> Callable[[Path], Any]:
    def make(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return make


def in_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (name, age INT, rate REAL, job TEXT, rooms INT, class)")
        rows = zip(*(column.to_pylist() for column in TABLE.columns), strict=True)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)


FORMS = {
    "CSV, Latin-1": Reading(encoding="latin-1", delimiter="semicolon"),
    "CSV, byte order mark": Reading(delimiter="bar"),
}

STORAGES: dict[str, Callable[[Path], Any]] = {
    "CSV": written("t.csv", lambda p: p.write_text(as_text(","), encoding="utf-8")),
    "CSV, Latin-1": written("t.csv", lambda p: p.write_text(as_text(";"), encoding="latin-1")),
    "CSV, CRLF and blanks": written(
        "t.csv", lambda p: p.write_bytes(as_text(",", line_end="\r\n", blank="  ").encode())
    ),
    "CSV, byte order mark": written(
        "t.csv", lambda p: p.write_text(as_text("|", lacking="?"), encoding="utf-8-sig")
    ),
    "TSV": written("t.tsv", lambda p: p.write_text(as_text("\t", lacking=" ?"), encoding="utf-8")),
    "CSV, gzip": written("t.csv.gz", lambda p: p.write_bytes(gzip.compress(as_text(",").encode()))),
    "CSV by pandas": written("t.csv", lambda p: TABLE.to_pandas().to_csv(p)),
    "CSV by polars": written("t.csv", lambda p: pl.DataFrame(TABLE).write_csv(p)),
    "Parquet": written("t.parquet", lambda p: pq.write_table(TABLE, p, row_group_size=99)),
    "Parquet by polars": written("t.parquet", lambda p: pl.DataFrame(TABLE).write_parquet(p)),
    "Parquet by pandas": written("t.parquet", lambda p: TABLE.to_pandas().to_parquet(p)),
    "Arrow": written("t.arrow", lambda p: feather.write_feather(TABLE, str(p))),
    "pyarrow": lambda _: TABLE,
    "pandas": lambda _: TABLE.to_pandas(),
    "pandas, nullable": lambda _: TABLE.to_pandas().convert_dtypes(),
    "pandas, categories": lambda _: TABLE.to_pandas().astype("category"),
    "polars": lambda _: pl.DataFrame(TABLE),
    "polars, lazy": lambda _: pl.LazyFrame(TABLE),
    "32 bits": lambda _: TABLE.set_column(1, "age", TABLE["age"].cast(pa.int32())).set_column(
        2, "rate", TABLE["rate"].cast(pa.float32())
    ),
}  # fmt: skip


def codes_of(table: EncodedTable) -> list[list[int]]:
    assert table.classes is not None
    return [column.tolist() for column in (*table.codes, table.classes)]


@pytest.fixture(scope="module", params=["drop", "value"])
def schema(request: pytest.FixtureRequest) -> Schema:
    return schema_with(request.param)


@pytest.fixture(scope="module")
def expected(schema: Schema) -> list[list[int]]:
    codes = codes_of(encode_table(open_table(TABLE), schema))
    assert 100 < len(codes[0]) < N_RECORDS
    return codes


@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage_of_a_table_gives_the_same_codes(storage, tmp_path, schema, expected):
    source = open_table(STORAGES[storage](tmp_path), reading=FORMS.get(storage, PLAIN))
    assert codes_of(encode_table(source, schema)) == expected


def test_sqlite_gives_the_same_codes(tmp_path, schema, expected):
    in_sqlite(tmp_path / "t.db")
    source = open_table("sqlite:///t.db", query="select * from t", base=tmp_path)
    assert codes_of(encode_table(source, schema)) == expected


def test_postgresql_gives_the_same_codes(postgres_url, schema, expected):
    from adbc_driver_postgresql import dbapi

    with closing(dbapi.connect(postgres_url)) as connection, closing(connection.cursor()) as cursor:
        numbered = TABLE.append_column("row", pa.array(range(N_RECORDS)))
        cursor.adbc_ingest("storages", numbered, mode="replace")
        connection.commit()
    source = open_table(postgres_url, query="select * from storages order by row")
    assert codes_of(encode_table(source, schema)) == expected


@pytest.mark.parametrize("rows", [1, 7, 499, 10_000])
def test_batches_of_any_size_give_the_same_codes(rows, tmp_path, schema, expected):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text(as_text(","))
    parquet = replace(open_table(tmp_path / "t.parquet"), batch_rows=rows)
    delimited = replace(open_table(tmp_path / "t.csv"), block_size=40 * rows)
    for source in (parquet, delimited):
        assert codes_of(encode_table(source, schema)) == expected
