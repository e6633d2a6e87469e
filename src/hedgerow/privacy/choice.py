"""Private choice: the exponential mechanism and permute-and-flip, many at a time.

Both run as a race. Every candidate gets one random number, its key is ``rate * score + noise``, and
the highest key wins:

- Gumbel noise, -ln E + ln w, wins with probability proportional to w exp(rate * score):
  the exponential mechanism with the base measure w;
- the largest of w exponential variables, -ln(1 - exp(-E / w)), gives permute-and-flip
  over w copies of each candidate (McKenna and Sheldon 2020 state it as coins flipped in
  random order; Ding, Kifer et al. 2021 prove that it is this race).

Keys are compared by the lazily exact arithmetic of `exact`, so the law is exact.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError, SettingError
from hedgerow.privacy.exact import (
    SLACK,
    LazyExponential,
    decimal_context,
    decimal_slack,
    exponential_bounds,
)
from hedgerow.privacy.source import WORD_BITS, RandomSource, below

Rule = Literal["exponential", "permute-and-flip"]
ChoiceWeights = NDArray[np.int64] | NDArray[np.float64]
FloatBounds = tuple[NDArray[np.float64], NDArray[np.float64]]

_LARGEST = 1 << 62  # largest scores (in absolute value) and weights
_RATES = Fraction(1, 1 << 100), Fraction(1 << 100)
_BATCH = 1 << 15  # candidates whose arrays stay in the cache of one core
_LARGEST_NOISE = 128.0  # largest noise from the first 64 bits, unless it is infinite


def rate_for(epsilon: Fraction, *, sensitivity: Fraction, monotone: bool) -> Fraction:
    """Return the rate at which a choice costs ``epsilon``.

    ``sensitivity`` is the largest change of a score by one record. A score is monotone when adding
    a record either lowers no candidate's score or raises none; then the rate is epsilon /
    sensitivity, otherwise half of that.

    >>> rate_for(Fraction(1), sensitivity=Fraction(2), monotone=False)
    Fraction(1, 4)
    """
    if epsilon <= 0:
        raise SettingError.out_of_range("epsilon", epsilon, "a number above 0")
    if sensitivity <= 0:
        raise SettingError.out_of_range("sensitivity", sensitivity, "a number above 0")
    return epsilon / sensitivity / (1 if monotone else 2)


def choose(
    scores: NDArray[np.int64],
    *,
    rate: Fraction,
    rule: Rule,
    source: RandomSource,
    weights: ChoiceWeights | None = None,
    starts: NDArray[np.int64] | None = None,
    bits: int = WORD_BITS,
) -> NDArray[np.int64]:
    """Return the index of the candidate chosen in each segment.

    ``starts`` gives the first position in ``scores`` of each segment; by default there is one
    segment. ``weights`` are public: a base measure, or the multiplicity of a candidate. A block of
    L positions of equal score goes in as one candidate of L times a position's weight;
    `position_in_block` then draws the position. Fewer ``bits`` of a first word make the race slower
    and change nothing else; tests use it.

    Under "exponential", candidate i has probability proportional to ``weights[i] * exp(rate *
    scores[i])``, for weights from 2**-62 to 2**62. Under "permute-and-flip" the weight *of one
    position* must be at least 1 (if it is not, multiply all weights by a public constant; the
    smallest that suffices is best); then the noise X of a position has P(X <= x) = (1 -
    exp(-x))**w, and a block's noise is the largest of its positions'.

    Privacy: the cost is ``rate`` times the range (largest minus smallest) of the amounts by which
    one record moves the scores; `rate_for` gives the rate for a cost. Only the final position may
    be published, never the block that it came from, or the layout of the blocks.

    *Exponential.* A probability is exp(rate * score) over a sum of such terms. Its
    numerator moves by exp(rate * own amount), its denominator by a factor between those
    of the smallest and the largest amount, so the log-ratio is at most rate * range.

    *Permute-and-flip.* X has hazard rate at most 1: with y = exp(-x), P(X > x) =
    1 - (1 - y)**w = w * integral of s**(w - 1) over [1 - y, 1] >= w y (1 - y)**(w - 1),
    which is the density at x, because s**(w - 1) grows when w >= 1. So P(X > x + d) >=
    exp(-d) P(X > x) for d >= 0. Given the noise of all others, i wins when its noise
    exceeds (highest other key) - rate * score_i, which moves up by at most the rate times
    the range of the amounts; average over the others' noise.

    >>> from hedgerow.privacy.source import SystemSource
    >>> scores = np.array([0, 10**6, 7])
    >>> choose(scores, rate=Fraction(1), rule="exponential", source=SystemSource()).tolist()
    [1]
    """
    starts = np.zeros(1, dtype=np.int64) if starts is None else starts
    _check(scores, rate, rule, weights, starts)
    chosen = np.empty(starts.size, dtype=np.int64)
    for segments, candidates in _batches(starts, scores.size):
        race = _Race(
            scores[candidates],
            starts[segments] - candidates.start,
            None if weights is None else weights[candidates],
            rate=rate,
            rule=rule,
        )
        chosen[segments] = race.winners(source, bits) + candidates.start
    return chosen


def position_in_block(
    first: NDArray[np.int64], length: NDArray[np.int64], *, source: RandomSource
) -> NDArray[np.int64]:
    """Return, for each chosen block, one of its positions, all equally likely."""
    return first + below(length, source=source)


def quantise_scores(scores: NDArray[np.float64], *, unit: Fraction) -> NDArray[np.int64]:
    """Return real scores as integer multiples of ``unit``, rounded down.

    The unit must be a power of 2, which makes the rounding itself exact. `quantised_sensitivity`
    gives the resulting sensitivity.

    >>> quantise_scores(np.array([0.3, 1.0, -0.1]), unit=Fraction(1, 4)).tolist()
    [1, 4, -1]
    """
    exponent = unit.numerator.bit_length() - unit.denominator.bit_length()
    if unit != Fraction(2) ** exponent:
        raise SettingError.out_of_range("unit", unit, "a power of 2, such as 1/1048576")
    # Scaling down could lose the smallest numbers, so integers are taken first there.
    finite = np.floor(scores) if exponent > 0 else scores
    with np.errstate(over="ignore"):
        whole = np.floor(np.ldexp(finite, -exponent))
    if not np.all(np.abs(whole) < _LARGEST):
        raise InternalError("A score is not a number or too large for its unit.")
    return whole.astype(np.int64)


def quantised_sensitivity(sensitivity: Fraction, *, unit: Fraction, error: Fraction) -> Fraction:
    """Return the sensitivity of `quantise_scores`, in units.

    ``error`` bounds how far a computed score may be from the true one. Two computed scores
    of neighbours are then within sensitivity + 2 error, and rounding down moves whole
    numbers of units apart by at most that, rounded up: less than one unit more than
    without rounding. With an error above 0 a monotone score is no longer monotone: take
    the general rate.

    >>> quantised_sensitivity(Fraction(1), unit=Fraction(1, 1024), error=Fraction(1, 10**9))
    Fraction(1025, 1)
    """
    return Fraction(math.ceil((sensitivity + 2 * error) / unit))


def choice_probabilities(
    scores: NDArray[np.int64], *, rate: Fraction, rule: Rule, weights: ChoiceWeights | None = None
) -> NDArray[np.float64]:
    """Return the probability of each candidate of one segment, to about 12 digits.

    Permute-and-flip integrates over z = exp(-key): with q = exp(rate * (score - highest)),
    P(i) is the integral over [0, 1] of w_i q_i / (1 - q_i z) * product of (1 - q_j z)**w_j,
    by double-exponential quadrature. For tests and audits; the choice itself never needs it.
    """
    _check(scores, rate, rule, weights, np.zeros(1, dtype=np.int64))
    logits = float(rate) * (scores - scores.max()).astype(np.float64)
    w = np.ones(scores.size) if weights is None else weights.astype(np.float64)
    if rule == "exponential":
        mass = w * np.exp(logits - np.max(logits))
        return np.asarray(mass / mass.sum())
    t = np.linspace(-4.5, 4.5, 2001)[:, None]
    z, rest = 1 / (1 + np.exp(-np.pi * np.sinh(t))), 1 / (1 + np.exp(np.pi * np.sinh(t)))
    step = (t[1, 0] - t[0, 0]) * np.pi * np.cosh(t) * z * rest
    # 1 - q z without cancellation.
    log_gap = np.log(-np.expm1(logits) + np.exp(logits) * rest)
    log_density = np.log(w) + logits - log_gap + (log_gap @ w)[:, None]
    return np.asarray((step * np.exp(log_density)).sum(axis=0))


def _check(
    scores: NDArray[np.int64],
    rate: Fraction,
    rule: Rule,
    weights: ChoiceWeights | None,
    starts: NDArray[np.int64],
) -> None:
    if not _RATES[0] <= rate <= _RATES[1]:
        raise SettingError.out_of_range("rate", rate, "a number from 2**-100 to 2**100")
    if rule not in ("exponential", "permute-and-flip"):
        raise SettingError.out_of_range("rule", rule, "'exponential' or 'permute-and-flip'")
    if not _are_segments(starts, scores.size):
        raise InternalError("A choice needs at least one candidate.")
    if scores.size and not -_LARGEST < int(scores.min()) <= int(scores.max()) < _LARGEST:
        raise InternalError("A score is too large.")
    if weights is None:
        return
    least = float(weights.min(initial=1))
    if weights.shape != scores.shape or not (
        least >= 1 / _LARGEST and weights.max(initial=1) <= _LARGEST
    ):
        raise SettingError(
            "A weight is missing or not between 2**-62 and 2**62.",
            where="weights",
            do="Give every candidate a public weight in that range.",
        )
    if rule == "permute-and-flip" and least < 1:
        raise SettingError(
            "Permute-and-flip is private only for weights of at least 1.",
            where="weights",
            do="Multiply all weights by one public constant, or use the exponential rule.",
        )


def _are_segments(starts: NDArray[np.int64], n: int) -> bool:
    """Check that the segments cover all candidates and that none is empty."""
    if starts.size == 0:
        return n == 0
    return bool(starts[0] == 0 and starts[-1] < n and np.all(starts[1:] > starts[:-1]))


def _batches(starts: NDArray[np.int64], n: int) -> Iterator[tuple[slice, slice]]:
    """Yield runs of whole segments, and their candidates, of a size that is fast."""
    if n <= _BATCH:
        yield slice(0, starts.size), slice(0, n)
        return
    cuts = np.searchsorted(starts, np.arange(0, n, _BATCH))
    edges = np.unique(np.append(cuts, starts.size))
    ends = np.append(starts, n)
    for first, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield slice(first, stop), slice(int(ends[first]), int(ends[stop]))


class _Race:
    """Segments of candidates, and the highest key of each."""

    def __init__(
        self,
        scores: NDArray[np.int64],
        starts: NDArray[np.int64],
        weights: ChoiceWeights | None,
        *,
        rate: Fraction,
        rule: Rule,
    ) -> None:
        self._starts = starts
        self._sizes = np.diff(starts, append=scores.size)
        self._weights = weights
        self._rate = rate
        self._rule = rule
        # Only differences matter; differences to the highest score are exact and keep keys small.
        self._behind = scores - np.repeat(np.maximum.reduceat(scores, starts), self._sizes)

    def winners(self, source: RandomSource, bits: int) -> NDArray[np.int64]:
        """Return the index of each segment's winner."""
        words = source.words(self._behind.size)
        low, high = self._key_bounds(words, bits)
        surely = np.maximum.reduceat(low, self._starts)
        contenders = np.flatnonzero(high >= np.repeat(surely, self._sizes))
        if contenders.size == self._starts.size:  # every segment has at least one
            return contenders
        segments = np.searchsorted(self._starts, contenders, side="right") - 1
        first = np.flatnonzero(np.diff(segments, prepend=-1))
        won = contenders[first]
        counts = np.diff(first, append=contenders.size)
        for segment in np.flatnonzero(counts > 1).tolist():
            tied = contenders[first[segment] :][: counts[segment]]
            won[segment] = self._settle(tied.tolist(), words, source)
        return won

    def _key_bounds(self, words: NDArray[np.uint64], bits: int) -> FloatBounds:
        noise_low, noise_high = self._noise_bounds(words, bits)
        drift = float(self._rate) * self._behind.astype(np.float64)  # 0 or below
        margin = SLACK * (_LARGEST_NOISE - drift)
        return noise_low + (drift - margin), noise_high + (drift + margin)

    def _noise_bounds(self, words: NDArray[np.uint64], bits: int) -> FloatBounds:
        """Bound the noise, except for a margin of SLACK * _LARGEST_NOISE."""
        weights = self._weights
        if self._rule == "permute-and-flip" and weights is None:
            # -ln(1 - exp(-E)) = -ln(1 - U); the complement of the word is 1 - U.
            return exponential_bounds(~words, bits=bits)
        low, high = exponential_bounds(words, bits=bits)
        with np.errstate(divide="ignore"):
            if weights is None:
                return -np.log(high), -np.log(low)
            if self._rule == "exponential":
                lift = np.log(weights)
                return lift - np.log(high), lift - np.log(low)
            return -np.log(-np.expm1(-high / weights)), -np.log(-np.expm1(-low / weights))

    def _settle(self, tied: list[int], words: NDArray[np.uint64], source: RandomSource) -> int:
        """Return the winner among candidates that the first bits leave undecided."""
        contenders = {index: LazyExponential(int(words[index])) for index in tied}
        while True:
            bits = next(iter(contenders.values())).bits
            with decimal.localcontext(decimal_context(bits)):
                keys = {i: self._exact_key_bounds(i, e) for i, e in contenders.items()}
            surely = max(low for low, _ in keys.values())
            contenders = {i: e for i, e in contenders.items() if keys[i][1] >= surely}
            if len(contenders) == 1:
                return next(iter(contenders))
            for exponential in contenders.values():
                exponential.sharpen(source=source)

    def _exact_key_bounds(self, index: int, e: LazyExponential) -> tuple[Decimal, Decimal]:
        low, high = e.bounds()
        slack = decimal_slack(e.bits)
        drift = Decimal(self._rate.numerator * int(self._behind[index])) / Decimal(
            self._rate.denominator
        )
        weight = Decimal(1) if self._weights is None else Decimal(self._weights[index].item())
        noise = [self._exact_noise(end, weight) for end in (high, low)]
        margins = [slack * (1 + abs(drift) + abs(end) + abs(weight.ln())) for end in noise]
        return drift + noise[0] - margins[0], drift + noise[1] + margins[1]

    def _exact_noise(self, e: Decimal, weight: Decimal) -> Decimal:
        if self._rule == "exponential":
            return weight.ln() - e.ln()
        return -(1 - (-e / weight).exp()).ln()
