"""The two threshold problems as one: going up, cost falls until feasibility is lost.

From the record itself one climbs by generalising: risk falls, until the utility is too low. From
the fully generalised record one climbs by specialising: utility grows, until the risk is too
high. In both cases the feasible nodes are a down-set of the climb, which is all that the searches
need to know. [ARUBA, Sec. V] leaves the second, its dual problem, to the reader.
"""

from __future__ import annotations

import math

import numpy as np

from hedgerow.disclosure.lattice.lattice import Node, moved
from hedgerow.disclosure.lattice.threshold import Answer, Landscape, MaximiseUtility, MinimiseRisk
from hedgerow.model.arrays import Floats


class Climb:
    """A lattice seen from the end at which everything may start, with its cost and constraint.

    Nodes of a climb are *steps climbed* along each attribute; :meth:`levels` converts them to
    levels. A climb that generalises has the risk as its cost, one that specialises the negated
    utility; the other of the two, likewise negated, must stay within ``limit``. Every node that
    a search evaluates is stored in ``visited``.
    """

    def __init__(self, landscape: Landscape, objective: MinimiseRisk | MaximiseUtility) -> None:
        self.landscape = landscape
        self.lattice = landscape.lattice
        self.generalises = isinstance(objective, MinimiseRisk)
        self.limit = _limit(landscape, objective)
        self.visited: dict[Node, None] = {}
        self._costs: dict[Node, float] = {}
        self._others: dict[Node, float] = {}

    def levels(self, node: Node) -> Node:
        """Return the levels that a node of the climb represents."""
        if self.generalises:
            return node
        return tuple(h - steps for h, steps in zip(self.lattice.heights, node, strict=True))

    def cost(self, node: Node) -> float:
        """Return the objective value to minimise."""
        self.visited[node] = None
        return self._cost(node)

    def other(self, node: Node) -> float:
        """Return the value that must stay within the limit."""
        self.visited[node] = None
        return self._other(node)

    def feasible(self, node: Node) -> bool:
        """Return whether a node has enough utility, or a low enough risk."""
        return self.other(node) <= self.limit

    def key(self, node: Node) -> tuple[float, float, Node]:
        """Return the sort key: cost, then the other of risk and utility, then order."""
        return self._cost(node), self._other(node), node

    def is_maximal(self, node: Node) -> bool:
        """Return whether a node, but none directly above, is feasible; not counted as a visit."""
        above = self.lattice.above(node)
        return self._other(node) <= self.limit and all(self._other(w) > self.limit for w in above)

    def settled(self, node: Node) -> Node:
        """Return the node reached by climbing down each attribute while the cost stays equal.

        A generalisation that does not lower the risk would lose utility without benefit, and vice
        versa; not counted as a visit.
        """
        cost = self._cost(node)
        for i in range(len(node)):
            while node[i] > 0:
                lower = moved(node, i, -1)
                if self._cost(lower) > cost:
                    break
                node = lower
        return node

    def arrays(self) -> tuple[Floats, Floats]:
        """Return the cost of all nodes, and the value that must stay within the limit."""
        if self.generalises:
            return self.landscape.risks(), -self.landscape.utilities()
        return np.flip(-self.landscape.utilities()), np.flip(self.landscape.risks())

    def answer(self, node: Node | None) -> Answer:
        """Return the answer for a node of the climb, settled if the risk is monotone."""
        exact = self.landscape.monotone
        if node is not None:
            node = self.levels(self.settled(node) if exact else node)
        return answer_of(self.landscape, node, n_visited=len(self.visited), exact=exact)

    def _cost(self, node: Node) -> float:
        if node not in self._costs:
            levels = self.levels(node)
            risky = self.generalises
            self._costs[node] = (
                self.landscape.risk(levels) if risky else -self.landscape.utility(levels)
            )
        return self._costs[node]

    def _other(self, node: Node) -> float:
        if node not in self._others:
            levels = self.levels(node)
            useful = self.generalises
            self._others[node] = (
                -self.landscape.utility(levels) if useful else self.landscape.risk(levels)
            )
        return self._others[node]


class Best:
    """The best maximal node offered so far.

    Every optimum is at or below a *maximal* feasible node of the same cost, so one of these
    is an optimum too [ARUBA, Thm. 2, as far as it holds with ties]. By comparing only these,
    and settling the result, all searches end at the same node.
    """

    def __init__(self, climb: Climb) -> None:
        self.climb = climb
        self.node: Node | None = None
        self.cost = math.inf

    def offer(self, node: Node) -> None:
        """Keep a feasible node if it is maximal and better than the best so far."""
        if self.climb.cost(node) > self.cost or not self.climb.is_maximal(node):
            return
        if self.node is None or self.climb.key(node) < self.climb.key(self.node):
            self.node, self.cost = node, self.climb.cost(node)


def answer_of(landscape: Landscape, node: Node | None, *, n_visited: int, exact: bool) -> Answer:
    """Return the answer that discloses the levels ``node``, or nothing."""
    return Answer(
        node=node,
        risk=math.nan if node is None else landscape.risk(node),
        utility=math.nan if node is None else landscape.utility(node),
        n_visited=n_visited,
        exact=exact,
    )


def _limit(landscape: Landscape, objective: MinimiseRisk | MaximiseUtility) -> float:
    if isinstance(objective, MaximiseUtility):
        return objective.at_most
    if not objective.of_most:
        return -objective.at_least
    return -objective.at_least * landscape.utility(landscape.lattice.bottom)
