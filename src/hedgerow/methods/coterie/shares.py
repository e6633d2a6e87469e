"""Shares of epsilon of the measurements, and the measuring itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.engine import BasketEngine, FeatureKernel
from hedgerow.model.run import Run

PARTS: Mapping[str, Fraction] = {
    "lengths": Fraction(2, 100),
    "items": Fraction(26, 100),
    "frequent items held": Fraction(3, 100),
    "other items held": Fraction(1, 100),
    "pairs": Fraction(21, 100),
    "core": Fraction(16, 100),
    "sets held": Fraction(3, 100),
    "sets": Fraction(28, 100),
}
"""The parts of epsilon, in the order of the measurements; they add up to 1."""

FEW_PARTS: Mapping[str, Fraction] = {
    "lengths": Fraction(2, 100),
    "items": Fraction(52, 100),
    "frequent items held": Fraction(4, 100),
    "other items held": Fraction(2, 100),
    "pairs": Fraction(2, 100),
    "core": Fraction(16, 100),
    "sets held": Fraction(4, 100),
    "sets": Fraction(18, 100),
}
"""The same where there are few records: lengths cost as much, and say that there are few."""

FEW = 40_000
"""Records are few where epsilon times their noisy number is below that."""


LARGE = 100
"""Universes up to that many items keep the usual shares: their items are known well anyway."""


def parts_for(n_records: int, n_items: int, epsilon: Fraction) -> Mapping[str, Fraction]:
    """Return the parts of epsilon, given the noisy number of records and the universe.

    Privacy: reads a number that has been paid for. On either way the parts add up to 1.
    """
    return FEW_PARTS if n_items > LARGE and n_records * epsilon < FEW else PARTS


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """Asks the engine for vectors and gives them noise; every question is booked."""

    run: Run[BasketEngine]
    key: int
    parts: Mapping[str, Fraction] = field(default_factory=lambda: PARTS)

    def for_records(self, n_records: int) -> Measuring:
        """Return the same with the shares for ``n_records``, a noisy number."""
        return replace(self, parts=parts_for(n_records, self.n_items, self.run.epsilon))

    @property
    def n_items(self) -> int:
        """The number of items in the universe."""
        return self.run.engine.taxonomy.n_leaves

    def share(self, on: str) -> float:
        """Return what a measurement costs, for estimates of its noise."""
        return float(self._share(on))

    def histogram(self, kernel: FeatureKernel, *, on: str) -> NDArray[np.int64]:
        """Return noisy counts of cells of which every record is in one.

        Privacy: one record moves one count by 1, so that the counts cost their share.
        """
        return self.run.noisy(self.run.engine.features(kernel), share=self._share(on), on=on)

    def capped(self, kernel: FeatureKernel, *, on: str, cap: int) -> NDArray[np.int64]:
        """Return noisy counts (two tables, features), of which a record is in ``cap`` at most.

        Privacy: one record moves the counts by ``cap`` in all, whatever its coins, and each has
        noise of ``cap`` times the scale: they cost their share (docs/privacy.md, "Capped
        features").
        """
        sums = self.run.engine.features(kernel)
        noisy = self.run.noisy(sums, share=self._share(on), on=on, per_record=cap)
        return noisy.reshape(2, -1)

    def _share(self, on: str) -> Fraction:
        return self.run.epsilon * self.parts[on]
