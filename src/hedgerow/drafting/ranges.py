"""Bounds and steps of numbers and dates, rounded outwards, and markers of missing values."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

import numpy as np

from hedgerow.drafting.gaps import missing_texts, sentinels, texts_are_gaps
from hedgerow.drafting.moments import DateFound
from hedgerow.drafting.profile import Profile
from hedgerow.drafting.quantity import NumbersSeen
from hedgerow.model.dates import parse_dates
from hedgerow.model.reading import NumberMarks
from hedgerow.plan.fields import MAX_BOUND

_MOST_WHOLE_CELLS = 10_000
_FEW_CELLS = 10
_EPOCH = datetime.date(1970, 1, 1)


def number_settings(profile: Profile, of_file: NumberMarks) -> dict[str, Any] | None:
    """Return the settings of a column of numbers, or ``None``."""
    seen = profile.quantity
    if not seen.n_records or profile.is_padded:
        return None
    has_texts = seen.n_records < profile.n_known
    if has_texts and not texts_are_gaps(profile):
        return None
    far = sentinels(profile)
    if far:
        seen = NumbersSeen()
        kept = {number: n for number, n in profile.values.items() if number not in far}
        seen.add(np.array(list(kept)), np.array(list(kept.values())))
    if max(abs(seen.low), abs(seen.high)) > MAX_BOUND / 100 or seen.low == seen.high:
        return None
    settings: dict[str, Any] = dict(_grid(seen, profile))
    if has_texts or far:
        often, others = missing_texts(profile.texts)
        settings |= _gaps((*often, *(f"{number:.15g}" for number in far)), others)
    if profile.marks != of_file:
        settings |= {"decimal": profile.marks.decimal, "thousands": profile.marks.thousands}
    return settings


def _gaps(texts: tuple[str, ...], others: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"missing-values": texts} if texts else {}
    return {**found, "unreadable": "missing"} if others else found


def _grid(seen: NumbersSeen, profile: Profile) -> dict[str, Any]:
    low, high = seen.bounds()
    if low == high:
        low, high = seen.low, seen.high
    below, above, unit = outward(low, high)
    step = unit / 100
    if seen.is_whole and above - below < _MOST_WHOLE_CELLS:
        step = Fraction(1)
    elif _is_crowded(profile, below, step):
        step /= 10
    return {"numeric": (below, above), "step": step}


def _is_crowded(profile: Profile, low: Fraction, step: Fraction) -> bool:
    """Return whether half of a column's numbers are in the first few cells."""
    first = float(low + _FEW_CELLS * step)
    n_first = sum(n for number, n in profile.values.items() if number < first)
    return 2 * n_first > sum(profile.values.values())


def outward(low: float, high: float) -> tuple[Fraction, Fraction, Fraction]:
    """Return bounds around ``low`` and ``high`` in round units, and the unit.

    The unit is the largest power of ten within the range, so bounds have one or two significant
    digits.

    >>> [str(number) for number in outward(17, 88)]
    ['10', '90', '10']
    """
    size = max(high - low, max(abs(low), abs(high)) * 1e-6)
    unit = Fraction(10) ** floor(log10(size))
    return floor(Fraction(low) / unit) * unit, ceil(Fraction(high) / unit) * unit, unit


def date_settings(profile: Profile, found: DateFound) -> tuple[dict[str, Any], str | None]:
    """Return the settings of a column of dates, and a question to a person about it."""
    low, high = map(_day, found.seen.bounds())
    date: dict[str, Any] = {
        "from": datetime.date(low.year, 1, 1),
        "to": datetime.date(high.year, 12, 31),
    }
    if found.is_of_months:
        date["step"] = "month"
    ask = None
    if found.other is not None:
        date["format"] = "ask"
        ask = f"which comes first, day or month? Give the format {found.format} or {found.other}"
    elif found.format != "iso":
        date["format"] = found.format
    settings: dict[str, Any] = {"date": date}
    if found.seen.n_records < profile.n_known:
        settings |= _gaps(*missing_texts(_no_dates(profile, found)))
    return settings, ask


def age_settings(column: str, found: DateFound, others: Sequence[DateFound]) -> dict[str, Any]:
    """Return the settings of an age computed from dates of birth.

    The age is at the beginning of the year after the table's other dates, or of this year.
    """
    last = max((each.seen.bounds()[1] for each in others), default=None)
    year = datetime.date.today().year if last is None else _day(last).year + 1
    source: Any = column if found.format == "iso" else {"column": column, "format": found.format}
    return {
        "from": source,
        "years-at": datetime.date(year, 1, 1),
        "numeric": (Fraction(0), Fraction(110)),
    }


def _day(number: float) -> datetime.date:
    return _EPOCH + datetime.timedelta(days=int(number))


def _no_dates(profile: Profile, found: DateFound) -> dict[str, int]:
    words = list(profile.known)
    fits = np.zeros(len(words), dtype=np.bool_)
    for form in {found.format, "iso"}:
        fits |= parse_dates(words, form)[1]
    return {word: profile.known[word] for word, fit in zip(words, fits, strict=True) if not fit}
