"""Branch and bound: boxes of nodes, the most promising one first.

A box holds the nodes between a low and a high one. Monotonicity bounds all of them by the values
at the corners.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Protocol

from hedgerow.disclosure.lattice.lattice import Lattice, Node, moved
from hedgerow.disclosure.lattice.threshold import Answer, Balance, Landscape
from hedgerow.disclosure.solvers.climb import Best, Climb, answer_of


@dataclass(frozen=True, kw_only=True, order=True, repr=False)
class Box:
    """The nodes from ``low`` to ``high``, none of which costs less than ``bound``."""

    bound: float
    low: Node
    high: Node

    def sides(self) -> Iterator[int]:
        """Yield the attributes along which the box has more than one level."""
        for i, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if low < high:
                yield i

    def halves(self, i: int) -> tuple[tuple[Node, Node], tuple[Node, Node]]:
        """Return the corners of the lower and the upper half along attribute ``i``."""
        length = self.high[i] - self.low[i]
        middle = (length + 1) // 2
        upper = moved(self.low, i, middle), self.high
        return (self.low, moved(self.high, i, middle - 1 - length)), upper


class Branching(Protocol):
    """Bounds the boxes of a problem, and keeps the best node it has seen."""

    lattice: Lattice

    @property
    def least(self) -> float:
        """The cost of the best node so far."""
        ...

    def box(self, low: Node, high: Node) -> Box | None:
        """Return a box of all candidates between two nodes, or ``None`` if there is none."""
        ...

    def resolved(self, box: Box) -> bool:
        """Use the best node of a box if it is known without branching; return whether it is."""
        ...

    def side(self, box: Box) -> int:
        """Return the attribute along which to halve a box."""
        ...


def explore(problem: Branching) -> None:
    """Branch until no remaining box could contain a better node than the best."""
    queue: list[Box] = []
    corners: tuple[tuple[Node, Node], ...] = ((problem.lattice.bottom, problem.lattice.top),)
    while True:
        for low, high in corners:
            box = problem.box(low, high)
            if box is not None:
                heappush(queue, box)
        if not queue or queue[0].bound > problem.least:
            return
        box = heappop(queue)
        corners = () if problem.resolved(box) else box.halves(problem.side(box))


def branch_and_bound(climb: Climb) -> Node | None:
    """Return the best feasible node of a climb."""
    problem = ClimbBranching(climb)
    explore(problem)
    return problem.best.node


def balance_by_branch_and_bound(landscape: Landscape, objective: Balance) -> Answer:
    """Return the node of minimum ``r - λu``."""
    problem = BalanceBranching(landscape, objective)
    explore(problem)
    return answer_of(
        landscape, problem.node, n_visited=len(problem.visited), exact=landscape.monotone
    )


class ClimbBranching:
    """Boxes of a climb: minimum cost at the high corner, feasibility likeliest at the low one."""

    def __init__(self, climb: Climb) -> None:
        self.climb = climb
        self.lattice = climb.lattice
        self.best = Best(climb)

    @property
    def least(self) -> float:
        """The cost of the best node so far."""
        return self.best.cost

    def box(self, low: Node, high: Node) -> Box | None:
        """Return the box without the ends of sides that are infeasible even from its low corner."""
        if not self.climb.feasible(low):
            return None
        for i in range(len(low)):
            while not self.climb.feasible(moved(low, i, high[i] - low[i])):
                high = moved(high, i, -1)
        return Box(bound=self.climb.cost(high), low=low, high=high)

    def resolved(self, box: Box) -> bool:
        """Use the high corner, if it is feasible: nothing in the box costs less."""
        if not self.climb.feasible(box.high):
            return False
        self.best.offer(box.high)
        return True

    def side(self, box: Box) -> int:
        """Return the attribute along which the risk changes most, as cost or as constraint."""
        if self.climb.generalises:
            return max(box.sides(), key=lambda i: self.climb.cost(box.halves(i)[0][1]))
        return max(
            box.sides(), key=lambda i: self.climb.other(moved(box.low, i, box.high[i] - box.low[i]))
        )


class BalanceBranching:
    """Boxes of levels: minimum risk at the high corner, maximum utility at the low one."""

    def __init__(self, landscape: Landscape, objective: Balance) -> None:
        self.landscape = landscape
        self.lattice = landscape.lattice
        self.rate = objective.rate
        self.visited: set[Node] = set()
        self.node: Node | None = None
        self._key = (math.inf, math.inf, self.lattice.top)

    @property
    def least(self) -> float:
        """The balance of the best node so far."""
        return self._key[0]

    def box(self, low: Node, high: Node) -> Box:
        """Return the whole box: every node is a candidate."""
        self.visited |= {low, high}
        bound = self.landscape.risk(high) - self.rate * self.landscape.utility(low)
        return Box(bound=bound, low=low, high=high)

    def resolved(self, box: Box) -> bool:
        """Use the node of a box that has only one."""
        if box.low != box.high:
            return False
        key = (box.bound, self.landscape.risk(box.low), box.low)
        if self.node is None or key < self._key:
            self.node, self._key = box.low, key
        return True

    def side(self, box: Box) -> int:
        """Return the longest side."""
        return max(box.sides(), key=lambda i: box.high[i] - box.low[i])
