"""Round to one significant digit, to reveal less."""

from __future__ import annotations


def one_digit(number: int) -> int:
    """Return ``number`` rounded to its first digit, halves up.

    >>> [one_digit(n) for n in (45_222, 30_162, 25, 9, 96, 0)]
    [50000, 30000, 30, 9, 100, 0]
    """
    unit = int(10 ** (len(str(number)) - 1))
    return (number + unit // 2) // unit * unit
