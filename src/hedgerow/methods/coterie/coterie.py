"""Coterie: synthetic baskets that agree with noisy counts of items, pairs and chosen sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.methods.coterie.caps import Cap
from hedgerow.methods.coterie.departures import DETAILS
from hedgerow.methods.coterie.fit import Combinations, fitted_baskets
from hedgerow.methods.coterie.items import Items, measure_items, measure_records
from hedgerow.methods.coterie.lengths import measure_lengths
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.pairs import measure_pairs
from hedgerow.methods.coterie.rest import with_others
from hedgerow.methods.coterie.sets import (
    CORE,
    candidate_sets,
    core_of,
    goal_support,
    measure_core,
    measure_sets,
)
from hedgerow.methods.coterie.shares import FEW, FEW_PARTS, LARGE, PARTS, Measuring
from hedgerow.methods.diffpart.small_universe import SMALL_UP_TO, small_universe
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.compiler import need_compiler
from hedgerow.model.engine import BasketEngine
from hedgerow.model.method import About, Instead, Outline, Step
from hedgerow.model.run import Run
from hedgerow.taxonomy.tree import Taxonomy

FREQUENT = 100
"""Among how many items combinations are measured, unless the plan says otherwise."""

MOST_FREQUENT = 400
AT_LEAST = 20
"""As many items are taken as frequent, however rare they are."""

WORTH_A_PAIR = 30
"""Items below that many times the scale of a pair's noise are not worth counting in pairs."""

USUAL_LENGTH = 6
USUAL_CAPS = {"items": 6, "sets": 3}
USUAL_FACTOR = 1.5
"""Values that `check` assumes: a run chooses caps and factors by noisy counts."""


@dataclass(frozen=True, kw_only=True)
class Coterie:
    """Measure items, pairs, a core and chosen sets; place items into baskets accordingly.

    A universe of up to 18 items is counted whole, as DiffPart does it, unless ``frequent`` is
    given.

    Privacy: neighbours differ in one record. Each measurement is a histogram in which a record
    is in one cell, or capped features, and costs its share; they add up to epsilon, whichever
    shares the noisy number of records chooses (sequential composition, every question for each
    outcome of those before), and all else reads noisy values.
    """

    frequent: int | None = None

    def __post_init__(self) -> None:
        if self.frequent is not None and not 2 <= self.frequent <= MOST_FREQUENT:
            raise SettingError.out_of_range(
                "frequent", self.frequent, f"a whole number from 2 to {MOST_FREQUENT}"
            )

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        chosen = {} if self.frequent is not None else {"frequent": str(FREQUENT)}
        return About(name="coterie", chosen=chosen, details=DETAILS)

    def validate(self, taxonomy: Taxonomy, epsilon: Fraction) -> None:
        """Ask for compiled loops, which place items; any universe and any epsilon can work."""
        if not self._is_small(taxonomy):
            need_compiler("The method coterie")

    def outline(self, taxonomy: Taxonomy, epsilon: Fraction) -> Outline:
        """Return what a run will spend and how many baskets to expect, without any data."""
        if self._is_small(taxonomy):
            step = Step(on="counts", share=epsilon, times=1)
            return Outline(steps=(step,), counts=epsilon, n_groups=(1 << taxonomy.n_leaves) - 1)
        return Outline(
            steps=_steps(PARTS, epsilon),
            instead=_with_few_records(epsilon) if taxonomy.n_leaves > LARGE else None,
            counts=epsilon * PARTS["sets"],
            n_groups=taxonomy.n_leaves,
            notes=_notes(float(epsilon)),
        )

    def publish(self, run: Run[BasketEngine]) -> NoisyBaskets:
        """Return synthetic baskets; the ledger is settled afterwards.

        Privacy: costs epsilon, all that the ledger has.
        """
        taxonomy = run.engine.taxonomy
        if self._is_small(taxonomy):
            run.progress("counting itemsets", None)
            return small_universe(run)
        lots = Lots(source=run.source)
        items, found = self.measure(Measuring(run=run, key=lots.word()))
        run.progress("placing items", None)
        baskets, others = fitted_baskets(found, lots)
        offsets, codes = with_others(baskets, others, items, n_top=len(found.supports), lots=lots)
        return NoisyBaskets.sorted_of(
            taxonomy,
            offsets=offsets,
            items=codes,
            counts=np.ones(len(offsets) - 1, dtype=np.int64),
        )

    def measure(self, measuring: Measuring) -> tuple[Items, Combinations]:
        """Return all that is measured of a universe that is not small.

        Privacy: costs epsilon, all that the ledger has; the release is made of this alone.
        """
        measuring.run.progress("counting items", None)
        records = measure_records(measuring)
        measuring = measuring.for_records(records.n_records)
        items = measure_items(measuring, records)
        return items, self._measure_combinations(measuring, items)

    def _measure_combinations(self, measuring: Measuring, items: Items) -> Combinations:
        """Return lengths, pairs, core and sets of the frequent items."""
        top = self._frequent(items, measuring.share("pairs"))
        rank = np.full(measuring.n_items, -1, dtype=np.int32)
        rank[top] = np.arange(len(top), dtype=np.int32)
        lengths = measure_lengths(measuring, rank, items.n_records)
        measuring.run.progress("counting pairs", None)
        supports = items.supports[top]
        pairs = measure_pairs(measuring, rank, supports, lengths, items.n_records)
        candidates = candidate_sets(pairs, supports, items.n_records)
        core = core_of(candidates, supports, CORE)
        measuring.run.progress("counting sets", None)
        inside = measure_core(measuring, top, core, 0.5 * goal_support(candidates))
        sets = measure_sets(measuring, rank, len(top), candidates, core)
        return Combinations(
            supports=supports,
            spread=items.spread,
            lengths=lengths,
            pairs=pairs,
            core=inside,
            sets=sets,
        )

    def _frequent(self, items: Items, share: float) -> NDArray[np.int64]:
        """Return the frequent items: those worth a pair, within bounds."""
        most = self.frequent or FREQUENT
        worth = int(np.count_nonzero(items.supports[items.known] >= WORTH_A_PAIR / share))
        return items.known[: min(most, max(worth, AT_LEAST))]

    def _is_small(self, taxonomy: Taxonomy) -> bool:
        return self.frequent is None and taxonomy.n_leaves <= SMALL_UP_TO


def _steps(parts: Mapping[str, Fraction], epsilon: Fraction) -> tuple[Step, ...]:
    return tuple(Step(on=on, share=epsilon * part, times=1) for on, part in parts.items())


def _with_few_records(epsilon: Fraction) -> Instead:
    return Instead(
        when=f"epsilon times the noisy number of records is below {FEW:,}",
        steps=_steps(FEW_PARTS, epsilon),
    )


def _notes(epsilon: float) -> tuple[str, ...]:
    """Return what can be expected of a count, for records of a usual length."""
    off = {
        on: 2 * Cap(most=most, factor=USUAL_FACTOR, above=0.0).spread(epsilon * float(PARTS[on]))
        for on, most in USUAL_CAPS.items()
    }
    return (
        f"Where records have about {USUAL_LENGTH} items, counts of single items and of frequent"
        f" pairs are off by up to about {off['items']:,.0f} and {off['sets']:,.0f} in 95 of 100"
        " cases, more where records are longer. Rarer items are not known.",
        "Baskets are synthetic: combinations of rare items are not kept, and taxonomies of items"
        " are not used (diffpart uses them).",
    )
