"""Maximise a supermodular polynomial over the nodes of a box, as a minimum cut.

A node is written in 0/1 variables ``z_v``, one for each attribute and each level above the
lowest: ``z = 1`` if the node is at least that high. Four kinds of terms are allowed, and
each is an arc or two of a network in which ``z_v = 1`` puts ``v`` on the source's side:

- one variable, of any sign: an arc from the source or to the sink;
- a level needs the level below it: an arc of unlimited capacity between them;
- a non-negative reward for a set of variables that are all 1 (dictionary records): for
  two variables an arc between them, for more a *project* node that needs them all;
- a reward for a set of variables that are all 0 (monomials in negated variables): the same,
  mirrored, with an auxiliary node on the sink's side.

Capacities are 64-bit integers. With floats the value of a cut is nearly right, but rounding decides
ties. Rewards are scaled by a power of two, which is exact, so that their sum stays below 2^60,
and rounded: a cut is then wrong by at most the sum of the rounding errors, which is measured,
reported and 0 for integer rewards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from hedgerow.errors import InternalError, MissingExtraError
from hedgerow.model.arrays import Flags, Floats, Ints

CAPACITY_BITS = 60
"""Exponent of 2 that bounds the sum of all finite capacities."""


class CutTerms(NamedTuple):
    """Rewards for sets of at least two variables, one row each.

    Rows of ``members`` are padded with the number of variables.
    """

    members: Ints
    rewards: Floats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MinCut:
    """The least maximiser of a polynomial.

    ``ones`` are its variables that are 1; its value exceeds that of the reference by
    ``advantage``. ``rounding`` bounds the error of any comparison of two nodes due to rounded
    capacities.
    """

    ones: Flags
    advantage: float
    rounding: float


def least_maximiser(
    attribute: Ints, unary: Floats, all_one: CutTerms, all_zero: CutTerms, *, reference: Flags
) -> MinCut:
    """Return the least node of maximum value: rewards for all-1 and all-0 sets, and unary ones.

    ``attribute`` is the chain of each variable, from the lowest level of the first attribute up;
    ``unary[v]`` is the reward for ``z_v = 0``.
    """
    scale = _scale(unary, all_one, all_zero)
    network = _Network(
        attribute,
        np.rint(unary * scale).astype(np.int64),
        _WholeTerms.of(all_one, scale, len(unary)),
        _WholeTerms.of(all_zero, scale, len(unary)),
    )
    ones, flow = network.solve()
    lost = sum(_lost(rewards * scale) for rewards in (unary, all_one.rewards, all_zero.rewards))
    return MinCut(
        ones=ones,
        advantage=(network.capacity_at(reference) - flow) / scale,
        rounding=2 * lost / scale,
    )


def _scale(unary: Floats, all_one: CutTerms, all_zero: CutTerms) -> float:
    total = float(np.abs(unary).sum() + all_one.rewards.sum() + all_zero.rewards.sum())
    # A set of two counts twice, as an arc and at a single variable: this needs a spare bit.
    exponent = CAPACITY_BITS - 2 - math.frexp(total)[1] if total > 0 else 0
    return math.ldexp(1.0, min(max(exponent, -1000), 1000))


def _lost(scaled: Floats) -> float:
    return float(np.abs(scaled - np.rint(scaled)).sum())


class _WholeTerms(NamedTuple):
    """Integer rewards: for sets of two variables, and for larger sets."""

    first: Ints
    second: Ints
    pair_rewards: Ints
    sets: Ints
    set_rewards: Ints

    @classmethod
    def of(cls, terms: CutTerms, scale: float, n_variables: int) -> _WholeTerms:
        rewards = np.rint(terms.rewards * scale).astype(np.int64)
        kept = np.flatnonzero(rewards > 0)
        members = np.full((len(kept), terms.members.shape[1] + 2), n_variables)
        members[:, :-2] = terms.members[kept]
        members.sort(axis=1)
        rewards, larger = rewards[kept], members[:, 2] < n_variables
        two = members[~larger]
        return cls(two[:, 0], two[:, 1], rewards[~larger], members[larger], rewards[larger])


class _Network:
    """Arcs between the variables, source, sink, and one node for each larger set."""

    def __init__(
        self, attribute: Ints, unary: Ints, all_one: _WholeTerms, all_zero: _WholeTerms
    ) -> None:
        self.n = len(unary)
        self.source, self.sink = self.n, self.n + 1
        self.all_one, self.all_zero = all_one, all_zero
        self.projects = np.arange(len(all_one.sets)) + self.n + 2
        self.mirrored = np.arange(len(all_zero.sets)) + self.n + 2 + len(self.projects)
        # r z_a z_b = r z_a - r [z_a = 1, z_b = 0], and mirrored for two zeros.
        single = unary.copy()
        np.subtract.at(single, all_one.first, all_one.pair_rewards)
        np.add.at(single, all_zero.first, all_zero.pair_rewards)
        arcs = self._finite(single)
        # No flow exceeds the sum of all of these, so such an arc is never full.
        unlimited = sum(int(capacities.sum()) for _, _, capacities in arcs) + 1
        chained = np.flatnonzero(attribute[1:] == attribute[:-1])
        arcs.append((chained + 1, chained, np.full(len(chained), unlimited)))
        needing, needed, capacities = self._to_members(self.projects, all_one)
        arcs.append((needing, needed, capacities))
        undoing, undone, capacities = self._to_members(self.mirrored, all_zero)
        arcs.append((undone, undoing, capacities))
        self.tails, self.heads, self.capacities = (
            np.concatenate(parts) for parts in zip(*arcs, strict=True)
        )

    def _finite(self, single: Ints) -> list[tuple[Ints, Ints, Ints]]:
        up, down = np.flatnonzero(single < 0), np.flatnonzero(single > 0)
        one, zero = self.all_one, self.all_zero
        return [
            (np.full(len(up), self.source), up, -single[up]),
            (down, np.full(len(down), self.sink), single[down]),
            (one.first, one.second, one.pair_rewards),
            (zero.second, zero.first, zero.pair_rewards),
            (np.full(len(self.projects), self.source), self.projects, one.set_rewards),
            (self.mirrored, np.full(len(self.mirrored), self.sink), zero.set_rewards),
            # Source and sink must exist even when no other arc touches them.
            (np.array([self.source]), np.array([self.sink]), np.array([0])),
        ]

    def _to_members(self, nodes: Ints, terms: _WholeTerms) -> tuple[Ints, Ints, Ints]:
        """Return one arc between each set's node and each of its variables.

        At most the set's reward flows through its node, so a capacity of that is as good as an
        unlimited one.
        """
        row, place = np.nonzero(terms.sets < self.n)
        return nodes[row], terms.sets[row, place], terms.set_rewards[row]

    def capacity_at(self, ones: Flags) -> int:
        """Return the capacity of the best cut that has these variables on the source's side."""
        side = np.zeros(self.n + 2 + len(self.projects) + len(self.mirrored), dtype=np.bool_)
        side[: self.n], side[self.source] = ones, True
        side[self.projects] = np.append(ones, True)[self.all_one.sets].all(axis=1)
        side[self.mirrored] = np.append(ones, False)[self.all_zero.sets].any(axis=1)
        return int(self.capacities[side[self.tails] & ~side[self.heads]].sum())

    def solve(self) -> tuple[Flags, int]:
        """Return the variables on the source's side of the least minimum cut, and its capacity."""
        flow: Any = _max_flow().SimpleMaxFlow()
        flow.add_arcs_with_capacity(
            self.tails.astype(np.int32), self.heads.astype(np.int32), self.capacities
        )
        if flow.solve(self.source, self.sink) != flow.OPTIMAL:
            raise InternalError("A maximum flow was not found.")
        # The nodes that the source still reaches are the least minimum cut.
        reached = np.array(flow.get_source_side_min_cut(), dtype=np.int64)
        ones = np.zeros(self.n, dtype=np.bool_)
        ones[reached[reached < self.n]] = True
        return ones, int(flow.optimal_flow())


def _max_flow() -> Any:
    try:
        return import_module("ortools.graph.python.max_flow")
    except ModuleNotFoundError:
        raise MissingExtraError("The aggregate model", extra="disclose") from None
