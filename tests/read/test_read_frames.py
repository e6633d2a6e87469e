"""Dataframes of several libraries, eager and lazy, and bare Arrow streams."""

from __future__ import annotations

import datetime as dt

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hedgerow.errors import DataError
from hedgerow.read import frames
from hedgerow.read.open import open_table

DATA = {"age": [17, 30, 40], "job": ["shop", None, "farm"], "name": ["SECRET123"] * 3}
EXPECTED = [("shop", "17"), (None, "30"), ("farm", "40")]


class Stream:
    """An object that knows nothing but the Arrow C stream."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


FRAMES = {
    "pandas": lambda: pd.DataFrame(DATA),
    "pandas, categories": lambda: pd.DataFrame(DATA).astype("category"),
    "pandas, objects": lambda: pd.DataFrame(DATA, dtype=object),
    "polars": lambda: pl.DataFrame(DATA),
    "polars, categories": lambda: pl.DataFrame(DATA, schema_overrides={"job": pl.Categorical}),
    "polars, lazy": lambda: pl.DataFrame(DATA).lazy(),
    "narwhals": lambda: nw.from_native(pl.DataFrame(DATA)),
    "pyarrow": lambda: pa.table(DATA),
    "pyarrow batch": lambda: pa.RecordBatch.from_pydict(DATA),
    "pyarrow reader": lambda: pa.table(DATA).to_reader(),
    "stream": lambda: Stream(pa.table(DATA)),
}  # fmt: skip


def rows_of(source, columns=("job", "age"), text=("job", "age")):
    batches = source.batches(columns, text=text)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("rows", [2, 100])
def test_any_dataframe_streams_the_asked_columns(kind, rows, monkeypatch):
    monkeypatch.setattr(frames, "ROWS_PER_BATCH", rows)
    source = open_table(FRAMES[kind]())
    assert source.columns == ("age", "job", "name")
    shares: list[float] = []
    assert rows_of(source) == EXPECTED
    if not source.once:
        list(source.batches(["age"], progress=shares.append))
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


@pytest.mark.parametrize("kind", ["pyarrow reader", "stream"])
def test_a_stream_is_not_read_twice_in_silence(kind):
    source = open_table(FRAMES[kind]())
    assert len(rows_of(source)) == 3
    with pytest.raises(DataError, match="only once"):
        rows_of(source)


def test_pandas_columns_of_mixed_objects_become_text():
    mixed = pd.DataFrame({"a": pd.Series([1, "x", None, 2.0, dt.date(2011, 8, 21)], dtype=object)})
    assert [a for (a,) in rows_of(open_table(mixed), ["a"], ["a"])] == [
        "1", "x", None, "2", "2011-08-21",
    ]  # fmt: skip


def test_pandas_columns_may_have_numbers_for_names():
    source = open_table(pd.DataFrame([[1, "a"], [2, "b"]]))
    assert source.columns == ("0", "1")
    assert rows_of(source, ["1", "0"], []) == [("a", 1), ("b", 2)]


def test_an_empty_dataframe_has_columns_and_no_record():
    for frame in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": []})):
        source = open_table(frame)
        assert source.columns == ("a",)
        assert rows_of(source, ["a"], []) == []


def test_columns_of_one_name_are_refused():
    doubled = pd.DataFrame([[1, 2]], columns=["SECRET", "SECRET"])
    with pytest.raises(DataError, match="Columns 1 and 2 have the same name") as caught:
        open_table(doubled)
    assert "SECRET" not in str(caught.value)
    with pytest.raises(DataError, match="more than 10,000 columns"):
        open_table(pa.table({str(i): [i] for i in range(10_001)}))


@pytest.mark.parametrize("thing", [None, 3, [("a", 1)], {"a": [1]}, object(), b"x.csv"])
def test_what_is_not_a_table_is_refused(thing):
    with pytest.raises(DataError, match="is not a table"):
        open_table(thing)


def test_an_error_of_a_lazy_query_does_not_show_its_values():
    broken = pl.LazyFrame({"a": ["SECRET123"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(DataError, match="could not convert it") as caught:
        rows_of(open_table(broken), ["a"], [])
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_objects_without_a_text_form_are_refused_unseen():
    class Odd:
        def __repr__(self) -> str:
            return "SECRET123"

    with pytest.raises(DataError) as caught:
        rows_of(open_table(pd.DataFrame({"a": [Odd(), 1]})), ["a"], ["a"])
    assert "SECRET" not in str(caught.value)
