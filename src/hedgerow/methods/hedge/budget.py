"""Split of epsilon and depth of `hedge`: public rules, fixed once.

The constants were chosen on diabetes-130 and on simulated tables, never on a table that
is being published (`python benchmarks/hedge_choice.py`; research/hedge.md has the figures).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log2

from hedgerow.model.method import Step

SIZE = Fraction(1, 50)
"""Share of epsilon for the noisy number of records, which sets the depth."""

RECORDS_PER_LEVEL = 200
"""The depth grows by one each time epsilon times the records doubles, from here on."""

MOST_SHARED, MOST_OWN = 7, 4
SHARED_ALONE = 4
"""Levels that all boxes choose together before boxes are split each by its own choice."""

RECORDS_PER_BOX = 20
"""There may be as many boxes as epsilon times the records over this."""

STOP = 8
"""A box splits by itself only if its noisy size times its share reaches this."""


@dataclass(frozen=True, kw_only=True)
class HedgeShares:
    """Parts of epsilon: leaves get what is left.

    ``marginals`` is spent on the weights by which records are drawn from boxes, ``shared`` the
    choices that all boxes make together, ``own`` those that every box makes for itself,
    and ``sizes`` the noisy counts by which boxes stop.
    """

    marginals: Fraction
    shared: Fraction
    own: Fraction
    sizes: Fraction


CLASSIFYING = HedgeShares(
    marginals=Fraction(2, 25), shared=Fraction(2, 5), own=Fraction(1, 10), sizes=Fraction(1, 20)
)
"""Shares for learning a class: most of the budget goes to the boxes."""

DESCRIBING = HedgeShares(
    marginals=Fraction(2, 5), shared=Fraction(1, 5), own=Fraction(3, 50), sizes=Fraction(1, 25)
)
"""For every other purpose: counts by values are asked for, and values inside boxes matter."""


@dataclass(frozen=True, kw_only=True)
class HedgeShape:
    """The depth of a run: levels chosen together, then levels chosen apart."""

    shared: int
    own: int
    most_boxes: int

    @classmethod
    def of(cls, epsilon: Fraction, n_records: int) -> HedgeShape:
        """Return the shape, from epsilon and a noisy number of records.

        >>> HedgeShape.of(Fraction(1), 30_000)
        HedgeShape(shared=7, own=3, most_boxes=1500)
        >>> HedgeShape.of(Fraction(1, 10), 30_000)
        HedgeShape(shared=4, own=0, most_boxes=150)
        """
        strength = float(epsilon) * max(n_records, 1)
        depth = max(0, round(log2(max(strength / RECORDS_PER_LEVEL, 1.0))))
        return cls(
            shared=min(depth, MOST_SHARED),
            own=min(max(depth - SHARED_ALONE, 0), MOST_OWN),
            most_boxes=max(2, int(strength / RECORDS_PER_BOX)),
        )


@dataclass(frozen=True, kw_only=True)
class HedgeBudget:
    """The shares of one run; leaves get whatever their path has left."""

    epsilon: Fraction
    shape: HedgeShape
    shares: HedgeShares

    @property
    def size(self) -> Fraction:
        """For the noisy number of records."""
        return self.epsilon * SIZE

    @property
    def marginals(self) -> Fraction:
        """For the marginals of all attributes together."""
        return self.epsilon * self.shares.marginals

    @property
    def shared(self) -> Fraction:
        """For each choice that all boxes make together."""
        return self.epsilon * self.shares.shared / max(self.shape.shared, 1)

    @property
    def own(self) -> Fraction:
        """For each level of choices that boxes make for themselves."""
        return self.epsilon * self.shares.own / max(self.shape.own, 1)

    @property
    def sizes(self) -> Fraction:
        """For the noisy counts before each of those levels."""
        return self.epsilon * self.shares.sizes / max(self.shape.own, 1)

    def steps(self) -> tuple[Step, ...]:
        """Return what the deepest path spends; the shares add up to epsilon."""
        planned = [
            Step(on="number of records", share=self.size, times=1),
            Step(on="marginals", share=self.marginals, times=1),
        ]
        if self.shape.shared:
            planned.append(Step(on="shared choices", share=self.shared, times=self.shape.shared))
        if self.shape.own:
            planned.append(Step(on="box sizes", share=self.sizes, times=self.shape.own))
            planned.append(Step(on="own choices", share=self.own, times=self.shape.own))
        rest = self.epsilon - sum((step.share * step.times for step in planned), Fraction(0))
        return (*planned, Step(on="counts", share=rest, times=1))
