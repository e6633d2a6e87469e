"""Coterie: invented baskets that agree with noisy counts of items, pairs and chosen sets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.feature_kernels import CappedSets, flat_sets
from hedgerow.count.folding import fold
from hedgerow.errors import SettingError
from hedgerow.methods.coterie.caps import Cap
from hedgerow.methods.coterie.departures import DETAILS
from hedgerow.methods.coterie.items import Items, measure_items
from hedgerow.methods.coterie.lengths import BasketLengths, measure_lengths
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.pairs import Pairs, measure_pairs
from hedgerow.methods.coterie.place import PlacedItems, placed
from hedgerow.methods.coterie.rest import with_others
from hedgerow.methods.coterie.sets import (
    CORE,
    ChosenSets,
    CountedSet,
    candidate_sets,
    core_of,
    goal_support,
    measure_core,
    measure_sets,
)
from hedgerow.methods.coterie.shares import PARTS, Measuring
from hedgerow.methods.coterie.targets import combined
from hedgerow.methods.diffpart.small_universe import SMALL_UP_TO, small_universe
from hedgerow.model.arrays import Floats
from hedgerow.model.baskets import NoisyBaskets, offsets_of
from hedgerow.model.compiler import need_compiler
from hedgerow.model.engine import BasketEngine
from hedgerow.model.method import About, Outline, Step
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress, no_progress
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
"""What `check` reckons with: caps and factors are chosen by noisy counts."""

PASSES = 2
SIZES = (1, 2, 3)


@dataclass(frozen=True, kw_only=True)
class Coterie:
    """Measure items, pairs, a core and chosen sets; place items into baskets accordingly.

    A universe of up to 18 items is counted whole, as DiffPart does it, unless ``frequent`` is
    given.

    Privacy: neighbours differ in one record. Each measurement is a histogram in which a record
    is in one cell, or capped features, and costs its share; they add up to epsilon (sequential
    composition), and all else reads noisy values.
    """

    frequent: int | None = None

    def __post_init__(self) -> None:
        if self.frequent is not None and not 2 <= self.frequent <= MOST_FREQUENT:
            raise SettingError.out_of_range(
                "frequent", self.frequent, f"a whole number from 2 to {MOST_FREQUENT}"
            )

    @property
    def about(self) -> About:
        """What the certificate says of the method."""
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
        steps = tuple(Step(on=on, share=epsilon * part, times=1) for on, part in PARTS.items())
        return Outline(
            steps=steps,
            counts=epsilon * PARTS["sets"],
            n_groups=taxonomy.n_leaves,
            notes=_notes(float(epsilon)),
        )

    def publish(
        self,
        engine: BasketEngine,
        *,
        epsilon: Fraction,
        ledger: PathLedger,
        source: RandomSource,
        progress: Progress = no_progress,
    ) -> NoisyBaskets:
        """Return invented baskets; the ledger is settled afterwards.

        Privacy: costs epsilon, all that the ledger has.
        """
        if self._is_small(engine.taxonomy):
            progress("counting itemsets", None)
            return small_universe(engine, ledger=ledger, source=source)
        lots = Lots(source=source)
        measuring = Measuring(
            engine=engine, epsilon=epsilon, ledger=ledger, source=source, key=lots.word()
        )
        progress("counting items", None)
        items = measure_items(measuring)
        found = self._measure_combinations(measuring, items, progress)
        progress("placing items", None)
        baskets, others = _fitted(found, lots)
        offsets, codes = with_others(baskets, others, items, n_top=len(found.supports), lots=lots)
        return NoisyBaskets.sorted_of(
            engine.taxonomy,
            offsets=offsets,
            items=codes,
            counts=np.ones(len(offsets) - 1, dtype=np.int64),
        )

    def _measure_combinations(
        self, measuring: Measuring, items: Items, progress: Progress
    ) -> Combinations:
        """Return lengths, pairs, core and sets of the frequent items."""
        top = self._frequent(items, measuring.share("pairs"))
        rank = np.full(measuring.n_items, -1, dtype=np.int32)
        rank[top] = np.arange(len(top), dtype=np.int32)
        lengths = measure_lengths(measuring, rank, items.n_records)
        progress("counting pairs", None)
        supports = items.supports[top]
        pairs = measure_pairs(measuring, rank, supports, lengths, items.n_records)
        candidates = candidate_sets(pairs, supports, items.n_records)
        core = core_of(candidates, supports, CORE)
        progress("counting sets", None)
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
        "Baskets are invented: combinations of rare items are not kept, and taxonomies of items"
        " are not used (diffpart uses them).",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Combinations:
    """All that was measured of the frequent items; public."""

    supports: Floats
    spread: float
    lengths: BasketLengths
    pairs: Pairs
    core: list[CountedSet]
    sets: ChosenSets


def _fitted(found: Combinations, lots: Lots) -> tuple[PlacedItems, NDArray[np.int64]]:
    """Return baskets that agree with the counts, and how many other items each is to have.

    Records above the cap hold larger sets more often than smaller ones, so that each size has
    a factor of its own: it is taken from the baskets of the pass before.
    """
    factors = np.full(len(found.sets.sets), found.sets.cap.factor)
    for turn in range(PASSES):
        counted = [*found.sets.counted(factors), *found.core]
        targets = combined(found.supports, found.spread, found.pairs, counted)
        frequent, others = found.lengths.drawn(lots)
        rough = turn + 1 < PASSES
        baskets = placed(targets, frequent, lots, rough=rough)
        if rough:
            factors = _factors(baskets, found.sets, lots)
    return baskets, others


def _factors(baskets: PlacedItems, chosen: ChosenSets, lots: Lots) -> Floats:
    """Return the factor of every set, by its size, from the same cap on invented baskets."""
    lengths = np.diff(baskets.offsets)
    folded = fold(offsets_of(lengths[lengths > 0]), baskets.items.astype(np.uint32))
    n_top = int(baskets.items.max(initial=0)) + 1
    n_top = max(n_top, int(flat_sets(chosen.sets)[1].max(initial=0)) + 1)
    rank = np.arange(n_top, dtype=np.int32)

    def tables(cap: int) -> NDArray[np.int64]:
        kernel = CappedSets(rank=rank, n_top=n_top, sets=chosen.sets, cap=cap, key=lots.word())
        return kernel.count(folded).reshape(2, -1)

    capped, whole = tables(chosen.cap.most), tables(len(chosen.sets) + 1)
    above = whole[0] - capped[0]
    sizes = np.array([len(each) for each in chosen.sets])
    overall = max(1.0, float(above.sum() / max(int(capped[1].sum()), 1)))
    factors = np.full(len(sizes), chosen.cap.factor)
    for size in SIZES:
        here = sizes == size
        own = max(1.0, float(above[here].sum() / max(int(capped[1][here].sum()), 1)))
        factors[here] = max(1.0, chosen.cap.factor * own / overall)
    return factors
