"""Exact numbers from a plan file: ``0.1`` is one tenth, not a double near it."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral

# Long texts and large exponents would cost memory before any range check.
_LONGEST = 100
_LARGEST_EXPONENT = 400
_RATIO = re.compile(r"\s*([+-]?\d+)\s*/\s*(\d+)\s*", re.ASCII)
_DECIMAL = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\s*", re.ASCII)


class NotANumberError(ValueError):
    """A value is not a finite number."""


def exact_number(value: object) -> Fraction:
    """Return the number in ``value``, exactly.

    A float counts as the shortest decimal that gives it, as a person wrote it.

    >>> exact_number(0.1), exact_number("1/3"), exact_number("2.50")
    (Fraction(1, 10), Fraction(1, 3), Fraction(5, 2))
    """
    if isinstance(value, bool):
        raise NotANumberError("true and false are not numbers.")
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal):
        return _of_decimal(value)
    if isinstance(value, float):
        return _of_decimal(Decimal(repr(float(value))))
    if isinstance(value, str):
        return _of_text(value)
    raise NotANumberError("This is not a number.")


def plain_number(value: Fraction) -> int | float | str:
    """Return ``value`` as in a file: whole, decimal if exact, else ``"1/3"``.

    >>> plain_number(Fraction(2)), plain_number(Fraction(1, 4)), plain_number(Fraction(1, 3))
    (2, 0.25, '1/3')
    """
    if value.denominator == 1:
        return value.numerator
    try:
        nearest = float(value)
    except OverflowError:
        return str(value)
    return nearest if _of_decimal(Decimal(repr(nearest))) == value else str(value)


def _of_text(text: str) -> Fraction:
    if len(text) > _LONGEST:
        raise NotANumberError(f"A number has at most {_LONGEST} characters.")
    if ratio := _RATIO.fullmatch(text):
        if int(ratio[2]) == 0:
            raise NotANumberError("A fraction cannot be over 0.")
        return Fraction(int(ratio[1]), int(ratio[2]))
    if not _DECIMAL.fullmatch(text):
        raise NotANumberError("This is not a number.")
    try:
        return _of_decimal(Decimal(text.strip()))
    except InvalidOperation:
        raise NotANumberError("This is not a number.") from None


def _of_decimal(value: Decimal) -> Fraction:
    if not value.is_finite():
        raise NotANumberError("This is not a finite number.")
    if value and abs(value.adjusted()) > _LARGEST_EXPONENT:
        raise NotANumberError("The number is too large or too small.")
    # The exponent may be huge although the value is 0, as in 0e999999.
    return Fraction(value) if value else Fraction(0)
