"""Counts of features of records: bins of lengths, items, pairs and sets, each within a cap.

A record with more features than the cap contributes to as many as the cap, chosen by coins of its
own: a hash of the record, of its number among equal records and of the run's key. So the vectors
of neighbouring data differ by one record's own contribution, whatever the key (docs/privacy.md,
"Capped features").
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.baskets import offsets_of
from hedgerow.model.engine import FoldedBaskets


def binned(values: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bin of each value; bin ``b`` begins at ``edges[b]``.

    >>> binned(np.array([1, 2, 7]), np.array([1, 2, 5])).tolist()
    [0, 1, 2]
    """
    last = int(edges[-1])
    places = np.searchsorted(edges, np.arange(last + 1), side="right") - 1
    return np.asarray(places[np.minimum(values, last)])


def _tallied(bins: NDArray[np.int64], weights: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    # Sums of integer weights are exact in floating point below 2**53 records.
    return np.bincount(bins, weights=weights, minlength=size).astype(np.int64)


def ranked_lengths(folded: FoldedBaskets, rank: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of ranked items of each record (confidential)."""
    from hedgerow.count.compiled import features

    held = np.zeros(len(folded.weights), dtype=np.int64)
    offsets, items, _, _ = _records(folded)
    features.count_ranked(offsets, items, rank, held)
    return held


@dataclass(frozen=True, kw_only=True, eq=False)
class LengthBins:
    """Number of records by bin of length; each record is in one bin."""

    edges: NDArray[np.int64] = field(repr=False)

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.edges)

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the kernel's sum over some records (confidential)."""
        return _tallied(binned(np.diff(folded.offsets), self.edges), folded.weights, self.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedLengthBins:
    """Number of records by bin of their number of ranked items; each record is in one bin."""

    edges: NDArray[np.int64] = field(repr=False)
    rank: NDArray[np.int32] = field(repr=False)

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.edges)

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the kernel's sum over some records (confidential)."""
        return _tallied(
            binned(ranked_lengths(folded, self.rank), self.edges), folded.weights, self.size
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class OtherLengthBins:
    """Number of records by number of other items, within classes of the number of ranked ones.

    ``classes[b]`` is the class of the records whose number of ranked items is in bin ``b``.
    """

    edges: NDArray[np.int64] = field(repr=False)
    rank: NDArray[np.int32] = field(repr=False)
    classes: NDArray[np.int64] = field(repr=False)

    @property
    def size(self) -> int:
        """The number of classes times the number of bins."""
        return (int(self.classes.max()) + 1) * len(self.edges)

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the kernel's sum over some records (confidential)."""
        ranked = ranked_lengths(folded, self.rank)
        others = binned(np.diff(folded.offsets) - ranked, self.edges)
        cells = self.classes[binned(ranked, self.edges)] * len(self.edges) + others
        return _tallied(cells, folded.weights, self.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class CoreMasks:
    """Number of records with exactly each subset of a few items, other items ignored."""

    core: NDArray[np.int64] = field(repr=False)
    n_items: int

    @property
    def size(self) -> int:
        """The number of subsets."""
        return 1 << len(self.core)

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the kernel's sum over some records (confidential)."""
        from hedgerow.count.compiled import features

        bits = np.zeros(self.n_items, dtype=np.int64)
        bits[self.core] = np.left_shift(np.int64(1), np.arange(len(self.core)))
        sums = np.zeros(self.size, dtype=np.int64)
        offsets, items, weights, _ = _records(folded)
        features.sum_masks(offsets, items, weights, bits, sums)
        return sums


@dataclass(frozen=True, kw_only=True, eq=False)
class CappedItems:
    """Two counts per item: from records with at most ``cap`` items, and from longer ones."""

    n_items: int
    cap: int
    key: int = field(repr=False)

    @property
    def size(self) -> int:
        """Two counts per item."""
        return 2 * self.n_items

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the kernel's sum over some records (confidential)."""
        from hedgerow.count.compiled import features

        sums = np.zeros(self.size, dtype=np.int64)
        features.sum_items(*_records(folded), self.cap, np.uint64(self.key), sums)
        return sums


@dataclass(frozen=True, kw_only=True, eq=False)
class CappedPairs:
    """Two counts per pair of ranked items, as in `CappedItems`.

    Pairs are in the order (0, 1), (0, 2), ... of ranks.
    """

    rank: NDArray[np.int32] = field(repr=False)
    n_top: int
    cap: int
    key: int = field(repr=False)

    @property
    def size(self) -> int:
        """Two counts per pair."""
        return self.n_top * (self.n_top - 1)

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the kernel's sum over some records (confidential)."""
        from hedgerow.count.compiled import features

        sums = np.zeros(self.size, dtype=np.int64)
        features.sum_pairs(
            *_records(folded), self.rank, self.n_top, self.cap, np.uint64(self.key), sums
        )
        return sums


@dataclass(frozen=True, kw_only=True, eq=False)
class SetsHeld:
    """Number of records by bin of the number of sets that they contain; each is in one bin."""

    edges: NDArray[np.int64] = field(repr=False)
    rank: NDArray[np.int32] = field(repr=False)
    n_top: int
    sets: tuple[tuple[int, ...], ...] = field(repr=False)

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.edges)

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the kernel's sum over some records (confidential)."""
        from hedgerow.count.compiled import features

        held = np.zeros(len(folded.weights), dtype=np.int64)
        offsets, items, _, _ = _records(folded)
        sets = flat_sets(self.sets, self.n_top)
        features.count_sets_held(offsets, items, self.rank, sets, held)
        return _tallied(binned(held, self.edges), folded.weights, self.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class CappedSets:
    """Two counts per set of ranked items, as in `CappedItems`."""

    rank: NDArray[np.int32] = field(repr=False)
    n_top: int
    sets: tuple[tuple[int, ...], ...] = field(repr=False)
    cap: int
    key: int = field(repr=False)

    @property
    def size(self) -> int:
        """Two counts per set."""
        return 2 * len(self.sets)

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the kernel's sum over some records (confidential)."""
        from hedgerow.count.compiled import features

        sums = np.zeros(self.size, dtype=np.int64)
        features.sum_sets(
            *_records(folded),
            self.rank,
            flat_sets(self.sets, self.n_top),
            self.cap,
            np.uint64(self.key),
            sums,
        )
        return sums


def flat_sets(
    sets: tuple[tuple[int, ...], ...], n_top: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the start of each set and all items; then the same with sets by their last item.

    >>> [each.tolist() for each in flat_sets(((3,), (0, 2), (1, 3)), 4)]
    [[0, 1, 3, 5], [3, 0, 2, 1, 3], [1, 0, 2], [0, 0, 0, 1, 3]]
    """
    lengths = np.array([len(each) for each in sets], dtype=np.int64)
    items = np.array([i for each in sets for i in each], dtype=np.int64)
    last = np.array([each[-1] for each in sets], dtype=np.int64)
    starts = offsets_of(np.bincount(last, minlength=n_top))
    return offsets_of(lengths), items, np.argsort(last, kind="stable"), starts


def _records(
    folded: FoldedBaskets,
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint64]]:
    return (
        folded.offsets,
        folded.items.astype(np.uint32, copy=False),
        folded.weights,
        folded.hashes,
    )
