"""Conversion of whole columns of dates, in one public format, to days.

A day is its number since 1970-01-01. Text after a date in the same field (a time of day, a time
zone) is parsed as well and cut off: a time with a zone or an offset counts by its day in UTC, one
without by the written day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from hedgerow.model.arrays import Flags, Ints
from hedgerow.taxonomy.calendar import DateStep

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DATE_FORMATS", "DateFormat", "DateStep", "iso_days", "parse_dates"]

DateFormat: TypeAlias = Literal[
    "iso",
    "yyyymmdd",
    "yyyy/mm/dd",
    "yyyy.mm.dd",
    "dd.mm.yyyy",
    "dd/mm/yyyy",
    "dd-mm-yyyy",
    "mm/dd/yyyy",
    "mm-dd-yyyy",
    "dd-mon-yyyy",
    "dd mon yyyy",
    "ddmonyyyy",
    "yyyy-mm",
    "mm/yyyy",
    "mm.yyyy",
    "yyyymm",
    "yyyy",
]
DATE_FORMATS: tuple[DateFormat, ...] = get_args(DateFormat)
"""Formats of dates. ``iso`` is yyyy-mm-dd, ``mon`` the first three letters of a month."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIXED: frozenset[DateFormat] = frozenset({"iso", "yyyymmdd", "yyyymm", "yyyy-mm", "ddmonyyyy"})
"""Formats in which day and month have two digits; in others a leading zero may be left out."""

_TIME = (
    r"(?:[Tt ] *(?P<hour>[0-9]{1,2}):(?P<minute>[0-5][0-9])(?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
    r"(?: *(?P<half>[AaPp])[.]?[Mm][.]?)?"
    r"(?: *(?:[Zz]|UTC|GMT|(?P<sign>[+-])(?P<ahead>[01][0-9])(?::?(?P<further>[0-5][0-9]))?))?)?"
)
_PLAIN_TIME = r"[Tt ] *(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?$"
_A_DAY = 24 * 60


def parse_dates(values: pa.Array | Sequence[str | None], form: DateFormat) -> tuple[Ints, Flags]:
    """Return the day of each text in one format, and which texts are dates in it.

    The day of a text that is null or not a date is undefined. Blanks around a date are allowed, and
    a time of day after it. Formats without a day mean the first of the month, or of the year.

    >>> days, ok = parse_dates(["01.03.2020", "31.2.2020", "1.3.2020 12:30", None], "dd.mm.yyyy")
    >>> days[ok].astype("datetime64[D]").tolist(), ok.tolist()
    ([datetime.date(2020, 3, 1), datetime.date(2020, 3, 1)], [True, False, True, False])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values if isinstance(values, pa.Array) else pa.array(list(values), pa.string())
    if texts.type != pa.string():
        texts = texts.cast(pa.string())
    bare = pc.fill_null(pc.utf8_trim_whitespace(texts), "")
    if not _has_day(form):
        return _parsed(bare, _pattern(form))
    # Most times differ, but their days do not: plain times are cut off before texts are parsed.
    cut = pc.replace_substring_regex(bare, _PLAIN_TIME, "")
    distinct = cut.dictionary_encode()
    places = distinct.indices.to_numpy()
    of_words, fit = _parsed(distinct.dictionary, _pattern(form))
    days, ok = of_words[places], fit[places]
    whole = pc.equal(pc.binary_length(cut), pc.binary_length(bare))
    others = np.flatnonzero(~ok & whole.to_numpy(zero_copy_only=False))
    if len(others):
        days[others], ok[others] = _parsed(bare.take(pa.array(others)), _pattern(form, _TIME))
    return days, ok


def _parsed(texts: pa.Array, pattern: str) -> tuple[Ints, Flags]:
    """Return the day of each text that matches the pattern, and which texts are dates."""
    import pyarrow.compute as pc

    found = pc.extract_regex(texts, pattern)
    read = found.is_valid().to_numpy(zero_copy_only=False)
    parts = _Parts(found.filter(found.is_valid()))
    written, real = parts.days()
    moved, timely = parts.moved()
    days, ok = np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=np.bool_)
    days[read], ok[read] = written + moved, real & timely
    return days, ok


def iso_days(days: Ints) -> list[str]:
    """Return days in the format of a release.

    >>> iso_days(np.array([0, 18322]))
    ['1970-01-01', '2020-03-01']
    """
    written: list[str] = np.datetime_as_string(days.astype("datetime64[D]")).tolist()
    return written


def _has_day(form: DateFormat) -> bool:
    return form == "iso" or "dd" in form


def _pattern(form: DateFormat, time: str = "") -> str:
    """Return the regular expression of a whole field, each part of it under a name."""
    short = "{2}" if form in _FIXED else "{1,2}"
    parts = {
        "yyyy": "(?P<year>[0-9]{4})",
        "mon": "(?P<name>[A-Za-z]{3})",
        "mm": f"(?P<month>[0-9]{short})",
        "dd": f"(?P<day>[0-9]{short})",
    }
    spelt = "yyyy-mm-dd" if form == "iso" else form
    date = re.sub("yyyy|mon|mm|dd|[.]", lambda part: parts.get(part[0], "[.]"), spelt)
    return f"^{date}{time}$"


class _Parts:
    """The parts of the texts that match the form of a date."""

    def __init__(self, found: pa.StructArray) -> None:
        names = [field.name for field in found.type]
        self.columns = dict(zip(names, found.flatten(), strict=True))
        self.size = len(found)

    def days(self) -> tuple[Ints, Flags]:
        """Return the written day, and whether it is in the calendar."""
        year = self._whole("year", 1)
        month = self._month()
        day = self._whole("day", 1)
        real = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
        months = (np.where(real, year, 1970) - 1970) * 12 + np.where(real, month, 1) - 1
        first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        return first + day - 1, real & (day <= after - first)

    def moved(self) -> tuple[Ints, Flags]:
        """Return the shift to UTC in days, and whether the time of day is valid."""
        hour, minute = self._whole("hour", 0), self._whole("minute", 0)
        morning, evening = self._is("half", "Aa"), self._is("half", "Pp")
        halved = morning | evening
        timely = np.where(halved, (hour >= 1) & (hour <= 12), hour <= 23)
        hour = np.where(halved, hour % 12 + 12 * evening, hour)
        ahead = self._whole("ahead", 0) * 60 + self._whole("further", 0)
        ahead = np.where(self._is("sign", "-"), -ahead, ahead)
        return (hour * 60 + minute - ahead) // _A_DAY, timely

    def _month(self) -> Ints:
        import pyarrow as pa
        import pyarrow.compute as pc

        names = self.columns.get("name")
        if names is None:
            return self._whole("month", 1)
        places = pc.index_in(pc.ascii_lower(names), value_set=pa.array(_MONTHS))
        return np.asarray(places.fill_null(-1).to_numpy(), dtype=np.int64) + 1

    def _is(self, name: str, letters: str) -> Flags:
        """Flag the texts in which a part is one of some letters."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.columns.get(name)
        if column is None:
            return np.zeros(self.size, dtype=np.bool_)
        found = pc.is_in(column, value_set=pa.array(list(letters)))
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)

    def _whole(self, name: str, default: int) -> Ints:
        """Return a part as numbers; ``default`` if it is missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.columns.get(name)
        if column is None:
            return np.full(self.size, default, dtype=np.int64)
        known = pc.if_else(pc.equal(column, ""), str(default), column)
        return np.asarray(known.cast(pa.int64()).to_numpy(), dtype=np.int64)
