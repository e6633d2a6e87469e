"""Frequent itemsets of records and of a release, and the agreement of their top K.

For the data owner: figures are computed from the confidential records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from hedgerow.errors import MissingExtraError, SettingError
from hedgerow.evaluation.weighted_sets import SUPERSETS_UP_TO, WeightedSets
from hedgerow.model.baskets import offsets_of

Itemsets = Mapping[tuple[int, ...], int]
"""Supports of sets of items, each in increasing order."""


def top_itemsets(sets: WeightedSets, k: int) -> dict[tuple[int, ...], int]:
    """Return the ``k`` most frequent itemsets; ties go to shorter, then to earlier ones."""
    if k < 1:
        raise SettingError.out_of_range("K", k, "a whole number from 1 up")
    if not len(sets):
        return {}
    found = _by_masks(sets, k) if sets.n_items <= SUPERSETS_UP_TO else _mined(sets, k)
    ordered = sorted(found.items(), key=lambda each: (-each[1], len(each[0]), each[0]))
    return dict(ordered[:k])


def _by_masks(sets: WeightedSets, k: int) -> dict[tuple[int, ...], int]:
    supports = sets.superset_sums.copy()
    supports[0] = 0
    least = max(1, int(np.sort(supports)[-min(k, len(supports))]))
    return {
        tuple(i for i in range(sets.n_items) if mask >> i & 1): int(supports[mask])
        for mask in np.flatnonzero(supports >= least).tolist()
    }


def _mined(sets: WeightedSets, k: int) -> dict[tuple[int, ...], int]:
    """Mine at the support of the k-th item, which at least k itemsets reach."""
    singles = np.sort(sets.supports[sets.supports > 0])[::-1]
    least = int(singles[min(k, len(singles)) - 1])
    found = mine(sets, least=least)
    while len(found) < k and least > 1:
        least = max(1, least // 2)
        found = mine(sets, least=least)
    return found


def mine(sets: WeightedSets, *, least: int) -> dict[tuple[int, ...], int]:
    """Return all itemsets of at least this support, found by efficient-apriori."""
    try:
        from efficient_apriori import (  # type: ignore[import-untyped]
            itemsets_from_transactions,
        )
    except ImportError as error:
        raise MissingExtraError("mining frequent itemsets", extra="evaluate") from error
    frequent = sets.supports >= least
    entries = frequent[sets.items]
    lengths = np.bincount(sets.owners[entries], minlength=len(sets))
    bounds = offsets_of(lengths).tolist()
    items = sets.items[entries].tolist()
    rows = [tuple(items[start:stop]) for start, stop in pairwise(bounds)]
    transactions = [
        row
        for row, weight in zip(rows, sets.weights.tolist(), strict=True)
        if row
        for _ in range(weight)
    ]
    if not transactions:
        return {}
    # Slightly below the minimum support, which the library takes as a share.
    part = max(0.0, math.nextafter((least - 0.5) / len(transactions), 0.0))
    by_length, _ = itemsets_from_transactions(transactions, min(part, 1.0))
    return {
        tuple(sorted(itemset)): int(support)
        for found in by_length.values()
        for itemset, support in found.items()
    }


def top_k_utility(records: Itemsets, release: Itemsets) -> float:
    """Return the agreement of two top K lists, at most 1 (the same supports).

    1 - (1 / K) * sum over the records' top itemsets of |s - s~| / s, where s~ is the
    support in the release's list, 0 for an itemset that is not in it [DiffPart, App. E].
    """
    if not records:
        return 1.0
    errors = [
        abs(support - release.get(itemset, 0)) / support for itemset, support in records.items()
    ]
    return 1 - sum(errors) / len(errors)
