"""Dates, and what follows from them: the same codes from every storage, record by record."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import DataError, UnlistedValueError
from hedgerow.model.reading import Reading
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table

BOUNDS = {"from": "2010-03-15", "to": "2012-02-29"}
FIRST, LAST = dt.date(2010, 3, 15), dt.date(2012, 2, 29)
STEPS = ("day", "week", "month", "quarter", "year")


def period(day: dt.date, step: str) -> tuple[int, ...]:
    """What a step of the calendar is called: days of one period are in one cell."""
    if step == "week":
        return day.isocalendar()[:2]
    parts = {"day": day.timetuple()[:3], "month": (day.year, day.month), "year": (day.year,)}
    return parts.get(step) or (day.year, (day.month - 1) // 3)


def naive_cells(step: str) -> dict[dt.date, int]:
    """The cell of every day between the bounds, counted day by day."""
    cells: dict[dt.date, int] = {}
    before, day = None, FIRST
    while day <= LAST:
        new = period(day, step) != before
        cells[day] = (max(cells.values(), default=-1)) + new
        before, day = period(day, step), day + dt.timedelta(days=1)
    return cells


CELLS = {step: naive_cells(step) for step in STEPS}


def codes(data: Any, attributes: dict[str, Any], *, reading: Reading | None = None, **plan: Any):
    schema = schema_of(plan_of({"attributes": attributes, **plan}))
    source = open_table(data) if reading is None else open_table(data, reading=reading)
    return [column.tolist() for column in encode_table(source, schema).codes]


@pytest.mark.parametrize("step", STEPS)
def test_every_day_is_in_the_cell_of_its_step(step):
    days = [FIRST + dt.timedelta(days=i) for i in range(-40, 800)]
    found = codes(pa.table({"d": days}), {"d": {"date": {**BOUNDS, "step": step}}})[0]
    clamped = [min(max(day, FIRST), LAST) for day in days]
    assert found == [CELLS[step][day] for day in clamped]


DAYS = [dt.date(2010, 3, 15), dt.date(2011, 8, 21), dt.date(1999, 1, 1), dt.date(2012, 2, 29)]
TIMES = [dt.time(0, 0), dt.time(12, 30), dt.time(23, 59, 59), dt.time(0, 0)]
MOMENTS = [dt.datetime.combine(day, time) for day, time in zip(DAYS, TIMES, strict=True)]
LATE = [each.replace(tzinfo=dt.timezone(dt.timedelta(hours=9))) for each in MOMENTS]


def of_files(table: pa.Table, folder: Path) -> dict[str, Any]:
    pq.write_table(table, folder / "t.parquet")
    feather.write_feather(table, folder / "t.arrow")
    return {
        "arrow": table,
        "parquet": folder / "t.parquet",
        "feather": folder / "t.arrow",
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "lazy": pl.from_arrow(table).lazy(),
    }


def stored() -> dict[str, tuple[pa.DataType, list[Any]]]:
    found: dict[str, tuple[pa.DataType, list[Any]]] = {
        "date32": (pa.date32(), DAYS),
        "date64": (pa.date64(), DAYS),
        "text": (pa.string(), [each.isoformat() for each in DAYS]),
        "text of moments": (pa.string(), [each.isoformat() for each in MOMENTS]),
        "text with blanks": (pa.string(), [f" {each:%Y-%m-%d %H:%M} " for each in MOMENTS]),
    }
    for unit in ("s", "ms", "us", "ns"):
        found[f"timestamp {unit}"] = (pa.timestamp(unit), MOMENTS)
    return found


@pytest.mark.parametrize("kind", stored())
def test_a_date_has_the_same_code_however_it_is_stored(kind, tmp_path):
    made, values = stored()[kind]
    expected = [CELLS["day"][min(max(day, FIRST), LAST)] + 1 for day in DAYS]
    table = pa.table({"d": pa.array([*values, None], made)})
    for name, data in of_files(table, tmp_path).items():
        for form in ("iso", "dd.mm.yyyy"):  # ISO is read beside every format
            plan = {"d": {"date": {**BOUNDS, "format": form}}}
            assert codes(data, plan, missing="value") == [[*expected, 0]], name


def test_moments_with_a_zone_count_by_their_day_in_utc(tmp_path):
    expected = [
        CELLS["day"][min(max(each.astimezone(dt.UTC).date(), FIRST), LAST)] for each in LATE
    ]
    plan = {"d": {"date": BOUNDS}}
    typed = pa.table({"d": pa.array(LATE, pa.timestamp("us", tz="Asia/Tokyo"))})
    for name, data in of_files(typed, tmp_path).items():
        assert codes(data, plan) == [expected], name
    assert codes(pa.table({"d": [each.isoformat() for each in LATE]}), plan) == [expected]
    assert codes(pd.DataFrame({"d": pd.Series(LATE, dtype=object)}), plan) == [expected]


def test_sqlite_hands_dates_over_as_text_or_numbers(tmp_path):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (d TEXT, n INTEGER)")
        rows = [(each.isoformat(), int(f"{each:%Y%m%d}")) for each in DAYS]
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    source = open_table(f"sqlite:///{path}", query="SELECT * FROM t")
    plan = {"d": {"date": BOUNDS}, "n": {"date": {**BOUNDS, "format": "yyyymmdd"}}}
    table = encode_table(source, schema_of(plan_of({"attributes": plan})))
    assert table.codes[0].tolist() == table.codes[1].tolist()
    assert table.codes[0].tolist() == [CELLS["day"][min(max(d, FIRST), LAST)] for d in DAYS]


def test_dates_of_a_file_with_decimal_commas_keep_their_points(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("d;x\n21.08.2011;1,5\n29.2.2012 12:30;0,5\n", encoding="utf-8")
    plan = {
        "d": {"date": {**BOUNDS, "format": "dd.mm.yyyy"}},
        "x": {"numeric": [0, 2], "step": "1/2"},
    }
    reading = Reading(delimiter="semicolon", decimal="comma")
    assert codes(path, plan, reading=reading) == [[524, 716], [3, 1]]


@pytest.mark.parametrize("text", ["21.08.2011", "2011-02-30", "soon", "2011-08", "17"])
def test_what_is_no_date_is_refused_without_a_word_of_it(text):
    with pytest.raises(UnlistedValueError) as raised:
        codes(pa.table({"d": ["2011-08-21", text]}), {"d": {"date": BOUNDS}})
    assert text not in str(raised.value)
    assert "not a date in the format iso" in str(raised.value)


def test_texts_that_mean_missing_are_missing_dates():
    table = pa.table({"d": ["2010-03-15", " never ", "", None]})
    plan = {"d": {"date": BOUNDS}}
    given = {"missing-values": ["never"]}
    assert codes(table, plan, **given) == [[0]]
    assert codes(table, plan, missing="value", **given) == [[1, 0, 0, 0]]


DERIVED: dict[str, dict[str, Any]] = {
    "age": {"from": "birth", "years-at": "2026-01-01", "numeric": [0, 120]},
    "then": {"from": "birth", "years-until": "admitted", "numeric": [0, 120]},
    "stay": {"from": "admitted", "days-until": "left", "numeric": [-1, 60]},
    "year": {"from": "admitted", "part": "year", "numeric": [2000, 2030]},
    "quarter": {"from": "admitted", "part": "quarter", "values": [1, 2, 3, 4]},
    "month": {"from": "admitted", "part": "month", "numeric": [1, 12]},
    "weekday": {"from": "admitted", "part": "weekday", "values": [1, 2, 3, 4, 5, 6, 7]},
}


def years(start: dt.date, end: dt.date) -> int:
    return end.year - start.year - ((end.month, end.day) < (start.month, start.day))


def naive(row: tuple[dt.date | None, dt.date | None, dt.date | None]) -> list[int]:
    """The codes of one record: missing (0 in a grid, the last in a list) if a source is."""
    birth, admitted, left = row
    at = dt.date(2026, 1, 1)
    grid: list[tuple[Callable[[], int], int, int, bool]] = [
        (lambda: years(birth, at), 0, 120, birth is not None),
        (lambda: years(birth, admitted), 0, 120, None not in (birth, admitted)),
        (lambda: (left - admitted).days, -1, 60, None not in (left, admitted)),
        (lambda: admitted.year, 2000, 2030, admitted is not None),
        (lambda: admitted.month, 1, 12, admitted is not None),
    ]
    numbers = [min(max(f(), a), b) - a + 1 if there else 0 for f, a, b, there in grid]
    quarter = 4 if admitted is None else (admitted.month - 1) // 3
    weekday = 7 if admitted is None else admitted.weekday()
    return [*numbers[:4], quarter, numbers[4], weekday]


some_dates = st.one_of(st.none(), st.dates(dt.date(1890, 1, 1), dt.date(2040, 1, 1)))


@settings(max_examples=12)
@given(rows=st.lists(st.tuples(some_dates, some_dates, some_dates), max_size=6))
def test_derived_values_are_those_of_each_record(rows):
    birth, admitted, left = zip(*rows, strict=True) if rows else ((), (), ())
    unreadable = ["x" if day is None else f"{day:%d.%m.}{day.year:04}" for day in birth]
    table = pa.table(
        {
            "left": pa.array(left, pa.date32()),
            "birth": pa.array(unreadable, pa.string()),
            "admitted": pa.array(admitted, pa.date32()).cast(pa.timestamp("s")),
        }
    )
    form = {"column": "birth", "format": "dd.mm.yyyy"}
    attributes = {**DERIVED, "age": {**DERIVED["age"], "from": form}}
    found = codes(table, attributes, missing="value")
    assert [list(row) for row in zip(*found, strict=True)] == [naive(row) for row in rows]
    complete = [row for row in rows if None not in row]
    kept = codes(table, attributes)
    assert len(kept[0]) == len(complete)


def test_the_sources_of_a_derived_attribute_are_read_and_nothing_else():
    schema = schema_of(plan_of({"attributes": {"birth": {"role": "drop"}, **DERIVED}}))
    assert schema.columns() == ["birth", "admitted", "left"]
    assert [attribute.name for attribute in schema.used()] == list(DERIVED)


def test_a_value_that_a_list_lacks_goes_to_other_or_is_refused():
    table = pa.table({"admitted": ["2011-08-21", "2012-08-21"]})
    year = {"from": "admitted", "part": "year", "values": ["2011"]}
    assert codes(table, {"year": {**year, "other": "later"}}) == [[0, 1]]
    with pytest.raises(UnlistedValueError, match="not listed in the taxonomy"):
        codes(table, {"year": year})


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(DataError, match="The column 'birth' does not exist"):
        codes(pa.table({"age": [1]}), {"age": DERIVED["age"]})


def test_months_before_an_epoch_and_far_moments():
    far = np.array([2**60, -(2**60)], dtype="datetime64[us]")
    with pytest.raises(DataError, match="no text form"):
        codes(pa.table({"d": far}), {"d": {"date": BOUNDS}})
    old = {"d": {"date": {"from": "1899-12-01", "to": "1970-02-01", "step": "month"}}}
    assert codes(pa.table({"d": ["1899-12-31", "1969-12-31", "1970-01-01"]}), old) == [
        [0, 840, 841]
    ]
