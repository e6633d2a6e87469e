"""Tests along the paths of a prefix tree: at most one of them near the border costs anything.

A node at depth ``d`` with ``c`` records is expanded if

    max(c - d * delta - threshold, -gamma) + Z > 0,    Z discrete Laplace of rate ``rate``.

Counts do not grow along a path, so the biased counts of one path lie ``delta`` apart: with
``gamma <= delta`` one of them at most is near the border, those above pass nearly always, and
those below are clipped to the same number with and without a record. All tests of a path
together then cost little more than one of them, however long it is (docs/privacy.md, "Tests
along a prefix tree").
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError, SettingError
from hedgerow.privacy.laplace import discrete_laplace, sampled_epsilon
from hedgerow.privacy.source import RandomSource

_DIGITS = 60
_STEPS = 1024
"""Number of parts of the share among which the rate is searched."""

_LEAST_SHARE = Fraction(1, 10**6)


@dataclass(frozen=True, kw_only=True)
class TestRule:
    """Parameters of the tests of a path: the rate of one test, the clip and the descent."""

    __test__ = False  # no test of pytest

    rate: Fraction
    gamma: int
    delta: int

    def __post_init__(self) -> None:
        if self.rate <= 0 or not 0 <= self.gamma <= self.delta:
            raise InternalError("Tests along a path need a rate and 0 <= gamma <= delta.")

    @property
    def cost(self) -> Fraction:
        """Cost of all tests of one path, rounded up."""
        return path_cost(self.rate, gamma=self.gamma, delta=self.delta)


def path_cost(rate: Fraction, *, gamma: int, delta: int) -> Fraction:
    """Return an upper bound on the cost of all tests of a path.

    With ``a = exp(-rate)`` the tests cost at most ``rate + x / (1 - a**delta)``, where
    ``x = a**m (1 - a) / (1 + a - a**m)`` and ``m = delta - gamma``.

    Privacy: exponentials are bounded from above and below by decimals that are one unit of
    the last place outside of correctly rounded ones, and all else is exact.

    >>> float(path_cost(Fraction(1, 10), gamma=29, delta=49)) < 0.108
    True
    """
    least, _ = _exponential(rate)
    _, power = _exponential(rate * (delta - gamma))
    _, ratio = _exponential(rate * delta)
    if ratio >= 1:
        raise InternalError("Tests that do not descend have no bound.")
    first = power * (1 - least) / (1 + least - power)
    return rate + first / (1 - ratio)


def _exponential(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of exp(-exponent), one below and one above, both at most 1."""
    down = decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_FLOOR)
    up = decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_CEILING)
    top, bottom = Decimal(exponent.numerator), Decimal(exponent.denominator)
    # exp is rounded to the nearest whatever the context says, so one step outwards bounds it.
    low = down.next_minus(down.exp(-up.divide(top, bottom)))
    high = up.next_plus(up.exp(-down.divide(top, bottom)))
    return Fraction(max(low, Decimal(0))), Fraction(min(high, Decimal(1)))


@lru_cache(maxsize=256)
def rule_for(share: Fraction, *, fan_out: int) -> TestRule:
    """Return the rule of the largest rate whose paths cost at most ``share``.

    ``gamma`` is so large that a node without records has less than half an expanded child of
    its ``fan_out`` on average, and ``delta`` leaves two units of noise between tests.

    >>> rule = rule_for(Fraction(3, 20), fan_out=18)
    >>> rule.gamma, rule.delta, rule.cost <= Fraction(3, 20)
    (21, 36, True)
    """
    if share < _LEAST_SHARE or fan_out < 1:
        raise SettingError.out_of_range("epsilon", share, f"a share of {_LEAST_SHARE} or more")
    for part in range(_STEPS, 0, -1):
        rate = sampled_epsilon(share * Fraction(part, _STEPS))
        gamma = max(1, math.ceil(math.log(fan_out) / float(rate)))
        rule = TestRule(rate=rate, gamma=gamma, delta=gamma + math.ceil(2 / float(rate)))
        if rule.cost <= share:
            return rule
    raise InternalError("No rate is small enough for this share.")


class PathTests:
    """The tests of a forest, every level once, from the roots down.

    Roots are expanded by themselves; the children of what is expanded are tested once, at one
    more than their parent's depth.
    """

    def __init__(
        self, rule: TestRule, *, threshold: int, n_roots: int, source: RandomSource
    ) -> None:
        self.rule = rule
        self.threshold = threshold
        self._source = source
        self._depth = 0
        self._parents: NDArray[np.int64] | None = None  # their counts; roots have none to check
        self._n_parents = n_roots

    @property
    def depth(self) -> int:
        """Number of levels tested so far."""
        return self._depth

    def biased(self, counts: NDArray[np.int64], *, tested: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the values that get noise at the next level (confidential), once per level.

        ``counts`` are (parents, children). The parents must be exactly those that passed in the
        level before, in their order, and no child may have more records than its parent.
        """
        if counts.shape != tested.shape or counts.shape[0] != self._n_parents:
            raise InternalError("A level of tests does not follow from the one before.")
        if self._parents is not None and (counts.sum(axis=1) > self._parents).any():
            raise InternalError("Children hold more records than their expanded parent.")
        self._depth += 1
        biased = counts[tested] - (self._depth * self.rule.delta + self.threshold)
        return np.maximum(biased, -self.rule.gamma)

    def follow(self, counts: NDArray[np.int64], passed: NDArray[np.bool_]) -> None:
        """Make the children that passed the parents of the next level."""
        self._parents = counts[passed]
        self._n_parents = int(np.count_nonzero(passed))

    def passing(self, counts: NDArray[np.int64], *, tested: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which children are to be expanded; those that are not ``tested`` are not."""
        biased = self.biased(counts, tested=tested)
        noise = discrete_laplace(len(biased), epsilon=self.rule.rate, source=self._source)
        passed = np.zeros(counts.shape, dtype=np.bool_)
        passed[tested] = biased + noise > 0
        self.follow(counts, passed)
        return passed
