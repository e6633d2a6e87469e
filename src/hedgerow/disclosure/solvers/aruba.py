"""ARUBA: a walk along the frontier between feasible and infeasible nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, TypeAlias, get_args

from hedgerow.disclosure.lattice.lattice import Lattice, Node, moved
from hedgerow.disclosure.solvers.climb import Best, Climb
from hedgerow.errors import SettingError

Start: TypeAlias = Literal["bisect", "walk"]
Moves: TypeAlias = Literal["squares", "cube"]
STARTS: tuple[Start, ...] = get_args(Start)
MOVES: tuple[Moves, ...] = get_args(Moves)


def aruba(
    climb: Climb,
    *,
    start: Start = "bisect",
    moves: Moves = "squares",
    path: Sequence[int] | None = None,
) -> Node | None:
    """Return the best feasible node, found by visiting every frontier node [ARUBA, Alg. 2].

    A frontier node is feasible and has an infeasible node directly above it. The first one
    is located on a ``path`` from bottom to top, which is the attribute of each step, by
    bisection or by walking up it.

    Departs: if the top is feasible there is no frontier, and the top is the answer; if the
    bottom is not feasible, nothing is. The moves from one frontier node to the next are those
    that the proof of connectedness needs, at most ``k² + k`` (:func:`across_squares`); the
    printed adjacency cube of ``3^k - 1`` nodes is ``moves="cube"``.
    """
    _check(start, moves)
    located = _START[start](climb, path_nodes(climb.lattice, path))  # line 2
    if located is None or located == climb.lattice.top:
        return located
    neighbours = _MOVES[moves]
    best = Best(climb)  # lines 3-4
    waiting, seen = [located], {located}  # lines 1, 5
    while waiting:  # line 6
        node = waiting.pop()  # line 7
        best.offer(node)  # lines 8-10
        for other in neighbours(climb, node):  # line 11
            if other not in seen:
                seen.add(other)  # line 12
                waiting.append(other)  # line 13
    return best.node


def path_nodes(lattice: Lattice, path: Sequence[int] | None = None) -> list[Node]:
    """Return the nodes from bottom to top if step ``n`` climbs attribute ``path[n]``.

    Without a path, attributes are climbed to their ends, starting with the last one.
    """
    if path is None:
        path = [i for i in reversed(range(lattice.n_attributes)) for _ in range(lattice.heights[i])]
    nodes = [lattice.bottom]
    for i in path:
        nodes.append(moved(nodes[-1], i, +1))
    if nodes[-1] != lattice.top:
        raise SettingError("The path does not end at the top.", where="path", do="Omit it.")
    return nodes


def _bisected(climb: Climb, nodes: Sequence[Node]) -> Node | None:
    """Return the last feasible node of a path, by bisection."""
    if not climb.feasible(nodes[0]):
        return None
    feasible, infeasible = 0, len(nodes)
    while infeasible - feasible > 1:
        middle = (feasible + infeasible) // 2
        if climb.feasible(nodes[middle]):
            feasible = middle
        else:
            infeasible = middle
    return nodes[feasible]


def _walked(climb: Climb, nodes: Sequence[Node]) -> Node | None:
    """Return the last feasible node of a path, step by step."""
    last = None
    for node in nodes:
        if not climb.feasible(node):
            break
        last = node
    return last


def across_squares(climb: Climb, node: Node) -> Iterator[Node]:
    """Yield the frontier nodes that share a unit square of the lattice with ``node``.

    Edges between feasible and infeasible nodes that share a unit square connect the whole
    frontier. On the edge from ``node`` up along ``i``, the square along ``j`` has its other
    such edge at ``node + e_j``, at ``node + e_i - e_j`` or at ``node - e_j``, which are therefore
    frontier nodes whatever lies above them.
    """
    heights = climb.lattice.heights
    blocked = []
    for i, steps in enumerate(node):
        if steps < heights[i]:
            above = moved(node, i, +1)
            if climb.feasible(above):
                yield above
            else:
                blocked.append(i)
    for j, steps in enumerate(node):
        if steps > 0:
            below = moved(node, j, -1)
            for i in blocked:
                if i != j:
                    aside = moved(below, i, +1)
                    yield aside if climb.feasible(aside) else below


def within_cube(climb: Climb, node: Node) -> Iterator[Node]:
    """Yield the frontier nodes of the adjacency cube of ``node`` [ARUBA, Def. 10].

    A node counts if the cube shows an infeasible node directly above it.
    """
    ranges = [
        range(max(level - 1, 0), min(level + 1, height) + 1)
        for level, height in zip(node, climb.lattice.heights, strict=True)
    ]
    cube = {other: climb.feasible(other) for other in product(*ranges)}
    for other, feasible in cube.items():
        if feasible and not all(cube.get(above, True) for above in climb.lattice.above(other)):
            yield other


_START = {"bisect": _bisected, "walk": _walked}
_MOVES = {"squares": across_squares, "cube": within_cube}


def _check(start: str, moves: str) -> None:
    for setting, value, choices in (("start", start, STARTS), ("moves", moves, MOVES)):
        if value not in choices:
            raise SettingError(
                f"{value!r} is not a valid choice.",
                where=setting,
                do=f"Choose one of: {', '.join(choices)}.",
            )
