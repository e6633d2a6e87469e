"""Minimum cuts: the least maximiser of rewards for variables that are all 1 or all 0."""

from __future__ import annotations

import itertools
import sys
from collections import deque

import numpy as np
import pytest

from hedgerow.disclosure.solvers.min_cut import CAPACITY_BITS, CutTerms, least_maximiser
from hedgerow.errors import MissingExtraError

CHAINS = np.array([0, 0, 1, 2, 2, 2])


def random_terms(rng, n, n_terms, width, *, whole):
    members = np.full((n_terms, width), n)
    for row in members:
        size = rng.integers(2, width + 1)
        row[:size] = np.sort(rng.choice(n, size, replace=False))
    rewards = rng.integers(0, 6, n_terms) if whole else rng.random(n_terms) * 5
    return CutTerms(members, rewards.astype(float))


def closed_sets(attribute):
    """All assignments in which a level holds only if the level below it does."""
    for flags in itertools.product([False, True], repeat=len(attribute)):
        ones = np.array(flags)
        if not (ones[1:] & ~ones[:-1] & (attribute[1:] == attribute[:-1])).any():
            yield ones


def value_of(ones, unary, all_one, all_zero):
    met = np.append(ones, True)[all_one.members].all(axis=1)
    unmet = np.append(~ones, True)[all_zero.members].all(axis=1)
    return unary[~ones].sum() + all_one.rewards[met].sum() + all_zero.rewards[unmet].sum()


@pytest.mark.parametrize("whole", [True, False])
def test_the_cut_is_the_least_maximiser(whole):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n = len(CHAINS)
        unary = rng.integers(-6, 7, n).astype(float) if whole else rng.normal(size=n) * 5
        all_one = random_terms(rng, n, int(rng.integers(0, 8)), 4, whole=whole)
        all_zero = random_terms(rng, n, int(rng.integers(0, 8)), 4, whole=whole)
        reference = np.zeros(n, dtype=bool)
        values = {
            tuple(ones): value_of(ones, unary, all_one, all_zero) for ones in closed_sets(CHAINS)
        }
        most = max(values.values())
        cut = least_maximiser(CHAINS, unary, all_one, all_zero, reference=reference)
        gained = most - values[tuple(reference)]
        assert values[tuple(cut.ones)] == pytest.approx(most, abs=1e-12)
        assert abs(cut.advantage - gained) <= cut.rounding + 1e-12
        if whole:
            best = [ones for ones, value in values.items() if value == most]
            assert cut.ones.tolist() == np.all(best, axis=0).tolist()
            assert (cut.advantage, cut.rounding) == (gained, 0)
        else:
            assert cut.rounding < 1e-13


def test_the_advantage_is_over_the_reference():
    nothing = CutTerms(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    reference = np.array([True, True])
    unary = np.array([3.0, -1.0])
    cut = least_maximiser(np.array([0, 1]), unary, nothing, nothing, reference=reference)
    assert cut.ones.tolist() == [False, True]
    assert cut.advantage == 3


def test_no_reward_at_all_leaves_everything_specific():
    nothing = CutTerms(np.zeros((0, 1), dtype=np.int64), np.zeros(0))
    cut = least_maximiser(
        np.array([0, 0]), np.zeros(2), nothing, nothing, reference=np.ones(2, dtype=bool)
    )
    assert (cut.ones.any(), cut.advantage, cut.rounding) == (False, 0, 0)


@pytest.mark.parametrize("size", [1e-200, 1e-6, 1.0, 1e12, 1e200])
def test_capacities_fit_64_bits_whatever_the_size_of_the_rewards(size):
    rng = np.random.default_rng(3)
    n = len(CHAINS)
    unary = rng.integers(-6, 7, n) * size
    all_one = random_terms(rng, n, 40, 4, whole=True)
    all_zero = random_terms(rng, n, 40, 4, whole=True)
    scaled_one = all_one._replace(rewards=all_one.rewards * size)
    scaled_zero = all_zero._replace(rewards=all_zero.rewards * size)
    reference = np.zeros(n, dtype=bool)
    cut = least_maximiser(CHAINS, unary, scaled_one, scaled_zero, reference=reference)
    plain = least_maximiser(CHAINS, np.rint(unary / size), all_one, all_zero, reference=reference)
    assert cut.ones.tolist() == plain.ones.tolist()
    total = np.abs(unary).sum() + scaled_one.rewards.sum() + scaled_zero.rewards.sum()
    assert abs(cut.advantage - plain.advantage * size) <= total * 2.0**-50


def float_cut(arcs, n_nodes, source, sink):
    """A textbook maximum flow with float capacities, and what the source still reaches."""
    residual = np.zeros((n_nodes, n_nodes))
    for tail, head, capacity in arcs:
        residual[tail, head] += capacity
    while True:
        came_from = {source: source}
        queue = deque([source])
        while queue and sink not in came_from:
            here = queue.popleft()
            for there in np.flatnonzero(residual[here] > 0):
                if int(there) not in came_from:
                    came_from[int(there)] = here
                    queue.append(int(there))
        if sink not in came_from:
            return set(came_from)
        path, here = [], sink
        while here != source:
            path.append((came_from[here], here))
            here = came_from[here]
        flow = min(residual[arc] for arc in path)
        for tail, head in path:
            residual[tail, head] -= flow
            residual[head, tail] += flow


def test_a_tie_falls_to_the_specific_side_where_float_capacities_let_it_slip():
    """One record needs three attributes whose costs, 0.1 each, add up to its reward, 0.3.

    With floats 0.3 - 0.1 - 0.1 - 0.1 leaves a crumb, the source still reaches the record's
    node, and all three attributes are generalised for nothing.
    """
    needs = 3
    source, sink, project = needs, needs + 1, needs + 2
    reward, costs = 0.1 * 3, [0.1] * needs
    arcs = [(source, project, reward), *((v, sink, costs[v]) for v in range(needs))]
    arcs += [(project, v, reward) for v in range(needs)]
    assert project in float_cut(arcs, needs + 3, source, sink)

    nothing = CutTerms(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    record = CutTerms(np.array([[0, 1, 2]]), np.array([3.0]))
    cut = least_maximiser(
        np.arange(needs), np.ones(needs), record, nothing, reference=np.zeros(needs, dtype=bool)
    )
    assert not cut.ones.any()
    assert (cut.advantage, cut.rounding) == (0, 0)


def test_what_rounding_takes_away_is_reported():
    """A reward far below the others is lost: the cut must own up to it."""
    nothing = CutTerms(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    small = 2.0**-CAPACITY_BITS
    cut = least_maximiser(
        np.array([0, 1]), np.array([1.0, -small]), nothing, nothing, reference=np.zeros(2, bool)
    )
    assert not cut.ones[1]
    assert cut.rounding == 2 * small


def test_without_the_solver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.graph.python.max_flow", None)
    nothing = CutTerms(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    with pytest.raises(MissingExtraError, match="disclose"):
        least_maximiser(
            np.array([0]), np.ones(1), nothing, nothing, reference=np.zeros(1, dtype=bool)
        )
