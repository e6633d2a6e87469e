"""Attacks on two releases by their difference, on records that are in one data set only.

With the data of the other release, the targets are records that are in one and not in the other.
Without them, both are assumed to be of the same data, and their evidence is added up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.risks.attacks.rows import CodeTable
from hedgerow.risks.attacks.traces import Scores


def joined_rows(codes: CodeTable, others: CodeTable) -> NDArray[np.int64]:
    """Return the records that are in the first table and not in the second, as multisets.

    >>> joined_rows(np.array([[1], [2], [2]]), np.array([[2], [3]])).tolist()
    [0, 2]
    """
    number, _ = row_numbers(list(np.concatenate([codes, others]).T))
    return _surplus(number[: len(codes)], number[len(codes) :])


def joined_sets(sets: WeightedSets, others: WeightedSets, *, ordered: bool) -> NDArray[np.int64]:
    """Return the sets that are in the first data and not in the second, as multisets."""
    names = [set_names(each, ordered=ordered) for each in (sets, others)]
    _, number = np.unique(np.concatenate(names), return_inverse=True)
    return _surplus(number[: len(sets)], number[len(sets) :])


def _surplus(numbers: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    size = int(max(numbers.max(initial=0), others.max(initial=0))) + 1
    there = np.bincount(others, minlength=size)
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    return np.sort(order[rank >= there[ordered]])


def set_names(sets: WeightedSets, *, ordered: bool) -> NDArray[np.uint64]:
    """Return a 64-bit number for every set, equal for equal sets."""
    rng = np.random.default_rng(64)
    of_items = rng.integers(1, 1 << 63, sets.n_items, dtype=np.uint64) | np.uint64(1)
    values = of_items[sets.items]
    if ordered:
        place = (np.arange(len(values)) - sets.offsets[sets.owners]).astype(np.uint64)
        values = values * (np.uint64(2) * place * place + np.uint64(2) * place + np.uint64(1))
    upto = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
    return np.asarray(upto[sets.offsets[1:]] - upto[sets.offsets[:-1]])


def grown_scores(scores: dict[str, Scores], others: dict[str, Scores]) -> dict[str, Scores]:
    """Return how much more the first release points to each target than the second."""
    return {name: scores[name] - others[name] for name in scores}


def sums(scores: dict[str, Scores], others: dict[str, Scores]) -> dict[str, Scores]:
    """Return the sum of the evidence of both releases."""
    return {name: scores[name] + others[name] for name in scores}
