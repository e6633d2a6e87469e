"""Years and months of years, by the first characters of a text."""

from __future__ import annotations

import re
from functools import cache

from hedgerow.taxonomy.paths import from_paths
from hedgerow.taxonomy.tree import Taxonomy

_FIRST, _LAST = 1900, 2099
_YEAR = re.compile(r"(19|20)[0-9]{2}")
_MONTH = re.compile(r"((?:19|20)[0-9]{2})[-/.]?(0[1-9]|1[0-2])(?:[-/.]?[0-3][0-9](?:[T ].*)?)?")
_MONTH_FIRST = re.compile(r"(0?[1-9]|1[0-2])[-/.]((?:19|20)[0-9]{2})")


@cache
def years_tree() -> Taxonomy:
    """Return the years 1900 to 2099 by decades."""
    return from_paths(["any year", _decade(year), str(year)] for year in range(_FIRST, _LAST + 1))


@cache
def year_months_tree() -> Taxonomy:
    """Return the months of these years by quarters, years and decades."""
    return from_paths(
        ["any month", _decade(year), str(year), f"{year}-Q{(month + 2) // 3}", f"{year}-{month:02}"]
        for year in range(_FIRST, _LAST + 1)
        for month in range(1, 13)
    )


def year_leaf(text: str) -> str | None:
    """Return the year of a text.

    >>> year_leaf("1987"), year_leaf("87")
    ('1987', None)
    """
    return text if _YEAR.fullmatch(text) else None


def year_month_leaf(text: str) -> str | None:
    """Return the month of a year, also of a date that begins with the year.

    >>> [year_month_leaf(text) for text in ("2020-03", "2020-03-15", "202003", "3/2020", "2020")]
    ['2020-03', '2020-03', '2020-03', '2020-03', None]
    """
    if found := _MONTH.fullmatch(text):
        return f"{found[1]}-{found[2]}"
    if found := _MONTH_FIRST.fullmatch(text):
        return f"{found[2]}-{int(found[1]):02}"
    return None


def _decade(year: int) -> str:
    return f"{year // 10 * 10}s"
