"""The noise of empty groups, without visiting them.

A release gives noise to every group of the domain, empty ones included, and keeps those that reach
a threshold. Empty groups are many and nearly all fail, so instead of adding noise to each, those
that pass are drawn directly: the gaps between them are geometric, and the value of each is the
threshold plus a geometric tail (Cormode, Procopiuc, Srivastava and Tran, *Differentially Private
Summaries for Sparse Data*, 2012). The result has exactly the law of enumeration; time grows only
with the number of groups that pass.
"""

from __future__ import annotations

import decimal
import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.privacy.exact import (
    SLACK,
    LazyExponential,
    decimal_context,
    decimal_slack,
    exponential_bounds,
)
from hedgerow.privacy.laplace import geometric, sampled_epsilon
from hedgerow.privacy.source import WORD_BITS, RandomSource

_MOST_GROUPS = 1 << 62
_HIGHEST_THRESHOLD = 1 << 40
_BATCH = 1 << 16


def passing_empties(
    n_groups: int,
    *,
    epsilon: Fraction,
    threshold: int,
    source: RandomSource,
    bits: int = WORD_BITS,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of ``n_groups`` empty groups reach the threshold, and their values.

    The groups are numbered ``0 .. n_groups - 1`` (up to 2**62 of them); ranks come sorted.
    The law is that of adding `discrete_laplace` noise to a zero for every number and
    keeping values of at least ``threshold``. The caller drops the ranks of groups that
    are occupied, and gives those their own noise. Fewer ``bits`` of a word make it slower
    and change nothing else; tests use it.

    Privacy: reads no data. With noise for occupied groups at the same ``epsilon`` and the
    same threshold, the kept groups together cost ``epsilon``, as if all had been visited.

    >>> from hedgerow.privacy.source import SystemSource
    >>> ranks, values = passing_empties(
    ...     10**15, epsilon=Fraction(1), threshold=30, source=SystemSource()
    ... )
    >>> bool(np.all(values >= 30)), ranks.shape == values.shape
    (True, True)
    """
    if not 1 <= threshold <= _HIGHEST_THRESHOLD:
        raise SettingError.out_of_range("threshold", threshold, "a whole number from 1 to 2**40")
    if not 0 <= n_groups <= _MOST_GROUPS:
        raise SettingError.out_of_range("number of groups", n_groups, "at most 2**62 groups")
    gaps = _Gaps(epsilon=sampled_epsilon(epsilon), threshold=threshold)
    parts: list[NDArray[np.int64]] = []
    reached = 0  # the ranks below are done
    while reached < n_groups:
        expected = gaps.expected(n_groups - reached)
        size = int(min(expected + 2 * math.sqrt(expected) + 4, _BATCH))
        ranks, reached = _ranks_after(reached, gaps.draw(size, source, bits), n_groups)
        parts.append(ranks)
    ranks = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return ranks, threshold + geometric(ranks.size, epsilon=epsilon, source=source)


def _ranks_after(
    reached: int, gaps: NDArray[np.int64], n_groups: int
) -> tuple[NDArray[np.int64], int]:
    """Turn gaps into ranks from ``reached`` on; return them and the next rank."""
    # Sums may exceed 64 bits. Approximate sums show where they certainly leave the range; up to
    # there, and one gap more, sums stay below 2**64.
    rough = np.cumsum(gaps.astype(np.float64) + 1)
    enough = int(np.searchsorted(rough, 1.01 * (n_groups - reached))) + 1
    ends = np.uint64(reached) + np.cumsum(gaps[:enough].astype(np.uint64) + np.uint64(1))
    inside = ends[ends <= np.uint64(n_groups)].astype(np.int64)
    return inside - 1, n_groups if inside.size < ends.size else int(inside[-1])


@dataclass(frozen=True, kw_only=True)
class _Gaps:
    """Geometric gaps: P(gap >= k) = (1 - p)**k, p = P(noise >= threshold).

    A gap is floor(E / hazard) with E exponential and hazard = -ln(1 - p), lazily exact.
    """

    epsilon: Fraction
    threshold: int

    def expected(self, n_groups: int) -> float:
        """Return approximately how many of ``n_groups`` pass on average."""
        a = math.exp(-float(self.epsilon))
        return n_groups * a**self.threshold / (1 + a)

    def draw(self, n: int, source: RandomSource, bits: int) -> NDArray[np.int64]:
        """Return ``n`` gaps, those above 2**62 as 2**62."""
        words = source.words(n)
        e_low, e_high = exponential_bounds(words, bits=bits)
        least, most = _hazard(self.epsilon, self.threshold, WORD_BITS)
        # The conversion to binary rounds; one step outwards undoes that.
        h_low, h_high = np.nextafter(float(least), 0), np.nextafter(float(most), 1)
        with np.errstate(divide="ignore", over="ignore"):
            low = _whole(e_low / h_high * (1 - SLACK))
            high = _whole(e_high / h_low * (1 + SLACK))
        for i in np.flatnonzero(low != high).tolist():
            low[i] = self._settle(LazyExponential(int(words[i])), source)
        return low

    def _settle(self, e: LazyExponential, source: RandomSource) -> int:
        """Return the gap that the first bits leave undecided."""
        while True:
            h_low, h_high = _hazard(self.epsilon, self.threshold, e.bits)
            with decimal.localcontext(decimal_context(e.bits)):
                e_low, e_high = e.bounds()
                slack = decimal_slack(e.bits)
                low = min(e_low / h_high * (1 - slack), Decimal(_MOST_GROUPS))
                high = min(e_high / h_low * (1 + slack), Decimal(_MOST_GROUPS))
            if int(low) == int(high):
                return int(low)
            e.sharpen(source=source)


@functools.lru_cache(maxsize=64)
def _hazard(epsilon: Fraction, threshold: int, bits: int) -> tuple[Decimal, Decimal]:
    """Bound -ln(1 - p), p = a**threshold / (1 + a), as closely as ``bits`` need."""
    with decimal.localcontext(decimal_context(bits)) as context:
        digits = context.prec
        slack = Decimal(10) ** -(digits - 5)
        # 1 - p loses the leading digits of p, exp(-x) those of x; both get spare ones.
        context.prec = 2 * digits + len(str(threshold * math.ceil(epsilon)))
        rate = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        p = (-rate * threshold).exp() / (1 + (-rate).exp())
        # p < -ln(1 - p) < p + p**2, since p <= 1/2: nothing to subtract when p is tiny.
        middle = p if p.adjusted() < -digits else -(1 - p).ln()
        return middle * (1 - slack), middle * (1 + slack)


def _whole(gaps: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.minimum(gaps, float(_MOST_GROUPS)).astype(np.int64)
