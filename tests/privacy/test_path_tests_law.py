"""Tests along a path draw their noise at the rate that is paid for, no more and no less."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.privacy.path_tests import PathTests, rule_for
from hedgerow.privacy.source import SeededSource

DRAWS = 40_000
SURE = 6  # standard deviations: a right sampler is beyond them once in five hundred million


@pytest.mark.parametrize("above", [-9, -2, 0, 5])
def test_a_count_passes_as_often_as_the_rate_of_the_rule_says(above):
    rule, threshold = rule_for(Fraction(1, 2), fan_out=4), 10
    tests = PathTests(rule, threshold=threshold, n_roots=DRAWS, source=SeededSource(11))
    counts = np.full((DRAWS, 1), rule.delta + threshold + above)
    passed = int(tests.passing(counts, tested=np.ones((DRAWS, 1), dtype=np.bool_)).sum())

    def far(rate: float) -> float:
        """How many standard deviations the number is from what noise of a rate gives."""
        a, b = math.exp(-rate), max(above, -rule.gamma)
        chance = a ** (1 - b) / (1 + a) if b <= 0 else 1 - a**b / (1 + a)
        return abs(passed - DRAWS * chance) / math.sqrt(DRAWS * chance * (1 - chance))

    assert far(float(rule.rate)) < SURE
    assert far(2 * float(rule.rate)) > SURE
    assert far(0.5 * float(rule.rate)) > SURE
