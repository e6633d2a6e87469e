"""The delta of publishing the large groups of a random sample of true records.

Every record is kept with probability ``s``, and groups of fewer than ``K`` kept records are
omitted. A group of ``N`` records then shows ``Bin(N, s)`` records or nothing. Adding a record to
it costs, at the level ``epsilon``,

``δ = max_N Σ_{j >= K} [Bin(N, s)(j) - e^epsilon Bin(N-1, s)(j)]₊``

(docs/privacy.md, "Truthful samples"; Li, Qardaji and Su 2011). Removing one costs no delta as
long as ``s <= 1 - e^-epsilon``.
"""

from __future__ import annotations

import math
from decimal import Context
from fractions import Fraction
from functools import lru_cache

import numpy as np

from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats

MOST_RECORDS_IN_DOUBT = 10_000
"""Maximum size of groups over which delta is summed; if larger ones matter, we refuse."""

_RATE_UNIT = 10**6
_SLACK = 1 + 1e-6  # sums of 10,000 logarithms are off by less than 10**-7
_BRACKET_SLACK = 1e-13


def largest_rate(epsilon: Fraction) -> Fraction:
    """Return the largest rate ``1 - e^-epsilon``, rounded down to a millionth.

    >>> float(largest_rate(Fraction(1)))
    0.63212
    """
    context = Context(prec=60)
    top, bottom = (context.create_decimal(-epsilon.numerator), epsilon.denominator)
    kept = 1 - context.exp(context.divide(top, context.create_decimal(bottom)))
    return Fraction(int(kept * _RATE_UNIT), _RATE_UNIT)


def check_rate(rate: Fraction, epsilon: Fraction) -> Fraction:
    """Return the rate if it is allowed at ``epsilon``, and refuse larger ones."""
    most = largest_rate(epsilon)
    if not 0 < rate <= most:
        raise SettingError(
            f"{float(rate):g} is out of range.",
            where="publish.rate",
            do=f"Give a number above 0 and at most {float(most):g}, which is 1 - e^-epsilon for"
            " the share of the sample.",
        )
    return rate


def sample_delta(smallest: int, *, rate: Fraction, epsilon: Fraction, target: Fraction) -> float:
    """Return an upper bound on the delta of keeping groups of at least ``smallest`` records.

    Exact up to a relative 10^-6 upwards, or ``target`` if that is larger: groups so large that
    their delta is certainly below the target are not summed.

    >>> args = {"rate": Fraction(1, 2), "epsilon": Fraction(1), "target": Fraction(1, 10**6)}
    >>> sample_delta(35, **args) <= 1e-6 < sample_delta(34, **args)
    True
    """
    bounds = _delta_by_smallest(rate, epsilon, target)
    summed = float(bounds[smallest]) if smallest < len(bounds) else 0.0
    return max(summed, float(target))


@lru_cache(maxsize=256)
def smallest_group(*, rate: Fraction, epsilon: Fraction, delta: Fraction) -> int:
    """Return the smallest ``K``, at least 1, whose delta is at most ``delta``.

    A group of 0 kept records must never be listed: it would show that somebody is in it.

    >>> smallest_group(rate=Fraction(1, 2), epsilon=Fraction(1), delta=Fraction(1, 10**6))
    35
    """
    bounds = _delta_by_smallest(rate, epsilon, delta)
    return max(int(np.flatnonzero(np.append(bounds, 0.0) <= float(delta))[0]), 1)


def _delta_by_smallest(rate: Fraction, epsilon: Fraction, target: Fraction) -> Floats:
    """Return, for each smallest group ``0, 1, ...``, the largest sum over the groups in doubt.

    A group of ``N`` records contributes only ``j > γN``, with ``γ = 1 - (1-s) e^-epsilon > s``.
    The probability of that is at most ``exp(-N KL(γ, s))`` (Chernoff), so above some ``N`` no
    sum exceeds the target.
    """
    s, e = float(rate), math.exp(float(epsilon))
    edge = 1 - (1 - s) / e
    divergence = edge * math.log(edge / s) + (1 - edge) * math.log((1 - edge) / (1 - s))
    # One step more than needed makes up for the rounding of the divergence.
    most = math.ceil(-math.log(float(target)) / divergence * (1 + 1e-9)) + 1
    if most > MOST_RECORDS_IN_DOUBT:
        raise SettingError(
            "The share of the sample is too small for so small a delta.",
            where="publish.delta",
            do="Give a larger epsilon or delta, or a smaller share to the synopsis.",
        )
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    bounds = np.zeros(most + 1)
    for n in range(1, most + 1):
        tails = _tails(n, s, e, factorial)
        np.maximum(bounds[: n + 1], tails, out=bounds[: n + 1])
    return bounds


def _tails(n: int, s: float, e: float, factorial: Floats) -> Floats:
    """Return, for each ``K`` up to ``n``, an upper bound on the sum over ``j >= K``."""
    j = np.arange(n + 1)
    log_mass = factorial[n] - factorial[j] - factorial[n - j]
    log_mass += j * math.log(s) + (n - j) * math.log1p(-s)
    # Bin(n-1)(j) = Bin(n)(j) (n-j) / (n (1-s))
    bracket = np.maximum(1 - e * (n - j) / (n * (1 - s)) + _BRACKET_SLACK, 0.0)
    terms = np.exp(log_mass) * bracket * _SLACK
    tails: Floats = np.cumsum(terms[::-1])[::-1]
    return tails
