"""The threshold problems: all searches find the same optimum, and it is one."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.lattice.threshold import Balance, MaximiseUtility, MinimiseRisk
from hedgerow.disclosure.solvers import brute_force as brute
from hedgerow.disclosure.solvers.aruba import (
    across_squares,
    aruba,
    path_nodes,
    within_cube,
)
from hedgerow.disclosure.solvers.climb import Climb
from hedgerow.disclosure.solvers.solve import METHODS, solve
from hedgerow.errors import SettingError
from support.landscapes import TableLandscape, paper_example, random_landscape

N_LATTICES = 1000


def threshold(values, rng) -> float:
    """One of the values that occur, or one that all, or none, of them meet."""
    low, high = values.min(), values.max()
    return float(rng.choice([rng.choice(values), low, high, low - 1, high + 1], p=CASES))


CASES = [0.8, 0.05, 0.05, 0.05, 0.05]


def problems(seed):
    """A random landscape, and one objective of each direction."""
    landscape = random_landscape(seed)
    rng = np.random.default_rng([seed, 1])
    risks, utilities = landscape.risks().reshape(-1), landscape.utilities().reshape(-1)
    return landscape, [
        MinimiseRisk(at_least=threshold(utilities, rng)),
        MaximiseUtility(at_most=threshold(risks, rng)),
    ]


def optimum(landscape, objective) -> float | None:
    """The best value over all nodes, straight from the definition."""
    risks, utilities = landscape.risks(), landscape.utilities()
    if isinstance(objective, MinimiseRisk):
        eligible = risks[utilities >= objective.at_least]
        return float(eligible.min()) if eligible.size else None
    eligible = utilities[risks <= objective.at_most]
    return float(eligible.max()) if eligible.size else None


def test_all_searches_agree_on_a_thousand_random_lattices():
    infeasible = everything = 0
    for seed in range(N_LATTICES):
        landscape, objectives = problems(seed)
        for objective in objectives:
            answers = {method: solve(landscape, objective, method) for method in METHODS}
            best = optimum(landscape, objective)
            nodes = {answer.node for answer in answers.values()}
            assert len(nodes) == 1, (seed, objective)
            for answer in answers.values():
                assert answer.exact
                if answer.node is None:
                    assert best is None
                    assert math.isnan(answer.risk)
                    continue
                assert answer.risk == landscape.risk(answer.node)
                assert answer.utility == landscape.utility(answer.node)
                risky = isinstance(objective, MinimiseRisk)
                assert best == (answer.risk if risky else answer.utility)
                assert risky or answer.risk <= objective.at_most
                assert not risky or answer.utility >= objective.at_least
                assert 1 <= answer.n_visited <= landscape.lattice.n_nodes
            infeasible += best is None
            everything += Climb(landscape, objective).feasible(landscape.lattice.top)
    assert infeasible > N_LATTICES / 20
    assert everything > N_LATTICES / 20


def test_the_balance_of_risk_and_utility_is_the_same_by_both_ways():
    for seed in range(300):
        landscape = random_landscape(seed)
        rate = float(np.random.default_rng([seed, 2]).choice([0, 0.1, 0.5, 2]))
        balance = landscape.risks() - rate * landscape.utilities()
        answers = [
            solve(landscape, Balance(rate=rate), method)
            for method in ("brute-force", "branch-and-bound")
        ]
        assert answers[0].node == answers[1].node
        for answer in answers:
            assert answer.risk - rate * answer.utility == balance.min()


def test_no_answer_can_take_a_level_back_for_nothing():
    """Of two nodes of the same risk the more useful one is disclosed, and the reverse."""
    for seed in range(300):
        landscape, objectives = problems(seed)
        for objective in objectives:
            answer = solve(landscape, objective)
            if answer.node is None:
                continue
            if isinstance(objective, MinimiseRisk):
                for lower in landscape.lattice.below(answer.node):
                    assert landscape.risk(lower) > answer.risk
            else:
                for higher in landscape.lattice.above(answer.node):
                    assert landscape.utility(higher) < answer.utility


def test_a_threshold_may_be_a_share_of_the_records_own_utility():
    landscape = paper_example()
    share = solve(landscape, MinimiseRisk(at_least=0.6, of_most=True))
    assert share.node == solve(landscape, MinimiseRisk(at_least=18)).node


@pytest.mark.parametrize("method", METHODS)
def test_where_nothing_is_feasible_nothing_is_disclosed(method):
    for objective in (MinimiseRisk(at_least=31), MaximiseUtility(at_most=-1)):
        answer = solve(paper_example(), objective, method)
        assert answer.node is None
        assert math.isnan(answer.risk)
        assert math.isnan(answer.utility)


@pytest.mark.parametrize("method", METHODS)
def test_where_everything_is_feasible_the_end_of_the_climb_is_disclosed(method):
    """There is no frontier then, and [ARUBA, Alg. 2] could not even start."""
    assert solve(paper_example(), MinimiseRisk(at_least=0), method).node == (4, 3)
    assert solve(paper_example(), MaximiseUtility(at_most=80), method).node == (0, 0)


down_sets = st.lists(st.integers(0, 3), min_size=1, max_size=4).flatmap(
    lambda heights: st.tuples(
        st.just(tuple(heights)),
        st.lists(st.tuples(*(st.integers(0, h) for h in heights)), min_size=1, max_size=4),
    )
)


def climb_over(heights, corners) -> Climb:
    """A climb whose feasible nodes are those below some corners."""
    inside = np.zeros([h + 1 for h in heights])
    for corner in corners:
        inside[tuple(slice(0, level + 1) for level in corner)] = 1
    landscape = TableLandscape(
        lattice=Lattice(heights=tuple(heights)), risk_of=inside, utility_of=inside
    )
    return Climb(landscape, MinimiseRisk(at_least=1))


def reached(climb, start, neighbours):
    seen, waiting = {start}, [start]
    while waiting:
        for other in neighbours(climb, waiting.pop()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def frontier_of(climb):
    nodes = product(*(range(h + 1) for h in climb.lattice.heights))
    return {
        node
        for node in nodes
        if climb.feasible(node) and not all(map(climb.feasible, climb.lattice.above(node)))
    }


@given(shape=down_sets)
@pytest.mark.parametrize("neighbours", [across_squares, within_cube])
def test_the_frontier_is_connected_by_the_moves_of_the_walk(neighbours, shape):
    climb = climb_over(*shape)
    frontier = frontier_of(climb)
    for start in sorted(frontier)[:3]:
        assert reached(climb, start, neighbours) == frontier


def test_moves_along_single_attributes_would_not_connect_it():
    climb = climb_over((2, 2), [(1, 0), (0, 1)])
    frontier = frontier_of(climb)
    assert frontier == {(1, 0), (0, 1)}  # one step apart along two attributes, not along one
    assert reached(climb, (1, 0), across_squares) == frontier


@settings(max_examples=50)
@given(shape=down_sets, seed=st.integers(0, 99))
def test_every_start_and_every_move_finds_the_same_node(shape, seed):
    heights = shape[0]
    steps = np.repeat(np.arange(len(heights)), heights)
    path = [int(i) for i in np.random.default_rng(seed).permutation(steps)]
    nodes = {
        aruba(climb_over(*shape), start=start, moves=moves, path=way)
        for start in ("bisect", "walk")
        for moves in ("squares", "cube")
        for way in (path, None)
    }
    assert len(nodes) == 1


def test_a_path_climbs_from_the_bottom_to_the_top():
    lattice = Lattice(heights=(1, 2))
    assert path_nodes(lattice) == [(0, 0), (0, 1), (0, 2), (1, 2)]
    assert path_nodes(lattice, [1, 0, 1]) == [(0, 0), (0, 1), (1, 1), (1, 2)]
    with pytest.raises(SettingError, match="does not end at the top"):
        path_nodes(lattice, [0])


def test_branch_and_bound_visits_few_nodes_of_a_large_lattice():
    rng = np.random.default_rng(1)
    lattice = Lattice(heights=(3,) * 9)
    landscape = SumLandscape(lattice, [np.sort(rng.random(4))[::-1] for _ in range(9)])
    answer = solve(landscape, MinimiseRisk(at_least=13), "branch-and-bound")
    assert answer.utility >= 13
    assert answer.n_visited < lattice.n_nodes / 20
    assert answer.risk == solve(landscape, MinimiseRisk(at_least=13), "btda").risk


class SumLandscape:
    """Risk is a sum over attributes, utility the depth: for lattices too large for arrays."""

    monotone = True

    def __init__(self, lattice, parts):
        self.lattice = lattice
        self.parts = parts

    def risk(self, node):
        return float(sum(part[level] for part, level in zip(self.parts, node, strict=True)))

    def utility(self, node):
        return float(sum(self.lattice.heights) - sum(node))


def test_brute_force_refuses_lattices_beyond_memory(monkeypatch):
    monkeypatch.setattr(brute, "MOST_NODES", 10)
    with pytest.raises(SettingError, match="aruba or branch-and-bound"):
        solve(paper_example(), MinimiseRisk(at_least=1), "brute-force")


@pytest.mark.parametrize("method", ["btda", "aruba"])
def test_a_balance_has_no_threshold_to_search_along(method):
    with pytest.raises(SettingError, match="has no threshold"):
        solve(paper_example(), Balance(rate=1), method)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MinimiseRisk(at_least=math.nan),
        lambda: MaximiseUtility(at_most=math.inf),
        lambda: Balance(rate=-1),
        lambda: solve(paper_example(), MinimiseRisk(at_least=1), "simplex"),
        lambda: aruba(climb_over((1,), [(0,)]), start="guess"),
        lambda: aruba(climb_over((1,), [(0,)]), moves="jumps"),
    ],
)
def test_settings_that_cannot_be_are_refused(make):
    with pytest.raises(SettingError):
        make()


def test_an_answer_shows_no_risk():
    answer = solve(paper_example(), MinimiseRisk(at_least=18))
    assert repr(answer) == object.__repr__(answer), "the type and where it lies, nothing it holds"
