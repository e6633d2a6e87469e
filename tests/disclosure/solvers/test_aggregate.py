"""The aggregate model: what it maximises, the bracket, and Dinkelbach's method over min cuts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.solvers.aggregate import (
    best_in_cube,
    maximise_aggregate,
    maximise_by_minimum_norm,
)
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective, AggregateProblem
from hedgerow.disclosure.solvers.bracket import bracket
from hedgerow.disclosure.solvers.monomials import BoxVariables, powers_of
from hedgerow.disclosure.solvers.relaxation import RelaxedDictionary, balanced_orders
from hedgerow.errors import InternalError, SettingError
from support.aggregate_problems import (
    cube_of,
    exact_values,
    falling,
    least_best,
    random_problem,
    supermodular_violation,
)

POWERS = (0, 1, 2, 3)


def objective_of(*, heights=(1, 1), floor=1.0, power=1, risk_weight=1.0, weights=None):
    parts = tuple(np.arange(height, -1, -1.0) for height in heights)
    return AggregateObjective(
        lattice=Lattice(heights=heights),
        utility_parts=parts,
        severity_parts=parts if weights is None else weights,
        risk_weight=risk_weight,
        power=power,
        floor=floor,
    )


def with_records(objective, *vectors):
    return AggregateProblem(
        objective=objective,
        vectors=np.array(vectors, dtype=np.uint8).reshape(len(vectors), -1),
        multiplicities=np.ones(len(vectors), dtype=np.int64),
    )


# What is maximised.


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 2.7, 3])
def test_matches_and_the_aggregate_are_supermodular(power):
    for seed in range(60):
        problem = random_problem(seed, whole=False, power=power)
        cube = cube_of(problem)
        assert supermodular_violation(cube.astype(float)) == 0
        values = problem.objective.over_cube(cube)
        assert supermodular_violation(values) <= 1e-12 * (1 + values.max())


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 3])
def test_severity_times_a_power_of_utility_is_supermodular(power):
    for seed in range(60):
        lattice = Lattice(heights=(3, 2, 2))
        rng = np.random.default_rng(seed)
        severity, utility = (
            lattice.totals([falling(rng, size, whole=False) for size in lattice.shape])
            for _ in range(2)
        )
        values = severity * utility**power
        assert supermodular_violation(values) <= 1e-12 * (1 + values.max())


def test_a_power_below_one_is_not_supermodular_and_refused():
    lattice = Lattice(heights=(1, 1))
    utility = lattice.totals([np.array([1.0, 0.0])] * 2)
    assert supermodular_violation(utility**0.5) > 0.3  # the check can fail
    with pytest.raises(SettingError, match="0 or a number of 1 or more"):
        objective_of(power=0.5)


def test_weights_that_grow_with_the_level_are_not_supermodular_and_refused():
    lattice = Lattice(heights=(1, 1))
    growing = [np.array([0.0, 1.0])] * 2
    falling_parts = [np.array([1.0, 0.0])] * 2
    values = lattice.totals(growing) * lattice.totals(falling_parts)
    assert supermodular_violation(values) == 2
    with pytest.raises(SettingError, match="grows with its level"):
        objective_of(weights=tuple(growing))


def test_the_value_of_a_node_is_that_of_the_paper():
    # Two of three records fit (0, 1); Φ = 1 + 1 + 0 and u = 1 + 0.
    problem = with_records(objective_of(power=2, risk_weight=6.0), (0, 0), (0, 1), (1, 1))
    assert problem.exact_value((0, 1)) == 6 * Fraction(2, 2) + 1
    assert problem.values(np.array([[0, 1], [1, 1]])).tolist() == [7.0, 18.0]
    cube = problem.objective.over_cube(cube_of(problem))
    assert cube.tolist() == [[6 / 3 + 4, 7.0], [6 / 2 + 1, 18.0]]


def test_without_severities_every_node_is_equally_sensitive():
    objective = replace(objective_of(floor=0.0), severity_parts=None)
    assert objective.severity([[0, 0], [1, 1]]).tolist() == [1.0, 1.0]
    assert objective.exact_severity((0, 1)) == 1


@pytest.mark.parametrize(
    ("setting", "value"), [("risk_weight", -1.0), ("floor", float("nan")), ("power", -1)]
)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises(SettingError, match="out of range"):
        objective_of(**{setting: value})


def test_level_vectors_must_fit_the_lattice():
    with pytest.raises(InternalError, match="above the lattice"):
        with_records(objective_of(), (0, 2))
    with pytest.raises(InternalError, match="do not fit"):
        with_records(objective_of(), (0, 0, 0))


# The bracket.


@pytest.mark.parametrize("whole", [True, False])
def test_the_bracket_holds_the_least_maximiser(whole):
    n_closed = 0
    for seed in range(120):
        problem = random_problem(seed, whole=whole, power=seed % 3)
        box = bracket(problem)
        _, best = least_best(exact_values(problem))
        assert (box.low <= best).all()
        assert (best <= box.high).all()
        n_closed += box.closed
    assert 20 < n_closed < 110


def test_vectors_outside_the_bracket_stand_for_no_record():
    for seed in range(100):
        problem = random_problem(seed, whole=False)
        box = bracket(problem)
        outside = (box.columns > box.high[:, None]).any(axis=0)
        assert (box.many[outside] == 0).all()
        assert box.many.sum() == problem.count(box.high)


# The dictionary with only some of its literals.


def test_the_relaxed_count_is_never_too_small_and_exact_where_it_was_tightened():
    n_loose = 0
    for seed in range(150):
        problem = random_problem(seed, whole=False, power=2)
        box = bracket(problem)
        if box.closed:
            continue
        variables = BoxVariables.of(box.low, box.high)
        orders = balanced_orders(problem.objective, box, 1.0)
        relaxed = RelaxedDictionary(box, variables, orders, exact_at=box.low)
        assert relaxed.count(box.low) == problem.count(box.low)
        nodes = np.random.default_rng(seed).integers(
            box.low, box.high, size=(8, len(box.low)), endpoint=True
        )
        for node in nodes.astype(np.uint8):
            n_loose += relaxed.count(node) > problem.count(node)
            assert relaxed.count(node) >= problem.count(node)
            relaxed.tighten(node)
            assert relaxed.count(node) == problem.count(node)
            assert not relaxed.tighten(node)
        assert relaxed.count(box.low) == problem.count(box.low)
        assert relaxed.sizes.sum() == box.many.sum()
    assert n_loose > 20


def test_a_product_of_sums_is_multiplied_out():
    for seed in range(60):
        problem = random_problem(seed, whole=True, power=seed % 4)
        objective, lattice = problem.objective, problem.objective.lattice
        low = np.zeros(lattice.n_attributes, dtype=np.uint8)
        high = np.array(lattice.top, dtype=np.uint8)
        variables = BoxVariables.of(low, high)
        powers = powers_of(objective, variables, high)
        nodes = lattice.every_node()
        expected = objective.severity(nodes) * objective.utility(nodes) ** objective.power
        for node, value in zip(nodes, expected - expected[-1], strict=True):
            zeros = ~variables.of_node(node)
            met = np.append(zeros, True)[powers.sets.members].all(axis=1)
            assert powers.singles[zeros].sum() + powers.sets.rewards[met].sum() == value


# The best node.


@pytest.mark.parametrize(
    "power", [POWERS[0], *(pytest.param(each, marks=pytest.mark.audit) for each in POWERS[1:])]
)
def test_min_cuts_minimum_norm_and_enumeration_agree_on_a_thousand_lattices(power):
    n_cut = 0
    for seed in range(1000):
        problem = random_problem(seed, whole=seed % 2 == 0, power=power)
        by_cuts = maximise_aggregate(problem)
        by_norm = maximise_by_minimum_norm(problem)
        listed = best_in_cube(problem.objective, cube_of(problem))
        assert by_cuts.node == listed.node
        assert by_cuts.value == listed.value
        assert by_cuts.gap <= 1e-11 * (1 + float(by_cuts.value)) * (seed % 2)
        assert abs(by_norm.value - by_cuts.value) <= 1e-9 * (1 + by_cuts.value)
        n_cut += by_cuts.n_cuts > 0
    assert n_cut > 40  # coordinate steps did not decide everything


@pytest.mark.parametrize("power", POWERS)
def test_of_whole_numbers_the_least_best_node_is_found_and_proved(power):
    for seed in range(1000, 1120):
        problem = random_problem(seed, whole=True, power=power)
        optimum = maximise_aggregate(problem)
        assert (optimum.value, optimum.node) == least_best(exact_values(problem))
        assert optimum.gap == 0


@pytest.mark.parametrize("power", [1.5, 2.5])
def test_real_powers_are_maximised_by_the_minimum_norm_point(power):
    for seed in range(100):
        problem = random_problem(seed, whole=False, power=power)
        optimum = maximise_by_minimum_norm(problem)
        listed = best_in_cube(problem.objective, cube_of(problem))
        assert abs(optimum.value - listed.value) <= 1e-9 * (1 + listed.value)
    with pytest.raises(SettingError, match="minimum-norm"):
        maximise_aggregate(problem)


def test_fractions_of_two_are_exact_as_well():
    for seed in range(100):
        problem = random_problem(seed, whole=True, power=2)
        objective = replace(
            problem.objective,
            utility_parts=tuple(part / 8 for part in problem.objective.utility_parts),
            risk_weight=problem.objective.risk_weight / 16,
        )
        problem = replace(problem, objective=objective)
        optimum = maximise_aggregate(problem)
        assert (optimum.value, optimum.node) == least_best(exact_values(problem))
        assert optimum.gap == 0


def test_repeated_and_empty_level_vectors_change_nothing():
    for seed in range(60):
        problem = random_problem(seed, whole=True, power=2)
        vectors, many = problem.vectors, problem.multiplicities
        spread = replace(
            problem,
            vectors=np.asfortranarray(
                np.concatenate([vectors, np.repeat(vectors, many - 1, 0), vectors])
            ),
            multiplicities=np.repeat([1, 0], [int(many.sum()), len(many)]),
        )
        ours, theirs = maximise_aggregate(problem), maximise_aggregate(spread)
        assert (ours.node, ours.value) == (theirs.node, theirs.value)


def test_ties_that_decimals_break_stay_within_the_gap():
    """Tenths are no floats: sums that should tie differ in the last bit."""
    for seed in range(120):
        whole = random_problem(seed, whole=True)
        tenths = replace(
            whole.objective,
            utility_parts=tuple(part / 10 for part in whole.objective.utility_parts),
            risk_weight=whole.objective.risk_weight / 10,
        )
        problem = replace(whole, objective=tenths)
        optimum = maximise_aggregate(problem)
        most, _ = least_best(exact_values(problem))
        assert optimum.value == problem.exact_value(optimum.node)
        assert 0 <= most - optimum.value <= Fraction(optimum.gap)
        # The node is one of the best for the numbers that were meant, too.
        meant = exact_values(whole)
        assert meant[optimum.node] == max(meant.values())


# The node that says nothing.


def test_a_node_without_severity_is_refused_unless_excluded():
    problem = with_records(objective_of(floor=0.0), (0, 0), (1, 0), (1, 1))
    for search in (maximise_aggregate, maximise_by_minimum_norm):
        with pytest.raises(SettingError, match="always be the best"):
            search(problem)
    with pytest.raises(SettingError, match="always be the best"):
        best_in_cube(problem.objective, cube_of(problem))
    values = {(0, 0): Fraction(5, 2), (0, 1): Fraction(2), (1, 0): Fraction(3)}
    for optimum in (
        maximise_aggregate(problem, top="excluded"),
        best_in_cube(problem.objective, cube_of(problem), top="excluded"),
    ):
        assert optimum.value == max(values.values()) == values[optimum.node]


@pytest.mark.parametrize("floor", [0.0, 1.0])
def test_excluding_the_top_finds_the_best_of_the_others(floor):
    n_moved = 0
    for seed in range(80):
        problem = random_problem(seed, whole=True)
        lattice = problem.objective.lattice
        if lattice.n_nodes == 1:
            continue
        weights = tuple(np.append(part[:-1] + 1.0, 0.0) for part in problem.objective.utility_parts)
        objective = replace(problem.objective, severity_parts=weights, floor=floor)
        problem = replace(problem, objective=objective)
        above = maximise_aggregate(replace(problem, objective=replace(objective, floor=1.0)))
        optimum = maximise_aggregate(problem, top="excluded")
        values = {
            node: problem.exact_value(node)
            for node in map(tuple, lattice.every_node().tolist())
            if node != lattice.top
        }
        assert optimum.value == max(values.values()) == values[optimum.node]
        assert optimum.gap == 0
        listed = best_in_cube(objective, cube_of(problem), top="excluded")
        assert listed.value == optimum.value
        n_moved += above.node == lattice.top
    assert n_moved > 10


def test_excluding_the_top_does_not_help_against_people_who_do_not_care():
    careless = (np.zeros(2), np.array([1.0, 0.0]))
    problem = with_records(objective_of(floor=0.0, weights=careless), (0, 0))
    with pytest.raises(SettingError, match="other than the fully generalised one"):
        maximise_aggregate(problem, top="excluded")
    with pytest.raises(SettingError, match="other than the fully generalised one"):
        best_in_cube(problem.objective, cube_of(problem), top="excluded")


def test_a_record_that_cannot_be_generalised_has_one_node():
    problem = with_records(objective_of(heights=(0, 0)), (0, 0))
    assert maximise_aggregate(problem).node == (0, 0)
    with pytest.raises(SettingError, match="no other node"):
        maximise_aggregate(problem, top="excluded")


def test_too_large_a_power_points_to_the_minimum_norm_point():
    heights = (3,) * 30
    rng = np.random.default_rng(5)
    vectors = rng.integers(0, 4, size=(50, 30)).astype(np.uint8)
    objective = objective_of(heights=heights, power=4, risk_weight=1e7)
    problem = replace(
        with_records(objective, *vectors[:1]),
        vectors=vectors,
        multiplicities=np.ones(50, dtype=np.int64),
    )
    with pytest.raises(SettingError, match="minimum-norm point"):
        maximise_aggregate(problem)


def test_thousands_of_records_and_many_attributes_agree_with_the_minimum_norm_point():
    """No enumeration here: 4^20 nodes. Both proofs of optimality must meet."""
    n_open = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        heights = tuple(int(height) for height in rng.integers(1, 4, 20))
        skew = rng.uniform(0.3, 0.9, 20)
        vectors = np.stack(
            [
                rng.binomial(h, p, 3000) * (rng.random(3000) < 0.6)
                for h, p in zip(heights, skew, strict=True)
            ],
            axis=1,
        ).astype(np.uint8)
        objective = AggregateObjective(
            lattice=Lattice(heights=heights),
            utility_parts=tuple(falling(rng, h + 1, whole=False) for h in heights),
            severity_parts=None,
            risk_weight=rng.uniform(2, 8) / 3000,
        )
        problem = AggregateProblem(
            objective=objective, vectors=vectors, multiplicities=np.ones(3000, dtype=np.int64)
        )
        by_cuts = maximise_aggregate(problem)
        by_norm = maximise_by_minimum_norm(problem)
        assert by_cuts.gap <= 1e-10
        assert abs(by_norm.value - by_cuts.value) <= 1e-8 * by_cuts.value
        n_open += by_cuts.n_cuts > 0
    assert n_open
