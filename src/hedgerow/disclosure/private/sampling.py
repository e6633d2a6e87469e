"""Keep each record independently with the same probability: exact Poisson sampling."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from hedgerow.errors import InternalError
from hedgerow.model.arrays import Ints
from hedgerow.privacy.source import RandomSource, integers_below

_AT_ONCE = 1 << 22
_INNER_UNIT = 10**9


def kept_of_each(many: Ints, *, rate: Fraction, source: RandomSource) -> Ints:
    """Return the number of kept records of each kind; ``rate`` is the probability; confidential.

    Exact: a record is kept when a uniform integer below the rate's denominator is below its
    numerator.
    """
    if not 0 < rate <= 1:
        raise InternalError("Records cannot be kept at this rate.")
    ends = np.cumsum(many)
    n = int(ends[-1]) if len(ends) else 0
    kept_up_to = np.zeros(len(many) + 1, dtype=np.int64)
    for start in range(0, n, _AT_ONCE):
        size = min(_AT_ONCE, n - start)
        draws = integers_below(size, bound=rate.denominator, source=source)
        kept = np.concatenate([[0], np.cumsum(draws < np.uint64(rate.numerator))])
        kept_up_to[1:] += kept[np.clip(ends - start, 0, size)]
    return np.diff(kept_up_to)


def amplified_epsilon(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Return the epsilon to spend inside a secret sample for a total of ``epsilon``, rounded down.

    ``ln(1 + (e^epsilon - 1) / rate)``: a mechanism that costs that much on the sample costs
    ``epsilon`` on the table, in both directions (docs/privacy.md, "Poisson sampling").

    >>> amplified_epsilon(Fraction(1), Fraction(1, 2)) > Fraction(148, 100)
    True
    """
    context = Context(prec=50)
    power = context.exp(_decimal(epsilon, context))
    inside = context.divide(context.subtract(power, Decimal(1)), _decimal(rate, context))
    exact = context.ln(context.add(inside, Decimal(1)))
    # 50 digits are far more than the nine that are kept.
    return Fraction(math.floor(Fraction(exact) * _INNER_UNIT), _INNER_UNIT)


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))
