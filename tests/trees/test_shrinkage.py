"""Noisy counts shrunk by their known noise: estimates of risk, totals, and what they gain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.trees.shrinkage import (
    Shrinkage,
    cutting_risk,
    positive_part,
    positive_total,
    shrunk_counts,
)


def laplace(scale, size, rng):
    """Two-sided geometric noise with about this scale."""
    p = 1 - np.exp(-1 / scale)
    return (rng.geometric(p, size) - rng.geometric(p, size)).astype(float)


def error(found, truth):
    return float(((found - truth) ** 2).sum())


@given(
    noisy=st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=12),
    total=st.floats(0.5, 1e5),
    variance=st.floats(0, 1e6),
)
def test_estimates_are_non_negative_and_have_the_total(noisy, total, variance):
    counts = np.array(noisy)
    priors = (np.arange(1.0, len(counts) + 1), np.ones(len(counts)))
    found = shrunk_counts(counts, total, variance=variance, priors=priors)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)


def test_nothing_is_left_of_no_records():
    assert not shrunk_counts(np.array([3.0, -4]), 0, variance=1, priors=(np.ones(2),)).any()


def test_counts_without_noise_stay_as_they_are():
    counts = np.array([5.0, 0, 90, 5])
    found = shrunk_counts(counts, 100, variance=0.0, priors=(np.ones(4),))
    assert found == pytest.approx(counts)


@pytest.mark.parametrize("size", [2, 8, 40])
def test_pure_noise_is_rarely_taken_for_a_difference(size):
    rng = np.random.default_rng(size)
    kept = [Shrinkage.of(laplace(20.0, size, rng), 800.0).kept for _ in range(400)]
    assert np.mean(np.array(kept) > 0) < 0.05


@pytest.mark.parametrize("times", [0.0, 0.3, 1.0, 3.0, 10.0])
def test_estimated_risks_are_those_of_the_estimates_on_average(times):
    """Stein's estimate is unbiased where the total that counts are cut to is known."""
    rng = np.random.default_rng(4)
    truth = times * 20 * np.abs(rng.normal(0, 1, 40)) + 5
    told, real = [], []
    for _ in range(400):
        noisy = truth + rng.normal(0, 20, 40)  # the estimate is exact for the normal law
        cut = positive_part(noisy, truth.sum())
        told.append(cutting_risk(noisy, cut, 400.0))
        real.append(error(cut, truth))
    assert np.mean(told) == pytest.approx(np.mean(real), rel=0.05, abs=0.02 * 40 * 400)


@pytest.mark.parametrize("shape", ["even", "spike", "sparse", "rising"])
@pytest.mark.parametrize("scale", [2.0, 20.0, 200.0])
def test_the_estimate_is_not_far_from_the_better_one_of_even_and_cut_counts(shape, scale):
    rng = np.random.default_rng(7)
    truths = {
        "even": np.full(30, 100.0),
        "spike": np.r_[2900.0, np.full(29, 100 / 29)],
        "sparse": np.r_[np.full(3, 1000.0), np.zeros(27)],
        "rising": np.arange(30) * 3000 / 435,
    }
    truth, even = truths[shape], np.ones(30)
    found, best = [], []
    for _ in range(60):
        noisy = truth + laplace(scale, 30, rng)
        found.append(
            error(shrunk_counts(noisy, 3000, variance=2 * scale**2, priors=(even,)), truth)
        )
        both = positive_part(noisy, 3000), np.full(30, 100.0)
        best.append([error(each, truth) for each in both])
    least = np.mean(best, axis=0).min()
    assert np.mean(found) <= 3 * least + 30


def test_of_two_priors_the_nearer_one_is_taken():
    rng = np.random.default_rng(2)
    wide, even = np.r_[1.0, 9.0, np.ones(10)], np.ones(12)
    truth = wide * 1000 / wide.sum()
    noisy = truth + laplace(10.0, 12, rng)
    found = shrunk_counts(noisy, 1000, variance=200.0, priors=(even, wide))
    assert error(found, truth) < error(noisy, truth) / 2
    drowned = truth + laplace(3000.0, 12, rng)
    first = shrunk_counts(drowned, 1000, variance=2 * 3000.0**2, priors=(wide, even))
    assert first == pytest.approx(truth)


@pytest.mark.parametrize("noisy", [-500.0, -1.0, 0.0, 10.0, 60.0, 3000.0])
def test_a_total_is_the_mean_of_the_numbers_that_it_may_be(noisy):
    numbers = np.linspace(0, 6000, 2_000_001)
    weights = np.exp(-np.abs(numbers - noisy) / 25)
    assert positive_total(noisy, 25.0) == pytest.approx(
        np.average(numbers, weights=weights), rel=1e-3
    )
