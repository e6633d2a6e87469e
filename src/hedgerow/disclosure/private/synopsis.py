"""A private synopsis: estimates of how many records match each generalisation.

Private disclosure needs |ρ(x)| for every generalisation x of every record. Every level vector
divides all records into cells, so noise for all vectors would cost one share per vector.
Therefore only a few are *measured*; a coarser vector's cells are sums of measured cells, and if
several measured vectors are fine enough, their sums are averaged by precision. The choice of
measured vectors depends on sizes of domains alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.disclosure.private.levels import LevelSpace
from hedgerow.model.arrays import Columns, Floats, Ints
from hedgerow.model.engine import Engine
from hedgerow.model.run import Run

SIZE = Fraction(1, 20)
"""Part of a synopsis' share that is spent on the number of records."""

CERTAIN = 3.0
"""Minimum estimate of an offered generalisation, in standard deviations."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Kinds:
    """The records, grouped into kinds that no allowed generalisation separates.

    Confidential: ``columns`` holds a code per kind and attribute, ``many`` the number of records
    of each kind.
    """

    columns: Columns
    many: Ints

    def __len__(self) -> int:
        return len(self.many)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Layer:
    """The estimates of one level vector's cells, and the minimum for each to be offered."""

    vector: int
    estimates: Floats
    least: Floats


def measured_vectors(space: LevelSpace) -> tuple[int, ...]:
    """Return the level vectors to measure, by number, the finest first; a public rule.

    The finest one is needed. Another is added as long as that lowers the average, over all
    level vectors, of the standard deviation of a cell: with ``m`` measured vectors each has
    ``m`` times the noise, and a cell that is the sum of ``c`` measured cells has ``sqrt(c)``
    times that.
    """
    n_cells = space.n_cells.astype(np.float64)
    finer = np.ones((space.n_vectors, space.n_vectors), dtype=np.bool_)
    for at in space.vectors.T:
        finer &= at[:, None] <= at[None, :]
    gains = np.where(finer, n_cells[:, None] / n_cells[None, :], 0.0)
    chosen = [space.n_vectors - 1]
    precision = gains[:, -1].copy()
    best = float((1 / np.sqrt(precision)).mean())
    while len(chosen) < space.n_vectors:
        means = ((len(chosen) + 1) / np.sqrt(precision[:, None] + gains)).mean(axis=0)
        means[chosen] = math.inf
        candidate = int(np.argmin(means))
        if float(means[candidate]) >= best:
            break
        best = float(means[candidate])
        chosen.append(candidate)
        precision += gains[:, candidate]
    return tuple(chosen)


def vector_counts(space: LevelSpace, vector: int, kinds: Kinds) -> Ints:
    """Return the numbers of records in all cells of a level vector; confidential.

    Adding or removing a record moves one of them by 1.
    """
    counts = np.zeros(int(space.n_cells[vector]), dtype=np.int64)
    np.add.at(counts, space.cells_of(space.vectors[vector], kinds.columns), kinds.many)
    return counts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Synopsis:
    """Noisy counts of measured level vectors and a noisy number of records; publishable."""

    space: LevelSpace
    measured: tuple[int, ...]
    counts: tuple[Ints, ...]
    share: Fraction
    n_records: int

    @classmethod
    def measure(
        cls,
        run: Run[Engine],
        space: LevelSpace,
        measured: tuple[int, ...],
        kinds: Kinds,
        *,
        share: Fraction,
    ) -> Synopsis:
        """Measure the number of records and the counts of every cell of the measured vectors.

        Privacy: costs ``share``. A record is in one cell of each measured vector, so the
        counts of all together move by at most as many as there are vectors (sequential
        composition over vectors). Empty cells get noise like all others.
        """
        size = run.noisy_total(kinds.many, share=share * SIZE, on="number of records")
        each = share * (1 - SIZE) / len(measured)
        counts = tuple(
            run.noisy(vector_counts(space, vector, kinds), share=each, on="counts by levels")
            for vector in measured
        )
        return cls(
            space=space,
            measured=measured,
            counts=counts,
            share=each,
            n_records=max(size, 1),
        )

    def layers(self, *, threshold: int) -> Iterator[Layer]:
        """Yield the estimates of every level vector, in the vectors' order.

        A cell is offered if its estimate is at least ``threshold`` and distinguishable from noise.
        For the fully generalised cell, the noisy number of records is the best estimate.
        """
        space = self.space
        sums = [
            space.coarsened(counts, space.vectors[vector])
            for vector, counts in zip(self.measured, self.counts, strict=True)
        ]
        for number, vector in enumerate(space.vectors):
            use = [at for at, w in enumerate(self.measured) if (vector <= space.vectors[w]).all()]
            precision = np.array([1 / space.n_cells[self.measured[at]] for at in use])
            weights = precision / precision.sum()
            estimates = np.zeros(int(space.n_cells[number]))
            variance = np.zeros(len(estimates))
            for at, weight in zip(use, weights.tolist(), strict=True):
                estimates += weight * next(sums[at])
                variance += weight**2 * self._n_measured(vector, self.measured[at])
            if number == 0:
                estimates[:], variance[:] = self.n_records, 0.0
            least = np.maximum(CERTAIN * self.deviation * np.sqrt(variance), threshold)
            yield Layer(vector=number, estimates=estimates, least=least)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on one measured cell."""
        a = math.exp(-float(self.share))
        return math.sqrt(2 * a) / (1 - a)

    def _n_measured(self, vector: Ints, measured: int) -> Floats:
        """Return how many measured cells are in each cell of a coarser vector."""
        counts = np.ones(1)
        for cuts, coarse, fine in zip(
            self.space.cuts, vector.tolist(), self.space.vectors[measured].tolist(), strict=True
        ):
            ends = np.append(cuts.starts(fine, coarse), cuts.n_cells[fine])
            counts = np.multiply.outer(counts, np.diff(ends).astype(np.float64)).reshape(-1)
        return counts
