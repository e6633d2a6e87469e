"""The dictionary with only some of its literals: an upper bound on |ρ| that is cheap to cut.

A dictionary record matches a node if all of its literals hold. With only a few of them, it matches
more nodes, so the count can only be too large; and records with the same remaining literals form
one group, whatever their other differences. If the best node by that bound has no record too many,
it is the best node overall. Otherwise each record that is counted wrongly gets back one literal
that excludes it, and the search goes on. Hundreds of thousands of records need a few thousand
groups, and two or three rounds.

The first two literals of a record are chosen at random, but balanced: the value of records is
distributed over the attributes that must stay general because of them. Attributes are examined in
a few random orders, first those that need much and have few records to pay for it. The orders
change the work, never the answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Levels
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective
from hedgerow.disclosure.solvers.bracket import Bracket
from hedgerow.disclosure.solvers.min_cut import CutTerms
from hedgerow.disclosure.solvers.monomials import BoxVariables
from hedgerow.model.arrays import Floats, Ints

ORDERS = 16
"""Number of different orders in which records examine their attributes."""


class RelaxedDictionary:
    """Groups of dictionary records, each with some literals that all of its records have.

    ``members`` are the literals of each group, padded with the number of variables, and
    ``sizes`` the number of records in it.
    """

    def __init__(
        self, box: Bracket, variables: BoxVariables, orders: Ints, *, exact_at: Levels
    ) -> None:
        from hedgerow.disclosure.solvers.compiled import aggregate as compiled_aggregate

        self.box = box
        self.variables = variables
        self.orders = orders
        firsts, seconds = compiled_aggregate.two_literals(
            box.columns, np.stack([box.low, exact_at]), orders
        )
        n = len(variables)
        one, other = (
            compiled_aggregate.literal_numbers(box.columns, box.many, found, variables.start, n)
            for found in (firsts, seconds)
        )
        keys = np.minimum(one, other) * (n + 1) + np.maximum(one, other)
        distinct, self.group = _numbered(keys, (n + 1) ** 2)
        self.members = np.stack([distinct // (n + 1), distinct % (n + 1)], axis=1)
        self.sizes = self._counted()

    def _counted(self) -> Ints:
        sums = np.bincount(self.group, weights=self.box.many, minlength=len(self.members))
        return sums.astype(np.int64)

    def tighten(self, node: Levels) -> bool:
        """Make the bound exact at a node; return whether anything had to change."""
        from hedgerow.disclosure.solvers.compiled import aggregate as compiled_aggregate

        n = len(self.variables)
        box, start = self.box, self.variables.start
        found = compiled_aggregate.literals_above(
            box.columns, self._fits(node)[self.group], node, self._open(node)
        )
        literals = compiled_aggregate.literal_numbers(box.columns, box.many, found, start, n)
        wrong = np.flatnonzero(literals < n)
        if not len(wrong):
            return False
        keys, place = np.unique(self.group[wrong] * n + literals[wrong], return_inverse=True)
        self.group[wrong] = len(self.members) + place
        kept = np.hstack([self.members, np.full((len(self.members), 1), n)])
        split = np.hstack([self.members[keys // n], (keys % n)[:, None]])
        self.members = np.vstack([kept, split])
        self.sizes = self._counted()
        return True

    def count(self, node: Levels) -> int:
        """Return the number of records that match a node according to the bound."""
        return int(self.sizes[self._fits(node)].sum())

    def _fits(self, node: Levels) -> NDArray[np.bool_]:
        holds = np.append(self.variables.of_node(node), True)
        fits: NDArray[np.bool_] = np.logical_and.reduce(holds[self.members], axis=1)
        return fits

    def _open(self, node: Levels) -> Ints:
        """Return the orders without attributes that are at their highest level at the node."""
        below = (node < self.box.high)[self.orders]
        return self.orders[below].reshape(len(self.orders), -1)

    def rewards(self, worth: float) -> tuple[Floats, CutTerms]:
        """Return the rewards of groups whose literals hold, for a value per record.

        First those for single literals, by variable; then those for sets of them.
        """
        n = len(self.variables)
        many = (self.members < n).sum(axis=1)
        one = many == 1
        single = np.zeros(n)
        np.add.at(single, self.members[one].min(axis=1), self.sizes[one] * worth)
        more = (many > 1) & (self.sizes > 0)
        return single, CutTerms(self.members[more], self.sizes[more] * worth)


def _numbered(keys: Ints, n_keys: int) -> tuple[Ints, Ints]:
    """Return the distinct keys, and the index of each key among them."""
    distinct = np.flatnonzero(np.bincount(keys, minlength=n_keys))
    number = np.zeros(n_keys, dtype=np.int64)
    number[distinct] = np.arange(len(distinct))
    return distinct, number[keys]


def balanced_orders(objective: AggregateObjective, box: Bracket, level: float) -> Ints:
    """Return orders of the open attributes, first those that need the most per record.

    The need of an attribute is the decrease of ``Φ (u^κ - level)`` when it alone becomes as
    general as the box allows, from the bottom or at the top of the box.
    """
    open_attributes = np.flatnonzero(box.low < box.high)
    needs = _falls(objective, box.low, box.high, open_attributes, level)
    rates = needs / (box.literal_counts[open_attributes] + 1)
    # Sorting exponential draws divided by rates gives each order its probability; the seed is
    # fixed so that the same problem is always solved in the same way.
    draws = np.random.default_rng(2014).exponential(size=(ORDERS, len(open_attributes)))
    return np.ascontiguousarray(open_attributes[np.argsort(draws / rates, axis=1)])


def _falls(
    objective: AggregateObjective, low: Levels, high: Levels, which: Ints, level: float
) -> NDArray[np.float64]:
    def worth(nodes: Levels) -> Floats:
        utility = objective.utility(nodes) ** objective.power
        return np.asarray(objective.severity(nodes) * (utility - level))

    rows = np.arange(len(which))
    lowered = np.repeat(high[None, :], len(which), axis=0)
    lowered[rows, which] = low[which]
    raised = np.repeat(low[None, :], len(which), axis=0)
    raised[rows, which] = high[which]
    falls = np.maximum(worth(lowered) - worth(high), worth(low) - worth(raised))
    return np.maximum(falls, 1e-9 * max(float(falls.max(initial=0.0)), 1e-9))
