"""The basic top-down algorithm: a queue sorted by cost, from the top of the climb down."""

from __future__ import annotations

from heapq import heappop, heappush

from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.solvers.climb import Best, Climb


def btda(climb: Climb) -> Node | None:
    """Return the best feasible node, found in order of cost [ARUBA, Alg. 1].

    Nodes that have not been reached lie below something in the queue and cost at least as
    much [ARUBA, Thm. 1].

    Departs: the queue may become empty, in which case nothing is feasible; and the loop goes on
    through nodes of the same cost, so that ties are broken as in the other searches.
    """
    top = climb.lattice.top
    queue, seen = [(climb.cost(top), top)], {top}  # lines 1-2
    best = Best(climb)
    while queue and queue[0][0] <= best.cost:
        _, node = heappop(queue)  # line 4
        if climb.feasible(node):  # line 3
            best.offer(node)  # line 6
            continue
        for lower in climb.lattice.below(node):  # line 5
            if lower not in seen:
                seen.add(lower)
                heappush(queue, (climb.cost(lower), lower))
    return best.node
