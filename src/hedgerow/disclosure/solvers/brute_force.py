"""Brute force: the risk and utility of every node, as arrays over the whole lattice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.lattice.threshold import Answer, Balance, Landscape, Objective
from hedgerow.disclosure.solvers.climb import Climb, answer_of
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats

MOST_NODES = 1 << 24
"""Maximum number of nodes for brute force."""


def brute_force(landscape: Landscape, objective: Objective) -> Answer:
    """Return the optimum over all nodes, the reference for the other searches.

    This is the only search that does not rely on a monotone risk.
    """
    lattice = landscape.lattice
    _check_size(lattice)
    if isinstance(objective, Balance):
        return _best_balance(landscape, objective)
    climb = Climb(landscape, objective)
    cost, other = climb.arrays()
    eligible = other <= climb.limit
    if landscape.monotone:
        eligible &= ~_below(eligible)
    rank = _first_least(eligible, cost, other)
    node = None
    if rank is not None:
        node = tuple(int(level) for level in lattice.levels(rank))
        node = climb.levels(climb.settled(node) if landscape.monotone else node)
    return answer_of(landscape, node, n_visited=lattice.n_nodes, exact=True)


def _best_balance(landscape: Landscape, objective: Balance) -> Answer:
    lattice = landscape.lattice
    risks = landscape.risks()
    balance = risks - objective.rate * landscape.utilities()
    rank = _first_least(np.ones(lattice.shape, dtype=np.bool_), balance, risks)
    node = tuple(int(level) for level in lattice.levels(rank or 0))
    return answer_of(landscape, node, n_visited=lattice.n_nodes, exact=True)


def _below(feasible: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which nodes have a feasible node directly above them."""
    below = np.zeros_like(feasible)
    for axis in range(feasible.ndim):
        here = [slice(None)] * feasible.ndim
        above = here.copy()
        here[axis], above[axis] = slice(None, -1), slice(1, None)
        below[tuple(here)] |= feasible[tuple(above)]
    return below


def _first_least(eligible: NDArray[np.bool_], cost: Floats, other: Floats) -> int | None:
    """Return the rank of the first eligible node by cost, then by the other measure."""
    ranks = np.flatnonzero(eligible)
    if not len(ranks):
        return None
    for values in (cost.reshape(-1), other.reshape(-1)):
        ranks = ranks[values[ranks] == values[ranks].min()]
    return int(ranks[0])


def _check_size(lattice: Lattice) -> None:
    if lattice.n_nodes > MOST_NODES:
        raise SettingError(
            f"The lattice of a record has more than {MOST_NODES:,} nodes.",
            where="method: brute-force",
            do="Use aruba or branch-and-bound.",
        )
