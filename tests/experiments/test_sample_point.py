"""[TKDE, Alg. 3]: what it draws, why Lemma 1 is false, and what is exact without it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from experiments.supermodular_point import (
    GUARANTEE,
    SamplePoint,
    expected_rounds_bound,
    lemma_1_bound,
    total_variation,
)
from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.lattice.matches import prefix_sums
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective
from hedgerow.errors import SettingError


def one_attribute(counts, *, rate=0.5, theta=0.5, sigma=0.5, severity=None, risk_weight=1.0):
    """A record with one attribute whose levels have these matches; the last is the table's size."""
    height = len(counts) - 1
    objective = AggregateObjective(
        lattice=Lattice(heights=(height,)),
        utility_parts=(np.arange(height, -1, -1.0),),
        severity_parts=severity,
        risk_weight=risk_weight,
        power=1,
        floor=0.0 if severity is None else 1.0,
    )
    return SamplePoint(
        objective=objective,
        matches=np.array(counts),
        n_records=counts[-1],
        rate=rate,
        width=0.5,
        theta=theta,
        sigma=sigma,
    )


def random_point(seed: int, **settings) -> SamplePoint:
    rng = np.random.default_rng(seed)
    lattice = Lattice(heights=(2, 1, 2))
    counts = rng.integers(0, 6, lattice.shape)
    counts[0, 0, 0] += 1
    cube = prefix_sums(counts.astype(np.int64))
    weights = tuple(np.sort(rng.random(n))[::-1] * (np.arange(n) < n - 1) for n in lattice.shape)
    objective = AggregateObjective(
        lattice=lattice,
        utility_parts=tuple(np.arange(n - 1, -1, -1.0) for n in lattice.shape),
        severity_parts=weights,
        risk_weight=0.5,
        power=1,
        floor=1.0,
    )
    asked = {"rate": 0.9, "width": 0.4, "theta": 0.3, "sigma": 0.5} | settings
    return SamplePoint(objective=objective, matches=cube, n_records=int(cube[-1, -1, -1]), **asked)


def test_lemma_1_is_false():
    """Two of eight records share γ; with one of them gone γ can no longer be returned at all."""
    before, after = one_attribute([2, 8]), one_attribute([1, 7])
    assert before.counts[0] == before.sigma * before.threshold  # T(γ) = σθn, a whole number
    assert after.counts[0] < after.sigma * after.threshold
    rng = np.random.default_rng(3)
    chance = before.law(20_000, rng)[0]
    assert after.law(2_000, rng)[0] == 0.0
    # ẑ has density exp(linear) on [1/3, 1], and γ is returned with probability 1 - ẑ.
    steep = float(np.diff(before.exponents(0))[0])
    mass = quad(lambda z: math.exp(steep * z), 1 / 3, 1)[0]
    exact = quad(lambda z: (1 - z) * math.exp(steep * z), 1 / 3, 1)[0] / mass
    assert chance == pytest.approx(exact, abs=0.01)
    assert exact > 0.3
    # (P - δ') / (0 + δ') <= bound, for the δ' of the lemma, would need a δ' of about P / 2.
    bound = lemma_1_bound(before.rate, before.width, shift=2 * (1 / 1 + 1), n_records=8)
    negligible = 2.0 ** -(8**2)
    assert (exact - negligible) / (0.0 + negligible) > 1e18 * bound


def test_it_promises_nothing():
    assert GUARANTEE == "none"


@pytest.mark.parametrize("counts", [[3, 5, 10], [1, 9, 12]])
def test_the_law_on_a_chain_is_that_of_the_integral(counts):
    point = one_attribute(counts, rate=0.9, theta=0.4, sigma=0.5, risk_weight=2.0)
    law = point.law(40_000, np.random.default_rng(5))
    exponents, counted = point.exponents(0), np.array(counts, dtype=float)
    enough = counted >= point.sigma * point.threshold
    steps = (np.arange(400) + 0.5) / 400
    one, two = np.meshgrid(steps, steps, indexing="ij")
    one, two = np.maximum(one, two), np.minimum(one, two)
    shares = np.stack([1 - one, one - two, two])
    density = np.exp(np.tensordot(exponents, shares, 1))
    density *= np.tensordot(counted, shares, 1) >= point.threshold
    kept = shares * enough[:, None, None]
    expected = (density * kept / kept.sum(axis=0)).sum(axis=(1, 2)) / density.sum()
    np.testing.assert_allclose(law, expected, atol=0.01)


def test_draws_follow_the_law():
    point, rng = random_point(1), np.random.default_rng(7)
    law = point.law(4_000, rng)
    drawn = np.bincount([point.draw(rng) for _ in range(200)], minlength=len(law)) / 200
    assert total_variation(law, drawn) < 0.2  # about 0.08 by chance, with this seed
    assert (law[point.counts < point.sigma * point.threshold] == 0).all()


@pytest.mark.parametrize("seed", range(2))
def test_it_is_not_the_distribution_that_algorithm_2_asks_for(seed):
    point, rng = random_point(seed), np.random.default_rng(8)
    law, exact = point.law(1_000, rng), point.exact_law()
    assert law.sum() == pytest.approx(1)
    assert total_variation(law, exact) > 0.1
    # Nodes below the threshold are returned, too: T >= σt is all that is tested.
    rare = point.counts < point.threshold
    assert (exact[rare] == 0).all()
    assert law[rare].sum() > 0


@pytest.mark.parametrize("seed", range(3))
def test_plain_rejection_is_exact(seed):
    point, rng = random_point(seed), np.random.default_rng(9)
    drawn, trials = point.rejected(40_000, rng)
    found = np.bincount(drawn, minlength=point.lattice.n_nodes) / len(drawn)
    exact = point.exact_law()
    assert total_variation(found, exact) < 0.02
    frequent = int((point.counts >= point.threshold).sum())
    most = math.exp(np.ptp(point.rate * point.values / point.n_records))
    assert trials <= 1.2 * len(drawn) * most * point.lattice.n_nodes / frequent + (1 << 14)


def test_the_expected_rounds_are_bounded_by_what_is_proved_and_not_by_what_is_printed():
    # A two-point law attains the bound: T is n with probability p, else just below σθn.
    theta, sigma, n = 0.3, 0.5, 1000
    low = sigma * theta * n * (1 - 1e-9)
    p = (theta * n - low) / (n - low)
    assert 1 / p == pytest.approx(expected_rounds_bound(theta, sigma), rel=1e-6)
    assert 1 / p > 4 * (1 - theta * sigma) / (1 - theta)
    for seed in range(3):
        point = random_point(seed)
        points = point.points(point.layers[0], 500, np.random.default_rng(10))
        assert point.rounds(points) <= expected_rounds_bound(point.theta, point.sigma)


def test_layers_cover_all_severities_and_empty_ones_are_left_out():
    point = random_point(2)
    assert point.layer(0)[0] == point.severity.min()
    assert point.layer(point.n_layers - 1)[1] >= point.severity.max()
    strict = random_point(2, theta=0.7)
    assert set(strict.layers) < set(range(strict.n_layers))
    assert strict.law(100, np.random.default_rng(1)).sum() == pytest.approx(1)


def test_settings_outside_of_what_is_printed_are_refused():
    with pytest.raises(SettingError, match="theta"):
        random_point(1, theta=1.0)
