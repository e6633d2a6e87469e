"""Estimate of the number of people who are unique in the population, from a sample of it.

Pitman's model [Pitman96], as [Hoshino01] uses it for disclosure risk: the sizes of groups of equal
records follow the Ewens-Pitman partition with parameters ``alpha`` in (0, 1) and
``theta`` > -``alpha``, fitted by maximum likelihood. A population of N people then has about
``Gamma(theta + 1) / Gamma(theta + alpha) * N ** alpha`` groups of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = 60
"""Number of steps of a golden-section search, which shrink the bracket by 10**-12."""

_GOLDEN = (math.sqrt(5) - 1) / 2
_SMALLEST, _LARGEST = 1e-6, 1 - 1e-6
_MOST_THETA = 1e12


@dataclass(frozen=True, kw_only=True)
class PitmanFit:
    """The fitted model, and its expectations for the population."""

    alpha: float
    theta: float
    population: int
    unique: float
    """Expected number of unique people in the population."""

    unique_share: float
    """The same as a share of the population."""

    sample_unique_share: float
    """Share of the sample's unique records that are expected to be unique in the population."""


def fit_pitman(sizes: NDArray[np.int64], *, fraction: float) -> PitmanFit | None:
    """Return the model fitted to the sizes of groups in a sample of a ``fraction``.

    ``None`` if it cannot be fitted: no record, no unique record, or only unique ones.
    """
    size, how_many = np.unique(sizes[sizes > 0], return_counts=True)
    n_records, n_groups = int(sizes.sum()), int(how_many.sum())
    unique = int(how_many[size == 1].sum())
    if n_records == 0 or unique == 0 or n_groups in (n_records, 1):
        return None
    groups = list(zip(size.tolist(), how_many.tolist(), strict=True))

    def likelihood(alpha: float, theta: float) -> float:
        return _log_likelihood(groups, n_records, n_groups, alpha, theta)

    alpha = _highest(
        lambda alpha: likelihood(alpha, _best_theta(likelihood, alpha)), _SMALLEST, _LARGEST
    )
    theta = _best_theta(likelihood, alpha)
    population = max(n_records, round(n_records / fraction))
    expected = min(_unique_of(population, alpha, theta), float(population))
    # A unique person is in the sample with the probability of the fraction.
    kept = min(1.0, expected * n_records / population / unique)
    return PitmanFit(
        alpha=alpha,
        theta=theta,
        population=population,
        unique=expected,
        unique_share=expected / population,
        sample_unique_share=kept,
    )


def _unique_of(population: int, alpha: float, theta: float) -> float:
    log = math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(population)
    return math.exp(min(log, 700.0))


def _log_likelihood(
    groups: list[tuple[int, int]], n_records: int, n_groups: int, alpha: float, theta: float
) -> float:
    """Return the logarithm of the probability of the groups, without constants.

    The product over groups of (theta + i alpha) and over records of (theta + i) are ratios of
    Gamma functions, as is that over the records of a group of (i - alpha).
    """
    start = theta / alpha
    value = (n_groups - 1) * math.log(alpha)
    value += math.lgamma(start + n_groups) - math.lgamma(start + 1)
    value -= math.lgamma(theta + n_records) - math.lgamma(theta + 1)
    own = math.lgamma(1 - alpha)
    return value + sum(many * (math.lgamma(size - alpha) - own) for size, many in groups)


def _best_theta(likelihood: Callable[[float, float], float], alpha: float) -> float:
    """Return the theta above -alpha at which the likelihood is highest, on a logarithmic scale."""
    low, high = math.log(1e-9), math.log(_MOST_THETA)
    shift = _highest(lambda log: likelihood(alpha, math.exp(log) - alpha), low, high)
    return math.exp(shift) - alpha


def _highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the maximum of a function with a single one (golden-section search)."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
    return (low + high) / 2
