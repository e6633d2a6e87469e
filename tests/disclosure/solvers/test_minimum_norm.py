"""The minimum-norm point, and the extension of functions on chains to all sets of steps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hedgerow.disclosure.solvers.min_cut import CutTerms, least_maximiser
from hedgerow.disclosure.solvers.minimum_norm import maximise_supermodular
from hedgerow.disclosure.solvers.ring_family import RingFamily
from support.aggregate_problems import cube_of, random_problem

EXTENSIONS = ("marginals", "penalty")


def values_of(problem):
    """The objective of a small problem as a function of many nodes."""
    values = problem.objective.over_cube(cube_of(problem)).reshape(-1)
    return lambda nodes: values[problem.objective.lattice.rank(nodes)]


def all_sets(n):
    return np.array(list(itertools.product([False, True], repeat=n)))


# The hypercube.


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_extension_is_supermodular_and_at_most_the_function(extension):
    for seed in range(25):
        problem = random_problem(
            seed, whole=False, power=seed % 3, most_attributes=3, most_levels=3
        )
        lattice = problem.objective.lattice
        family = RingFamily(values_of(problem), lattice.heights, extension=extension)
        sets = all_sets(len(family))
        extended = family.extended(sets)
        nodes = family.nodes(sets)
        slack = 1e-9 * (1 + np.abs(extended).max())
        assert (extended <= family.values(nodes) + slack).all()
        # On the family itself, sets of all steps up to a node, nothing changes.
        steps = family.level <= nodes[:, family.attribute]
        own = (steps == sets).all(axis=1)
        assert own.sum() == lattice.n_nodes
        assert extended[own] == pytest.approx(family.values(nodes[own]), abs=slack)
        assert violation(extended, len(family)) <= slack


def violation(values, n):
    """The worst violation of supermodularity by any two elements added to any set."""
    cube = values.reshape((2,) * n)
    worst = 0.0
    for i, j in itertools.combinations(range(n), 2):
        worst = max(worst, -float(np.diff(np.diff(cube, axis=i), axis=j).min()))
    return worst


def test_a_careless_extension_would_be_noticed():
    problem = random_problem(4, whole=False, most_attributes=3, most_levels=3)
    family = RingFamily(values_of(problem), problem.objective.lattice.heights)
    family.prices[:] = 0
    family._paid = [costs * 0 for costs in family._paid]
    extended = family.extended(all_sets(len(family)))
    assert violation(extended, len(family)) > 1e-3


def test_sets_are_met_in_order():
    family = RingFamily(lambda nodes: nodes.sum(axis=1).astype(float), (2, 1))
    nodes, values, extended = family.along(np.array([2, 1, 0]))
    assert nodes.tolist() == [[0, 0], [0, 1], [2, 1], [2, 1]]
    assert values.tolist() == [0, 1, 3, 3]
    # Step (0, 1) is missing from the third set and costs its marginal, 1.
    assert extended.tolist() == [0, 1, 2, 3]


# The optimum.


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_it_finds_the_best_node_of_small_lattices(extension):
    for seed in range(250):
        problem = random_problem(seed, whole=seed % 2 == 0, power=seed % 4)
        values = values_of(problem)
        lattice = problem.objective.lattice
        optimum = maximise_supermodular(values, lattice.heights, extension=extension)
        most = float(values(lattice.every_node()).max())
        assert optimum.value == pytest.approx(most, rel=1e-12)
        assert optimum.value == float(values(np.array([optimum.node]))[0])
        assert optimum.gap <= 1e-9 * (1 + most)


def test_real_powers_and_modular_functions_work():
    problem = random_problem(11, whole=False, power=1.7)
    values = values_of(problem)
    lattice = problem.objective.lattice
    optimum = maximise_supermodular(values, lattice.heights)
    assert optimum.value == pytest.approx(values(lattice.every_node()).max())
    slopes = np.array([1.0, -2.0, 3.0])
    modular = maximise_supermodular(lambda nodes: nodes @ slopes, (2, 2, 1))
    assert (modular.node, modular.value, modular.gap) == ((2, 0, 1), 5.0, 0.0)


def test_a_lattice_of_one_node_and_a_constant_function_have_a_best_node():
    assert maximise_supermodular(lambda nodes: np.full(len(nodes), 2.5), (0, 0)).node == (0, 0)
    constant = maximise_supermodular(lambda nodes: np.zeros(len(nodes)), (2, 1))
    assert (constant.value, constant.gap) == (0.0, 0.0)


def grid_cut(side, rng):
    """A grid of ``side * side`` attributes whose neighbours want the same level."""
    n = side * side
    cells = np.arange(n).reshape(side, side)
    pairs = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    pairs = np.concatenate([np.stack([a.reshape(-1), b.reshape(-1)], axis=1) for a, b in pairs])
    together = rng.integers(1, 50, len(pairs)).astype(float)
    alone = rng.integers(-60, 61, n).astype(float)

    def values(nodes):
        return nodes @ alone - (nodes[:, pairs[:, 0]] != nodes[:, pairs[:, 1]]) @ together

    return pairs, together, alone, values


@pytest.mark.parametrize("side", [10, 17])
def test_it_agrees_with_minimum_cuts_on_hundreds_of_attributes(side):
    pairs, together, alone, values = grid_cut(side, np.random.default_rng(side))
    n = side * side
    # -c [a != b] = c ab + c (1-a)(1-b) - c
    rewards = CutTerms(pairs, together)
    zeros = np.zeros(n, dtype=bool)
    cut = least_maximiser(np.arange(n), -alone, rewards, rewards, reference=zeros)
    optimum = maximise_supermodular(values, (1,) * n, whole=True)
    assert optimum.gap < 1
    assert optimum.value == values(cut.ones[None, :].astype(int))[0] == cut.advantage
    assert 0 < cut.ones.sum() < n


def test_three_hundred_steps_in_long_chains_do_not_upset_it():
    """Sixty chains of five steps; convex costs of neighbours' differences are supermodular."""
    k, height = 60, 5
    rng = np.random.default_rng(300)
    wanted = rng.integers(-40, 41, (k, height + 1)).astype(float)
    wanted -= wanted[:, :1]
    pull = rng.integers(1, 6, k - 1).astype(float)

    def values(nodes):
        alone = wanted[np.arange(k), nodes].sum(axis=1)
        return alone - np.diff(nodes, axis=1) ** 2 @ pull

    optimum = maximise_supermodular(values, (height,) * k, whole=True)
    assert optimum.gap < 1
    assert optimum.value == best_of_a_path(wanted, pull)


