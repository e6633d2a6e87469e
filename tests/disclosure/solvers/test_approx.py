"""Approximation of the threshold model: the linear programs, rounding, and what holds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective, AggregateProblem
from hedgerow.disclosure.solvers.approx import (
    ApproxSettings,
    acceptance_bound,
    approximate,
    expected_utility_bound,
    least_risk,
    rounding_chain,
)
from hedgerow.disclosure.solvers.monomials import BoxVariables
from hedgerow.errors import InternalError, SettingError
from support.aggregate_problems import cube_of, random_problem


def counterexample(*, constant=False):
    """One attribute of three levels with |ρ| = 1, 250, 1000 and u = 1, 1/2, 0."""
    objective = AggregateObjective(
        lattice=Lattice(heights=(2,)),
        utility_parts=(np.array([1.0, 0.5, 0.0]),),
        severity_parts=None if constant else (np.array([1.005, 1.0, 1.0]),),
        risk_weight=1.0,
    )
    return AggregateProblem(
        objective=objective,
        vectors=np.array([[0], [1], [2]], dtype=np.uint8),
        multiplicities=np.array([1, 249, 750]),
    )


COUNTEREXAMPLE = ApproxSettings(at_most=0.004, width=0.1, share=0.5, excess=8.0)


def with_records(seed):
    """A random problem with at least one record, the one to be disclosed."""
    problem = random_problem(seed, whole=False)
    own = np.zeros((1, problem.vectors.shape[1]), dtype=np.uint8)
    return replace(
        problem,
        vectors=np.concatenate([problem.vectors, own]),
        multiplicities=np.append(problem.multiplicities, 1),
    )


def risks_and_utilities(problem):
    lattice, cube = problem.objective.lattice, cube_of(problem)
    nodes = lattice.every_node()
    counts = cube.reshape(-1)
    return problem.objective.severity(nodes) / counts, problem.objective.utility(nodes)


# Rounding.


def test_example_1_of_the_paper_comes_out_as_printed():
    variables = BoxVariables.of(np.zeros(2, dtype=np.uint8), np.array([3, 2], dtype=np.uint8))
    # (1, 1/6, 0, 2/3, 1/2) for a, b, c, d, e mixes S(1, 0), S(2, 1) and S(1, 2).
    point = np.array([1, 1 / 6, 0, 2 / 3, 1 / 2])
    mixture = [(1 / 3, (1, 0)), (1 / 6, (2, 1)), (1 / 2, (1, 2))]
    mixed = sum(
        share * variables.of_node(np.array(node, dtype=np.uint8)) for share, node in mixture
    )
    assert mixed == pytest.approx(point)

    chain = rounding_chain(variables, point)
    # {a}, {a, d}, {a, d, e}, {a, b, d, e}, {a, b, c, d, e}; the empty set has no chance.
    assert chain.nodes.tolist() == [[0, 0], [1, 0], [1, 1], [1, 2], [2, 2], [3, 2]]
    assert chain.chances == pytest.approx([0, 1 / 3, 1 / 6, 1 / 3, 1 / 6, 0])
    # {a, d, e} is S(1, 2), that is (Tippecanoe, nothing).
    assert chain.nodes[3].tolist() == [1, 2]


def test_a_fractional_node_is_the_mean_of_its_chain():
    rng = np.random.default_rng(4)
    variables = BoxVariables.of(np.zeros(3, dtype=np.uint8), np.array([2, 1, 3], dtype=np.uint8))
    for _ in range(30):
        point = np.concatenate([np.sort(rng.random(size))[::-1] for size in (2, 1, 3)])
        point[rng.random(6) < 0.3] = 0.5  # ties
        for chain_steps in (slice(0, 2), slice(3, 6)):
            point[chain_steps] = np.sort(point[chain_steps])[::-1]
        chain = rounding_chain(variables, point)
        sets = np.array([variables.of_node(node.astype(np.uint8)) for node in chain.nodes])
        assert chain.chances @ sets == pytest.approx(point)
        assert (np.diff(chain.nodes.sum(axis=1)) == 1).all()
        assert chain.chances.sum() == pytest.approx(1)


# The counterexample to Theorem 2.


def test_the_printed_algorithm_has_expected_utility_below_that_of_the_best_node():
    problem = counterexample()
    assert least_risk(problem) == Fraction(1, 1000)
    theta = 0.25
    assert acceptance_bound(theta, COUNTEREXAMPLE) == pytest.approx(1 - 0.75 / 0.875 - 1 / 8)
    risks, utilities = risks_and_utilities(problem)
    best = utilities[risks <= COUNTEREXAMPLE.at_most].max()
    assert best == 0.5

    drawn = [
        approximate(problem, COUNTEREXAMPLE, faithful=True, rng=np.random.default_rng(seed))
        for seed in range(20)
    ]
    # The linear program mixes the raw record and the top, and only the top is accepted.
    assert {approximation.node for approximation in drawn} == {(2,)}
    assert {approximation.utility for approximation in drawn} == {0.0}
    assert drawn[0].utility_bound == pytest.approx(1 - 249 / 999)
    acceptance = 249 / 999
    assert expected_utility_bound(best, 1.0, acceptance) <= 0.0 < best


def test_the_best_of_the_chain_finds_what_rounding_cannot():
    approximation = approximate(counterexample(), COUNTEREXAMPLE)
    assert approximation.node == (1,)
    assert approximation.utility == 0.5
    assert approximation.risk == pytest.approx(1 / 250)


def test_a_constant_severity_still_gets_a_slice():
    approximation = approximate(counterexample(constant=True), COUNTEREXAMPLE)
    assert approximation.node == (1,)


# What holds.


@pytest.mark.parametrize("faithful", [False, True])
def test_the_risk_is_bounded_and_no_allowed_node_beats_the_utility_bound(faithful):
    n_found = 0
    for seed in range(40):
        problem = with_records(seed)
        rng = np.random.default_rng(seed)
        risks, utilities = risks_and_utilities(problem)
        limit = float(risks.min()) * rng.uniform(1.0, 1.3)
        settings = ApproxSettings(at_most=limit, width=0.2, share=0.3, excess=6.0)
        approximation = approximate(problem, settings, faithful=faithful, rng=rng)
        best = utilities[risks <= limit * (1 + 1e-12)].max()
        assert best <= approximation.utility_bound + 1e-6
        if approximation.node is None:
            continue
        n_found += 1
        rank = int(problem.objective.lattice.rank(approximation.node))
        assert approximation.risk == pytest.approx(risks[rank])
        assert approximation.utility == pytest.approx(utilities[rank])
        assert approximation.risk <= settings.risk_bound * (1 + 1e-8)
        if not faithful and approximation.acceptance > 0:
            bound = expected_utility_bound(best, utilities.max(), approximation.acceptance)
            assert approximation.utility >= bound - 1e-6
    assert n_found > 30


def test_the_extension_of_matches_is_the_least_literal_of_each_record():
    """The chain's mean number of matches, which is the Lovász extension by definition."""
    for seed in range(30):
        problem = with_records(seed)
        lattice = problem.objective.lattice
        low, high = (np.array(node, dtype=np.uint8) for node in (lattice.bottom, lattice.top))
        variables = BoxVariables.of(low, high)
        rng = np.random.default_rng(seed)
        point = np.concatenate([np.sort(rng.random(height))[::-1] for height in lattice.heights])
        chain = rounding_chain(variables, point)
        by_chain = chain.chances @ problem.counts(chain.nodes)
        coordinate = np.append(point, 1.0)
        numbers = variables.start + problem.vectors.astype(np.int64)
        literals = np.where(problem.vectors > 0, numbers, len(point))
        by_record = coordinate[literals].min(axis=1) @ problem.multiplicities
        assert by_chain == pytest.approx(by_record)


