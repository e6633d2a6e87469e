"""Singling out: predicates taken from the release that hold for exactly one of all targets.

A predicate is a released row on some of the columns. Only rows that are rare on these columns
in the release are tried, as a guess that "there is one such person" [GiomiBWT23].
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.distinct import row_numbers
from hedgerow.model.arrays import Flags
from hedgerow.progress import Done, unheard
from hedgerow.risks.attacks.rows import CodeTable, ReleasedRows

MOST_SUBSETS = 40
"""Number of sets of columns for predicates."""


def column_subsets(n_columns: int, *, seed: int) -> list[tuple[int, ...]]:
    """Return the sets of columns to try: all of a small table, otherwise some of each size.

    The set of all columns is always tried.

    >>> column_subsets(2, seed=0)
    [(0,), (1,), (0, 1)]
    """
    if 2**n_columns - 1 <= MOST_SUBSETS:
        sizes = range(1, n_columns + 1)
        return [each for size in sizes for each in combinations(range(n_columns), size)]
    rng = np.random.default_rng([seed, 7])
    found: list[tuple[int, ...]] = [tuple(range(n_columns))]
    sizes = range(2, min(n_columns, 8))
    while len(found) < MOST_SUBSETS:
        size = int(rng.choice(sizes))
        each = tuple(sorted(rng.choice(n_columns, size, replace=False).tolist()))
        if each not in found:
            found.append(each)
    return found


def singled_out(
    rows: ReleasedRows, targets: CodeTable, *, seed: int, done: Done = unheard
) -> Flags:
    """Return which targets are the only ones for which some released predicate holds.

    Members and outsiders are examined alike and at once, so that a swap of a pair does not
    change the set that a predicate is compared with.
    """
    hit = np.zeros(len(targets), dtype=np.bool_)
    if not len(rows):
        return hit
    subsets = column_subsets(rows.n_columns, seed=seed)
    least = max(1.0, float(rows.counts.min()))
    for at, columns in enumerate(subsets):
        chosen = _rare(rows, columns, least)
        hit |= (
            _alone_at_points(rows, targets, columns, chosen)
            if rows.is_points
            else _alone_in_boxes(rows, targets, columns, chosen)
        )
        done((at + 1) / len(subsets))
    return hit


def _rare(rows: ReleasedRows, columns: tuple[int, ...], least: float) -> NDArray[np.int64]:
    """Return one row for each combination of ranges that is rare in the release."""
    parts = [part[:, column] for column in columns for part in (rows.first, rows.stop)]
    number, first_of = row_numbers(parts)
    weights = np.bincount(number, weights=rows.counts)
    return first_of[weights <= least + 1e-9]


def _alone_at_points(
    rows: ReleasedRows, targets: CodeTable, columns: tuple[int, ...], chosen: NDArray[np.int64]
) -> Flags:
    n_rows = len(chosen)
    both = [np.concatenate([rows.first[chosen, c], targets[:, c]]) for c in columns]
    number, _ = row_numbers(both)
    n_targets = np.bincount(number[n_rows:], minlength=int(number.max(initial=0)) + 1)
    released = np.zeros(len(n_targets), dtype=np.bool_)
    released[number[:n_rows]] = True
    alone = released & (n_targets == 1)
    return np.asarray(alone[number[n_rows:]])


def _alone_in_boxes(
    rows: ReleasedRows, targets: CodeTable, columns: tuple[int, ...], chosen: NDArray[np.int64]
) -> Flags:
    held = np.zeros(len(chosen), dtype=np.int64)
    who = np.zeros(len(chosen), dtype=np.int64)
    for block in rows.blocks(len(targets)):
        codes = targets[block]
        inside = np.ones((len(codes), len(chosen)), dtype=np.bool_)
        for column in columns:
            value = codes[:, column][:, None]
            inside &= (value >= rows.first[chosen, column]) & (value < rows.stop[chosen, column])
        held += inside.sum(axis=0)
        who += np.arange(block.start, block.stop) @ inside
    hit = np.zeros(len(targets), dtype=np.bool_)
    hit[who[held == 1]] = True
    return hit
