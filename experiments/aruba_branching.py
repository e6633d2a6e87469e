"""A branch and bound that is a heuristic, as that of [ARUBA, Sec. VI] is.

The paper says of it no more than "a heuristic discrete optimization algorithm, Branch and Bound"
[Lawler and Wood 1966] and shows that it ends at a higher risk than ARUBA; it prints no bound. Here
is the plainest search of that kind: nodes branch into their feasible generalisations, the one of
least cost is taken first, and a node is judged by its *own* cost. That is no bound on what lies
above it, where costs are lower still, so the search stops at the first node that nothing waiting
beats, and may miss the best one. The library's
:func:`~hedgerow.disclosure.solvers.branch_and_bound.branch_and_bound`, which bounds whole boxes
by their corners, does not.
"""

from __future__ import annotations

from heapq import heappop, heappush

from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.solvers.climb import Best, Climb


def heuristic_branch_and_bound(climb: Climb) -> Node | None:
    """A feasible node that no feasible node directly above it beats; not always the best one."""
    start = climb.lattice.bottom
    if not climb.feasible(start):
        return None
    best = Best(climb)
    waiting: list[tuple[float, Node]] = [(climb.cost(start), start)]
    seen = {start}
    while waiting and (best.node is None or waiting[0][0] <= best.cost):
        _, node = heappop(waiting)
        best.offer(node)
        for above in climb.lattice.above(node):
            if above not in seen and climb.feasible(above):
                seen.add(above)
                heappush(waiting, (climb.cost(above), above))
    return best.node
