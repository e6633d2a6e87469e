"""Exact discrete Laplace and geometric noise, many draws at a time.

The sampler is [CKS20, Alg. 2] (Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential
Privacy*, 2020): uniform integers and comparisons only, no floating point, so the law is exactly
that of the formula. The paper makes one draw at a time; here trials are drawn in batches as arrays,
and the accepted ones are kept in order, which leaves accepted draws independent and unchanged in
law.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError, SettingError
from hedgerow.privacy.source import (
    RandomSource,
    integers_below,
    random_bits,
    words_below_multiple,
)

# Numerator and denominator of a sampled epsilon. Products of two stay below 2**63.
_LARGEST = 1 << 31
_MOST_EPSILON = 1 << 20

# Arrays of this length stay in the cache of one core.
_BATCH = 1 << 16

# A Bernoulli(exp(-1)) trial from one integer R, uniform below 20!. The paper flips Bernoulli(1/k),
# k = 1, 2, ..., until the first failure, at k = K, and succeeds when K is odd. P(K > k) = 1/k!, so
# of the 20! values of R, 20!/(k-1)! - 20!/k! mean K = k, and one is left that means K > 20. The
# values may be assigned in any order: first those that succeed, then the one that has to flip on,
# then those that fail.
_FLIPS = 20
_VALUES = math.factorial(_FLIPS)
_SUCCEED = sum(
    _VALUES // math.factorial(k - 1) - _VALUES // math.factorial(k) for k in range(3, _FLIPS, 2)
)


def discrete_laplace(n: int, *, epsilon: Fraction, source: RandomSource) -> NDArray[np.int64]:
    """Return ``n`` independent draws k with probability proportional to exp(-epsilon |k|).

    [CKS20, Alg. 2]: a geometric magnitude and a fair sign; minus zero is drawn again.

    Privacy: added to counts of disjoint groups, of which one record changes one by at
    most 1, it makes the whole vector ``epsilon``-differentially private. Noise is drawn
    at `sampled_epsilon`, which rounds down, never up.

    >>> from hedgerow.privacy.source import SystemSource
    >>> discrete_laplace(3, epsilon=Fraction(1, 2), source=SystemSource()).shape
    (3,)
    """
    sampled = sampled_epsilon(epsilon)
    zero = -math.expm1(-float(sampled))  # only sizes the batches
    drawn = _Stream(n, kept=1 - zero / 2)
    while size := drawn.missing():
        magnitude = _geometric(size, sampled, source)
        negative = random_bits(size, source=source)
        signed = np.where(negative, -magnitude, magnitude)
        drawn.add(signed[~(negative & (magnitude == 0))])
    return drawn.all()


def geometric(n: int, *, epsilon: Fraction, source: RandomSource) -> NDArray[np.int64]:
    """Return ``n`` independent draws k >= 0 with probability (1 - a) a**k, a = exp(-epsilon).

    Drawn at `sampled_epsilon`, which rounds down, never up.
    """
    sampled = sampled_epsilon(epsilon)
    drawn = _Stream(n, kept=1.0)
    while size := drawn.missing():
        drawn.add(_geometric(size, sampled, source))
    return drawn.all()


def sampled_epsilon(epsilon: Fraction) -> Fraction:
    """Return the epsilon at which noise is actually drawn: the largest simple fraction not above.

    Simple means a denominator of at most 2**31 and at most 2**31 / epsilon, so that every
    product in the sampler fits in 63 bits. Rounding down means more noise, never less; it
    loses less than 2**-29 of epsilon. Proof: let p/q <= epsilon < p'/q' be neighbours
    among the fractions with denominators up to Q. Then p'q - pq' = 1 and q + q' > Q, so
    the loss, relative to epsilon, is at most 1/(q p') = 1/(1 + p q'). For epsilon <= 1,
    Q = 2**31, and one of q, q' is Q/2 or more while the other factor is at least 1. For
    epsilon > 1, p' > epsilon q', so q p' > epsilon q q' >= epsilon Q/2.

    >>> sampled_epsilon(Fraction(1, 3))
    Fraction(1, 3)
    """
    if not Fraction(1, _LARGEST) <= epsilon <= _MOST_EPSILON:
        raise SettingError.out_of_range("epsilon", epsilon, "a number from 2**-31 to 2**20")
    bound = min(_LARGEST, int(_LARGEST / epsilon))
    if epsilon.denominator <= bound:
        return epsilon
    # Continued fraction of epsilon: p0/q0 and p1/q1 are its last two convergents.
    p0, q0, p1, q1 = 0, 1, 1, 0
    top, bottom = epsilon.numerator, epsilon.denominator
    while q0 + (term := top // bottom) * q1 <= bound:
        p0, q0, p1, q1 = p1, q1, p0 + term * p1, q0 + term * q1
        top, bottom = bottom, top - term * bottom
    reach = (bound - q0) // q1
    neighbours = Fraction(p1, q1), Fraction(p0 + reach * p1, q0 + reach * q1)
    return min(neighbours)  # one below epsilon, one above


class _Stream:
    """Collects accepted draws until there are enough."""

    def __init__(self, n: int, *, kept: float) -> None:
        if n < 0:
            raise InternalError("The number of draws is negative.")
        self._n = n
        self._kept = kept
        self._have = 0
        self._parts: list[NDArray[np.int64]] = []

    def missing(self) -> int:
        """Return the number of trials to make next; 0 when there are enough draws."""
        lacking = self._n - self._have
        if lacking <= 0:
            return 0
        slack = 0.0 if self._kept == 1 else 8 + 2 * math.sqrt(lacking)
        return min(_BATCH, int(lacking / self._kept + slack) + 1)

    def add(self, accepted: NDArray[np.int64]) -> None:
        self._parts.append(accepted)
        self._have += accepted.size

    def all(self) -> NDArray[np.int64]:
        if not self._parts:
            return np.zeros(0, dtype=np.int64)
        return np.concatenate(self._parts)[: self._n]


def _geometric(n: int, epsilon: Fraction, source: RandomSource) -> NDArray[np.int64]:
    """[CKS20, Alg. 2]: X = U + tV has the law of rate 1/t, floor(X / s) that of s/t."""
    s, t = epsilon.numerator, epsilon.denominator
    v = _runs_of_successes(n, source)
    if v.size and int(v.max()) >= _LARGEST:
        raise InternalError("The random source repeats itself.")
    return (_remainders(n, t, source) + t * v) // s


def _remainders(n: int, t: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw U uniform below t and keep it with probability exp(-U/t), until n are kept."""
    if t == 1:
        return np.zeros(n, dtype=np.int64)
    drawn = _Stream(n, kept=-math.expm1(-1))
    while size := drawn.missing():
        # One integer below t*t is U and the first flip, Bernoulli(U/t), together.
        pair = integers_below(size, bound=t * t, source=source)
        u = pair // np.uint64(t)
        flips_on = np.flatnonzero(pair - u * np.uint64(t) < u)
        kept = np.ones(size, dtype=np.bool_)  # stopped at the first flip: odd
        kept[flips_on] = _stops_at_odd(u[flips_on], t, first=2, source=source)
        drawn.add(u[kept].astype(np.int64))
    return drawn.all()


