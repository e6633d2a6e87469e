"""Dates as the cells of a public calendar: days, weeks, months, quarters or years.

A date is its number of days since 1970-01-01, and a cell begins where its day, week (on Monday),
month, quarter or year does. Cells form years, quarters and months: a cell belongs to those of its
first day. Ranges of dates are split where these begin.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError

DateStep: TypeAlias = Literal["day", "week", "month", "quarter", "year"]

Days: TypeAlias = NDArray[np.int64]

_MONTHS: dict[str, int] = {"month": 1, "quarter": 3, "year": 12}
_EPOCH = datetime.date(1970, 1, 1)
_MONDAY = -3
"""The Monday before 1970-01-01, which was a Thursday."""


def day_number(date: datetime.date) -> int:
    """Return the number of days since 1970-01-01."""
    return (date - _EPOCH).days


def date_text(day: int | Fraction) -> str:
    """Return a day in ISO format.

    >>> date_text(18322)
    '2020-03-01'
    """
    return (_EPOCH + datetime.timedelta(days=int(day))).isoformat()


def period_of(days: Days, step: DateStep) -> Days:
    """Return the number of each day's week, month, quarter or year, increasing with time."""
    if step == "day":
        return days
    if step == "week":
        return (days - _MONDAY) // 7
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return months // _MONTHS[step]


def periods(levels: Sequence[Days], *, most: int) -> Days:
    """Return the borders of the finest level with at most ``most`` cells.

    If the coarsest level has more, its cells are joined in pairs, as often as needed.

    >>> periods([np.array([0, 12, 24, 36]), np.arange(37)], most=12).tolist()
    [0, 12, 24, 36]
    >>> periods([np.array([0, 12, 24, 36]), np.arange(37)], most=2).tolist()
    [0, 24, 36]
    """
    fitting = [level for level in levels if len(level) <= most + 1]
    borders = fitting[-1] if fitting else levels[0]
    while len(borders) > most + 1:
        borders = np.unique(np.append(borders[::2], borders[-1]))
    return borders


@dataclass(frozen=True, kw_only=True)
class CalendarGrid:
    """The days, weeks, months, quarters or years from one day to another, both included.

    >>> grid = CalendarGrid(first=day_number(datetime.date(2020, 1, 15)),
    ...                     last=day_number(datetime.date(2020, 3, 1)), step="month")
    >>> [date_text(grid.border(cell)) for cell in range(grid.n_cells + 1)]
    ['2020-01-15', '2020-02-01', '2020-03-01', '2020-03-01']
    """

    first: int
    last: int
    step: DateStep

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise SettingError.out_of_range(
                "to", date_text(self.last), f"a date from {date_text(self.first)} on"
            )

    @cached_property
    def begins(self) -> Days:
        """First day of each cell."""
        days = np.arange(self.first, self.last + 1, dtype=np.int64)
        new = np.diff(period_of(days, self.step)) != 0
        begins: Days = days[np.concatenate([[True], new])]
        begins.flags.writeable = False
        return begins

    @property
    def low(self) -> Fraction:
        """First day."""
        return Fraction(self.first)

    @property
    def high(self) -> Fraction:
        """Last day."""
        return Fraction(self.last)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.begins)

    @property
    def counts_integers(self) -> bool:
        """Return whether every cell is one day."""
        return self.step == "day"

    def border(self, cell: int) -> Fraction:
        """Return the start of a cell; for the number of cells, the end of the last one."""
        return self.high if cell == self.n_cells else Fraction(int(self.begins[cell]))

    def cells(self, values: NDArray[np.integer[Any]] | NDArray[np.floating[Any]]) -> Days:
        """Return the cell of each day, clamped to the grid."""
        cells = np.searchsorted(self.begins, values, side="right") - 1
        return np.maximum(cells, 0).astype(np.int64)

    @cached_property
    def levels(self) -> tuple[Days, ...]:
        """Return the starts of years, quarters, months and cells, as numbers of cells.

        From the coarsest that splits the grid to the cells themselves; each contains the one before
        it.
        """
        found: list[Days] = []
        for step in ("year", "quarter", "month", "day"):
            new = np.diff(period_of(self.begins, step)) != 0
            borders = np.concatenate([[0], np.flatnonzero(new) + 1, [self.n_cells]])
            if len(borders) > (len(found[-1]) if found else 2):
                found.append(borders.astype(np.int64))
        return tuple(found)
