"""The example of [ARUBA, Sec. V-C], Figs. 5 and 6."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.disclosure.lattice.threshold import MinimiseRisk
from hedgerow.disclosure.solvers.aruba import across_squares, aruba, within_cube
from hedgerow.disclosure.solvers.btda import btda
from hedgerow.disclosure.solvers.climb import Climb
from hedgerow.disclosure.solvers.solve import METHODS, solve
from support.landscapes import FILLED_IN, LETTER_OF, NODE_OF, PRINTED, paper_example

USEFUL = MinimiseRisk(at_least=18)
PATH = (1, 1, 1, 0, 0, 0, 0)  # a, c, f, j, ...: up the second attribute first


class WatchedClimb(Climb):
    """A climb that keeps what had been visited at each question of feasibility."""

    def __init__(self) -> None:
        super().__init__(paper_example(), USEFUL)
        self.asked: list[tuple[str, str]] = []

    def feasible(self, node):
        self.asked.append((LETTER_OF[node], self.letters))
        return super().feasible(node)

    @property
    def letters(self) -> str:
        return "".join(sorted(LETTER_OF[node] for node in self.visited))


def letters(nodes) -> str:
    return "".join(sorted({LETTER_OF[node] for node in nodes}))


def in_order(text: str) -> str:
    return "".join(sorted(text.replace(" ", "")))


def test_the_figure_is_complete_and_monotone():
    assert set(PRINTED) | set(FILLED_IN) == set(LETTER_OF.values())
    example = paper_example()
    for axis in (0, 1):
        assert (np.diff(example.risk_of, axis=axis) <= 0).all()
        assert (np.diff(example.utility_of, axis=axis) <= 0).all()


def test_the_frontier_is_the_one_underlined():
    climb = Climb(paper_example(), USEFUL)
    feasible = [node for node in LETTER_OF if climb.feasible(node)]
    assert letters(feasible) == "abcef"
    blocked = (n for n in feasible if not all(map(climb.feasible, climb.lattice.above(n))))
    assert letters(blocked) == "bef"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_e_and_not_f(method):
    """The text of the paper calls f optimal; its figures say e, whose risk is lower."""
    answer = solve(paper_example(), USEFUL, method)
    assert answer.node == NODE_OF["e"]
    assert (answer.risk, answer.utility) == (60, 21)


def test_the_queue_runs_through_the_printed_iterations():
    climb = WatchedClimb()
    assert btda(climb) == NODE_OF["e"]
    fronts = "".join(front for front, _ in climb.asked)
    assert len(fronts) == 16
    assert fronts[:5] == "tsrop"
    assert fronts[14:] == "je"
    visited = [visited for _, visited in climb.asked]
    printed = {1: "t", 2: "tsr", 3: "tsrpq", 4: "tsrpqo", 5: "tsrpqokl"}
    assert {i: visited[i - 1] for i in printed} == {i: in_order(v) for i, v in printed.items()}
    last = in_order("tsrpqokl mgnhdij efb")
    assert visited[14] == visited[15] == climb.letters == last
    assert len(climb.visited) == 18


def test_the_frontier_walk_visits_the_printed_nodes():
    climb = WatchedClimb()
    assert aruba(climb, start="walk", moves="cube", path=PATH) == NODE_OF["e"]
    assert [asked for asked, _ in climb.asked[:4]] == ["a", "c", "f", "j"]
    assert climb.letters == in_order("acfj ein bdhm")
    assert len(climb.visited) == 11


def test_the_frontier_walk_runs_through_the_printed_iterations():
    climb = WatchedClimb()
    for letter in "acfj":
        climb.feasible(NODE_OF[letter])
    found = letters(within_cube(climb, NODE_OF["f"]))
    assert (found, climb.letters) == ("ef", in_order("acfj ein"))
    found = letters(within_cube(climb, NODE_OF["e"]))
    assert (found, climb.letters) == ("bef", in_order("acfj ein bdhm"))
    found = letters(within_cube(climb, NODE_OF["b"]))
    assert (found, climb.letters) == ("be", in_order("acfj ein bdhm"))


def test_moves_across_squares_visit_fewer_nodes():
    climb = WatchedClimb()
    assert aruba(climb, start="walk", path=PATH) == NODE_OF["e"]
    assert climb.letters == in_order("acfj ei bdh")
    assert letters(across_squares(climb, NODE_OF["e"])) == "bf"
