"""The error of a count follows from the noise law."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.model.precision import deviation, sum_within, within

SHARES = [Fraction(5), Fraction(1), Fraction(12, 25), Fraction(1, 10), Fraction(1, 1000)]


def law(share: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """The discrete Laplace law out to where nothing is left."""
    reach = math.ceil(40 / share)
    values = np.arange(-reach, reach + 1)
    a = math.exp(-share)
    return values, (1 - a) / (1 + a) * a ** np.abs(values)


@pytest.mark.parametrize("share", SHARES)
def test_the_error_is_the_smallest_that_holds_in_95_of_100_cases(share):
    values, chances = law(share)
    k = within(share)
    assert chances[np.abs(values) <= k].sum() >= 0.95
    assert k == 0 or chances[np.abs(values) <= k - 1].sum() < 0.95


@pytest.mark.parametrize("share", SHARES)
def test_the_deviation_is_that_of_the_law(share):
    values, chances = law(share)
    assert deviation(share) == pytest.approx(math.sqrt((chances * values**2).sum()), rel=1e-6)


@pytest.mark.parametrize("share", SHARES[:3])
def test_the_error_of_a_sum_of_ten_holds_in_95_of_100_cases(share):
    _, chances = law(share)
    total = chances
    for _ in range(9):
        total = np.convolve(total, chances)
    middle = len(total) // 2
    k = sum_within(share, n_counts=10)
    assert total[middle - k : middle + k + 1].sum() >= 0.94
    assert total[middle - k // 2 : middle + k // 2 + 1].sum() < 0.9


def test_the_error_of_a_sum_of_one_is_that_of_one():
    assert sum_within(Fraction(1), n_counts=1) == within(Fraction(1))
