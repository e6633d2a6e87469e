"""The cost that each of a series of repeated releases may have.

Releases that read the same records, or the same people, add up: each may have an equal part of the
total. Releases of disjoint parts may each have all of it. No ledger is read: a schedule is
arithmetic, for those who decide on a cap.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hedgerow.errors import SettingError
from hedgerow.privacy.budget import EpsilonLike, parse_epsilon

STEPS = ("day", "week", "month", "quarter", "year")

MOST_RELEASES = 100_000

_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}
_SHORTEST_MONTH, _LONGEST_MONTH = 28, 31
_DECIMALS = 6


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Releases ``every`` period, for ``amount`` times ``unit``, and the cost that each may have."""

    every: str
    amount: int
    unit: str
    epsilon: Fraction
    disjoint: bool
    n_releases: int

    @classmethod
    def of(
        cls, every: str, *, amount: str, unit: str, epsilon: EpsilonLike, disjoint: bool = False
    ) -> Schedule:
        """Return the schedule that a text such as "2 years" describes.

        >>> plan = Schedule.of("month", amount="2", unit="years", epsilon=4)
        >>> plan.n_releases, plan.each, plan.each_decimal
        (24, Fraction(1, 6), '0.166666')
        >>> Schedule.of("month", amount="2", unit="years", epsilon=4, disjoint=True).each
        Fraction(4, 1)
        """
        step = _step(every, "every")
        length = _step(unit.removesuffix("s") if unit != "s" else unit, "for")
        if not (amount.isascii() and amount.isdigit()) or not 1 <= len(amount) <= 6:
            raise SettingError(
                "The time is not a whole number of days, weeks, months, quarters or years.",
                where="for",
                do="Give a number and a unit, such as: --duration 2 years",
            )
        number = int(amount)
        if number == 0:
            raise SettingError("The time is 0.", where="for", do="Give at least 1.")
        n_releases = _times(step, number, length)
        if n_releases > MOST_RELEASES:
            raise SettingError(
                f"These are more than {MOST_RELEASES:,} releases.",
                where="for",
                do="Give a shorter time, or publish less often.",
            )
        return cls(
            every=step,
            amount=number,
            unit=length,
            epsilon=parse_epsilon(epsilon, where="epsilon"),
            disjoint=disjoint,
            n_releases=n_releases,
        )

    @property
    def each(self) -> Fraction:
        """Epsilon that each release may spend."""
        return self.epsilon if self.disjoint else self.epsilon / self.n_releases

    @property
    def each_decimal(self) -> str:
        """The same as a decimal of six digits, rounded down so that all of them fit."""
        digits = self.each.numerator * 10**_DECIMALS // self.each.denominator
        whole, rest = divmod(digits, 10**_DECIMALS)
        return f"{whole}.{rest:0{_DECIMALS}d}".rstrip("0").rstrip(".")

    def as_dict(self) -> dict[str, Any]:
        """Return the schedule for JSON, with exact fractions in text."""
        return {
            "every": self.every,
            "for": f"{self.amount} {self.unit}{'' if self.amount == 1 else 's'}",
            "releases": self.n_releases,
            "epsilon": str(self.epsilon),
            "disjoint": self.disjoint,
            "each": str(self.each),
            "each-decimal": self.each_decimal,
        }


def _step(word: str, where: str) -> str:
    if word in STEPS:
        return word
    raise SettingError(
        f"{word!r} is not a step of the calendar."
        if word.isprintable() and len(word) < 60
        else "This is not a step of the calendar.",
        where=where,
        do=f"Give one of: {', '.join(STEPS)}.",
    )


def _times(every: str, amount: int, unit: str) -> int:
    """Return the largest number of times that a step can begin in a time.

    >>> _times("month", 2, "year"), _times("week", 1, "year"), _times("month", 60, "day")
    (24, 53, 3)
    """
    if every in _MONTHS and unit in _MONTHS:
        return -(-amount * _MONTHS[unit] // _MONTHS[every])
    if unit in _DAYS:
        days = amount * _DAYS[unit]
        each = _DAYS.get(every) or _SHORTEST_MONTH * _MONTHS[every]
        return -(-days // each)
    years, months = divmod(amount * _MONTHS[unit], 12)
    days = 365 * years + -(-years // 4) + _LONGEST_MONTH * months
    return -(-days // _DAYS[every])
