"""Which columns hold dates, and in which of the formats that a plan knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.drafting.quantity import NumbersSeen
from hedgerow.model.dates import DATE_FORMATS, DateFormat, parse_dates

_UNSURE: tuple[DateFormat, ...] = ("yyyymm", "yyyy")
"""Formats that whole numbers and codes have, too."""

SWAPPED: dict[DateFormat, DateFormat] = {"dd/mm/yyyy": "mm/dd/yyyy", "dd-mm-yyyy": "mm-dd-yyyy"}
_OF_MONTHS: tuple[DateFormat, ...] = ("yyyy-mm", "mm/yyyy", "mm.yyyy")
_SAMPLE = 300
_WORTH_A_LOOK = 0.5
_MOST = 0.9
_FIRST, _LAST = -51_135, 65_744  # 1830 to 2149: what else has the form of a date is none
_LIKE_A_DATE = (
    r"^[0-9]{1,4}[-./ ](?:[0-9]{1,2}|[A-Za-z]{3})[-./ ][0-9]|^(?:1[89]|20)[0-9]{6}$"
    r"|^[0-9]{2}[A-Za-z]{3}[0-9]{4}|^[0-9]{4}-[0-9]{2}$|^[0-9]{1,2}[./](?:1[89]|20)[0-9]{2}$"
)


@dataclass(frozen=True, kw_only=True)
class DateFound:
    """How the dates of a column are written; ``other`` would read all of them as well."""

    format: DateFormat
    seen: NumbersSeen
    other: DateFormat | None = None

    @property
    def is_of_months(self) -> bool:
        """Whether no day is written."""
        return self.format in _OF_MONTHS


class DateForms:
    """What the texts of a column are as dates, format by format (confidential)."""

    def __init__(self) -> None:
        self.seen: dict[DateFormat, NumbersSeen] | None = None

    def add_words(self, words: pa.Array, counts: NDArray[np.int64]) -> None:
        """Take in distinct texts without blanks around them, each with its records."""
        if self.seen is None and len(words):
            self.seen = {form: NumbersSeen() for form in _likely(words.slice(0, _SAMPLE))}
        for form, seen in (self.seen or {}).items():
            days, ok = parse_dates(words, form)
            ok &= (days >= _FIRST) & (days <= _LAST)
            seen.add(days[ok].astype(np.float64), counts[ok])

    def found(self, n_known: int) -> list[DateFormat]:
        """Return the formats that read most values, all alike, if there are any."""
        seen = self.seen or {}
        most = max((each.n_records for each in seen.values()), default=0)
        if not most or most < _MOST * n_known:
            return []
        return [form for form, each in seen.items() if each.n_records == most]


def _likely(words: pa.Array) -> list[DateFormat]:
    """Return the formats of half of some texts or more."""
    alike = pc.sum(pc.match_substring_regex(words, _LIKE_A_DATE)).as_py() or 0
    if alike < _WORTH_A_LOOK * len(words):
        return []
    formats = [form for form in DATE_FORMATS if form not in _UNSURE]
    return [form for form in formats if _are_dates(words, form)]


def _are_dates(words: pa.Array, form: DateFormat) -> bool:
    days, ok = parse_dates(words, form)
    ok &= (days >= _FIRST) & (days <= _LAST)
    return bool(ok.mean() >= _WORTH_A_LOOK)
