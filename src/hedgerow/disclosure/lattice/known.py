"""What a recipient has of a record already, and the risk of all of it together.

Forms of one record lie on its chains, so that two of them have a finest common refinement, their
*meet*: the lower level of each attribute, the intersection of the boxes. Whoever holds the forms
``g`` and ``x`` of a record knows their meet ``x ∧ g``, no less and no more. A dictionary record
fits the meet exactly when it fits both, so

    |ρ(x ∧ g, Θ)| = |ρ(x, Θ_g)|,  where Θ_g are the dictionary records that fit g,

and Φ of the meet is the sum of what each attribute weighs at its lower level. As functions of
``x`` both are of the kind they were: sums of conjunctions, and sums over attributes that fall with
every generalisation. All searches are therefore run as they are, on another dictionary and
other weights. Everything here is confidential.
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
    """The matches of a record's nodes, each together with a form that is known already."""

    counter: MatchCounter
    known: Node

    @property
    def lattice(self) -> Lattice:
        """The record's generalisations."""
        return self.counter.lattice

    @property
    def n_records(self) -> int:
        """The size of the dictionary, those who do not fit what is known included."""
        return self.counter.n_records

    @property
    def monotone(self) -> bool:
        """Whether a generalisation has all the matches of what it generalises."""
        return self.counter.monotone

    def count(self, node: Sequence[int]) -> int:
        """The number of matches of one node and what is known."""
        return self.counter.count([min(pair) for pair in zip(node, self.known, strict=True)])

    def counts(self, levels: ArrayLike) -> NDArray[np.int64]:
        """The numbers of matches of many nodes, each with what is known."""
        return self.counter.counts(np.minimum(np.asarray(levels), np.array(self.known)))

    def cube(self) -> NDArray[np.int64]:
        """The numbers of matches of all nodes, each with what is known."""
        lower = [
            np.minimum(np.arange(n_levels), level)
            for n_levels, level in zip(self.lattice.shape, self.known, strict=True)
        ]
        return np.ascontiguousarray(self.counter.cube()[np.ix_(*lower)])


def with_known(counter: MatchCounter, known: Levels | None) -> MatchCounter:
    """A counter for nodes together with a known form, or the counter itself if there is none."""
    if known is None:
        return counter
    return KnownMatches(counter=counter, known=tuple(int(level) for level in known))


def known_parts(parts: Parts, known: Levels | None) -> Parts:
    """What each level adds together with a known form: that of the lower of both levels."""
    if known is None:
        return parts
    return tuple(
        part[np.minimum(np.arange(len(part)), int(level))]
        for part, level in zip(parts, known, strict=True)
    )
