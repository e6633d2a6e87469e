"""Errors of counting queries over sets.

For the data owner: figures are computed from the confidential records.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.evaluation.weighted_sets import SUPERSETS_UP_TO, WeightedSets
from hedgerow.model.baskets import offsets_of

CLASSES = 5
QUERIES = 50_000
SANITY = Fraction(1, 1000)
"""Sanity bound as a share of the number of records [DiffPart, Sec. 5.1]."""

RARELY_DISTINCT = 8
"""Ratio of squared length to universe above which drawn items are rarely distinct."""

KEYS_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True, eq=False)
class Queries:
    """Sets of items whose supersets are counted, in classes of growing length.

    Query ``q`` counts ``items[offsets[q]:offsets[q + 1]]`` and belongs to class
    ``length_class[q]``, from 0.
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    length_class: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.length_class)


@dataclass(frozen=True, kw_only=True)
class QueryErrors:
    """Mean relative error of each class of query lengths (owner only)."""

    by_class: tuple[float, ...]
    answering_zero: tuple[float, ...]


def random_queries(n_items: int, *, longest: int, n: int = QUERIES, seed: int) -> Queries:
    """Return random queries in five classes of equal size [DiffPart, Sec. 5.1].

    The lengths of class i, from 1 to 5, are uniform from 1 to i / 5 of ``longest``, the
    size of the largest record, and the items are drawn from the whole universe.
    """
    if longest < 1 or n < CLASSES:
        raise SettingError.out_of_range("queries", n, f"at least {CLASSES} queries")
    rng = np.random.default_rng(seed)
    length_class = np.arange(n, dtype=np.int64) * CLASSES // n
    most = np.clip((length_class + 1) * longest // CLASSES, 1, n_items)
    return _drawn(rng, 1 + rng.integers(0, most), n_items, length_class)


def queries_of_length(n_items: int, length: int, *, n: int = QUERIES, seed: int) -> Queries:
    """Return random queries of one length, in one class [DiffPart, Figs. 5 to 7]."""
    if not 1 <= length <= n_items:
        raise SettingError.out_of_range("length", length, f"from 1 to {n_items} items")
    none = np.zeros(n, dtype=np.int64)
    return _drawn(np.random.default_rng(seed), none + length, n_items, none)


def _drawn(
    rng: np.random.Generator,
    lengths: NDArray[np.int64],
    n_items: int,
    length_class: NDArray[np.int64],
) -> Queries:
    """Return queries of these lengths, with items from the whole universe."""
    rows, offsets = [], offsets_of(lengths)
    for length in range(1, int(lengths.max()) + 1):
        which = np.flatnonzero(lengths == length)
        items = _distinct(rng, len(which), length, n_items)
        rows.append((offsets[which][:, None] + np.arange(length), items))
    flat = np.empty(offsets[-1], dtype=np.int64)
    for places, items in rows:
        flat[places] = items
    return Queries(offsets=offsets, items=flat, length_class=length_class)


def _distinct(rng: np.random.Generator, n: int, length: int, n_items: int) -> NDArray[np.int64]:
    """Return ``n`` sorted sets of ``length`` distinct items.

    Items drawn one by one are distinct with probability about exp(-length^2 / 2 n_items). If that
    is small, every item gets a random key and those with the smallest keys are taken.
    """
    if n_items <= 4 * length or n_items <= 64 or length * length > RARELY_DISTINCT * n_items:
        sets = np.empty((n, length), dtype=np.int64)
        at_once = max(1, KEYS_AT_ONCE // n_items)
        for at in range(0, n, at_once):
            keys = rng.random((min(at_once, n - at), n_items))
            sets[at : at + at_once] = np.argpartition(keys, length - 1, axis=1)[:, :length]
        return np.sort(sets, axis=1)
    drawn = np.sort(rng.integers(0, n_items, (n, length)), axis=1)
    again = np.flatnonzero((np.diff(drawn, axis=1) == 0).any(axis=1))
    while len(again):
        drawn[again] = np.sort(rng.integers(0, n_items, (len(again), length)), axis=1)
        again = again[(np.diff(drawn[again], axis=1) == 0).any(axis=1)]
    return drawn


def answers(sets: WeightedSets, queries: Queries) -> NDArray[np.int64]:
    """Return, for each query, the weight of all sets that contain its items."""
    if sets.n_items <= SUPERSETS_UP_TO:
        bits = np.left_shift(np.int64(1), queries.items)
        masks = np.bitwise_or.reduceat(bits, queries.offsets[:-1])
        return sets.superset_sums[masks]
    return _by_intersection(sets, queries)


def _by_intersection(sets: WeightedSets, queries: Queries) -> NDArray[np.int64]:
    """Intersect from each query's rarest item to its most frequent one, while any set is left."""
    starts, holders = sets.by_item
    sizes = np.diff(starts)[queries.items]
    owner = np.repeat(np.arange(len(queries)), np.diff(queries.offsets))
    ordered = queries.items[np.lexsort((sizes, owner))].tolist()
    bounds = queries.offsets.tolist()
    first = starts.tolist()
    results = np.zeros(len(queries), dtype=np.int64)
    for q in range(len(queries)):
        rarest, *others = ordered[bounds[q] : bounds[q + 1]]
        rows = holders[first[rarest] : first[rarest + 1]]
        for item in others:
            if not len(rows):
                break
            among = holders[first[item] : first[item + 1]]
            place = np.minimum(np.searchsorted(among, rows), len(among) - 1)
            rows = rows[among[place] == rows]
        results[q] = sets.weights[rows].sum() if len(rows) else 0
    return results


def relative_errors(records: WeightedSets, release: WeightedSets, queries: Queries) -> QueryErrors:
    """Return the average relative error of a release in each class of queries.

    The error of a query is |release - records| / max(records, s), where s is 0.1 % of the
    number of records [DiffPart, Sec. 5.1]. The error of answering 0 is returned as well: it is
    small on sparse data.
    """
    true = answers(records, queries)
    scale = np.maximum(true, float(SANITY * records.total))
    errors = np.abs(answers(release, queries) - true) / scale
    n = np.bincount(queries.length_class, minlength=CLASSES)
    mean = np.bincount(queries.length_class, weights=errors, minlength=CLASSES) / n
    zero = np.bincount(queries.length_class, weights=true / scale, minlength=CLASSES) / n
    return QueryErrors(by_class=tuple(mean.tolist()), answering_zero=tuple(zero.tolist()))


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Released mass of the records (owner only).

    ``mass`` is the number of published records over the number of records, and
    ``true_sets`` the share of the published records whose set occurs in the data.
    """

    mass: float
    true_sets: float


def kept(records: WeightedSets, release: WeightedSets) -> Kept:
    """Return the released mass, and the share of it in sets that occur in the data."""
    occurring = records.distinct
    true = np.fromiter((key in occurring for key in release.each()), np.bool_, len(release))
    published = release.total
    return Kept(
        mass=published / max(records.total, 1),
        true_sets=float(release.weights[true].sum()) / published if published else 1.0,
    )
