"""The network of PrivBayes: which attributes each attribute is drawn from.

Attributes are added one by one, each with parents among those before it, by private
choices of a pair (attribute, parents) that depend on each other most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.joint import JointCounts, Variable
from hedgerow.model.engine import Engine
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.privacy.source import below
from hedgerow.trees.coarsening import Coarsening, ladder

BINS = 40
"""Cells of an attribute at the most, before parents are coarsened further."""

UNIT = 1 << 20
"""Scores are whole numbers of 1 / UNIT records, rounded down."""

SENSITIVITY = Fraction(2 * UNIT)

MOST_CANDIDATES = 1_000
"""Pairs compared in one choice; of more, that many are drawn by coins."""

EXACT_UP_TO = 1 << 30
"""Records up to which scores fit 64-bit integers on the way."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """An attribute and the coarsened attributes that it is drawn from."""

    child: int
    parents: tuple[Variable, ...]

    @property
    def table(self) -> tuple[Variable, ...]:
        """The variables of the pair's marginal: the parents, then the child at its finest."""
        return (*self.parents, (self.child, 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Encoding:
    """The coarsenings of every attribute, the class last, finest first; all public."""

    ladders: tuple[tuple[Coarsening, ...], ...]
    places: tuple[tuple[NDArray[np.int32], ...], ...]

    @classmethod
    def of(cls, schema: Schema) -> Encoding:
        """Return the public coarsenings, those of a single cell left out but for the finest."""
        full = [ladder(attribute.domain, most=BINS) for attribute in schema.used()]
        if schema.class_attribute is not None:
            full[-1] = ladder(schema.class_attribute.domain)
        kept = tuple(
            (steps[0], *(step for step in steps[1:] if step.n_cells > 1)) for steps in full
        )
        places = tuple(tuple(step.places for step in steps) for steps in kept)
        return cls(ladders=kept, places=places)

    def __len__(self) -> int:
        return len(self.ladders)

    def n_cells(self, variables: tuple[Variable, ...]) -> int:
        """Return the cells of the table of some variables."""
        return prod(self.ladders[a][level].n_cells for a, level in variables)


def dependence_units(counts: NDArray[np.int64]) -> int:
    """Return how far a table (parents, child) is from independence, in units of records.

    Half the sum of |n_xy - n_x n_y / n|: n times the score R of [PrivBayes].

    Departs: [PrivBayes] divides by n and keeps n fixed, so that one record is replaced.
    Here a record is added or removed, and the score stays in records.

    Privacy: adding the record (a, b) to n others moves n_ab - e_ab, the rest of row a, the
    rest of column b and all else by +q, -q, -q and +q in sum, where
    q = (n - n_a)(n - n_b) / (n (n + 1)) < 1, and in each of the four parts all entries move
    the same way. So the score moves by at most 2 q < 2 records; rounding down to units
    keeps that, because 2 records are a whole number of units. Not monotone.

    >>> dependence_units(np.array([[10, 0], [0, 10]])) / UNIT
    10.0
    """
    n = int(counts.sum())
    if n == 0:
        return 0
    exact = counts if n < EXACT_UP_TO else counts.astype(object)
    rows, columns = exact.sum(axis=1), exact.sum(axis=0)
    away = int(abs(exact * n - rows[:, None] * columns[None, :]).sum())
    return away * UNIT // (2 * n)


def parent_sets(
    encoding: Encoding, among: tuple[int, ...], *, most_cells: int, degree: int
) -> list[tuple[Variable, ...]]:
    """Return the sets of coarsened parents that are as large and fine as they may be.

    At most ``degree`` parents of at most ``most_cells`` cells together, none of which could
    be finer or joined by another attribute [PrivBayes, maximal parent sets]. With no room
    for any there is the empty set alone.
    """

    @cache
    def found(at: int, room: int, left: int) -> tuple[tuple[Variable, ...], ...]:
        if at == len(among) or left == 0:
            return ((),)
        a, sets, covered = among[at], [], set()
        for level, step in enumerate(encoding.ladders[a]):
            if 1 < step.n_cells <= room:
                for rest in found(at + 1, room // step.n_cells, left - 1):
                    if rest not in covered:
                        covered.add(rest)
                        sets.append(((a, level), *rest))
        sets.extend(rest for rest in found(at + 1, room, left) if rest not in covered)
        return tuple(sets)

    return sorted(set(found(0, max(most_cells, 1), degree)))


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkGrowth:
    """The choices of one run.

    ``most_cells`` is the most cells of a marginal, by a public rule and a noisy number of
    records.
    """

    run: Run[Engine]
    encoding: Encoding
    degree: int
    most_cells: int
    share: Fraction
    _scores: dict[Pair, int] = field(default_factory=dict)

    def network(self) -> tuple[Pair, ...]:
        """Return every attribute with its parents, in the order in which they are drawn.

        The first attribute is taken at random [PrivBayes, GreedyBayes].
        """
        n = len(self.encoding)
        first = int(below(np.array([n]), source=self.run.source)[0])
        chosen = [Pair(child=first, parents=())]
        while len(chosen) < n:
            self.run.progress("growing the network", len(chosen) / n)
            used = [pair.child for pair in chosen]
            chosen.append(self._next(tuple(sorted(used)), len(chosen)))
        return tuple(chosen)

    def _next(self, used: tuple[int, ...], step: int) -> Pair:
        """Return the next attribute and its parents.

        Privacy: costs ``share``, or nothing where no pair has parents: what the candidates
        are follows from domains, coins, the noisy number of records and earlier choices.
        """
        candidates = self._candidates(used)
        if not any(pair.parents for pair in candidates):
            return candidates[int(below(np.array([len(candidates)]), source=self.run.source)[0])]
        chosen = self.run.choose(
            self._scored(candidates),
            share=self.share,
            on=f"parents {step}",
            sensitivity=SENSITIVITY,
            monotone=False,
            rule="exponential",
        )
        return candidates[int(chosen[0])]

    def _candidates(self, used: tuple[int, ...]) -> list[Pair]:
        """Return the pairs to choose from, by public rules and coins."""
        pairs: list[Pair] = []
        for child in range(len(self.encoding)):
            if child not in used:
                room = self.most_cells // self.encoding.ladders[child][0].n_cells
                sets = parent_sets(self.encoding, used, most_cells=room, degree=self.degree)
                pairs.extend(Pair(child=child, parents=parents) for parents in sets)
        if len(pairs) <= MOST_CANDIDATES:
            return pairs
        order = np.argsort(self.run.source.words(len(pairs)), kind="stable")[:MOST_CANDIDATES]
        return [pairs[at] for at in np.sort(order).tolist()]

    def _scored(self, candidates: list[Pair]) -> NDArray[np.int64]:
        """Return the score of each pair (confidential); one pass counts those not seen yet."""
        new = sorted(
            (pair for pair in candidates if pair.parents and pair not in self._scores),
            key=lambda pair: pair.table,
        )
        if new:
            kernel = JointCounts(
                places=self.encoding.places, tables=tuple(pair.table for pair in new)
            )
            for pair, counts in zip(new, kernel.split(self.run.engine.sum(kernel)), strict=True):
                self._scores[pair] = dependence_units(counts)
        return np.array([self._scores.get(pair, 0) for pair in candidates], dtype=np.int64)