def best_of_a_path(wanted, pull):
    """The same optimum by dynamic programming along the chains."""
    levels = np.arange(wanted.shape[1])
    squares = (levels[:, None] - levels) ** 2
    best = wanted[0]
    for own, strength in zip(wanted[1:], pull, strict=True):
        best = own + (best - strength * squares).max(axis=1)
    return best.max()


def test_permuted_iwata_functions_are_minimised():
    """The usual hard case, ``|S| |V - S| - Σ (5j - 2n)``, for 300 elements."""
    n = 300
    weights = np.random.default_rng(9).permutation(5 * np.arange(1, n + 1) - 2 * n)

    def values(nodes):
        size = nodes.sum(axis=1)
        return (nodes @ weights - size * (n - size)).astype(float)

    sizes = np.arange(n + 1)
    expected = (np.append(0, np.cumsum(np.sort(weights)[::-1])) - sizes * (n - sizes)).max()
    optimum = maximise_supermodular(values, (1,) * n, whole=True)
    assert optimum.value == expected
    assert optimum.gap < 1


def test_the_gap_says_when_the_walk_was_cut_short():
    _, _, _, values = grid_cut(10, np.random.default_rng(10))
    short = maximise_supermodular(values, (1,) * 100, most_steps=2)
    long = maximise_supermodular(values, (1,) * 100, whole=True)
    assert short.n_steps == 2
    assert short.gap > 1 > long.gap
    assert short.value + short.gap >= long.value


def test_whole_values_end_the_walk_earlier():
    _, _, _, values = grid_cut(10, np.random.default_rng(10))
    whole = maximise_supermodular(values, (1,) * 100, whole=True)
    exact = maximise_supermodular(values, (1,) * 100, tolerance=1e-12)
    assert whole.value == exact.value
    assert whole.n_steps <= exact.n_steps
