"""Functions on a product of chains as set functions on a hypercube [TKDE, Sec. II-B.3].

A node is the set of its *steps*, ``(i, j)`` for every level ``j`` up to its own in attribute
``i``: these sets form a ring family, closed under union and intersection. A supermodular ``g``
on the nodes is extended to all sets of steps, so that methods for set functions apply. With
``X̄`` the least node that has all steps of ``X``, either

- by *marginals*: ``g(X̄) + b(X) - b(X̄)``, where ``b`` adds up, for each step, its marginal
  at the largest node without it, if that is above 0; or
- by a *penalty*: ``g(X̄) - K |X̄ - X|``, with ``K`` above every marginal.

Both are supermodular, and at most ``g(X̄)``: completing a best set gives a best node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Floats, Ints

SetFunction = Callable[[Ints], Floats]
"""The values of many nodes at once, one row of levels each."""

Extension = Literal["marginals", "penalty"]


class RingFamily:
    """The steps of a product of chains, and an extension of a function to all sets of them.

    ``attribute[v]`` and ``level[v]`` identify step ``v``; steps are numbered from the lowest
    level of the first attribute up.
    """

    def __init__(
        self, values: SetFunction, heights: Sequence[int], *, extension: Extension = "marginals"
    ) -> None:
        chains = np.array(heights, dtype=np.int64)
        self.values = values
        self.heights = chains
        self.attribute: Ints = np.repeat(np.arange(len(chains)), chains)
        self.start = np.cumsum(chains) - chains
        self.level: Ints = np.arange(len(self.attribute)) - self.start[self.attribute] + 1
        self.prices = self._prices(extension)
        # The sum of the prices of all steps of the same attribute up to each one.
        before = np.append(0.0, np.cumsum(self.prices))
        self._paid = [
            before[begin : begin + height + 1] - before[begin]
            for begin, height in zip(self.start, chains, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.attribute)

    def _prices(self, extension: Extension) -> Floats:
        """Return the price of each step that a set omits although its node has it."""
        without = np.repeat(self.heights[None, :], len(self), axis=0)
        steps = np.arange(len(self))
        without[steps, self.attribute] = self.level - 1
        with_it = without.copy()
        with_it[steps, self.attribute] = self.level
        # The marginals of a supermodular function are largest at the largest node.
        marginals = self.values(with_it) - self.values(without)
        if extension == "marginals":
            return np.maximum(marginals, 0.0)
        return np.full(len(self), max(float(marginals.max(initial=0.0)), 0.0) + 1.0)

    def nodes(self, sets: NDArray[np.bool_]) -> Ints:
        """Return the least node above each set of steps, one row of flags each."""
        nodes = np.zeros((len(sets), len(self.heights)), dtype=np.int64)
        row, step = np.nonzero(sets)
        np.maximum.at(nodes, (row, self.attribute[step]), self.level[step])
        return nodes

    def extended(self, sets: NDArray[np.bool_]) -> Floats:
        """Return the extension at sets of steps, one row of flags each."""
        nodes = self.nodes(sets)
        return self.values(nodes) + sets @ self.prices - self._due(nodes)

    def along(self, order: Ints) -> tuple[Ints, Floats, Floats]:
        """Return the course of adding steps to the empty set in an order.

        These are the nodes that are reached, their values, and the extension at the sets so far.
        """
        nodes = np.zeros((len(self) + 1, len(self.heights)), dtype=np.int64)
        nodes[np.arange(1, len(self) + 1), self.attribute[order]] = self.level[order]
        np.maximum.accumulate(nodes, axis=0, out=nodes)
        values = self.values(nodes)
        paid = np.append(0.0, np.cumsum(self.prices[order]))
        return nodes, values, values + paid - self._due(nodes)

    def _due(self, nodes: Ints) -> Floats:
        """Return the sum of the prices of all steps of each node."""
        due = np.zeros(len(nodes))
        for i, costs in enumerate(self._paid):
            due += costs[nodes[:, i]]
        return due
