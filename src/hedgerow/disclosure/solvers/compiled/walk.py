"""The frontier walk of a whole table, compiled and cached on disk.

The same search as :mod:`~hedgerow.disclosure.solvers.aruba`, node for node, over arrays and ranks;
a test compares the two. Import lazily: loading Numba takes a while.

Only :func:`solve_problems` is cached, and it takes plain tuples of arrays. A cache that refers to
one of our classes could not be read after that class has changed; and a cache is renewed when this
file changes, so all functions that it calls are here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.packed import (
    Entries,
    Found,
    Hierarchy,
    PackedProblems,
    Question,
    Small,
)
from hedgerow.model.arrays import Floats, Ints
from hedgerow.model.compiling import compile_loop

if TYPE_CHECKING:
    from collections.abc import Callable

_F = TypeVar("_F", bound="Callable[..., Any]")


def _compiled(function: _F) -> _F:
    return cast("_F", njit(nogil=True, boundscheck=False)(function))


def _inlined(function: _F) -> _F:
    # Passing their arrays would cost more than they compute.
    return cast("_F", njit(nogil=True, boundscheck=False, inline="always")(function))


KNOWN, FEASIBLE, SEEN = 1, 2, 4  # flags of the state of a node

States = NDArray[np.uint8]


class Terrain(NamedTuple):
    """One record's climb: the contribution of each step of each attribute, and all counts."""

    rows: Small
    heights: Ints
    strides: Ints
    personal: Floats
    limit: float
    counts: Ints
    utility: Floats
    weights: Floats
    exposure: Floats
    generalises: bool
    weighed: bool


@compile_loop
def solve_problems(
    problem_arrays: tuple[Any, ...],
    hierarchy_arrays: tuple[Any, ...],
    entry_arrays: tuple[Any, ...],
    question_values: tuple[Any, ...],
    found_arrays: tuple[Any, ...],
) -> None:
    """Answer every problem by a walk along its frontier.

    The arguments are the fields of problems, hierarchy, entries, question and found.
    """
    problems, hierarchy = PackedProblems(*problem_arrays), Hierarchy(*hierarchy_arrays)
    entries, question, found = (
        Entries(*entry_arrays),
        Question(*question_values),
        Found(*found_arrays),
    )
    most = 1
    for job in range(len(problems.rows)):
        most = max(most, n_nodes_of(problems, job))
    all_counts, all_states = np.empty(most, np.int64), np.empty(most, np.uint8)
    frontier = np.empty(most, np.int64)
    n_found = n_visited = 0
    for job in range(len(problems.rows)):
        n_nodes = n_nodes_of(problems, job)
        counts, state = all_counts[:n_nodes], all_states[:n_nodes]
        if job == 0 or not has_same_matches(problems, job):
            count_walked(problems, job, hierarchy, entries, counts)
        terrain = terrain_of(problems, job, hierarchy, question, counts)
        if job == 0 or not has_same_frontier(problems, job, question):
            n_found = walk(terrain, state, frontier)
            n_visited = n_known(state)
        found.n_visited[job] = n_visited
        if n_found:
            best = best_of(terrain, frontier, n_found)
            write_down(terrain, settled(terrain, best), found, job)


@_compiled
def n_nodes_of(problems: PackedProblems, job: int) -> int:
    """Return the number of nodes of a record's lattice."""
    return int(problems.strides[job, 0] * (problems.heights[job, 0] + 1))


@_compiled
def terrain_of(
    problems: PackedProblems, job: int, hierarchy: Hierarchy, question: Question, counts: Ints
) -> Terrain:
    """Return the data of a record's walk."""
    return Terrain(
        problems.rows[job],
        problems.heights[job],
        problems.strides[job],
        problems.personal[job],
        problems.limit[job],
        counts,
        hierarchy.utility,
        hierarchy.weights,
        question.exposure,
        question.generalises,
        question.weighed,
    )


@_compiled
def has_same_matches(problems: PackedProblems, job: int) -> bool:
    """Return whether a record has the values, and so the matches, of the one before."""
    for i in range(problems.rows.shape[1]):
        if problems.rows[job, i] != problems.rows[job - 1, i]:
            return False
    return True


@_compiled
def has_same_frontier(problems: PackedProblems, job: int, question: Question) -> bool:
    """Return whether a record has the frontier of the one before, as many have with utility."""
    same_utility = problems.profile[job] == problems.profile[job - 1]
    same_limit = problems.limit[job] == problems.limit[job - 1]
    return bool(question.generalises and same_utility and same_limit)


