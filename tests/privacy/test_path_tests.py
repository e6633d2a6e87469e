"""Tests along the paths of a prefix tree: their exact cost, and the bound that is booked.

With ``a`` in place of exp(-rate) a rational number, every probability is a fraction, so that all
paths of small trees are checked without rounding (docs/privacy.md, "Tests along a prefix tree").
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import InternalError, OverdraftError, SettingError
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.mechanisms import Spending, pass_tests, path_tests
from hedgerow.privacy.path_tests import PathTests, TestRule, path_cost, rule_for
from hedgerow.privacy.source import SeededSource
from support.broken_twins import outcome_at_once

ONE = Fraction(1)


def passes(biased, a):
    """The chance that ``biased`` with discrete Laplace noise is above 0; a = exp(-rate)."""
    return a ** (1 - biased) / (1 + a) if biased <= 0 else 1 - a**biased / (1 + a)


def bound_as_factor(a, gamma, delta, n=60):
    """exp of the proved bound, as a product: exact up to terms below a**(n * delta)."""
    factor = 1 / a
    for j in range(1, n):
        power = a ** (j * delta - gamma)
        factor *= 1 + power * (1 - a) / (1 + a - power)
    return factor


def falling(most, depth):
    """All paths of counts that do not grow, down to the least that a record is in."""
    return itertools.combinations_with_replacement(range(most, 0, -1), depth)


def worst_factors(a, gamma, delta, *, threshold, most, depth):
    """The largest ratios of any outcome along any path, with the record over without, and back."""
    with_over, without_over = ONE, ONE
    for path in falling(most, depth):
        ratio = ONE
        for level, count in enumerate(path, start=1):
            here = max(count - level * delta - threshold, -gamma)
            there = max(count - 1 - level * delta - threshold, -gamma)
            stops = (1 - passes(here, a)) / (1 - passes(there, a)) * ratio
            with_over, without_over = max(with_over, stops), max(without_over, 1 / stops)
            ratio *= passes(here, a) / passes(there, a)
            with_over, without_over = max(with_over, ratio), max(without_over, 1 / ratio)
    return with_over, without_over


@pytest.mark.parametrize(
    ("a", "gamma", "delta", "threshold"),
    [
        (Fraction(3, 4), 3, 5, 0),
        (Fraction(3, 4), 4, 4, 2),
        (Fraction(1, 2), 1, 2, 0),
        (Fraction(1, 2), 2, 5, 1),
        (Fraction(2, 3), 2, 3, 0),
    ],
)
def test_no_outcome_on_any_path_of_a_small_tree_exceeds_the_bound(a, gamma, delta, threshold):
    most = threshold + 3 * delta + 2
    worst = worst_factors(a, gamma, delta, threshold=threshold, most=most, depth=3)
    limit = bound_as_factor(a, gamma, delta)
    assert max(worst) <= limit
    # It is tight: three tests come close. The other direction costs one test at the most.
    assert worst[0] > 1 + (limit - 1) * Fraction(3, 4)
    assert worst[1] <= 1 / a


def test_a_clip_below_the_descent_does_not_keep_the_bound():
    """Two tests at the border of one path: the condition gamma <= delta is needed."""
    a = Fraction(3, 4)
    worst, _ = worst_factors(a, 6, 2, threshold=0, most=8, depth=4)
    assert worst > bound_as_factor(a, 2, 2)
    with pytest.raises(InternalError):
        TestRule(rate=Fraction(1, 10), gamma=6, delta=2)


@settings(max_examples=20)
@given(
    share=st.fractions(Fraction(1, 1000), Fraction(4), max_denominator=10**6),
    fan_out=st.integers(1, 200),
)
def test_the_rule_never_costs_more_than_its_share(share, fan_out):
    rule = rule_for(share, fan_out=fan_out)
    assert 0 < rule.rate < rule.cost <= share
    assert rule.cost > share * Fraction(9, 10)  # and is not wasteful
    a = math.exp(-float(rule.rate))
    exact = float(rule.rate) + sum(
        math.log1p(x)
        for j in range(1, 40)
        for power in [a ** (j * rule.delta - rule.gamma)]
        for x in [power * (1 - a) / (1 + a - power)]
    )
    assert exact <= float(rule.cost) * (1 + 1e-12)


def test_the_cost_is_rounded_up_whatever_the_rate():
    """Against the same bound with far more digits, from below."""
    for rate, gamma, delta in ((Fraction(1, 3), 9, 15), (Fraction(937, 10_000), 31, 53)):
        low = bound_from_below(rate, gamma, delta)
        high = path_cost(rate, gamma=gamma, delta=delta)
        assert low < high < low * (1 + Fraction(1, 10**3))


def bound_from_below(rate, gamma, delta, terms=80):
    """rate + the sum of ln(1 + x_j), by series of fractions that are cut where they are low."""

    def exp_minus(x, n=60):  # cut after a negative term: below
        return sum((-x) ** k / math.factorial(k) for k in range(n))

    a = exp_minus(rate)
    total = rate
    for j in range(1, 6):
        power = (a ** (j * delta - gamma)).limit_denominator(10**terms)
        power -= Fraction(2, 10 ** (2 * terms))
        x = power * (1 - a) / (1 + a - power)
        total += x - x * x / 2
    return total


def test_rules_are_those_of_the_prototype():
    assert (
        rule_for(Fraction(1, 10), fan_out=18).gamma,
        rule_for(Fraction(1, 10), fan_out=18).delta,
    ) == (31, 53)
    with pytest.raises(SettingError):
        rule_for(Fraction(1, 10**9), fan_out=18)
    with pytest.raises(InternalError):
        path_cost(Fraction(1, 10), gamma=0, delta=0)


def begun(ledger, *, n_roots=1, share=Fraction(1, 10), seed=1, threshold=5):
    spending = Spending(epsilon=share, on="tests", ledger=ledger, source=SeededSource(seed))
    return path_tests(fan_out=3, threshold=threshold, n_roots=n_roots, spending=spending)


def test_all_levels_are_booked_once_before_the_first():
    ledger = PathLedger(Fraction(20))
    tests = begun(ledger, share=Fraction(20))
    assert ledger.settled()
    assert tests.threshold == 5
    every = np.ones((1, 3), dtype=np.bool_)
    passed = pass_tests(np.array([[9000, 800, 0]]), tested=every, tests=tests)
    assert passed.tolist() == [[True, True, False]]
    pass_tests(
        np.array([[9000, 0, 0], [0, 0, 700]]), tested=np.ones((2, 3), dtype=np.bool_), tests=tests
    )
    assert ledger.settled()
    assert tests.depth == 2
    with pytest.raises(OverdraftError):
        begun(ledger)


def test_levels_that_do_not_follow_are_refused():
    tests = begun(PathLedger(Fraction(20)), share=Fraction(20))  # hardly any noise
    every = np.ones((1, 3), dtype=np.bool_)
    with pytest.raises(InternalError, match="does not follow"):
        pass_tests(np.zeros((2, 3), dtype=np.int64), tested=every, tests=tests)
    pass_tests(np.array([[900, 0, 0]]), tested=every, tests=tests)
    with pytest.raises(InternalError, match="more records"):
        pass_tests(np.array([[900, 1, 0]]), tested=every, tests=tests)


def test_what_is_not_tested_does_not_pass():
    tests = begun(PathLedger(ONE))
    tested = np.array([[True, False, True]])
    passed = pass_tests(np.array([[900, 900, 900]]), tested=tested, tests=tests)
    assert passed.tolist() == tested.tolist()


# A statistical audit of the tests alone, and a twin whose tests do not descend.

DEEP = 14


def depths(rule, *, has_record, runs, seed):
    """How deep a path of equal counts goes, that many times at once: a forest of equal roots."""
    count = 4 * rule.delta + int(has_record)
    tests = PathTests(rule, threshold=0, n_roots=runs, source=SeededSource(seed))
    depth, alive = np.zeros(runs), np.arange(runs)
    for _ in range(DEEP):
        counts = np.full((len(alive), 1), count)
        passed = tests.passing(counts, tested=np.ones_like(counts, dtype=np.bool_))
        alive = alive[passed[:, 0]]
        depth[alive] += 1
    return {"depth": depth}


class NoDescent(TestRule):
    """The twin: the same rate and clip, but all tests of a path ask the same."""

    def __post_init__(self):
        pass


@pytest.mark.audit
def test_tests_that_do_not_descend_are_refuted_and_real_ones_are_not():
    share = Fraction(1)
    rule = rule_for(share, fan_out=3)

    def real(*, has_record, runs, seed):
        return depths(rule, has_record=has_record, runs=runs, seed=seed)

    def twin(*, has_record, runs, seed):
        flat = NoDescent(rate=rule.rate, gamma=rule.gamma, delta=0)
        return depths(flat, has_record=has_record, runs=runs, seed=seed)

    assert outcome_at_once(real, epsilon=share, runs=40_000) == "not refuted"
    assert outcome_at_once(twin, epsilon=share, runs=40_000) == "refuted"
