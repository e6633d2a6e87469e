"""Dates are read by one format, as Python's own calendar reads them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.model.dates import DATE_FORMATS, DateFormat, iso_days, parse_dates
from hedgerow.model.derive import DATE_PARTS, DateColumn, Derivation

EPOCH = dt.date(1970, 1, 1)
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
dates = st.dates(min_value=dt.date(1, 1, 1), max_value=dt.date(9998, 12, 31))


def spelt(date: dt.date, form: DateFormat, *, nought: bool = True) -> str:
    """A date as a person writes it in a format, digit by digit."""
    text = "yyyy-mm-dd" if form == "iso" else form
    width = 2 if nought or form in ("iso", "yyyymmdd", "yyyymm", "yyyy-mm", "ddmonyyyy") else 1
    text = text.replace("yyyy", f"{date.year:04}").replace("mon", MONTHS[date.month - 1])
    return text.replace("mm", f"{date.month:0{width}}").replace("dd", f"{date.day:0{width}}")


def meant(date: dt.date, form: DateFormat) -> dt.date:
    """The first of the month or year where a format has no day or month."""
    date = date if "d" in form or form == "iso" else date.replace(day=1)
    return date if "m" in form or form == "iso" else date.replace(month=1)


def days_of(texts: list[str | None], form: DateFormat) -> list[dt.date | None]:
    days, ok = parse_dates(texts, form)
    return [
        EPOCH + dt.timedelta(days=int(day)) if fine else None
        for day, fine in zip(days, ok, strict=True)
    ]


@settings(max_examples=30)
@given(some=st.lists(dates, max_size=5), form=st.sampled_from(DATE_FORMATS), nought=st.booleans())
def test_a_date_is_read_back_in_every_format(some, form, nought):
    texts = [spelt(date, form, nought=nought) for date in some]
    assert days_of(texts, form) == [meant(date, form) for date in some]


@settings(max_examples=30)
@given(date=dates, form=st.sampled_from(DATE_FORMATS))
def test_no_format_reads_an_iso_date_as_another_day(date, form):
    assert days_of([date.isoformat()], form)[0] in (None, date)


@settings(max_examples=30)
@given(
    texts=st.lists(st.text(alphabet="012-/.: TZ+\u0660\n", max_size=12), max_size=4),
    form=st.sampled_from(DATE_FORMATS),
    date=dates,
)
def test_a_text_is_read_the_same_beside_any_others(texts, form, date):
    beside = [*texts, spelt(date, form)]
    assert days_of(beside, form) == [days_of([text], form)[0] for text in beside]


@settings(max_examples=30)
@given(year=st.integers(1, 9999), month=st.integers(0, 13), day=st.integers(0, 32))
def test_only_days_of_the_calendar_are_dates(year, month, day):
    try:
        known = dt.date(year, month, day)
    except ValueError:
        known = None
    assert days_of([f"{year:04}-{month:02}-{day:02}"], "iso") == [known]


@settings(max_examples=30)
@given(
    moment=st.datetimes(min_value=dt.datetime(2, 1, 1), max_value=dt.datetime(9998, 1, 1)),
    offset=st.integers(-19 * 60, 19 * 60),
)
def test_a_moment_with_an_offset_counts_by_its_day_in_utc(moment, offset):
    zone = dt.timezone(dt.timedelta(minutes=offset))
    text = moment.replace(tzinfo=zone, microsecond=0).isoformat()
    assert days_of([text, text[:19]], "iso") == [
        (moment - dt.timedelta(minutes=offset)).date(),
        moment.date(),
    ]


@pytest.mark.parametrize(
    ("text", "form", "day"),
    [
        (" 2020-03-01 ", "iso", "2020-03-01"),
        ("2020-03-01T12:30:00", "iso", "2020-03-01"),
        ("2020-03-01 12:30", "iso", "2020-03-01"),
        ("2020-03-01T23:59:59.999999999Z", "iso", "2020-03-01"),
        ("2020-03-01 00:30 +01", "iso", "2020-02-29"),
        ("2020-03-01 00:30 UTC", "iso", "2020-03-01"),
        ("3/1/2020 11:30 PM", "mm/dd/yyyy", "2020-03-01"),
        ("3/1/2020 11:30 p.m. -05:00", "mm/dd/yyyy", "2020-03-02"),
        ("01JAN2020", "ddmonyyyy", "2020-01-01"),
        ("2020-3-1", "iso", None),
        ("2020-03-01T24:00", "iso", None),
        ("2020-03-01T12:60", "iso", None),
        ("2020-03-01 CET", "iso", None),
        ("1/3/2020 13:00 PM", "dd/mm/yyyy", None),
        ("01FOO2020", "ddmonyyyy", None),
        ("01.03.20", "dd.mm.yyyy", None),
        ("\u0660\u0661.03.2020", "dd.mm.yyyy", None),
        ("01.03.2020\n2", "dd.mm.yyyy", None),
        ("2020-03", "iso", None),
        ("2020-03-01", "yyyy-mm", None),
        ("0000-01-01", "iso", None),
        ("", "iso", None),
        (None, "iso", None),
    ],
)
def test_what_is_a_date(text, form, day):
    known = None if day is None else dt.date.fromisoformat(day)
    assert days_of([text], form) == [known]


def test_arrays_of_any_text_type_are_read():
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        days, ok = parse_dates(pa.array(["2020-03-01", None], kind), "iso")
        assert ok.tolist() == [True, False]
        assert iso_days(days[:1]) == ["2020-03-01"]
    assert parse_dates([], "iso")[0].tolist() == []


def naive_years(start: dt.date, end: dt.date) -> int:
    return end.year - start.year - ((end.month, end.day) < (start.month, start.day))


@settings(max_examples=30)
@given(start=dates, end=dates)
def test_numbers_that_follow_from_dates_are_those_of_the_calendar(start, end):
    first, last = (np.array([(each - EPOCH).days]) for each in (start, end))
    birth, until = DateColumn(name="birth"), DateColumn(name="until")
    years = Derivation(what="years", start=birth, until=until).numbers(first, last)
    at = Derivation(what="years", start=birth, at=int(last[0])).numbers(first)
    days = Derivation(what="days", start=birth, until=until).numbers(first, last)
    assert years.tolist() == at.tolist() == [naive_years(start, end)]
    assert days.tolist() == [(end - start).days]
    parts = [Derivation(what=part, start=birth).numbers(first).tolist() for part in DATE_PARTS]
    assert parts == [
        [start.year],
        [(start.month + 2) // 3],
        [start.month],
        [start.isoweekday()],
    ]
