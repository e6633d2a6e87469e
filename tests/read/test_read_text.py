"""Values of every storage type as text."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.errors import DataError
from hedgerow.read import text as read_text
from hedgerow.read.text import InexactError, as_text, spell, text_columns

DAY = dt.date(2011, 8, 21)
NOON = dt.datetime(2011, 8, 21, 12, 30)
MIDNIGHT = dt.datetime(2011, 8, 21)


def texts(array: pa.Array) -> list[str | None]:
    return as_text(array, where="people, column 'a'").to_pylist()


def _knows_halves():
    try:
        pa.array(np.array([2048.0], dtype=np.float16)).cast(pa.float64()).cast(pa.int64())
        as_text(pa.array(np.array([0.5], dtype=np.float16)), where="t")
    except (DataError, pa.ArrowNotImplementedError):
        return False
    return True


halves_known = pytest.mark.skipif(
    not _knows_halves(), reason="this version of pyarrow has no text of 16-bit floats: refused"
)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array(["a", None, ""]), ["a", None, ""]),
        (pa.array(["a", None], pa.large_string()), ["a", None]),
        (pa.array(["a", None], pa.string_view()), ["a", None]),
        (pa.array([b"a", None], pa.binary()), ["a", None]),
        (pa.array([17, None, -3], pa.int8()), ["17", None, "-3"]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([17.0, 0.1, math.nan, None, -0.0]), ["17", "0.1", None, None, "0"]),
        (pa.array([2.0**53 - 1, 1.5e-7, math.inf]), ["9007199254740991", "1.5e-07", "inf"]),
        (pa.array([0.1, 17.0], pa.float32()), ["0.1", "17"]),
        pytest.param(
            pa.array(np.array([0.1, 3], dtype=np.float16)), ["0.1", "3"], marks=halves_known
        ),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([Decimal("2.50"), Decimal("17.00")]), ["2.50", "17"]),
        (pa.array([Decimal("-12.5"), None], pa.decimal128(38, 2)), ["-12.50", None]),
        (pa.array([Decimal(10**37 + 7)]), [str(10**37 + 7)]),
        (pa.array([Decimal(f"{10**30}.01")]), [f"{10**30}.01"]),
        (pa.array([DAY, None]), ["2011-08-21", None]),
        (pa.array([DAY], pa.date64()), ["2011-08-21"]),
        (pa.array([NOON, MIDNIGHT], pa.timestamp("ns")), ["2011-08-21T12:30:00", "2011-08-21"]),
        (pa.array([NOON], pa.timestamp("us", tz="Europe/Zurich")), ["2011-08-21T12:30:00Z"]),
        (pa.array([dt.time(1, 2)]), ["01:02:00"]),
        (pa.nulls(2), [None, None]),
        (pa.array(["b", "a", "b"]).dictionary_encode(), ["b", "a", "b"]),
        (pa.array([17, None, 17]).dictionary_encode(), ["17", None, "17"]),
        (pa.array([], pa.int64()), []),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_values_are_spelt_alike_whatever_they_are_stored_as(array, expected):
    assert texts(array) == expected


@pytest.mark.parametrize(
    "array",
    [
        pa.array([["SECRET123"]]),
        pa.array([{"a": "SECRET123"}]),
        pa.array([b"SECRET123\xff"]),
        pa.array([dt.timedelta(days=3)]),
    ],
    ids=lambda array: str(array.type),
)
def test_values_without_a_text_form_are_refused_unseen(array):
    with pytest.raises(DataError, match=r"people, column 'a': .* no text form") as caught:
        texts(array)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_single_values_are_spelt_like_columns_of_them():
    values = [17, 17.0, 0.25, True, None, math.nan, "x", DAY, NOON, Decimal("3.0"), np.int8(4)]
    spelt = ["17", "17", "0.25", "true", None, None, "x", "2011-08-21", "2011-08-21T12:30:00",
             "3", "4"]  # fmt: skip
    assert [spell(value) for value in values] == spelt


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1.0, 2.0**53]),
        pa.array([1e20]),
        pa.array([-(2.0**60)]),
        pa.array([2.0**24], pa.float32()),
        pytest.param(pa.array(np.array([2048.0], dtype=np.float16)), marks=halves_known),
        pa.array([2.0**53]).dictionary_encode(),
    ],
    ids=lambda array: f"{array.type}",
)
def test_whole_numbers_that_a_float_rounds_are_refused(array):
    """In a double 2^53 + 1 is 2^53: it would be read as its neighbour's label."""
    with pytest.raises(DataError, match="not exact for large numbers") as caught:
        as_text(array, where="t, column 'x'")
    assert caught.value.__suppress_context__


def test_an_extension_type_is_read_only_where_it_is_kept_as_text():
    period = pa.array(pd.period_range("2020-01", periods=2, freq="M"))
    with pytest.raises(DataError, match="no text form"):
        as_text(period, where="t")
    batch = pa.RecordBatch.from_arrays([period], names=["month"])
    for text in ((), ("month",)):
        with pytest.raises(DataError, match="no text form"):
            text_columns(batch, ["month"], text, name="t")
    numeric = pa.opaque(pa.string(), type_name="numeric", vendor_name="PostgreSQL")
    kept = pa.ExtensionArray.from_storage(numeric, pa.array(["17", None]))
    assert as_text(kept, where="t").to_pylist() == ["17", None]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1.10"), "1.10"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-0.00"), "0"),
        (Decimal("NaN"), None),
        (pd.NaT, None),
        (pd.NA, None),
        (pd.Timestamp("2011-08-21T12:30:00.000000001"), "2011-08-21T12:30:00"),
        (pd.Timestamp("2011-08-21T12:30", tz="Europe/Zurich"), "2011-08-21T10:30:00Z"),
        (dt.datetime(2011, 8, 21, 0, 0, tzinfo=dt.UTC), "2011-08-21T00:00:00Z"),
    ],
)
def test_one_value_is_spelt_as_in_a_column_of_its_kind(value, text):
    assert spell(value) == text


@pytest.mark.parametrize("value", [Decimal("1E+9999999"), Decimal("Infinity"), object(), b"x"])
def test_what_has_no_short_text_has_none(value):
    with pytest.raises(pa.ArrowInvalid):
        spell(value)


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("s", "UTC")])
def test_a_moment_too_far_away_is_refused_and_not_another_one(kind):
    far = pa.array([2**62], pa.int64()).view(kind)
    with pytest.raises(DataError, match="no text form"):
        as_text(far, where="t")


WIDTHS = st.sampled_from([np.float16, np.float32, np.float64])


@given(st.lists(st.floats() | st.integers(-(2**54), 2**54).map(float)), WIDTHS)
@example([2.0**53 - 1, -0.0, math.nan, -math.inf], np.float64)
@example([2.0**24], np.float32)
@example([-2048.0, 0.5], np.float16)
def test_many_floats_are_spelt_as_each_by_itself(numbers, width):
    with np.errstate(over="ignore"):
        values = np.array(numbers, dtype=width)
    try:
        expected = [spell(value) for value in values]
    except InexactError:
        with pytest.raises(InexactError):
            read_text._numbers(values)
        return
    assert read_text._numbers(values).to_pylist() == expected


def test_whole_numbers_that_became_floats_for_a_missing_one_are_spelt_as_whole_numbers():
    n = 3 * read_text._MANY
    column = pd.Series([None, *range(n)]).to_numpy()
    assert texts(pa.array(column, from_pandas=True)) == [None, *map(str, range(n))]
    with pytest.raises(DataError, match="not exact for large numbers"):
        texts(pa.array([*range(n), 2.0**53]))
