"""Integers computed from the dates of one record: ages, lengths of stay, months."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from hedgerow.model.arrays import Ints
from hedgerow.model.dates import DateFormat
from hedgerow.taxonomy.calendar import period_of

DatePart: TypeAlias = Literal["year", "quarter", "month", "weekday"]
DATE_PARTS: tuple[DatePart, ...] = get_args(DatePart)

Derived: TypeAlias = Literal["date", "years", "days", "year", "quarter", "month", "weekday"]


@dataclass(frozen=True, kw_only=True)
class DateColumn:
    """A column of dates and its one format."""

    name: str
    format: DateFormat = "iso"


@dataclass(frozen=True, kw_only=True)
class Derivation:
    """A rule that computes an attribute's values from columns of dates, record by record.

    ``date`` is the date itself. ``years`` (completed ones) and ``days`` go from ``start`` to
    the date in the column ``until``, or to the public day ``at``; the others are parts of
    ``start``, with Monday as weekday 1.
    """

    what: Derived
    start: DateColumn
    until: DateColumn | None = None
    at: int | None = None

    @property
    def columns(self) -> tuple[DateColumn, ...]:
        """Columns that are read."""
        return (self.start,) if self.until is None else (self.start, self.until)

    def numbers(self, start: Ints, until: Ints | None = None) -> Ints:
        """Return the number of each record, from its days since 1970-01-01.

        >>> age = Derivation(what="years", start=DateColumn(name="birth"), at=20454)  # 2026-01-01
        >>> age.numbers(np.array(["1980-01-01", "1980-01-02"], "datetime64[D]").astype(np.int64))
        array([46, 45])
        """
        if self.what == "date":
            return start
        if self.what in ("years", "days"):
            end = np.full_like(start, self.at) if until is None else until
            return end - start if self.what == "days" else _years(start, end)
        return _part(start, self.what)


def _part(days: Ints, what: str) -> Ints:
    if what == "weekday":
        return (days + 3) % 7 + 1  # 1970-01-01 was a Thursday
    months = period_of(days, "month")
    if what == "year":
        return months // 12 + 1970
    return months % 12 + 1 if what == "month" else months % 12 // 3 + 1


def _years(start: Ints, end: Ints) -> Ints:
    """Return completed years; from 29 February they end on 1 March, except in leap years."""
    months = period_of(end, "month") - period_of(start, "month")
    early = (months % 12 == 0) & (_day_of_month(end) < _day_of_month(start))
    years: Ints = months // 12 - early
    return years


def _day_of_month(days: Ints) -> Ints:
    first = period_of(days, "month").astype("datetime64[M]").astype("datetime64[D]")
    within: Ints = days - first.astype(np.int64)
    return within
