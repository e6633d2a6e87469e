"""Φ u^κ of a box as a polynomial in negated variables with non-negative coefficients.

With ``z_ij = 1`` where attribute ``i`` is at level ``j`` or higher, a part that falls with the
level is ``w_i(x_i) = w_i(high_i) + Σ_j (w_i(j-1) - w_i(j)) (1 - z_ij)``. So Φ and u are sums of
negated variables with non-negative coefficients, and so is every product of them. The product of
two negated variables of one attribute is the lower one: ``(1 - z_ij)(1 - z_ij') = 1 -
z_i,min(j,j')``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.disclosure.lattice.lattice import Levels
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective
from hedgerow.disclosure.solvers.min_cut import CutTerms
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Flags, Floats, Ints

MOST_TERMS = 4_000_000
"""Maximum number of products when a power is expanded."""

_DENSE_UP_TO = 1 << 22  # maximum number of keys for adding equal monomials in a dense array


@dataclass(frozen=True, kw_only=True, eq=False)
class BoxVariables:
    """The 0/1 variables of a box, from the lowest level of the first attribute up.

    ``start[i] + l`` is the variable of attribute ``i`` at level ``l``.
    """

    attribute: Ints
    level: Ints
    start: Ints
    low: Levels

    @classmethod
    def of(cls, low: Levels, high: Levels) -> BoxVariables:
        """Number the levels above ``low`` up to ``high``."""
        sizes = high.astype(np.int64) - low
        before = np.cumsum(sizes) - sizes
        attribute = np.repeat(np.arange(len(sizes)), sizes)
        start = before - low.astype(np.int64) - 1
        level = np.arange(int(sizes.sum())) - start[attribute]
        return cls(attribute=attribute, level=level, start=start, low=low)

    def __len__(self) -> int:
        return len(self.attribute)

    def of_node(self, node: Levels) -> Flags:
        """Return which variables are 1 at a node of the box."""
        ones: Flags = node[self.attribute] >= self.level
        return ones

    def node(self, ones: Flags) -> Levels:
        """Return the node with these variables."""
        raised = np.bincount(self.attribute[ones], minlength=len(self.low))
        return (self.low + raised).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, eq=False)
class Polynomial:
    """A polynomial in negated variables, up to a constant: single ones and larger sets."""

    singles: Floats
    sets: CutTerms


def steps(parts: Floats, start: Ints, variables: BoxVariables) -> Floats:
    """Return the loss of each variable when it changes from 0 to 1."""
    at = start[variables.attribute] + variables.level
    return np.asarray(parts[at - 1] - parts[at])


def powers_of(objective: AggregateObjective, variables: BoxVariables, high: Levels) -> Polynomial:
    """Return Φ u^κ over a box, expanded.

    There are ``n^(κ+1)`` products for ``n`` variables.
    """
    n = len(variables)
    if (n + 1) ** (objective.whole_power() + 1) > MOST_TERMS:
        raise SettingError(
            "The utility's power is too large to be expanded for that many attributes.",
            where="power",
            do="Give a smaller power, or use the minimum-norm point.",
        )
    # One member more than there are variables: number n represents 'none', the constant.
    weight = np.append(steps(objective.severity_of, objective.start, variables), 0.0)
    worth = np.append(steps(objective.utility_of, objective.start, variables), 0.0)
    weight[n] = objective.severity(high)
    worth[n] = objective.utility(high)
    members, rewards = np.arange(n + 1)[:, None], weight
    for _ in range(objective.whole_power()):
        members, rewards = _times(members, rewards, worth, variables)
    return _sorted_out(members, rewards, n)


def _times(
    members: Ints, rewards: Floats, factor: Floats, variables: BoxVariables
) -> tuple[Ints, Floats]:
    """Multiply by a linear polynomial and add up equal monomials."""
    n = len(variables)
    used = np.flatnonzero(factor)
    new = np.tile(used, len(members))[:, None]
    product = np.sort(np.hstack([np.repeat(members, len(used), axis=0), new]), axis=1)
    # Of two levels of one attribute the lower one remains.
    chain = np.append(variables.attribute, -1)
    same = (chain[product[:, 1:]] == chain[product[:, :-1]]) & (product[:, 1:] < n)
    product[:, 1:][same] = n
    product.sort(axis=1)
    return _added_up(
        product, np.repeat(rewards, len(used)) * np.tile(factor[used], len(members)), n
    )


def _added_up(members: Ints, rewards: Floats, n: int) -> tuple[Ints, Floats]:
    width = members.shape[1]
    places = np.array([(n + 1) ** place for place in range(width)], dtype=np.int64)
    keys = members @ places
    if (n + 1) ** width > _DENSE_UP_TO:
        distinct, keys = np.unique(keys, return_inverse=True)
    else:
        distinct = np.arange((n + 1) ** width)
    sums = np.zeros(len(distinct))
    np.add.at(sums, keys, rewards)
    kept = np.flatnonzero(sums)
    return np.asarray(distinct[kept, None] // places % (n + 1)), sums[kept]


def _sorted_out(members: Ints, rewards: Floats, n: int) -> Polynomial:
    sizes = (members < n).sum(axis=1)
    one, more = sizes == 1, (sizes > 1) & (rewards > 0)
    singles = np.zeros(n)
    singles[members[one].min(axis=1)] = rewards[one]
    return Polynomial(singles=singles, sets=CutTerms(members[more], rewards[more]))
