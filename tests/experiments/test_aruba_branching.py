"""The heuristic branch and bound beside the exact one, and the printed moves of ARUBA."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.aruba import ARUBA, EXACT, SEARCHES, SHARES, SQUARES
from experiments.aruba_branching import heuristic_branch_and_bound
from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.lattice.threshold import MinimiseRisk
from hedgerow.disclosure.solvers.branch_and_bound import branch_and_bound
from hedgerow.disclosure.solvers.climb import Climb
from support.landscapes import TableLandscape, paper_example, random_landscape


def two_ways() -> TableLandscape:
    """Two attributes of two steps: the first step that promises less leads further down."""
    return TableLandscape(
        lattice=Lattice(heights=(2, 2)),
        risk_of=np.array([[10.0, 6.0, 1.0], [5.0, 4.5, 1.0], [4.0, 4.0, 0.5]]),
        utility_of=np.array([[4.0, 3.0, 2.0], [3.0, 1.0, 0.5], [2.0, 0.5, 0.0]]),
    )


def test_the_heuristic_misses_the_best_node_and_the_exact_one_does_not():
    asked = MinimiseRisk(at_least=2.0)
    heuristic, exact = (Climb(two_ways(), asked) for _ in range(2))
    found = heuristic.answer(heuristic_branch_and_bound(heuristic))
    best = exact.answer(branch_and_bound(exact))
    assert (found.node, found.risk) == ((2, 0), 4.0)  # by way of the 5, which is less than the 6
    assert (best.node, best.risk) == ((0, 2), 1.0)


def test_the_heuristic_is_feasible_never_better_and_looks_at_fewer_nodes():
    missed, visited = 0, []
    for seed in range(200):
        landscape = random_landscape(seed)
        climbs = [Climb(landscape, MinimiseRisk(at_least=0.5, of_most=True)) for _ in range(2)]
        found = climbs[0].answer(heuristic_branch_and_bound(climbs[0]))
        best = climbs[1].answer(branch_and_bound(climbs[1]))
        assert (found.node is None) == (best.node is None)
        if best.node is None:
            continue
        assert climbs[0].feasible(found.node)
        assert found.risk >= best.risk
        missed += found.risk > best.risk
        visited.append((found.n_visited, landscape.lattice.n_nodes))
    assert 0 < missed < 200
    assert np.mean([each[0] for each in visited]) < np.mean([each[1] for each in visited])


def test_where_no_node_is_feasible_there_is_no_answer():
    climb = Climb(two_ways(), MinimiseRisk(at_least=5.0))
    assert heuristic_branch_and_bound(climb) is None


@pytest.mark.parametrize("name", [ARUBA, SQUARES, EXACT])
def test_the_exact_searches_of_figure_7_find_the_printed_optimum(name):
    climb = Climb(paper_example(), MinimiseRisk(at_least=18))
    other = Climb(paper_example(), MinimiseRisk(at_least=18))
    assert climb.answer(SEARCHES[name](climb)).risk == other.answer(branch_and_bound(other)).risk


def test_figure_7_runs_the_printed_cube_at_the_printed_thresholds():
    climb = Climb(random_landscape(3), MinimiseRisk(at_least=0.5, of_most=True))
    assert SEARCHES[ARUBA].keywords == {"moves": "cube"}
    assert climb.answer(SEARCHES[ARUBA](climb)).node is not None
    assert [round(250 * share) for share in SHARES] == list(range(30, 241, 30))
