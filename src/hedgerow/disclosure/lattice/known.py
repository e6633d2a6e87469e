"""A recipient's earlier knowledge of a record, and the risk of everything combined.

Generalisations of one record lie on its chains, so two of them have a coarsest common refinement,
their *meet*: the lower level of each attribute, the intersection of the boxes. A recipient who has
the generalisations ``g`` and ``x`` of a record knows exactly their meet ``x ∧ g``. A dictionary
record matches the meet if and only if it matches both, so

    |ρ(x ∧ g, Θ)| = |ρ(x, Θ_g)|,  where Θ_g are the dictionary records that match g,

and Φ of the meet is the sum of each attribute's weight at its lower level. As functions of ``x``,
both keep their form: a sum of conjunctions, and a sum over attributes that falls with every
generalisation. All searches are therefore run unchanged, on another dictionary and with other
weights. Everything here is confidential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.disclosure.lattice.lattice import Lattice, Levels, Node, Parts
from hedgerow.disclosure.lattice.matches import MatchCounter


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class KnownMatches:
    """The matches of the meets of a record's nodes and a node that is known already."""

    counter: MatchCounter
    known: Node

    @property
    def lattice(self) -> Lattice:
        """The record's generalisations."""
        return self.counter.lattice

    @property
    def n_records(self) -> int:
        """Size of the dictionary, including records that do not match what is known."""
        return self.counter.n_records

    @property
    def monotone(self) -> bool:
        """True if a generalisation has all the matches of what it generalises."""
        return self.counter.monotone

    def count(self, node: Sequence[int]) -> int:
        """Return the number of matches of one node's meet."""
        return self.counter.count([min(pair) for pair in zip(node, self.known, strict=True)])

    def counts(self, levels: ArrayLike) -> NDArray[np.int64]:
        """Return the numbers of matches of many nodes' meets."""
        return self.counter.counts(np.minimum(np.asarray(levels), np.array(self.known)))

    def cube(self) -> NDArray[np.int64]:
        """Return the numbers of matches of all nodes' meets."""
        lower = [
            np.minimum(np.arange(n_levels), level)
            for n_levels, level in zip(self.lattice.shape, self.known, strict=True)
        ]
        return np.ascontiguousarray(self.counter.cube()[np.ix_(*lower)])


def with_known(counter: MatchCounter, known: Levels | None) -> MatchCounter:
    """Return a counter for meets of nodes and a known node, or the counter itself without one."""
    if known is None:
        return counter
    return KnownMatches(counter=counter, known=tuple(int(level) for level in known))


def known_parts(parts: Parts, known: Levels | None) -> Parts:
    """Return each level's contribution in the meet: that of the lower of both levels."""
    if known is None:
        return parts
    return tuple(
        part[np.minimum(np.arange(len(part)), int(level))]
        for part, level in zip(parts, known, strict=True)
    )
