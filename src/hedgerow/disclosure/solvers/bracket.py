"""A bracket around the best node, proved by coordinate steps from both ends.

Let ``f`` be supermodular and ``x*`` its least maximiser in the box ``[low, high]``. If moving
attribute ``i`` of ``high`` down to level ``j`` makes ``f`` larger than every level above ``j``
does, then ``x*_i <= j``: otherwise ``f(x* ∧ y) + f(x* ∨ y) >= f(x*) + f(y)``, with ``y`` the
node moved to, would make the meet at least as good as ``x*``. The mirrored statement holds for
``low``. All attributes may move at once, as each step is proved at the same end; steps
are repeated until neither end moves. The ends often meet, and nothing is left to search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Levels, Node
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective, AggregateProblem
from hedgerow.model.arrays import Floats, Ints

MARGIN = 2.0**-40
"""Relative difference in f from which a step counts as proved.

Sums and products of doubles here are wrong by less than (attributes + 10) 2^-53.
"""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Bracket:
    """A box of nodes that contains the least maximiser, and the level vectors that matter in it.

    Vectors that do not match ``high`` are omitted from ``columns`` or represent 0 records in
    ``many``. About ``literal_counts[i]`` records are above ``low`` in attribute ``i``.
    """

    low: Levels
    high: Levels
    columns: Levels
    many: Ints
    literal_counts: Ints

    @property
    def closed(self) -> bool:
        """True if one node is left."""
        return bool((self.low == self.high).all())

    @property
    def ends(self) -> tuple[Node, Node]:
        """Lowest and highest node of the box."""
        low, high = self.low.tolist(), self.high.tolist()
        return tuple(low), tuple(high)


def bracket(problem: AggregateProblem) -> Bracket:
    """Return the smallest box around the least maximiser that coordinate steps prove."""
    from hedgerow.disclosure.solvers.compiled import aggregate as compiled_aggregate

    lines = _Lines(problem.objective)
    low, high = lines.bottom, lines.top
    columns, many = problem.columns, problem.many
    shrinking = True
    while shrinking:
        histograms = compiled_aggregate.level_histograms(columns, many, lines.top, lines.n_levels)
        up_to = np.cumsum(histograms, axis=1)
        moved = lines.lowered(low, high, up_to)
        if (moved == high).all():
            break
        high = moved
        columns, many, shrinking = _fitting(columns, many, high)
    while True:
        near = compiled_aggregate.near_histograms(columns, many, low, lines.n_levels)
        moved = lines.raised(low, high, np.cumsum(near, axis=1))
        if (moved == low).all():
            break
        low = moved
    above = up_to[:, -1] - up_to[lines.rows, low]
    return Bracket(low=low, high=high, columns=columns, many=many, literal_counts=above)


def _fitting(columns: Levels, many: Ints, high: Levels) -> tuple[Levels, Ints, bool]:
    """Return the vectors that match a node, and whether most were removed.

    If only few do not match, they are kept and represent no record, which is cheaper than
    moving the others. Another step is worth its pass over the vectors only if many are gone.
    """
    from hedgerow.disclosure.solvers.compiled import aggregate as compiled_aggregate

    fits = compiled_aggregate.fitting(columns, high)
    if 2 * np.count_nonzero(fits) > len(fits):
        return columns, np.where(fits, many, 0), False
    return np.ascontiguousarray(columns[:, fits]), many[fits], True


class _Lines:
    """Values of an objective along every attribute from one node, as padded rows."""

    def __init__(self, objective: AggregateObjective) -> None:
        heights = np.array(objective.lattice.heights, dtype=np.int64)
        self.objective = objective
        self.n_levels = int(heights.max(initial=0)) + 1
        self.levels = np.arange(self.n_levels)
        at = objective.start[:, None] + np.minimum(self.levels, heights[:, None])
        self.severity = objective.severity_of[at]
        self.utility = objective.utility_of[at]
        self.rows = np.arange(len(heights))
        self.bottom = np.zeros(len(heights), dtype=np.uint8)
        self.top = heights.astype(np.uint8)

    def values(self, node: Levels, counts: Ints, low: Levels, high: Levels) -> Floats:
        """Return ``f`` of the node with each attribute at each level, -1 outside the box."""
        others = _sums_of_others(self.severity[self.rows, node])
        severity = self.objective.constant + others[:, None] + self.severity
        utility = _sums_of_others(self.utility[self.rows, node])[:, None] + self.utility
        values = self.objective.risk_weight * counts / severity + utility**self.objective.power
        inside = (self.levels >= low[:, None]) & (self.levels <= high[:, None])
        return np.where(inside, values, -1.0)

    def lowered(self, low: Levels, high: Levels, counts: Ints) -> Levels:
        """Move the upper end down to levels that are better than all above them."""
        values = self.values(high, counts, low, high)
        best = values.argmax(axis=1)
        rivals = np.where(self.levels > best[:, None], values, -1.0).max(axis=1, initial=-1.0)
        proved = values[self.rows, best] > rivals * (1 + MARGIN)
        return np.where(proved & (best < high), best, high).astype(np.uint8)

    def raised(self, low: Levels, high: Levels, counts: Ints) -> Levels:
        """Move the lower end up to levels that are better than all below them."""
        values = self.values(low, counts, low, high)
        best = values.argmax(axis=1)
        rivals = np.where(self.levels < best[:, None], values, -1.0).max(axis=1, initial=-1.0)
        proved = values[self.rows, best] > rivals * (1 + MARGIN)
        return np.where(proved & (best > low), best, low).astype(np.uint8)


def _sums_of_others(parts: Floats) -> NDArray[np.float64]:
    """Return for each part the sum of all others, without subtraction, which would cancel."""
    others = np.zeros(len(parts))
    others[1:] += np.cumsum(parts[:-1])
    others[:-1] += np.cumsum(parts[:0:-1])[::-1]
    return others
