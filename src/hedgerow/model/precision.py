"""Errors of published counts, in plain numbers.

Everything follows from the public noise law, nothing from the data.
"""

from __future__ import annotations

import math
from fractions import Fraction


def within(share: Fraction, *, confidence: float = 0.95) -> int:
    """Return the smallest whole ``k`` that the noise exceeds with probability at most 5 %.

    The noise X of a count drawn with ``share`` has P(abs(X) > k) = 2 a**(k+1) / (1 + a),
    a = exp(-share).

    >>> within(Fraction(1)), within(Fraction(1, 2)), within(Fraction(1, 10))
    (3, 6, 30)
    """
    rate = float(share)
    tail = (1 - confidence) * (1 + math.exp(-rate)) / 2
    return max(0, math.ceil(-math.log(tail) / rate) - 1)


def deviation(share: Fraction) -> float:
    """Return the standard deviation of the noise on one count.

    >>> round(deviation(Fraction(1)), 2)
    1.36
    """
    rate = float(share)
    return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)


def sum_within(share: Fraction, *, n_counts: int) -> int:
    """Return a bound on the error of a sum of noisy counts that holds in 95 % of releases.

    The noises are independent, so their sum grows with the square root of their number; from about
    ten on it is close to a normal law.

    >>> sum_within(Fraction(1), n_counts=1), sum_within(Fraction(1), n_counts=100)
    (3, 27)
    """
    if n_counts == 1:
        return within(share)
    return math.ceil(1.96 * deviation(share) * math.sqrt(n_counts))
