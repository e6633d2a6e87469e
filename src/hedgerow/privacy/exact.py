"""Exponential variables that are exact, at the speed of floating point.

An outcome is defined as a function of numbers U, each an endless string of uniform random bits. Its
law is exact by definition; only its *evaluation* has to stop somewhere:

1. the first 64 bits of U leave it in an interval; `exponential_bounds` turns that into bounds of E
= -ln U in floating point, rounded outwards;

2. where the bounds decide the outcome, which is nearly always, no further bit could change it;

3. elsewhere `LazyExponential` draws more bits and computes with decimals of growing precision until
they decide.

So rounding never changes an outcome: it only triggers step 3 a little too often. Hence the same
words give the same outcome on every processor.

E is a standard exponential variable; Gumbel noise (-ln E), the noise of permute-and-flip
and geometric gaps are functions of it (see `choice` and `sparse`).
"""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.privacy.source import WORD_BITS, RandomSource

# 32 units in the last place. numpy's logarithm and exponential are within 4; the margin
# leaves room for three of them in a row (a test compares with decimals).
SLACK = 2.0**-48

_MOST_BITS = 512  # honest words leave nothing undecided for so long, except once in 2**400
_GUARD_DIGITS = 40


def exponential_bounds(
    words: NDArray[np.uint64], *, bits: int = WORD_BITS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds of E = -ln U, where the words are the first 64 bits of each U.

    Only the first ``bits`` are used: fewer are never wrong, only undecided more often (tests do
    this to reach the slow path). An upper bound may be infinite.
    """
    # U lies in [v, v + 1] / 2**bits; the conversion and the product may round.
    v = (words >> np.uint64(WORD_BITS - bits)).astype(np.float64)
    least = v * (2.0**-bits * (1 - SLACK))
    most = np.minimum((v + 1) * (2.0**-bits * (1 + SLACK)), 1.0)
    with np.errstate(divide="ignore"):
        low = np.log(most) * -(1 - SLACK)
        high = np.log(least) * -(1 + SLACK)
    return low, high


class LazyExponential:
    """One E = -ln U, known to as many bits of U as have been drawn."""

    def __init__(self, word: int) -> None:
        self._prefix = word
        self.bits = WORD_BITS

    def sharpen(self, *, source: RandomSource) -> None:
        """Draw 64 more bits of U."""
        if self.bits >= _MOST_BITS:
            raise InternalError("The random source repeats itself.")
        self._prefix = (self._prefix << WORD_BITS) | int(source.words(1)[0])
        self.bits += WORD_BITS

    def bounds(self) -> tuple[Decimal, Decimal]:
        """Return bounds of E, under a `decimal_context` for its bits or more."""
        # Decimals with more digits than U has bits hold U exactly, and ln is rounded
        # correctly, so one step outwards makes bounds.
        scale = Decimal(2) ** self.bits
        low = -(Decimal(self._prefix + 1) / scale).ln()
        high = -(Decimal(self._prefix) / scale).ln()
        return max(low.next_minus(), Decimal(0)), high.next_plus()


def decimal_context(bits: int) -> decimal.Context:
    """Return a context that holds ``bits`` binary digits exactly, with digits to spare.

    Three correctly rounded operations in a row, on numbers that ``bits`` bits of U can
    lead to and weights up to 2**62, keep `decimal_slack` as their relative error.
    """
    return decimal.Context(
        prec=bits + _GUARD_DIGITS,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        traps=[decimal.InvalidOperation],
    )


def decimal_slack(bits: int) -> Decimal:
    """Return the relative error of results under `decimal_context`."""
    return Decimal(10) ** -((bits + _GUARD_DIGITS) // 2)
