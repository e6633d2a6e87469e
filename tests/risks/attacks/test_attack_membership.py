"""Membership: what is chosen on one half of the pairs and measured on the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hedgerow.risks.attacks.limits import SwapLimits
from hedgerow.risks.attacks.membership import (
    Decisions,
    best_decisions,
    score_weights,
    standardised_scores,
    sure_margin,
)
from hedgerow.risks.attacks.pairs import drawn_sample
from hedgerow.risks.attacks.questions import Judge, Scoring, membership_facts

LIMITS = SwapLimits.of(1)


def scoring(n_pairs: int, n_fixing: int) -> Scoring:
    return Scoring(
        n_pairs=n_pairs,
        n_fixing=n_fixing,
        has_outsiders=True,
        limits=LIMITS,
        mistake=1e-3,
        seed=0,
    )


def scores_of(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Scores of members and outsiders whose differences are these, pair by pair."""
    differences = np.concatenate([first, second])
    return np.concatenate([differences, np.zeros(len(differences))])


def test_what_is_learnt_on_the_first_half_is_not_learnt_on_the_second():
    """Members have high scores in the first half and low ones in the second: all guesses fail."""
    rng = np.random.default_rng(1)
    up, down = rng.uniform(1, 2, 30), -rng.uniform(1, 2, 70)
    scores = {
        "distance": scores_of(up, down),
        "density": scores_of(up, down),
        "cell": scores_of(-up, -down),
    }
    found = membership_facts(scoring(100, 30), scores, "none")["attacks"]
    for name in ("distance", "density", "trained"):
        assert found[name]["accuracy"]["hits"] == 0, name
        assert found[name]["pairs"] == 70
    assert found["shadow"] == {"not-run": "none"}


def test_shadow_weights_are_used_as_they_are():
    scores = {name: scores_of(np.ones(20), np.ones(20)) for name in ("distance", "density", "cell")}
    found = membership_facts(scoring(40, 20), scores, np.array([-1.0, 0.0, 0.0]))["attacks"]
    assert found["shadow"]["accuracy"]["hits"] == 0
    assert found["trained"]["accuracy"]["hits"] == 20


def test_the_margin_of_sure_guesses_comes_from_the_first_pairs():
    noise = np.random.default_rng(2).normal(size=200)
    leaked = np.where(np.arange(200) < 30, 50.0, noise)
    margin = sure_margin(leaked)
    assert margin > np.abs(noise).max()
    found = Decisions(fixing=leaked, measuring=noise).facts(LIMITS, mistake=1e-3, seed=0)
    assert found["sure"]["of"] == 0
    found = Decisions(fixing=leaked, measuring=leaked).facts(LIMITS, mistake=1e-3, seed=0)
    assert found["sure"]["hits"] == found["sure"]["of"] == 30


def test_few_people_who_are_given_away_are_found_though_the_mean_hides_them():
    """Three in a hundred are revealed: the accuracy is within the bound of epsilon = .1."""
    noise = np.random.default_rng(3).normal(size=2000)
    leaked = np.where(np.arange(2000) % 33 == 0, 50.0, noise)
    found = Decisions(fixing=leaked[:1000], measuring=leaked[1000:]).facts(
        SwapLimits.of(0.1), mistake=1e-3, seed=0
    )
    assert found["accuracy"]["high"] < 0.57
    assert found["sure"]["rate"] == 1.0
    assert found["beyond-bound"]


def test_the_better_score_is_chosen_by_the_first_pairs():
    good = Decisions(fixing=np.ones(10), measuring=-np.ones(10))
    bad = Decisions(fixing=-np.ones(10), measuring=np.ones(10))
    assert best_decisions([bad, good]) is good


def test_equal_scores_are_decided_by_a_coin():
    flat = np.zeros(10_000)
    found = Decisions(fixing=flat, measuring=flat).facts(LIMITS, mistake=1e-3, seed=1)
    # Of 10,000 fair coins more than 5,300 come out alike less than once in a million runs.
    assert 4700 < found["accuracy"]["hits"] < 5300
    assert found["undecided-by-score"] == 10_000
    assert not found["beyond-guessing"]


@settings(max_examples=20)
@given(
    differences=arrays(
        np.float64, st.tuples(st.integers(1, 30), st.just(3)), elements=st.floats(-5, 5)
    )
)
def test_weights_maximise_the_penalised_likelihood(differences):
    weights = score_weights(differences)
    chance = 1 / (1 + np.exp(-differences @ weights))
    slope = differences.T @ (1 - chance) - weights
    assert np.abs(slope).max() < 1e-6


def test_standardised_scores_treat_constant_columns_and_outliers():
    columns = standardised_scores({"a": np.zeros(4), "b": np.array([0.0, 1.0, 2.0, 1e9])})
    assert (columns[:, 0] == 0).all()
    assert np.abs(columns).max() <= 5


def test_two_releases_of_the_same_data_are_judged_by_the_sum_of_their_epsilons():
    judge = Judge(limits=LIMITS, mistake=0.01, seed=0)
    assert judge.of_both(None, None).limits is None
    sample = drawn_sample(10, 10, most=5, seed=0)
    assert judge.scoring(sample).n_fixing == sample.n_fixing == 2


def test_too_few_pairs_are_not_measured():
    scores = {name: np.zeros(20) for name in ("distance", "density", "cell")}
    assert "fewer than 20" in membership_facts(scoring(10, 5), scores, "none")["not-run"]
    assert pytest.approx(LIMITS.accuracy) == 0.8807970779778823
