"""Exact numbers in the notation of people."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from hedgerow.errors import SettingError

NumberLike: TypeAlias = int | float | str | Decimal | Fraction
"""A public number of a plan: ``17``, ``0.1``, ``"0.1"``, ``"1/3"``."""

# Exponents have at most three digits: a short text must not stand for a huge integer.
_WRITTEN = re.compile(
    r"[-+]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][-+]?\d{1,3})?|[-+]?\d{1,40}/\d{1,40}"
)


def exact(value: NumberLike, *, setting: str) -> Fraction:
    """Return the exact number: the float ``0.1`` is one tenth.

    >>> exact(0.1, setting="step")
    Fraction(1, 10)
    """
    wrong = SettingError.out_of_range(setting, repr(value), "a number, such as 17, 0.1 or '1/3'")
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        raise wrong
    if isinstance(value, int | Fraction):
        return Fraction(value)
    written = str(value).strip()  # a float's text is the shortest that gives it back
    if not _WRITTEN.fullmatch(written):
        raise wrong
    try:
        return Fraction(written)
    except ZeroDivisionError:
        raise wrong from None


def written(value: Fraction) -> str:
    """Return the number as text: a decimal if it is finite, else a fraction.

    >>> written(Fraction(5, 4)), written(Fraction(-1, 3)), written(Fraction(17))
    ('1.25', '-1/3', '17')
    """
    rest, places = value.denominator, 0
    for prime in (2, 5):
        times = 0
        while rest % prime == 0:
            rest //= prime
            times += 1
        places = max(places, times)
    if rest != 1 or places == 0:
        return str(value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def common_denominator(*values: Fraction) -> int:
    """Return the smallest number whose product with each value is an integer."""
    return math.lcm(*(value.denominator for value in values))