@_compiled
def walk(terrain: Terrain, state: States, frontier: Ints) -> int:
    """Store the maximal frontier nodes, and return their number [ARUBA, Alg. 2].

    The frontier nodes still to be examined are the end of those found. If the top is
    feasible, it is the only node; if nothing is feasible, there is none.
    """
    for rank in range(len(state)):
        state[rank] = 0
    start = located(terrain, state)  # line 2
    if start < 0:
        return 0
    n_found = push(state, start, frontier, 0)  # lines 1, 5
    for n_done in range(len(state)):
        if n_done == n_found or start == len(state) - 1:  # line 6
            break
        n_found = push_neighbours(terrain, state, frontier, n_done, n_found)  # lines 7, 11-13
    n_maximal = 0
    for i in range(n_found):
        if is_maximal(terrain, state, frontier[i]):
            frontier[n_maximal] = frontier[i]
            n_maximal += 1
    return n_maximal


@_compiled
def n_known(state: States) -> int:
    """Return the number of nodes that have been visited."""
    n_visited = 0
    for rank in range(len(state)):
        if state[rank]:
            n_visited += 1
    return n_visited


@_compiled
def best_of(terrain: Terrain, nodes: Ints, n_nodes: int) -> int:
    """Return the best of the first ``n_nodes`` nodes [ARUBA, Alg. 2, lines 8-10]."""
    best, least, second = nodes[0], np.inf, np.inf
    for n in range(n_nodes):
        rank = nodes[n]
        cost = cost_at(terrain, rank)
        if cost > least:
            continue
        other = other_at(terrain, rank)
        if cost < least or other < second or (other == second and rank < best):
            best, least, second = rank, cost, other
    return int(best)


@_compiled
def located(terrain: Terrain, state: States) -> int:
    """Return the last feasible node on the path up the last attribute, then the one before, ..."""
    feasible, infeasible, middle, last = -1, 1, 0, -1
    for i in range(len(terrain.heights)):
        infeasible += terrain.heights[i]
    while infeasible - feasible > 1:
        rank = on_path(terrain, middle)
        visit(terrain, state, rank)
        if state[rank] & FEASIBLE:
            feasible, last = middle, rank
        elif middle == 0:
            return -1
        else:
            infeasible = middle
        middle = (feasible + infeasible) // 2
    return last


@_compiled
def on_path(terrain: Terrain, n_steps: int) -> int:
    """Return the rank of the node after ``n_steps`` steps up that path."""
    rank = 0
    for i in range(len(terrain.heights) - 1, -1, -1):
        rank += min(n_steps, terrain.heights[i]) * terrain.strides[i]
        n_steps -= min(n_steps, terrain.heights[i])
    return rank


@_compiled
def push_neighbours(
    terrain: Terrain, state: States, frontier: Ints, n_done: int, n_found: int
) -> int:
    """Append the frontier nodes that share a unit square with the one at ``n_done``."""
    heights, strides = terrain.heights, terrain.strides
    rank = left = frontier[n_done]
    node = np.empty(len(heights), np.int64)
    for i in range(len(node)):
        node[i] = left // strides[i]
        left -= node[i] * strides[i]
    for i in range(len(node)):
        if node[i] < heights[i]:
            above = rank + strides[i]
            if not state[above] & KNOWN:
                visit(terrain, state, above)
            if state[above] & FEASIBLE:
                n_found = push(state, above, frontier, n_found)
    for i in range(len(node)):
        if node[i] == heights[i] or state[rank + strides[i]] & FEASIBLE:
            continue
        for j in range(len(node)):
            if node[j] > 0 and i != j:
                below = rank - strides[j]
                aside = below + strides[i]
                if not state[aside] & KNOWN:
                    visit(terrain, state, aside)
                if state[aside] & FEASIBLE:
                    n_found = push(state, aside, frontier, n_found)
                else:
                    n_found = push(state, below, frontier, n_found)
    return n_found


@_inlined
def push(state: States, rank: int, frontier: Ints, n_found: int) -> int:
    """Append a frontier node, unless it has been seen."""
    if state[rank] & SEEN:
        return n_found
    state[rank] |= SEEN
    frontier[n_found] = rank
    return n_found + 1


@_compiled
def visit(terrain: Terrain, state: States, rank: int) -> None:
    """Determine once whether a node is feasible: calls are expensive if most are known."""
    within = other_at(terrain, rank) <= terrain.limit
    state[rank] |= KNOWN | FEASIBLE if within else KNOWN


