"""Coarser versions of an attribute, from its noisy 1-way marginal: public from then on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.model.arrays import Floats

FINEST = 32
"""Groups of an attribute in a table of two, at the most."""

UNRELATED = 1.0
"""Extra cost of merging values that have only the root in common."""


class Merging:
    """Sequence of merges of an attribute's cells.

    The two lightest groups come first: of neighbours where cells are ordered, of any two
    elsewhere, those that are close in the taxonomy being taken for lighter than they are.

    >>> axis = CellAxis(edges=np.arange(5), ordered=True, depths=None)
    >>> Merging(axis, np.array([5.0, 1.0, 2.0, 9.0])).groups(2).tolist()
    [0, 0, 0, 1]
    """

    def __init__(self, axis: CellAxis, weights: Floats) -> None:
        self._steps = _merges(axis, weights)
        self._made: dict[int, NDArray[np.int64]] = {}
        self.n_cells = axis.n_cells
        self.ordered = axis.ordered

    def n_groups(self, most: int) -> int:
        """Return the number of groups, at most ``most``."""
        return max(min(most, self.n_cells, FINEST), 1)

    def groups(self, most: int) -> NDArray[np.int64]:
        """Return the group of each cell, at most ``most`` groups, numbered by their first cells."""
        n = self.n_groups(most)
        if n not in self._made:
            parent = np.arange(self.n_cells)
            for kept, gone in self._steps[: self.n_cells - n]:
                parent[parent == gone] = kept
            self._made[n] = np.unique(parent, return_inverse=True)[1].astype(np.int64)
        return self._made[n]


def _merges(axis: CellAxis, weights: Floats) -> list[tuple[int, int]]:
    """Return the merges (kept, gone) until one group is left; a group is its first cell."""
    n = axis.n_cells
    sizes = np.maximum(weights.astype(np.float64), 0.0)
    extra = np.ones((n, n)) if axis.depths is None else 1 + UNRELATED * (1 - axis.depths)
    cost = (sizes[:, None] + sizes[None, :] + 1e-9) * extra
    allowed = np.triu(np.ones((n, n), dtype=np.bool_), 1)
    if axis.ordered:
        allowed = np.eye(n, k=1, dtype=np.bool_)
    cost[~allowed] = np.inf
    steps = []
    for _ in range(n - 1):
        kept, gone = divmod(int(np.argmin(cost)), n)
        steps.append((kept, gone))
        sizes[kept] += sizes[gone]
        extra[kept] = np.maximum(extra[kept], extra[gone])
        extra[:, kept] = extra[kept]
        if axis.ordered:
            allowed[kept] = allowed[gone]
        allowed[gone] = allowed[:, gone] = False
        weight = (sizes[kept] + sizes + 1e-9) * extra[kept]
        cost[kept] = np.where(allowed[kept], weight, np.inf)
        cost[:, kept] = np.where(allowed[:, kept], weight, np.inf)
        cost[gone] = cost[:, gone] = np.inf
    return steps
