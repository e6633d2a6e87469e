"""Exact bounds on a probability from a number of hits in independent runs.

Clopper-Pearson bounds hold for any probability and any number of runs. They are roots of binomial
tails, found here by bisection on the regularised incomplete beta function, so that no optional
dependency is needed.
"""

from __future__ import annotations

import math

_STEPS = 60
_TINY = 1e-300


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 10_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + numerator / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def beta_share(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b).

    For whole numbers a and b it is P(Bin(a + b - 1, x) >= a).

    >>> round(beta_share(1, 2, 0.5), 12)
    0.75
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1 - front * _continued_fraction(b, a, 1 - x) / b


def lower_bound(hits: int, runs: int, *, mistake: float) -> float:
    """Return a lower bound on a probability that is wrong with probability at most ``mistake``.

    The bound is the smallest p under which at least ``hits`` hits have at least that probability; 0
    without a hit.
    """
    if hits == 0:
        return 0.0
    low, high = 0.0, hits / runs
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if beta_share(hits, runs - hits + 1, middle) < mistake:
            low = middle
        else:
            high = middle
    return low


def upper_bound(hits: int, runs: int, *, mistake: float) -> float:
    """Return an upper bound on a probability that is wrong with probability at most ``mistake``."""
    return 1 - lower_bound(runs - hits, runs, mistake=mistake)
