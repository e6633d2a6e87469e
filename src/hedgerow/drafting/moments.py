"""Columns of dates, and their formats among those of a plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.drafting.quantity import NumbersSeen
from hedgerow.model.dates import DATE_FORMATS, DateFormat, parse_dates

_UNSURE: tuple[DateFormat, ...] = ("yyyymm", "yyyy")
"""Formats that whole numbers and codes match as well."""

SWAPPED: dict[DateFormat, DateFormat] = {"dd/mm/yyyy": "mm/dd/yyyy", "dd-mm-yyyy": "mm-dd-yyyy"}
_OF_MONTHS: tuple[DateFormat, ...] = ("yyyy-mm", "mm/yyyy", "mm.yyyy")
_SAMPLE = 300
_WORTH_A_LOOK = 0.5
_MOST = 0.9
_FIRST, _LAST = -51_135, 65_744  # 1830 to 2149: other numbers in the form of a date are not dates
_LIKE_A_DATE = (
    r"^[0-9]{1,4}[-./ ](?:[0-9]{1,2}|[A-Za-z]{3})[-./ ][0-9]|^(?:1[89]|20)[0-9]{6}$"
    r"|^[0-9]{2}[A-Za-z]{3}[0-9]{4}|^[0-9]{4}-[0-9]{2}$|^[0-9]{1,2}[./](?:1[89]|20)[0-9]{2}$"
)


@dataclass(frozen=True, kw_only=True)
class DateFound:
    """The format of a column's dates; ``other`` would read all of them as well."""

    format: DateFormat
    seen: NumbersSeen
    other: DateFormat | None = None

    @property
    def is_of_months(self) -> bool:
        """Return whether the format has no day."""
        return self.format in _OF_MONTHS


class DateForms:
    """Numbers of texts of a column that are dates, format by format (confidential)."""

    def __init__(self) -> None:
        self.seen: dict[DateFormat, NumbersSeen] | None = None

    def add_words(self, words: pa.Array, counts: NDArray[np.int64]) -> None:
        """Add distinct texts without blanks around them, each with its records."""
        if self.seen is None and len(words):
            self.seen = {form: NumbersSeen() for form in _likely(words.slice(0, _SAMPLE))}
        for form, seen in (self.seen or {}).items():
            days, ok = parse_dates(words, form)
            ok &= (days >= _FIRST) & (days <= _LAST)
            seen.add(days[ok].astype(np.float64), counts[ok])

    def found(self, n_known: int) -> list[DateFormat]:
        """Return the formats that read most values, if they read the same ones."""
        seen = self.seen or {}
        most = max((each.n_records for each in seen.values()), default=0)
        if not most or most < _MOST * n_known:
            return []
        return [form for form, each in seen.items() if each.n_records == most]


def _likely(words: pa.Array) -> list[DateFormat]:
    """Return the formats of at least half of some texts."""
    alike = pc.sum(pc.match_substring_regex(words, _LIKE_A_DATE)).as_py() or 0
    if alike < _WORTH_A_LOOK * len(words):
        return []
    formats = [form for form in DATE_FORMATS if form not in _UNSURE]
    return [form for form in formats if _are_dates(words, form)]


def _are_dates(words: pa.Array, form: DateFormat) -> bool:
    days, ok = parse_dates(words, form)
    ok &= (days >= _FIRST) & (days <= _LAST)
    return bool(ok.mean() >= _WORTH_A_LOOK)
