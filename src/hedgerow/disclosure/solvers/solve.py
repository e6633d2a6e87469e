"""Solve the problem of one record with a selectable search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.lattice.threshold import Answer, Balance, Landscape, Objective
from hedgerow.disclosure.solvers.aruba import Moves, aruba
from hedgerow.disclosure.solvers.branch_and_bound import (
    balance_by_branch_and_bound,
    branch_and_bound,
)
from hedgerow.disclosure.solvers.brute_force import brute_force
from hedgerow.disclosure.solvers.btda import btda
from hedgerow.disclosure.solvers.climb import Climb
from hedgerow.errors import SettingError

Search: TypeAlias = Literal["brute-force", "btda", "aruba", "branch-and-bound"]
METHODS: tuple[Search, ...] = get_args(Search)

_SEARCHES: dict[str, Callable[[Climb], Node | None]] = {
    "btda": btda,
    "branch-and-bound": branch_and_bound,
}


def solve(
    landscape: Landscape,
    objective: Objective,
    method: Search = "aruba",
    *,
    moves: Moves = "squares",
) -> Answer:
    """Return the node of a record's lattice that is best for the objective.

    ``moves`` are those of :func:`~hedgerow.disclosure.solvers.aruba.aruba`.

    All methods return the same node. Among several optima it is one without a feasible node
    above, the best of them in the other of risk and utility, and the first of these in order;
    from there, levels are lowered as long as the cost stays equal. A balance has no frontier,
    so only brute force and branch and bound find it.
    """
    if method not in METHODS:
        raise SettingError(
            f"{method!r} is not a method.",
            where="disclose > method",
            do=f"Choose one of: {', '.join(METHODS)}.",
        )
    if method == "brute-force":
        return brute_force(landscape, objective)
    if not isinstance(objective, Balance):
        climb = Climb(landscape, objective)
        if method == "aruba":
            return climb.answer(aruba(climb, moves=moves))
        return climb.answer(_SEARCHES[method](climb))
    if method == "branch-and-bound":
        return balance_by_branch_and_bound(landscape, objective)
    raise SettingError(
        "A balance of risk and utility has no threshold, which this method needs.",
        where=f"disclose > method: {method}",
        do="Use branch-and-bound or brute-force, or set a threshold.",
    )
