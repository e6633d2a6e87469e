"""Baskets of frequent items that agree with all that was measured of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.feature_kernels import CappedSets
from hedgerow.methods.coterie.lengths import BasketLengths, whole_numbers, with_places
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.pairs import Pairs
from hedgerow.methods.coterie.place import PlacedItems, combinations_in, dealt, swap
from hedgerow.methods.coterie.planting import (
    ByLot,
    expected_by_lot,
    observed_by_lot,
    plants_for,
)
from hedgerow.methods.coterie.sets import ChosenSets, CountedSet
from hedgerow.methods.coterie.targets import Targets, combined
from hedgerow.model.arrays import Floats
from hedgerow.model.baskets import offsets_of
from hedgerow.model.engine import FoldedBaskets

SAMPLE = 20_000
"""From about that many baskets the factors of sets are taken."""

SIZES = (1, 2, 3)


@dataclass(frozen=True, kw_only=True, eq=False)
class Combinations:
    """All that was measured of the frequent items; public."""

    supports: Floats
    spread: float
    lengths: BasketLengths
    pairs: Pairs
    core: list[CountedSet]
    sets: ChosenSets

    def targets(self, factors: Floats) -> Targets:
        """Return what baskets are to agree with, given the factor of each set."""
        counted = [*self.sets.counted(factors), *self.core]
        return combined(self.supports, self.spread, self.pairs, counted)


def fitted_baskets(found: Combinations, lots: Lots) -> tuple[PlacedItems, NDArray[np.int64]]:
    """Return baskets that agree with the counts, and how many other items each is to have.

    Records above the cap hold larger sets more often than smaller ones, so that each size has
    a factor of its own: it is taken from a smaller number of baskets that are dealt before, as
    is how often lots bring items together.
    """
    expected = found.lengths.expected()
    factors = np.full(len(found.sets.sets), found.sets.cap.factor)
    part = min(1.0, SAMPLE / max(float(expected.sum()), 1.0))
    rough, by_lot = _rehearsed(found.targets(factors).scaled(part), part * expected, lots)
    targets = found.targets(_factors(rough, found.sets, lots))
    lengths, others = _sizes(expected, targets, lots)
    baskets = dealt(targets, lengths, plants_for(targets, by_lot.scaled(1 / part)), lots)
    swap(baskets, targets, lots)
    return baskets, others


def _rehearsed(targets: Targets, expected: Floats, lots: Lots) -> tuple[PlacedItems, ByLot]:
    """Return dealt baskets that have not been swapped, and what lots brought together there."""
    lengths, _ = _sizes(expected, targets, lots)
    by_lot = expected_by_lot(targets, lengths)
    plants = plants_for(targets, by_lot)
    baskets = dealt(targets, lengths, plants, lots)
    counts, held = combinations_in(baskets, targets)
    return baskets, observed_by_lot(targets, plants, counts, held, by_lot)


def _sizes(
    expected: Floats, targets: Targets, lots: Lots
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many frequent and how many other items each basket has, longest first."""
    table, n_top = whole_numbers(expected, lots), len(targets.items)
    n_tokens = int(np.minimum(targets.items, table.sum()).sum())
    table = with_places(table, n_tokens, n_top, lots)[::-1]
    frequent, others = np.divmod(np.arange(table.size), table.shape[1])
    numbers = table.ravel()
    return np.repeat(len(table) - 1 - frequent, numbers), np.repeat(others, numbers)


def _factors(baskets: PlacedItems, chosen: ChosenSets, lots: Lots) -> Floats:
    """Return the factor of every set, by its size, from the same cap on synthetic baskets."""
    n_top = int(max((max(each) for each in chosen.sets), default=0)) + 1
    n_top = max(n_top, int(baskets.items.max(initial=0)) + 1)
    # An item that a basket has twice, where nothing else would fit, counts once.
    held = np.sort(baskets.basket_of.astype(np.int64) * n_top + baskets.items)
    held = held[np.diff(held, prepend=-1) > 0]
    lengths = np.bincount(held // n_top)
    lengths = lengths[lengths > 0]
    rows = FoldedBaskets(
        offsets=offsets_of(lengths),
        items=(held % n_top).astype(np.uint32),
        weights=np.ones(len(lengths), dtype=np.int64),
        hashes=np.arange(len(lengths), dtype=np.uint64),
    )

    def tables(cap: int) -> NDArray[np.int64]:
        rank = np.arange(n_top, dtype=np.int32)
        kernel = CappedSets(rank=rank, n_top=n_top, sets=chosen.sets, cap=cap, key=lots.word())
        return kernel.count(rows).reshape(2, -1)

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
