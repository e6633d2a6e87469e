"""The delta of a truthful sample, against exact enumeration and the printed table."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure.private.truthful_delta import (
    check_rate,
    largest_rate,
    sample_delta,
    smallest_group,
)
from hedgerow.errors import SettingError


def power_below(epsilon: Fraction) -> Fraction:
    """A fraction just below e^epsilon."""
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        return Fraction(power) - Fraction(1, 10**50)


def exact_delta(smallest: int, rate: Fraction, epsilon: Fraction, most: int) -> Fraction:
    """The formula, summed in fractions over groups up to ``most``."""
    e = power_below(epsilon)
    worst = Fraction(0)
    for n in range(max(smallest, 1), most + 1):
        total = Fraction(0)
        for j in range(n, smallest - 1, -1):
            bracket = 1 - e * (n - j) / (n * (1 - rate))
            if bracket <= 0:
                break
            total += comb(n, j) * rate**j * (1 - rate) ** (n - j) * bracket
        worst = max(worst, total)
    return worst


# The smallest K, by tenths of the rate, at epsilon 1 (docs/privacy.md, "Truthful samples").
PRINTED = {
    Fraction(1, 10**6): {5: 35, 4: 25, 3: 17, 2: 12, 1: 8},
    Fraction(1, 10**9): {5: 58, 4: 41, 3: 28, 2: 19, 1: 12},
}


@pytest.mark.parametrize("delta", PRINTED)
def test_the_smallest_groups_are_those_of_the_table(delta):
    for tenths, smallest in PRINTED[delta].items():
        rate = Fraction(tenths, 10)
        assert smallest_group(rate=rate, epsilon=Fraction(1), delta=delta) == smallest


@pytest.mark.parametrize(
    ("tenths", "smallest", "delta"),
    [(5, 35, 6), (4, 25, 6), (3, 17, 6), (2, 12, 6), (1, 8, 6), (5, 58, 9), (4, 41, 9), (1, 12, 9)],
)
def test_exact_enumeration_agrees_that_no_smaller_group_will_do(tenths, smallest, delta):
    rate, target = Fraction(tenths, 10), Fraction(1, 10**delta)
    assert exact_delta(smallest, rate, Fraction(1), 3 * smallest + 20) <= target
    assert exact_delta(smallest - 1, rate, Fraction(1), 3 * smallest + 20) > target


@settings(max_examples=12)
@given(
    smallest=st.integers(0, 12),
    tenths=st.integers(1, 6),
    epsilon=st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)]),
)
def test_the_bound_is_never_below_the_exact_sum_and_hardly_above(smallest, tenths, epsilon):
    rate = Fraction(tenths, 10)
    target = Fraction(1, 10**5)
    exact = max(float(exact_delta(smallest, rate, epsilon, 40)), float(target))
    bound = sample_delta(smallest, rate=rate, epsilon=epsilon, target=target)
    assert exact <= bound
    assert bound <= 1.0001 * max(exact, float(exact_delta(smallest, rate, epsilon, 80)))


def test_the_largest_rate_costs_epsilon_in_the_other_direction():
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
        rate = largest_rate(epsilon)
        assert 1 / (1 - rate) <= power_below(epsilon)
        assert 1 / (1 - rate - Fraction(1, 10**6)) > power_below(epsilon)
        with pytest.raises(SettingError, match="out of range"):
            check_rate(rate + Fraction(1, 10**6), epsilon)


def test_a_share_too_small_for_its_delta_is_refused():
    with pytest.raises(SettingError, match="too small for so small a delta"):
        smallest_group(
            rate=largest_rate(Fraction(1, 1000)),
            epsilon=Fraction(1, 1000),
            delta=Fraction(1, 10**9),
        )


def test_a_group_without_kept_records_is_never_listed():
    """However large delta is, an empty row would show that somebody is in the group."""
    assert smallest_group(rate=Fraction(1, 20), epsilon=Fraction(1), delta=Fraction(9, 10)) == 1
