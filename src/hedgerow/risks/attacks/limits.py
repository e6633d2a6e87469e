"""Bounds of a guarantee on attacks that compare a member of the data with an outsider.

Swapping a member and an outsider replaces one record (or one person) of the data: one is
removed and one is added. A release that is (epsilon, delta)-differentially private for adding or
removing one is (2 epsilon, (1 + e^epsilon) delta)-differentially private for the swap
(docs/privacy.md, "Membership games").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.errors import InternalError
from hedgerow.model.binomial import lower_bound


@dataclass(frozen=True, kw_only=True)
class SwapLimits:
    """Guarantee for a swap of a member and an outsider.

    ``epsilon`` and ``delta`` are those of the swap, not those of the certificate.
    """

    epsilon: float
    delta: float = 0.0

    @classmethod
    def of(cls, epsilon: Fraction | float, delta: Fraction | float = 0) -> SwapLimits:
        """Return the limits of a release with this certified epsilon and delta.

        >>> round(SwapLimits.of(1).accuracy, 4)
        0.8808
        """
        one = float(epsilon)
        # Beyond this every bound is 1; exp would overflow.
        one = min(one, 300.0)
        return cls(epsilon=2 * one, delta=(1 + math.exp(one)) * float(delta))

    @property
    def odds(self) -> float:
        """Upper bound on the odds of guessing the member correctly, without delta."""
        return math.exp(self.epsilon)

    @property
    def share(self) -> float:
        """Upper bound on the share of correct guesses among pairs, without delta."""
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def accuracy(self) -> float:
        """Upper bound on the probability to name the member of a pair.

        >>> round(SwapLimits.of(1, 1e-3).accuracy, 4)
        0.8812
        """
        return min(1.0, self.share + self.delta * (1 - self.share))

    def rate(self, control: float) -> float:
        """Return the upper bound on success against members, given that against outsiders.

        Both the success and the failure of the attack are bounded, and the smaller bound holds.

        >>> limits = SwapLimits.of(Fraction(1, 10))
        >>> round(limits.rate(0.1), 4), round(limits.rate(0.9), 4)
        (0.1221, 0.9181)
        """
        if not 0 <= control <= 1:
            raise InternalError("A rate is not between 0 and 1.")
        by_success = self.odds * control + self.delta
        by_failure = 1 - (1 - control - self.delta) / self.odds
        return max(0.0, min(1.0, by_success, by_failure))

    def refuted_by(self, won: int, lost: int, *, pairs: int, mistake: float) -> bool:
        """Return whether won and lost pairs cannot come from a release with this guarantee.

        In ``won`` pairs the attack succeeded on the member only, in ``lost`` ones on the outsider
        only. Without delta the number of won pairs is stochastically dominated by a binomial one
        with probability ``share``, whatever the attack is [SteinkeNJ23]. A delta adds at most
        ``pairs`` (1 - ``share``) delta to the probability of a false alarm (docs/privacy.md,
        "Membership games"), which is subtracted from ``mistake``; if nothing is left, nothing is
        refuted.
        """
        allowed = mistake - pairs * (1 - self.share) * self.delta
        if allowed <= 0 or won == 0:
            return False
        return lower_bound(won, won + lost, mistake=allowed) > self.share
