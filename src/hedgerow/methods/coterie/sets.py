"""Which sets of frequent items are counted again, by themselves or within a core of items."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.feature_kernels import CappedSets, CoreMasks, SetsHeld
from hedgerow.methods.coterie.bins import Bins
from hedgerow.methods.coterie.caps import Cap, best_cap
from hedgerow.methods.coterie.pairs import Pairs
from hedgerow.methods.coterie.shares import Measuring
from hedgerow.model.arrays import Floats

ItemSet = tuple[int, ...]
"""Ranks of frequent items, increasing."""

CORE = 8
N_SETS = 130
N_PAIRS = 400
"""Pairs, most frequent first, that triples are made of."""

N_CANDIDATES = 300
"""Candidates that are looked at: more than are counted, as those within the core are left out."""

GOAL = 100
"""The itemsets that matter most are that many."""

FOR_CORE = 120
"""Candidates that say which items belong to the core."""

CAPS = range(1, 30)
SLACK = 1.7


@dataclass(frozen=True, kw_only=True)
class CandidateSet:
    """A set with the support that noisy counts give it."""

    items: ItemSet
    support: float


@dataclass(frozen=True, kw_only=True)
class CountedSet:
    """A set that was counted by itself: its noisy support and the weight of that."""

    items: ItemSet
    support: float
    weight: float


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenSets:
    """Sets counted by capped features: two noisy tables, the cap and the weight of an estimate."""

    sets: tuple[ItemSet, ...]
    tables: NDArray[np.int64]
    cap: Cap
    weight: float

    def counted(self, factors: Floats) -> list[CountedSet]:
        """Return the supports of all sets, given the factor of each."""
        supports = self.tables[0] + factors * self.tables[1]
        return [
            CountedSet(items=items, support=float(value), weight=self.weight)
            for items, value in zip(self.sets, supports, strict=True)
        ]


def candidate_sets(pairs: Pairs, supports: Floats, n_records: int) -> list[CandidateSet]:
    """Return items, frequent pairs, and triples of such pairs, the most frequent of them first."""
    n_top = len(supports)
    rows, columns = np.triu_indices(n_top, 1)
    values = pairs.hopeful[rows, columns]
    best = np.argsort(-values, kind="stable")[:N_PAIRS]
    rows, columns, values = rows[best], columns[best], values[best]
    i, j, k = _triples_of(rows, columns, n_top)
    ij, ik, jk = pairs.hopeful[i, j], pairs.hopeful[i, k], pairs.hopeful[j, k]
    alone = np.maximum(supports[i] * supports[j] * supports[k], 1.0)
    none = np.full(n_top, -1)
    every = np.concatenate(
        [
            np.stack([np.arange(n_top), none, none], axis=1),
            np.stack([rows, columns, np.full(len(rows), -1)], axis=1),
            np.stack([i, j, k], axis=1),
        ]
    )
    triples = np.minimum(n_records * ij * ik * jk / alone, np.minimum(np.minimum(ij, ik), jk))
    found = np.concatenate([supports, values, triples])
    order = np.argsort(-found, kind="stable")[:N_CANDIDATES]
    return [
        CandidateSet(items=tuple(item for item in items if item >= 0), support=value)
        for items, value in zip(every[order].tolist(), found[order].tolist(), strict=True)
    ]


def _triples_of(
    rows: NDArray[np.int64], columns: NDArray[np.int64], n_top: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the triples (i, j, k) of which (i, j) and (i, k) are among the pairs.

    >>> [each.tolist() for each in _triples_of(np.array([0, 0, 1]), np.array([3, 1, 2]), 4)]
    [[0], [1], [3]]
    """
    linked = np.zeros((n_top, n_top), dtype=np.bool_)
    linked[rows, columns] = True
    first, second = np.nonzero(linked)
    which, third = np.nonzero(linked[first] & (np.arange(n_top) > second[:, None]))
    return first[which], second[which], third


def goal_support(candidates: list[CandidateSet]) -> float:
    """Return the support of the last itemset that matters."""
    return candidates[min(len(candidates), GOAL) - 1].support if candidates else 0.0


def core_of(candidates: list[CandidateSet], supports: Floats, size: int) -> tuple[int, ...]:
    """Return the items that are in the most frequent candidates, by rank."""
    degree = 1e-6 * supports
    for each in candidates[:FOR_CORE]:
        if len(each.items) > 1:
            degree[list(each.items)] += each.support
    order = np.argsort(-degree, kind="stable")[: min(size, len(supports))]
    return tuple(sorted(order.tolist()))


def measure_core(
    measuring: Measuring, top: NDArray[np.int64], core: tuple[int, ...], least: float
) -> list[CountedSet]:
    """Return items, pairs and frequent triples of the core, for one share.

    Privacy: every record holds one subset of the core.
    """
    kernel = CoreMasks(core=top[list(core)], n_items=measuring.n_items)
    noisy = measuring.histogram(kernel, on="core").astype(np.float64)
    if not core:
        return []
    noisy[0] = 0  # nothing of the core
    for bit in range(len(core)):
        halves = noisy.reshape(-1, 2, 1 << bit)
        halves[:, 0] += halves[:, 1]
    counted = []
    share = measuring.share("core")
    for size in (1, 2, 3):
        # The number of subsets of the core that hold a set of that size is 2^(core - size).
        weight = share**2 / (2 * 2.0 ** (len(core) - size))
        for places in combinations(range(len(core)), size):
            value = float(noisy[sum(1 << place for place in places)])
            if size < 3 or value > least:
                items = tuple(core[place] for place in places)
                counted.append(CountedSet(items=items, support=value, weight=weight))
    return counted


def measure_sets(
    measuring: Measuring,
    rank: NDArray[np.int32],
    n_top: int,
    candidates: list[CandidateSet],
    core: tuple[int, ...],
) -> ChosenSets:
    """Return counts of the best candidates outside the core, for two shares."""
    inside = set(core)
    goal = goal_support(candidates)
    kept = [
        each for each in candidates if len(each.items) == 1 or not inside.issuperset(each.items)
    ]
    chosen = tuple(each.items for each in kept[:N_SETS])
    bins = Bins.up_to(len(chosen), zero=True)
    kernel = SetsHeld(edges=bins.edges, rank=rank, n_top=n_top, sets=chosen)
    noisy = measuring.histogram(kernel, on="sets held")
    noisy[0] = 0  # records without any of them say nothing of the cap
    held = bins.smoothed(noisy, 1 / measuring.share("sets held"))
    share = measuring.share("sets")
    cap = best_cap(bins.means(held), held, share=share, support=goal, options=CAPS, slack=SLACK)
    capped = CappedSets(rank=rank, n_top=n_top, sets=chosen, cap=cap.most, key=measuring.key)
    tables = measuring.capped(capped, on="sets", cap=cap.most)
    return ChosenSets(sets=chosen, tables=tables, cap=cap, weight=1 / cap.spread(share) ** 2)
