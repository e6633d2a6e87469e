"""One record changes at most itself where dates are read, and what follows from them."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections import Counter
from contextlib import closing
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.model.schema import Schema
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table
from support.one_record import PLACE, assert_by_itself, inserted, put

BOUNDS = {"from": "2010-01-01", "to": "2020-12-31", "step": "month"}


@cache
def schema(form: str, missing: str) -> Schema:
    """A date, and an age that follows from it and another one."""
    attributes = {
        "came": {"date": {**BOUNDS, "format": form}},
        "age": {
            "from": {"column": "birth", "format": form},
            "years-until": "came",
            "numeric": [0, 99],
        },
    }
    markers = ["", "?", "NULL", "99.99.9999"]
    return schema_of(
        plan_of({"attributes": attributes, "missing": missing, "missing-values": markers})
    )


def codes_in(source: Any, form: str = "iso", missing: str = "value") -> Counter[tuple[int, ...]]:
    table = encode_table(source, schema(form, missing))
    return Counter(zip(*(column.tolist() for column in table.codes), strict=True))


TEXTS = [
    "2011-08-21",
    "21.08.2011",
    "08/21/2011",
    "21/08/2011",
    "1/2/2011",
    "2011-08-21T23:30:00-05:00",
    "21.8.2011 12:30",
    "2011-02-30",
    "99.99.9999",
    "NULL",
    "?",
    "",
    "\u0662011-08-21",
    "2011-08-21\x00",
    "12:30",
    "20110821",
    "x" * 50,
    " 2011-08-21 ",
    "0001-01-01",
    "9999-12-31T23:59-10",
]
FORMATS = st.sampled_from(["iso", "dd.mm.yyyy", "mm/dd/yyyy", "dd/mm/yyyy"])
MISSING = st.sampled_from(["drop", "value"])
ROWS = st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)), max_size=6)
ROW = st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS))


def survives(read: Any, rows: list[Any], hostile: Any, place: int) -> None:
    try:
        before = read(rows)
    except DataError:  # a text that is no date
        return
    assert_by_itself(lambda: before, lambda: read(inserted(rows, hostile, place)))


@settings(max_examples=30)
@given(rows=ROWS, hostile=ROW, place=PLACE, form=FORMATS, missing=MISSING, data=st.data())
@example([("1/2/2011", "")], ("21/08/2011", ""), 0, "dd/mm/yyyy", "value", None)
@example([("1/2/2011", "")], ("21/08/2011", ""), 0, "mm/dd/yyyy", "value", None)
def test_a_line_with_dates_changes_at_most_itself(
    tmp_path_factory, rows, hostile, place, form, missing, data
):
    folder = tmp_path_factory.getbasetemp()
    decimal = "point" if data is None else data.draw(st.sampled_from(["point", "comma"]))
    reading = Reading(delimiter="semicolon", decimal=decimal)

    def read(given_rows: list[Any]) -> Counter[Any]:
        lines = [b"came;birth", *(";".join(row).encode() for row in given_rows)]
        return codes_in(open_table(put(folder, "d.csv", lines), reading=reading), form, missing)

    survives(read, rows, hostile, place)


OBJECTS = [
    *TEXTS[:4],
    None,
    dt.date(2011, 8, 21),
    dt.datetime(2011, 8, 21, 12, 30),
    dt.datetime(2011, 8, 21, 1, tzinfo=dt.timezone(dt.timedelta(hours=9))),
    pd.Timestamp("2011-08-21"),
    pd.NaT,
    20110821,
    20110821.0,
    True,
    float("nan"),
]


@settings(max_examples=30)
@given(
    values=st.lists(st.sampled_from(OBJECTS), max_size=5),
    hostile=st.sampled_from(OBJECTS),
    place=PLACE,
    form=st.sampled_from(["iso", "dd.mm.yyyy", "yyyymmdd"]),
)
def test_a_row_of_objects_changes_at_most_itself(values, hostile, place, form):
    def read(column: list[Any]) -> Counter[Any]:
        frame = pd.DataFrame(
            {"came": pd.Series(column, dtype=object), "birth": ["1980-01-01"] * len(column)}
        )
        return codes_in(open_table(frame), form)

    survives(read, values, hostile, place)


@settings(max_examples=10)
@given(rows=ROWS, hostile=ROW, place=PLACE, form=FORMATS)
def test_a_row_of_sqlite_with_dates_changes_at_most_itself(
    tmp_path_factory, rows, hostile, place, form
):
    path = tmp_path_factory.getbasetemp() / "d.db"

    def read(given_rows: list[Any]) -> Counter[Any]:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DROP TABLE IF EXISTS t")
            connection.execute("CREATE TABLE t (came, birth)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", given_rows)
        return codes_in(open_table(f"sqlite:///{path}", query="SELECT * FROM t"), form)

    survives(read, rows, hostile, place)


KINDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "dates": (pa.date32(), [15_000, 0, -719_162, 2**30, None]),
    "seconds": (pa.timestamp("s"), [1_300_000_000, 0, 2**52, None]),
    "nanoseconds": (pa.timestamp("ns"), [1_300_000_000 * 10**9 + 1, 0, 2**63 - 1, None]),
    "of a zone": (pa.timestamp("us", tz="UTC"), [1_300_000_000 * 10**6, 0, 2**62, None]),
}


@settings(max_examples=25)
@given(
    kind=st.sampled_from(list(KINDS)),
    places=st.lists(st.integers(0, 1), max_size=4),
    hostile=st.integers(0, 4),
    place=PLACE,
)
def test_a_row_of_stored_dates_changes_at_most_itself(kind, places, hostile, place):
    made, values = KINDS[kind]

    def read(column: list[Any]) -> Counter[Any]:
        whole = pa.array(column, pa.int32() if made == pa.date32() else pa.int64())
        return codes_in(
            open_table(pa.table({"came": whole.view(made), "birth": ["1980-01-01"] * len(column)}))
        )

    survives(read, [values[i] for i in places], values[hostile % len(values)], place)


def test_the_law_would_notice_a_guess_from_all_records():
    """A broken twin: the format that most records fit, as many readers guess it."""

    def guessed(rows: list[Any]) -> Counter[Any]:
        table = pa.table({"came": [a for a, _ in rows], "birth": [b for _, b in rows]})
        month_first = all(int(a.split("/")[0]) <= 12 for a, _ in rows)
        return codes_in(open_table(table), "mm/dd/yyyy" if month_first else "dd/mm/yyyy")

    rows = [("1/2/2011", "")]
    with pytest.raises(AssertionError, match="read otherwise"):
        assert_by_itself(lambda: guessed(rows), lambda: guessed([*rows, ("21/08/2011", "")]))


def test_postgresql_hands_dates_and_moments_over(postgres_url):
    query = (
        "SELECT * FROM (VALUES (date '2011-08-21', timestamp '2011-08-21 23:30',"
        " timestamptz '2011-08-21 00:30+09')) AS t(d, m, z)"
    )
    bounds = {"from": "2011-08-01", "to": "2011-08-31"}
    plan = plan_of({"attributes": {name: {"date": bounds} for name in "dmz"}})
    table = encode_table(open_table(postgres_url, query=query), schema_of(plan))
    assert np.concatenate(table.codes).tolist() == [20, 20, 19]
