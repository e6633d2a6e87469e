"""Counts of prefixes, substrings and patterns of weighted sequences, without loops over records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.evaluation.weighted_sets import WeightedSets

Grams = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Runs of items encoded as increasing integers, and the count of each."""

LONGEST_PATTERN = 12

DENSE = 1 << 22
"""Maximum number of codes of runs that are counted in a dense array, without sorting."""


def gram_counts(sequences: WeightedSets, n: int, *, begins: bool) -> Grams:
    """Return the count of each run of ``n`` items, or of the sequences that begin with it."""
    if sequences.n_items**n > np.iinfo(np.int64).max:
        raise SettingError(
            f"Runs of {n} items from such a large universe cannot be counted.",
            where="task",
            do="Leave out the tasks prefixes and substrings.",
        )
    starts, owners = _starts(sequences, n, begins=begins)
    keys = np.zeros(len(starts), dtype=np.int64)
    for place in range(n):
        keys = keys * sequences.n_items + sequences.items[starts + place]
    return _added(keys, sequences.weights[owners], n_names=sequences.n_items**n)


def _starts(
    sequences: WeightedSets, n: int, *, begins: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start of each run of ``n`` items, and its sequence."""
    stops = sequences.offsets[1:]
    if begins:
        starts, owners = sequences.offsets[:-1], np.arange(len(sequences))
    else:
        starts, owners = np.arange(len(sequences.items)), sequences.owners
    fits = starts + n <= stops[owners]
    return starts[fits], owners[fits]


def _added(keys: NDArray[np.int64], weights: NDArray[np.int64], *, n_names: int) -> Grams:
    """Return the keys below ``n_names`` that occur, and the total weight of each."""
    if n_names <= DENSE:
        occurs = np.flatnonzero(np.bincount(keys, minlength=n_names))
        totals = np.bincount(keys, weights=weights, minlength=n_names)
        return occurs, totals[occurs].astype(np.int64)
    found, place = np.unique(keys, return_inverse=True)
    counts = np.bincount(place, weights=weights, minlength=len(found))
    return found, counts.astype(np.int64)


def looked_up(wanted: NDArray[np.int64], among: Grams) -> NDArray[np.int64]:
    """Return the counts of the wanted runs, 0 for those that do not occur."""
    keys, counts = among
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, counts[place], 0)


def relative_error(true: Grams, estimated: Grams, *, least: float) -> tuple[float | None, int]:
    """Return the mean relative error of runs that occur ``least`` times or more, and their number.

    >>> of = lambda *counts: (np.arange(len(counts)), np.array(counts))
    >>> relative_error(of(10, 1), of(9, 5), least=5)
    (0.1, 1)
    """
    frequent = true[1] >= least
    if not frequent.any():
        return None, 0
    counts = true[1][frequent]
    found = looked_up(true[0][frequent], estimated)
    return float(np.mean(np.abs(found - counts) / counts)), int(frequent.sum())


def top_patterns(sequences: WeightedSets, k: int) -> dict[tuple[int, ...], int]:
    """Return the ``k`` most frequent substrings of up to 12 items, by number of sequences.

    A substring is in no more sequences than its prefixes, so only those that may still be among
    the ``k`` are extended.
    """
    found: dict[tuple[int, ...], int] = {}
    names: list[tuple[int, ...]] = [()]
    place = np.zeros(len(sequences.items), dtype=np.int64)  # of the pattern that starts here
    starts, owners = _starts(sequences, 1, begins=False)
    for n in range(1, LONGEST_PATTERN + 1):
        fits = starts + n <= sequences.offsets[1:][owners]
        starts, owners, place = starts[fits], owners[fits], place[fits]
        keys = place * sequences.n_items + sequences.items[starts + n - 1]
        n_names = len(names) * sequences.n_items
        patterns, counts = _supports(keys, owners, sequences, n_names=n_names)
        bound = _kth(found, counts, k)
        kept = counts >= max(bound, 1)
        names = [
            (*names[key // sequences.n_items], key % sequences.n_items)
            for key in patterns[kept].tolist()
        ]
        found.update(zip(names, counts[kept].tolist(), strict=True))
        if not kept.any():
            break
        at = np.searchsorted(patterns[kept], keys)
        at = np.minimum(at, len(names) - 1)
        goes_on = patterns[kept][at] == keys
        starts, owners, place = starts[goes_on], owners[goes_on], at[goes_on]
    ordered = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    return dict(ordered[:k])


def _supports(
    keys: NDArray[np.int64], owners: NDArray[np.int64], sequences: WeightedSets, *, n_names: int
) -> Grams:
    """Return the number of sequences that hold each key below ``n_names``."""
    if len(sequences) * n_names <= np.iinfo(np.int64).max:
        held, names = np.divmod(np.sort(owners * n_names + keys), n_names)
    else:
        order = np.lexsort((keys, owners))
        held, names = owners[order], keys[order]
    first = np.ones(len(names), dtype=np.bool_)
    first[1:] = (names[1:] != names[:-1]) | (held[1:] != held[:-1])
    return _added(names[first], sequences.weights[held[first]], n_names=n_names)


def _kth(found: dict[tuple[int, ...], int], counts: NDArray[np.int64], k: int) -> int:
    """Return the smallest support that may still be among the ``k`` largest."""
    every = np.concatenate([np.array(list(found.values()), dtype=np.int64), counts])
    return 0 if len(every) < k else int(np.sort(every)[-k])
