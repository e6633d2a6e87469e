"""Bounds of a guarantee for pairs of a member and an outsider, and exact verdicts on counts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from hedgerow.errors import InternalError
from hedgerow.risks.attacks.limits import SwapLimits
from hedgerow.risks.attacks.pairs import PairHits, drawn_sample, interval

epsilons = st.floats(0.01, 5)
deltas = st.sampled_from([0.0, 1e-6, 1e-3, 0.05])


def swap_accuracy(law: np.ndarray, other: np.ndarray) -> float:
    """The best chance to name the member, by the laws of a release in both worlds."""
    return float(np.maximum(law, other).sum() / 2)


def two_step_worst_case(epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """A release of two bits, one for each of the pair, each flipped as epsilon allows.

    The bit of who is in the data is 1 and that of who is not is 0 before it is flipped, so adding
    or removing one record moves the law by e^epsilon and swapping the two by e^(2 epsilon).
    """
    stay = math.exp(epsilon) / (1 + math.exp(epsilon))
    flips = np.array([[stay, 1 - stay], [1 - stay, stay]])
    return np.outer(flips[1], flips[0]).ravel(), np.outer(flips[0], flips[1]).ravel()


@given(epsilon=epsilons)
def test_naming_the_member_of_a_pair_is_bounded_by_twice_epsilon(epsilon):
    law, other = two_step_worst_case(epsilon)
    assert np.log(law / other).max() == pytest.approx(2 * epsilon)
    limits = SwapLimits.of(epsilon)
    assert swap_accuracy(law, other) <= limits.accuracy + 1e-12
    # The same release decides better than one epsilon would allow: the bound must be that of two.
    sure = law / (law + other)
    assert sure.max() == pytest.approx(limits.share)
    assert limits.share > 1 / (1 + math.exp(-epsilon))


def test_the_bound_of_a_pair_has_the_value_of_the_theory():
    assert round(SwapLimits.of(Fraction(1)).accuracy, 2) == 0.88
    e, d = 0.5, 1e-3
    expected = (math.exp(2 * e) + (1 + math.exp(e)) * d) / (1 + math.exp(2 * e))
    assert SwapLimits.of(e, d).accuracy == pytest.approx(expected)
    assert SwapLimits.of(1e9).accuracy == 1
    # Frequent success is bounded by its complement: 1 - e^(-2 epsilon) (1 - control).
    assert SwapLimits.of(e).rate(0.9) == pytest.approx(1 - math.exp(-2 * e) * 0.1)
    assert SwapLimits.of(e).rate(0.1) == pytest.approx(math.exp(2 * e) * 0.1)


@given(epsilon=epsilons, delta=deltas, control=st.floats(0, 1))
def test_the_bound_on_a_rate_holds_for_every_event_and_its_complement(epsilon, delta, control):
    limits = SwapLimits.of(epsilon, delta)
    bound = limits.rate(control)
    assert control - 1e-12 <= bound <= 1
    # The laws that are farthest apart under (epsilon, delta): all tests on them obey the bound.
    e, d = limits.epsilon, min(limits.delta, 1.0)
    stay = math.exp(e) / (1 + math.exp(e))
    law = np.array([d, (1 - d) * stay, (1 - d) * (1 - stay), 0.0])
    assert np.maximum(law - math.exp(e) * law[::-1], 0).sum() == pytest.approx(d)
    reached = np.concatenate([[0], np.cumsum(law)])
    spent = np.concatenate([[0], np.cumsum(law[::-1])])
    best = float(np.interp(control, spent, reached)) if control > 0 else d
    assert best <= bound + 1e-9


def test_rates_that_are_no_shares_are_refused():
    with pytest.raises(InternalError):
        SwapLimits.of(1).rate(1.5)


@settings(max_examples=12)
@given(
    epsilon=st.floats(0.05, 2),
    delta=st.sampled_from([0.0, 1e-7, 1e-5]),
    pairs=st.integers(1, 120),
    mistake=st.sampled_from([0.05, 1e-3]),
)
def test_a_sound_release_is_refuted_as_rarely_as_promised(epsilon, delta, pairs, mistake):
    """Exact: every pair is revealed with chance delta and told by randomised response otherwise."""
    limits = SwapLimits.of(epsilon, delta)
    chance = limits.share + min(limits.delta, 1.0) * (1 - limits.share)
    alarms = [
        binom.pmf(won, pairs, chance)
        for won in range(pairs + 1)
        if limits.refuted_by(won, pairs - won, pairs=pairs, mistake=mistake)
    ]
    assert sum(alarms) <= mistake * (1 + 1e-9)


def test_a_release_that_reveals_everybody_is_refuted_unless_delta_allows_it():
    assert SwapLimits.of(0.1).refuted_by(40, 0, pairs=40, mistake=1e-3)
    assert not SwapLimits.of(0.1, 0.01).refuted_by(40, 0, pairs=40, mistake=1e-3)
    assert not SwapLimits.of(0.1).refuted_by(0, 0, pairs=40, mistake=1e-3)


@given(of=st.integers(1, 2000), part=st.floats(0, 1))
def test_intervals_are_those_of_clopper_and_pearson(of, part):
    hits = round(part * of)
    low, high = interval(hits, of)
    assert low == pytest.approx(beta.ppf(0.025, hits, of - hits + 1) if hits else 0, abs=1e-9)
    assert high == pytest.approx(beta.ppf(0.975, hits + 1, of - hits) if hits < of else 1, abs=1e-9)
    assert interval(0, 0) == (0.0, 1.0)


@given(hits=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_pairs_are_counted_by_who_of_them_is_hit(hits):
    members, outsiders = np.array(hits, dtype=bool).reshape(-1, 2).T
    found = PairHits.of(members, outsiders)
    assert found.won == sum(a and not b for a, b in hits)
    assert found.lost == sum(b and not a for a, b in hits)
    assert found.both == sum(a and b for a, b in hits)
    assert found.pairs == len(hits)
    if hits:
        facts = found.facts(SwapLimits.of(1), mistake=0.01)
        assert facts["attack"]["rate"] == pytest.approx(members.mean())
        assert facts["control"]["rate"] == pytest.approx(outsiders.mean())


def test_members_without_as_many_outsiders_are_refused():
    with pytest.raises(InternalError):
        PairHits.of(np.ones(2, dtype=bool), np.ones(3, dtype=bool))


@given(
    n_members=st.integers(1, 60),
    n_outsiders=st.integers(1, 60),
    most=st.integers(1, 40),
    seed=st.integers(0, 9),
)
def test_nobody_is_in_two_pairs_and_the_reference_is_in_none(n_members, n_outsiders, most, seed):
    sample = drawn_sample(n_members, n_outsiders, most=most, seed=seed)
    assert len(sample) <= most
    assert len(sample.members) == len(sample.outsiders)
    assert len(set(sample.members.tolist())) == len(sample)
    used = [*sample.outsiders.tolist(), *sample.reference.tolist()]
    assert len(set(used)) == len(used)
    assert max(used, default=0) < n_outsiders
    again = drawn_sample(n_members, n_outsiders, most=most, seed=seed)
    assert (again.members == sample.members).all()
