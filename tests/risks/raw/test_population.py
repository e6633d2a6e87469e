"""People who are unique in the population, estimated from samples of simulated ones."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.risks.raw.population import fit_pitman


def pitman_partition(n, alpha, theta, rng):
    """Return the group of each of ``n`` people, by the Pitman-Yor process."""
    group = np.empty(n, dtype=np.int64)
    sizes: list[int] = []
    coins = rng.random(n)
    for i in range(n):
        if coins[i] * (theta + i) < theta + alpha * len(sizes):
            group[i] = len(sizes)
            sizes.append(1)
            continue
        # A person in an old group, then that group kept with its share (size - alpha) / size.
        while True:
            at = group[rng.integers(i)]
            if rng.random() * sizes[at] < sizes[at] - alpha:
                break
        group[i] = at
        sizes[at] += 1
    return group


@pytest.mark.parametrize(("alpha", "theta"), [(0.3, 200.0), (0.6, 50.0), (0.8, 10.0)])
@pytest.mark.parametrize("fraction", [0.1, 0.5])
def test_the_estimate_is_near_the_truth_where_the_model_holds(alpha, theta, fraction):
    rng = np.random.default_rng(5)
    people = pitman_partition(20_000, alpha, theta, rng)
    sizes = np.bincount(people)
    unique = int((sizes == 1).sum())
    sample = people[rng.random(len(people)) < fraction]
    found = fit_pitman(np.bincount(sample, minlength=len(sizes)), fraction=fraction)
    assert found is not None
    assert found.unique == pytest.approx(unique, rel=0.2)
    assert found.alpha == pytest.approx(alpha, abs=0.1)


def test_the_whole_population_is_estimated_as_itself():
    rng = np.random.default_rng(6)
    sizes = np.bincount(pitman_partition(20_000, 0.5, 100.0, rng))
    found = fit_pitman(sizes, fraction=1.0)
    assert found is not None
    assert found.population == 20_000
    assert found.unique == pytest.approx((sizes == 1).sum(), rel=0.1)


@pytest.mark.parametrize("sizes", [[], [1, 1, 1], [2, 3], [5]])
def test_what_cannot_be_fitted_is_not(sizes):
    assert fit_pitman(np.array(sizes, dtype=np.int64), fraction=0.5) is None


def test_shares_are_shares():
    found = fit_pitman(np.array([1] * 50 + [2] * 20 + [9]), fraction=0.01)
    assert found is not None
    assert 0 <= found.unique_share <= 1
    assert 0 <= found.sample_unique_share <= 1
