"""The delta that can be proved for [TKDE, Alg. 2].

The paper's Theorem 3 claims ``(ε, δ + o(1))`` without saying what δ is. What can be proved is
``δ = δ_θ + δ_M + δ_own`` (docs/privacy.md, "The printed sample", Theorem B1):

- δ_θ: the set of frequent generalisations changes with one record, unless the random
  threshold happens to miss all counts that it changes. It does not depend on ε or β, and no
  settings make it smaller than about ``1 / n`` (Theorem B2 there);
- δ_M: the sample may be larger than expected;
- δ_own: the record's own generalisation is visible, unless others hide it.

All fall as the number of records grows, so a public lower bound of it gives an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats

LARGE_SAMPLE = 1e-12
"""δ_M: the probability of a sample so large that its size matters."""

MOST_BLANKET = 25_000
"""Maximum number of records that hide the output of one; more would only lower the bound."""

_FAR = 9.0  # standard deviations; the probability of larger deviations is added to the bound
_UNIT = 10**9


@dataclass(frozen=True, kw_only=True)
class PrintedTerms:
    """The public numbers of [TKDE, Alg. 2].

    ``n_nodes`` is the maximum number of generalisations of a record, ``reach`` bounds f / n or r,
    and ``shift`` is the paper's η(k): the largest change, times n, of a score by one record.
    """

    epsilon: Fraction
    beta: Fraction
    theta: Fraction
    least_records: int
    n_nodes: int
    reach: float
    shift: float

    def __post_init__(self) -> None:
        if not 0 < self.beta < 1 or self._spare() <= 1e-6:
            raise SettingError(
                f"{float(self.beta):g} is out of range.",
                where="publish.beta",
                do=f"Give a number above e^-epsilon, {math.exp(-float(self.epsilon)):.4g}, and"
                " below 1.",
            )
        if not 0 < self.theta < 1:
            raise SettingError.out_of_range(
                "publish.theta", float(self.theta), "a number above 0 and below 1"
            )

    def _spare(self) -> float:
        return float(self.epsilon) + math.log(float(self.beta))

    @property
    def rate(self) -> float:
        """The paper's ε' [TKDE, Alg. 2, line 1]."""
        return self._spare() / (3 * self.shift * (1 - float(self.beta)))


@dataclass(frozen=True, kw_only=True)
class ProvedDelta:
    """The three parts of delta, each an upper bound."""

    threshold: float
    size: float
    own: float

    @property
    def total(self) -> Fraction:
        """Sum of the parts, rounded up to nine places."""
        whole = math.ceil((self.threshold + self.size + self.own) * _UNIT * (1 + 1e-9))
        return Fraction(whole, _UNIT)


@lru_cache(maxsize=64)
def proved_delta(settings: PrintedTerms) -> ProvedDelta:
    """Return the delta of [TKDE, Alg. 2] for tables of at least that many records, Theorem B1."""
    n = settings.least_records
    spread = (1 - float(settings.theta)) * (n - 1)
    return ProvedDelta(
        threshold=settings.n_nodes / spread, size=LARGE_SAMPLE, own=_own_output(settings)
    )


def _own_output(settings: PrintedTerms) -> float:
    """Return δ_own: the visibility of the record's own generalisation among those of others.

    At least ``θn - 1`` others are not sampled, with probability β, or give the same
    generalisation, with probability at least p.
    """
    n, beta = settings.least_records, float(settings.beta)
    kept = 1 - beta
    # Hoeffding: a larger sample has probability LARGE_SAMPLE at most.
    most_sampled = kept * n + math.sqrt(n * -math.log(LARGE_SAMPLE) / 2)
    moved = most_sampled * settings.rate * settings.shift / (n - 1)
    odds = max((math.exp(float(settings.epsilon) - moved) - beta) / kept, 0.0)
    p = kept * math.exp(-settings.rate * settings.reach) / settings.n_nodes
    hidden = min(math.ceil(float(settings.theta) * n) - 1, MOST_BLANKET)
    if hidden < 1:
        return kept
    return min(kept * _blanket(hidden, beta + p, p / (beta + p), odds) * (1 + 1e-6), kept)


def _blanket(m: int, chance: float, part: float, odds: float) -> float:
    """Return E, B ~ Bin(m, chance), of Σ_j [P(Bin(B, part) = j-1) - odds P(Bin(B, part) = j)]₊."""
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, m + 1)))])
    sizes, missing = _window(m, chance)
    masses = _binomial(m, sizes, chance, factorial)
    shown = np.array([_shown(int(size), part, odds, factorial) for size in sizes])
    return float(masses @ shown) + missing


def _shown(size: int, part: float, odds: float, factorial: Floats) -> float:
    within, missing = _window(size, part)
    masses = _binomial(size, within, part, factorial)
    before, here = np.append(0.0, masses), np.append(masses, 0.0)
    return float(np.maximum(before - odds * here, 0.0).sum()) + missing


def _window(n: int, p: float) -> tuple[NDArray[np.int64], float]:
    """Return a window of a binomial variable, and a bound on the probability outside it.

    By Bernstein's inequality, ``P(|X - np| > t) <= 2 exp(-t² / (2 np(1-p) + 2t/3))``.
    """
    variance = n * p * (1 - p)
    reach = max(_FAR * math.sqrt(variance), _FAR**2)
    low, high = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))
    whole = low == 0 and high == n
    outside = 0.0 if whole else 2 * math.exp(-(reach**2) / (2 * variance + 2 * reach / 3))
    return np.arange(low, high + 1), outside


def _binomial(n: int, j: NDArray[np.int64], p: float, factorial: Floats) -> Floats:
    logs = factorial[n] - factorial[j] - factorial[n - j]
    masses: Floats = np.exp(logs + j * math.log(p) + (n - j) * math.log1p(-p))
    return masses