def test_the_least_risk_is_that_of_enumeration():
    for seed in range(60):
        problem = with_records(seed)
        risks, _ = risks_and_utilities(problem)
        assert float(least_risk(problem)) == pytest.approx(risks.min(), rel=1e-12)


def test_a_limit_below_the_least_risk_finds_nothing_when_limits_are_strict():
    settings = ApproxSettings(at_most=0.0009, width=0.01, share=1.0, excess=1.0)
    approximation = approximate(counterexample(), settings)
    assert approximation.node is None
    assert approximation.utility_bound == -math.inf
    assert approximation.acceptance == 0


def test_roundings_follow_the_chances_of_acceptable_nodes():
    """Two of the three nodes are acceptable; their chances come out over many draws."""
    settings = replace(COUNTEREXAMPLE, share=0.003)
    assert acceptance_bound(0.25, settings) > 0
    rng = np.random.default_rng(2014)
    draws = 100
    nodes = [
        approximate(counterexample(), settings, faithful=True, rng=rng).node for _ in range(draws)
    ]
    expected, deviation = 249 / 999, math.sqrt(draws * 0.25 * 0.75)
    # Five standard deviations: a false alarm in less than one fresh seed of a million.
    assert abs(nodes.count((2,)) - draws * expected) < 5 * deviation
    assert set(nodes) == {(0,), (2,)}


# Settings.


def test_the_condition_of_theorem_2_is_checked_when_faithful():
    settings = replace(COUNTEREXAMPLE, excess=1.0)
    rng = np.random.default_rng(0)
    with pytest.raises(SettingError, match="Theorem 2"):
        approximate(counterexample(), settings, faithful=True, rng=rng)
    assert approximate(counterexample(), settings).acceptance == 0
    with pytest.raises(InternalError, match="random generator"):
        approximate(counterexample(), COUNTEREXAMPLE, faithful=True)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("at_most", 0.0), ("width", 0.0), ("share", 0.0), ("share", 1.1), ("excess", 0.9)],
)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises(SettingError, match="out of range"):
        replace(COUNTEREXAMPLE, **{setting: value})


def test_an_empty_dictionary_is_refused():
    problem = counterexample()
    empty = replace(problem, multiplicities=np.zeros(3, dtype=np.int64))
    with pytest.raises(SettingError, match="at least one record"):
        approximate(empty, COUNTEREXAMPLE)
