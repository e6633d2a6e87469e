"""Split of epsilon among the steps of chain, and the public numbers that follow from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.model.method import Step

FIRST_TESTS = Fraction(100, 1000)
FIRST_COUNTS = Fraction(400, 1000)
FURTHER_TESTS = Fraction(138, 1000)
FURTHER_COUNTS = Fraction(322, 1000)
LENGTHS = Fraction(40, 1000)

DEEPEST = 40
"""ItemSteps after which a path ends, in either forest."""

_FIRST_THRESHOLD = 120
_FURTHER_THRESHOLD = 20
_CONTEXT = 120


@dataclass(frozen=True, kw_only=True)
class ChainBudget:
    """The shares of a run: tests and counts of both forests, and lengths."""

    epsilon: Fraction

    @property
    def first_tests(self) -> Fraction:
        """For the tests of a path in the first tree."""
        return self.epsilon * FIRST_TESTS

    @property
    def first_counts(self) -> Fraction:
        """For the leaves of the first tree."""
        return self.epsilon * FIRST_COUNTS

    @property
    def further_tests(self) -> Fraction:
        """For the tests of a path in the second forest."""
        return self.epsilon * FURTHER_TESTS

    @property
    def further_counts(self) -> Fraction:
        """For the leaves of the second forest."""
        return self.epsilon * FURTHER_COUNTS

    @property
    def lengths(self) -> Fraction:
        """For the histogram of lengths."""
        return self.epsilon * LENGTHS

    @property
    def first_threshold(self) -> int:
        """Number of records above the tests' threshold at which a prefix is expanded."""
        return math.ceil(_FIRST_THRESHOLD / self.epsilon)

    @property
    def further_threshold(self) -> int:
        """The same for what is left of sequences that leave the first tree."""
        return math.ceil(_FURTHER_THRESHOLD / (self.further_tests + self.further_counts))

    @property
    def context(self) -> int:
        """The least noisy count of a context that gets a root of its own."""
        return math.ceil(_CONTEXT / self.further_counts)

    def steps(self) -> tuple[Step, ...]:
        """Return the budget as the certificate will list it."""
        return (
            Step(on=ON_FIRST_TESTS, share=self.first_tests, times=1),
            Step(on=ON_FIRST_COUNTS, share=self.first_counts, times=1),
            Step(on=ON_FURTHER_TESTS, share=self.further_tests, times=1),
            Step(on=ON_FURTHER_COUNTS, share=self.further_counts, times=1),
            Step(on=ON_LENGTHS, share=self.lengths, times=1),
        )


ON_FIRST_TESTS = "tests of prefixes"
ON_FIRST_COUNTS = "counts of prefixes"
ON_FURTHER_TESTS = "tests of what follows"
ON_FURTHER_COUNTS = "counts of what follows"
ON_LENGTHS = "lengths"
