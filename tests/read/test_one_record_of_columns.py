"""One row changes at most itself: in databases, dataframes and columnar files."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.errors import DataError
from hedgerow.read.open import open_table
from support.one_record import PLACE, assert_by_itself, codes_in, inserted

VALUES = [
    None,
    17,
    17.0,
    1.5,
    2**53 + 1,
    float(2**53),
    2**63 - 1,
    -9,
    "17",
    "1.5",
    "m",
    "São Paulo",
    "\x00",
    "1e400",
    "",
    "?",
    float("inf"),
    float("nan"),
    0.1,
    "9" * 40,
    " m ",
    "\u202em",
]
ROWS = st.lists(
    st.tuples(st.sampled_from(VALUES), st.sampled_from([None, 1, 8.5, "3", 1e300])), max_size=8
)


@given(rows=ROWS, hostile=st.tuples(*[st.sampled_from([*VALUES, b"m", b"\xff"])] * 2), place=PLACE)
@example([("m", 2**53 - 1)], (0.5, 0.5), 0)
def test_a_row_of_sqlite_changes_at_most_itself(tmp_path_factory, rows, hostile, place):
    path = tmp_path_factory.getbasetemp() / "t.db"

    def read(given_rows: list[Any]) -> Counter[Any]:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DROP TABLE IF EXISTS t")
            connection.execute("CREATE TABLE t (town, n)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", given_rows)
        return codes_in(open_table(f"sqlite:///{path}", query="SELECT * FROM t"))

    try:
        before = read(rows)
    except DataError:  # a text that is no number, or a number that is none
        return
    assert_by_itself(lambda: before, lambda: read(inserted(rows, hostile, place)))


OBJECTS = [
    *VALUES,
    True,
    b"m",
    Decimal("1.5"),
    Decimal("17"),
    Decimal("1.50000"),
    Decimal(10**30),
    dt.date(2011, 8, 21),
    dt.datetime(2011, 8, 21, 12, tzinfo=dt.UTC),
    pd.NaT,
    pd.NA,
    pd.Period("2011-08", "M"),
    ["m"],
    np.float32(0.1),
    pd.Timestamp("2011-08-21"),
    object(),
]


@given(
    towns=st.lists(st.sampled_from(OBJECTS), max_size=6),
    hostile=st.sampled_from(OBJECTS),
    place=PLACE,
    dtype=st.sampled_from([object, "category", None]),
)
@example([Decimal("1.5")], Decimal("1.50000"), 0, object)
@example([dt.datetime(2011, 8, 21, 12, tzinfo=dt.UTC)], "m", 0, object)
def test_a_row_of_pandas_changes_at_most_itself(towns, hostile, place, dtype):
    """With a type of its own pandas merges what is equal itself, so the row is taken out again."""

    def frame(values: list[Any]) -> pd.DataFrame:
        return pd.DataFrame({"town": pd.Series(values, dtype=dtype), "n": [1] * len(values)})

    every = inserted(towns, hostile, place)
    try:
        larger = frame(every)
        row = place % (len(towns) + 1)
        smaller = frame(towns) if dtype is object else larger.drop(index=row)
    except (TypeError, ValueError, OverflowError):  # pandas has no such column
        return
    try:
        before = codes_in(open_table(smaller))
    except DataError:  # some by itself has no text
        return
    assert_by_itself(lambda: before, lambda: codes_in(open_table(larger)))


KINDS = {
    "text": (pa.string(), ["m", "São Paulo", "\x00", "", None]),
    "bytes": (pa.binary(), [b"m", b"\xff", None, "São Paulo".encode()]),
    "long text": (pa.large_string(), ["m", "x" * 99, None]),
    "whole numbers": (pa.int64(), [17, 2**53 + 1, -(2**63), None]),
    "doubles": (pa.float64(), [17.0, 1.5, 2.0**53, float("nan"), float("inf"), None]),
    "floats": (pa.float32(), [17.0, 1.5, 2.0**24, None]),
    "decimals": (pa.decimal128(38, 2), [Decimal("17"), Decimal("1.5"), Decimal(10**35), None]),
    "dates": (pa.date32(), [dt.date(2011, 8, 21), dt.date(1, 1, 1), None]),
    "moments": (pa.timestamp("s"), [2**52, 0, None]),
    "booleans": (pa.bool_(), [True, False, None]),
}
STORES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow": lambda table, folder: table,
    "parquet": lambda table, folder: [
        pq.write_table(table, folder / "t.parquet"),
        folder / "t.parquet",
    ][1],
    "feather": lambda table, folder: [
        feather.write_feather(table, folder / "t.arrow"),
        folder / "t.arrow",
    ][1],
    "polars": lambda table, folder: pl.from_arrow(table),
    "stream": lambda table, folder: table.to_reader(),
}


@given(data=st.data(), kind=st.sampled_from(list(KINDS)), store=st.sampled_from(list(STORES)))
def test_a_row_of_columnar_storage_changes_at_most_itself(tmp_path_factory, data, kind, store):
    folder = tmp_path_factory.getbasetemp()
    made, values = KINDS[kind]
    towns = data.draw(st.lists(st.sampled_from(values[:2] + values[-1:]), max_size=6))
    hostile, place = data.draw(st.sampled_from(values)), data.draw(PLACE)

    def read(column: list[Any]) -> Counter[Any]:
        table = pa.table({"town": pa.array(column, made), "n": [1] * len(column)})
        return codes_in(open_table(STORES[store](table, folder)))

    try:
        before = read(towns)
    except DataError:
        return
    assert_by_itself(lambda: before, lambda: read(inserted(towns, hostile, place)))


SQL = [
    "'m'",
    "'São Paulo'",
    "NULL",
    "'NaN'::numeric",
    "1.5::numeric",
    "1.50000::numeric",
    "17::numeric",
    "1e35::numeric",
    "'Infinity'::float8",
    "9007199254740993::int8",
    "9007199254740992::float8",
    "0.1::float4",
]


@pytest.mark.parametrize(
    "kind", ["text", pytest.param("numeric", marks=pytest.mark.audit), "float8"]
)
def test_a_row_of_postgresql_changes_at_most_itself(postgres_url, kind):
    def read(values: list[str]) -> Counter[Any]:
        rows = ", ".join(f"(({value})::{kind}, 1)" for value in values)
        return codes_in(
            open_table(postgres_url, query=f"SELECT * FROM (VALUES {rows}) AS t(town, n)")
        )

    usual = ["NULL", "17::numeric", "1.5::numeric"]
    for hostile in (
        SQL if kind == "text" else [each for each in SQL if "'m'" not in each and "ã" not in each]
    ):
        assert_by_itself(lambda: read(usual), lambda value=hostile: read([*usual, value]))
