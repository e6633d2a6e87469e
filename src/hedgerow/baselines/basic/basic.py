"""Basic: noise on the count of every itemset, the paper's baseline [DiffPart, Sec. 4.1]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.count.memory.baskets import sets_of_masks
from hedgerow.errors import SettingError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.engine import BasketEngine
from hedgerow.model.groups import CountOrigin
from hedgerow.model.method import About, Departure, Outline, Step
from hedgerow.model.run import Run
from hedgerow.taxonomy.tree import Taxonomy
from hedgerow.trees.counts import MOST_ROWS, expected_spurious

MOST_ITEMS = 40
"""Items up to which an itemset is a mask that can be counted."""

_DEPARTURES = (
    Departure(
        paper="DiffPart (VLDB 2011), Basic",
        what="Noise is discrete Laplace; itemsets whose noisy count is not positive are not"
        " listed, and those without records are drawn directly.",
        why="The same law as noise on all 2^|I| - 1 itemsets, in the time of what is listed.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Basic:
    """Publish every itemset of a small universe whose noisy count is positive.

    Privacy: neighbours differ in one record; itemsets are disjoint, so that all counts
    together cost epsilon (parallel composition).
    """

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="basic",
            faithful=True,
            departures=_DEPARTURES,
        )

    def validate(self, taxonomy: Taxonomy, epsilon: Fraction) -> None:
        """Raise where noise alone would fill more rows than a release can have."""
        n_items = taxonomy.n_leaves
        n_sets = (1 << min(n_items, MOST_ITEMS)) - 1
        rows = expected_spurious(n_sets, epsilon=epsilon, threshold=1)
        if n_items > MOST_ITEMS or rows > MOST_ROWS:
            raise SettingError(
                f"{n_items} items make 2^{n_items} itemsets, too many to publish.",
                where="publish.method",
                do="Use diffpart, or a universe of about 25 items at most.",
            )

    def outline(self, taxonomy: Taxonomy, epsilon: Fraction) -> Outline:
        """Return the one spending, and how many itemsets noise alone will list."""
        n_sets = (1 << taxonomy.n_leaves) - 1
        return Outline(
            steps=(Step(on="counts", share=epsilon, times=1),),
            counts=epsilon,
            n_groups=round(expected_spurious(n_sets, epsilon=epsilon, threshold=1)),
        )

    def publish(self, run: Run[BasketEngine]) -> NoisyBaskets:
        """Return the itemsets with positive noisy counts; the ledger is settled afterwards.

        Privacy: costs epsilon.
        """
        engine, epsilon = run.engine, run.epsilon
        self.validate(engine.taxonomy, epsilon)
        run.progress("counting itemsets", None)
        n_items = engine.taxonomy.n_leaves
        tally = engine.itemsets()
        ranks, counts = run.noisy_above(
            tally.keys - 1,  # the empty set has no rank
            tally.counts,
            n_groups=(1 << n_items) - 1,
            threshold=1,
            share=epsilon,
            on="counts",
        )
        offsets, items = sets_of_masks(ranks + 1, n_items)
        return NoisyBaskets.sorted_of(
            engine.taxonomy,
            offsets=offsets,
            items=items,
            counts=counts,
            origin=CountOrigin(share=epsilon, threshold=1, lowered_by=None),
        )

    def usefulness(
        self, taxonomy: Taxonomy, epsilon: Fraction, *, n_itemsets: int, delta: float
    ) -> float | None:
        """Return the error that a counting query exceeds with chance ``delta`` at the most.

        As :meth:`hedgerow.methods.diffpart.diffpart.DiffPart.usefulness`, with nothing tested and
        no threshold: a count cut at zero is no farther off than its noise. Here a query
        covers every itemset that holds what it asks for, occurring or not.

        >>> round(Basic().usefulness(Taxonomy.flat(["a"]), Fraction(1), n_itemsets=1, delta=0.05))
        3
        """
        if n_itemsets < 1 or not 0 < delta < 1:
            raise SettingError.out_of_range("delta", delta, "a number between 0 and 1")
        return n_itemsets * math.log(n_itemsets / delta) / float(epsilon)