@_compiled
def is_maximal(terrain: Terrain, state: States, rank: int) -> bool:
    """Return whether nothing directly above a frontier node, all visited, is feasible."""
    for i in range(len(terrain.heights)):
        stride = terrain.strides[i]
        raised = rank // stride % (terrain.heights[i] + 1) < terrain.heights[i]
        if raised and state[rank + stride] & FEASIBLE:
            return False
    return True


@_inlined
def utility_at(terrain: Terrain, rank: int) -> float:
    """Return the utility of a node, added from the first attribute to the last."""
    added = 0.0
    for i in range(len(terrain.strides)):
        steps = rank // terrain.strides[i]
        rank -= steps * terrain.strides[i]
        added += terrain.utility[terrain.rows[i], steps]
    return added


@_inlined
def risk_at(terrain: Terrain, rank: int) -> float:
    """Return the risk of a node, whose severity is added from the first attribute to the last."""
    level_rank = rank if terrain.generalises else len(terrain.counts) - 1 - rank
    exposure = terrain.exposure[terrain.counts[level_rank]]
    added = 0.0
    for i in range(len(terrain.strides)):
        steps = rank // terrain.strides[i]
        rank -= steps * terrain.strides[i]
        added += terrain.weights[terrain.rows[i], steps] * terrain.personal[i]
    return float(added * exposure if terrain.weighed else exposure)


@_compiled
def cost_at(terrain: Terrain, rank: int) -> float:
    """Return the objective value to minimise."""
    if terrain.generalises:
        return risk_at(terrain, rank)
    return -utility_at(terrain, rank)


@_inlined
def other_at(terrain: Terrain, rank: int) -> float:
    """Return the value that must stay within the limit."""
    if terrain.generalises:
        return -utility_at(terrain, rank)
    return risk_at(terrain, rank)


@_compiled
def settled(terrain: Terrain, rank: int) -> int:
    """Return the node reached by climbing down each attribute while the cost stays equal."""
    cost = cost_at(terrain, rank)
    for i in range(len(terrain.heights)):
        stride = terrain.strides[i]
        while rank // stride % (terrain.heights[i] + 1) > 0:
            if cost_at(terrain, rank - stride) > cost:
                break
            rank -= stride
    return rank


@_compiled
def write_down(terrain: Terrain, rank: int, found: Found, job: int) -> None:
    """Store an answer, in levels."""
    found.feasible[job] = True
    found.risk[job] = risk_at(terrain, rank)
    found.utility[job] = utility_at(terrain, rank)
    for i in range(len(terrain.heights)):
        steps = rank // terrain.strides[i] % (terrain.heights[i] + 1)
        found.levels[job, i] = steps if terrain.generalises else terrain.heights[i] - steps


@_compiled
def count_walked(
    problems: PackedProblems, job: int, hierarchy: Hierarchy, entries: Entries, counts: Ints
) -> None:
    """Count the matches of every node of one record's lattice into ``counts``."""
    rows, heights, strides = problems.rows[job], problems.heights[job], problems.strides[job]
    if len(entries.node_counts):
        slice_nodes(rows, heights, hierarchy, entries, counts)
        return
    # The change of a level vector's rank per value; values excluded by known levels are omitted.
    steps = np.full(entries.n_places, -(1 << 40), np.int64)
    for i in range(len(rows)):
        for level in range(heights[i], -1, -1):
            for place in range(hierarchy.first[rows[i], level], hierarchy.stop[rows[i], level]):
                steps[place] = level * strides[i]
    for rank in range(len(counts)):
        counts[rank] = 0
    for entry in range(len(entries.many)):
        cell = 0
        for i in range(len(rows)):
            cell += steps[entries.places[entry, i]]
        if cell >= 0:
            counts[cell] += entries.many[entry]
    for i in range(len(rows)):  # prefix sums along each chain
        block = strides[i] * (heights[i] + 1)
        for start in range(0, len(counts), block):
            for cell in range(start + strides[i], start + block):
                counts[cell] += counts[cell - strides[i]]


@_compiled
def slice_nodes(
    rows: Small, heights: Ints, hierarchy: Hierarchy, entries: Entries, counts: Ints
) -> None:
    """Read the matches of a record's lattice out of the cube over all nodes."""
    level = np.zeros(len(rows), dtype=np.int64)
    for rank in range(len(counts)):
        place = 0
        for i in range(len(rows)):
            place += hierarchy.nodes[rows[i], level[i]]
        counts[rank] = entries.node_counts[place]
        for i in range(len(rows) - 1, -1, -1):  # the next node in order
            level[i] += 1
            if level[i] <= heights[i]:
                break
            level[i] = 0
