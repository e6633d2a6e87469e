"""Confidence bounds, and the epsilon that two counts prove."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc
from scipy.stats import beta, binom

from hedgerow.auditing.bounds import certified
from hedgerow.model.binomial import beta_share, lower_bound, upper_bound


@settings(max_examples=25)
@given(
    runs=st.integers(1, 100_000),
    part=st.floats(0, 1),
    mistake=st.sampled_from([1e-9, 1e-6, 0.05]),
)
def test_bounds_are_those_of_clopper_and_pearson(runs, part, mistake):
    hits = round(part * runs)
    lower = beta.ppf(mistake, hits, runs - hits + 1) if hits else 0.0
    upper = beta.ppf(1 - mistake, hits + 1, runs - hits) if hits < runs else 1.0
    assert lower_bound(hits, runs, mistake=mistake) == pytest.approx(lower, rel=1e-9)
    assert upper_bound(hits, runs, mistake=mistake) == pytest.approx(upper, rel=1e-6)


@settings(max_examples=50)
@given(a=st.integers(1, 5000), b=st.integers(1, 5000), x=st.floats(0, 1))
def test_the_incomplete_beta_function_agrees_with_another_implementation(a, b, x):
    assert beta_share(a, b, x) == pytest.approx(betainc(a, b, x), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("p", [0.003, 0.27, 0.9])
def test_a_bound_is_wrong_as_rarely_as_it_says(p):
    runs, mistake = 60, 0.01
    wrong = sum(
        float(binom.pmf(hits, runs, p))
        for hits in range(runs + 1)
        if lower_bound(hits, runs, mistake=mistake) > p
    )
    assert wrong <= mistake


def test_without_a_hit_nothing_is_proved():
    assert lower_bound(0, 1000, mistake=1e-6) == 0
    assert certified(0, 0, 1000) == -math.inf
    assert upper_bound(1000, 1000, mistake=1e-6) == 1


def test_delta_is_taken_off_before_the_ratio():
    assert certified(500, 0, 2000) > 3
    assert certified(500, 0, 2000, delta=0.5) == -math.inf
    assert 0 < certified(500, 0, 2000, delta=0.15) < certified(500, 0, 2000)


def test_more_runs_prove_more():
    proved = [certified(int(0.73 * n), int(0.27 * n), n) for n in (200, 2000, 20_000, 200_000)]
    assert np.all(np.diff(proved) > 0)
    assert 0.95 < proved[-1] < 1
