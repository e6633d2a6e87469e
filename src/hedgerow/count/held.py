"""Counts of one attribute for the boxes of a level, and counts that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.bins import lists_and_bins
from hedgerow.model.placed import Borders, SharedBorders, ragged

NOT_REQUESTED = -1
"""Marks boxes without a list of borders: no counts were requested for them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RequestedBins:
    """The bins of one attribute that a level requests, box by box.

    ``rows`` are the level's boxes of the request, in increasing order. The one at position ``i``
    has the list ``which[i]`` of borders, and its bins begin at ``first[i]``.
    """

    borders: Borders | SharedBorders
    lists: Borders
    rows: NDArray[np.int64]
    which: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(
        cls, borders: Borders | SharedBorders, rows: NDArray[np.int64] | None, n_boxes: int
    ) -> RequestedBins:
        """Return the request; without ``rows`` it is for all boxes."""
        lists, which, first = lists_and_bins(borders)
        every = np.arange(n_boxes) if rows is None else rows
        return cls(borders=borders, lists=lists, rows=every, which=which, first=first)

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Number of bins of each box."""
        widths: NDArray[np.int64] = np.diff(self.lists.starts)[self.which] + 1
        return widths

    def bins(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of all bins of some boxes, one box after the other."""
        widths = self.widths[places]
        _, inside = ragged(widths)
        return np.repeat(self.first[places], widths) + inside

    def some(self, places: NDArray[np.int64]) -> RequestedBins:
        """Return the request for some of the boxes."""
        borders = SharedBorders(lists=self.lists, which=self.which[places])
        return RequestedBins(
            borders=borders,
            lists=self.lists,
            rows=self.rows[places],
            which=borders.which,
            first=borders.first_bins,
        )

    def own_borders(self) -> Borders:
        """Return the borders with one list per box."""
        starts, inside = ragged(self.widths - 1)
        origin = np.repeat(self.lists.starts[self.which], self.widths - 1)
        return Borders(starts=starts, values=self.lists.values[origin + inside])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HeldCounts:
    """Counts (classes, bins) of one attribute, for boxes of one level (confidential).

    ``which`` is the list of borders of each of the level's boxes, ``NOT_REQUESTED`` without one;
    its bins begin at ``first``.
    """

    lists: Borders
    which: NDArray[np.int64]
    first: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, request: RequestedBins, counts: NDArray[np.int64], n_boxes: int) -> HeldCounts:
        """Return the counts of a request, by box of the level."""
        which, first = np.full(n_boxes, NOT_REQUESTED), np.zeros(n_boxes, dtype=np.int64)
        which[request.rows], first[request.rows] = request.which, request.first
        return cls(lists=request.lists, which=which, first=first, counts=counts)

    @property
    def asks_all(self) -> bool:
        """True if counts of every box of the level were requested."""
        return bool((self.which != NOT_REQUESTED).all())

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Number of bins of each list."""
        return np.diff(self.lists.starts) + 1

    @cached_property
    def running(self) -> NDArray[np.int64]:
        """Cumulative counts before each bin, and of all bins."""
        running = np.zeros((len(self.counts), self.counts.shape[1] + 1), dtype=np.int64)
        np.cumsum(self.counts, axis=1, out=running[:, 1:])
        return running

    def between(self, rows: NDArray[np.int64], borders: Borders) -> NDArray[np.int64] | None:
        """Return the counts (classes, bins) of some boxes between borders, one list per box.

        ``None`` if a box was not requested, or not with all of these borders.
        """
        which = self.which[rows]
        if (which == NOT_REQUESTED).any():
            return None
        n_borders = np.diff(borders.starts)
        place = self._places(np.repeat(which, n_borders), borders.values)
        if place is None:
            return None
        begins, ends = self.first[rows], self.first[rows] + self.widths[which]
        inner = np.repeat(begins, n_borders) + place + 1
        # Bin i of a box is between its borders i - 1 and i, or its ends.
        edges = borders.bin_starts
        lower, upper = np.empty(edges[-1], dtype=np.int64), np.empty(edges[-1], dtype=np.int64)
        at = np.arange(len(inner)) + np.repeat(np.arange(len(rows)), n_borders)
        lower[edges[:-1]], upper[edges[1:] - 1] = begins, ends
        lower[at + 1], upper[at] = inner, inner
        counts: NDArray[np.int64] = self.running[:, upper] - self.running[:, lower]
        return counts

    def _places(
        self, which: NDArray[np.int64], values: NDArray[np.int32]
    ) -> NDArray[np.int64] | None:
        """Return the position of each value in its list, or ``None`` if one is not in it."""
        lists = self.lists
        if not len(values):
            return np.zeros(0, dtype=np.int64)
        if not len(lists.values):
            return None
        width = int(max(lists.values.max(), values.max())) + 1
        owners = np.repeat(np.arange(lists.n_boxes), np.diff(lists.starts))
        keys, wanted = owners * width + lists.values, which * width + values
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        if (keys[found] != wanted).any():
            return None
        places: NDArray[np.int64] = found - lists.starts[which]
        return places

    def same_lists(
        self, mine: NDArray[np.int64], others: Borders, theirs: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return for which pairs a list of these and one of ``others`` have the same borders."""
        pairs, back = np.unique(mine * others.n_boxes + theirs, return_inverse=True)
        one, other = np.divmod(pairs, max(others.n_boxes, 1))
        lengths = self.widths[one] - 1
        same: NDArray[np.bool_] = lengths == np.diff(others.starts)[other]
        lengths = np.where(same, lengths, 0)
        _, inside = ragged(lengths)
        values = self.lists.values[np.repeat(self.lists.starts[one], lengths) + inside]
        differ = values != others.values[np.repeat(others.starts[other], lengths) + inside]
        same[np.repeat(np.arange(len(pairs)), lengths)[differ]] = False
        return same[back]