def _runs_of_successes(n: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw V, the number of Bernoulli(exp(-1)) trials that succeed before the first failure."""
    trials = np.zeros(0, dtype=np.bool_)
    while (failures := np.flatnonzero(~trials)).size < n:
        lacking = (n - failures.size) / -math.expm1(-1)
        more = int(lacking + 2 * math.sqrt(lacking)) + 8
        trials = np.concatenate([trials, _bernoulli_exp_minus_1(more, source)])
    return np.diff(failures[:n], prepend=-1) - 1


def _bernoulli_exp_minus_1(n: int, source: RandomSource) -> NDArray[np.bool_]:
    words = words_below_multiple(n, bound=_VALUES, source=source)
    reach = (1 << 64) // _VALUES
    succeeds = words < np.uint64(reach * _SUCCEED)
    flips_on = np.flatnonzero(words - np.uint64(reach * _SUCCEED) < np.uint64(reach))
    if flips_on.size:
        ones = np.ones(flips_on.size, dtype=np.uint64)
        succeeds[flips_on] = _stops_at_odd(ones, 1, first=_FLIPS + 1, source=source)
    return succeeds


def _stops_at_odd(
    u: NDArray[np.uint64], t: int, *, first: int, source: RandomSource
) -> NDArray[np.bool_]:
    """Return whether Bernoulli(u / (t k)), k = first, first + 1, ..., first fails at an odd k.

    [CKS20, Alg. 1], from the flip ``first`` on. Needs u < t * first.
    """
    odd = np.zeros(u.size, dtype=np.bool_)
    live = np.arange(u.size)
    k = first
    while live.size:
        odd[live] = k % 2 == 1  # holds unless this flip succeeds as well
        words = words_below_multiple(live.size, bound=t * k, source=source)
        live = live[words < u[live] * np.uint64((1 << 64) // (t * k))]
        k += 1
    return odd
