"""Placed records that reuse the counts of a level instead of counting again.

Counts are reused in three ways. A box that was counted has known counts between fewer borders, too.
A box that was split has as many records in its children as in itself, so the largest child needs
no counting: its counts are those of the parent minus those of the other children. And the class
counts of the children follow from the bins that the choice was based on.

So an engine counts at most about half of the records of a level, and the last level of a tree is
never placed at all. Counts are exact in any case: releases are the same.

Privacy: nothing is added or lost. The decision to count or to derive depends on exact sizes, as
the time of counting does (docs/limits.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.held import NOT_REQUESTED, HeldCounts, RequestedBins
from hedgerow.errors import InternalError
from hedgerow.model.placed import LevelBins, Placed, Routing, ragged

MOST_HELD = 1 << 23
"""Maximum number of counts of a level that are kept."""

ROWS_PER_COUNT = 32
"""Minimum number of records to save for each count that is derived or moved instead."""


class RememberedCounts:
    """Placed records that answer from earlier counts if these suffice (confidential)."""

    def __init__(
        self, placed: Placed, *, rows_per_count: int = ROWS_PER_COUNT, most_held: int = MOST_HELD
    ) -> None:
        self._placed = placed
        self._rows_per_count = rows_per_count
        self._most_held = most_held
        self._pending: list[Routing] = []
        self._n_boxes = 1
        self._classes: NDArray[np.int64] | None = None
        self._now: dict[int, HeldCounts] = {}
        self._before: dict[int, HeldCounts] = {}
        self._n_held = 0
        self._families: _Families | None = None

    def __repr__(self) -> str:
        return "RememberedCounts()"

    def sum(self, level: LevelBins) -> dict[int, NDArray[np.int64]]:
        """Return, by attribute, class counts of shape (bins, classes)."""
        return dict(self.each(level))

    def each(self, level: LevelBins) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the same attribute by attribute, in the order of the request."""
        request = {
            a: RequestedBins.of(borders, level.boxes.get(a), self._n_boxes)
            for a, borders in level.borders.items()
        }
        plans = {a: self._plan(a, question) for a, question in request.items()}
        counted = self._counted({a: plan.counted for a, plan in plans.items() if plan.counted})
        for a, question in request.items():
            counts = plans[a].filled(next(counted) if plans[a].counted else None)
            self._hold(a, question, counts)
            yield a, counts.T

    def classes(self) -> NDArray[np.int64]:
        """Return class counts of shape (boxes, classes)."""
        if self._classes is None:
            self._classes = self._known_classes()
        if self._classes is None:
            self._place_all()
            self._classes = self._placed.classes()
        return self._classes

    def route(self, routing: Routing) -> None:
        """Send every record to its child; records are only moved before the next count."""
        self._classes = self._child_classes(routing)
        self._families = (
            None if self._classes is None else _Families.of(routing, self._classes.sum(axis=1))
        )
        self._before, self._now, self._n_held = self._now, {}, 0
        self._pending.append(routing)
        self._n_boxes = routing.n_children

    def _place_all(self) -> None:
        for routing in self._pending:
            self._placed.route(routing)
        self._pending = []

    def _counted(self, request: dict[int, RequestedBins]) -> Iterator[NDArray[np.int64]]:
        """Yield the counts (classes, bins) that need the records, in one pass."""
        if not request:
            return
        self._place_all()
        level = LevelBins(
            borders={a: each.borders for a, each in request.items()},
            boxes={a: each.rows for a, each in request.items() if len(each.rows) < self._n_boxes},
        )
        for _, counts in self._placed.each(level):
            yield counts.T

    def _hold(self, a: int, request: RequestedBins, counts: NDArray[np.int64]) -> None:
        if self._n_held + counts.size <= self._most_held:
            self._n_held += counts.size
            self._now[a] = HeldCounts.of(request, counts, self._n_boxes)

    def _plan(self, a: int, request: RequestedBins) -> _Plan:
        held = self._now.get(a)
        if held is not None:
            known = held.between(request.rows, request.own_borders())
            if known is not None:
                return _AllKnown(request=request, known=known)
        before = self._before.get(a)
        if before is None or self._families is None:
            return _AllCounted(counted=request)
        families = self._families.that_pay(before, request, self._n_boxes, self._rows_per_count)
        least = self._rows_per_count * request.borders.n_bins * len(before.counts)
        if families.size.sum() <= least:  # all other counts would have to be moved
            return _AllCounted(counted=request)
        left = np.flatnonzero(~np.isin(request.rows, families.largest, assume_unique=True))
        return _WorkedOut(request=request, left=left, families=families, before=before)

    def _known_classes(self) -> NDArray[np.int64] | None:
        """Return class counts (boxes, classes) if the bins of all boxes are known."""
        known = [held for held in self._now.values() if held.asks_all]
        if not known:
            return None
        held = min(known, key=lambda each: each.counts.size)
        ends = held.first + held.widths[held.which]
        return (held.running[:, ends] - held.running[:, held.first]).T

    def _child_classes(self, routing: Routing) -> NDArray[np.int64] | None:
        """Return class counts (children, classes) if those of the chosen attributes are known."""
        parents = self._classes if self._classes is not None else self._known_classes()
        if parents is None:
            return None
        n_borders = np.diff(routing.borders.starts)
        carried = np.flatnonzero((routing.attribute >= 0) & (n_borders == 0))
        children = np.empty((routing.n_children, parents.shape[1]), dtype=np.int64)
        children[routing.first_child[carried]] = parents[carried]
        divided = np.where(n_borders > 0, routing.attribute, -1)
        for a in np.unique(divided[divided >= 0]).tolist():
            rows = np.flatnonzero(divided == a)
            held = self._now.get(a)
            counts = None if held is None else held.between(rows, routing.borders.some(rows))
            if counts is None:
                return None
            starts, inside = ragged(n_borders[rows] + 1)
            children[np.repeat(routing.first_child[rows], np.diff(starts)) + inside] = counts.T
        return children


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Families:
    """Families of boxes with one parent: the first box, their number, and the largest box.

    ``size`` is the number of records of the largest (confidential); ``parent`` the row of the level
    before.
    """

    parent: NDArray[np.int64]
    first: NDArray[np.int64]
    n: NDArray[np.int64]
    largest: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, routing: Routing, sizes: NDArray[np.int64]) -> _Families:
        """Return the families of a level, from the number of records in each box."""
        parent = np.flatnonzero(routing.attribute >= 0)
        first = routing.first_child[parent]
        n = np.diff(routing.borders.starts)[parent] + 1
        if not len(first):
            return cls(parent=parent, first=first, n=n, largest=first, size=first)
        size = np.maximum.reduceat(sizes, first)
        reached = np.flatnonzero(sizes == np.repeat(size, n))
        largest = reached[np.searchsorted(reached, first)]
        return cls(parent=parent, first=first, n=n, largest=largest, size=size)

    def __getitem__(self, which: NDArray[np.bool_]) -> _Families:
        return _Families(
            parent=self.parent[which],
            first=self.first[which],
            n=self.n[which],
            largest=self.largest[which],
            size=self.size[which],
        )

    def that_pay(
        self, before: HeldCounts, request: RequestedBins, n_boxes: int, rows_per_count: int
    ) -> _Families:
        """Return the families whose largest box is cheaper to derive than to count.

        All boxes of the family must be requested, with the borders that their parent had.
        """
        n_classes = len(before.counts)
        place = np.full(n_boxes, NOT_REQUESTED)
        place[request.rows] = np.arange(len(request.rows))
        n_requested = np.concatenate([[0], np.cumsum(place != NOT_REQUESTED)])
        lists = before.which[self.parent]
        cells = self.n * before.widths[lists] * n_classes
        pays = (self.size > rows_per_count * cells) & (lists != NOT_REQUESTED)
        some = self[pays & (n_requested[self.first + self.n] - n_requested[self.first] == self.n)]
        _, inside = ragged(some.n)
        places = np.repeat(place[some.first], some.n) + inside
        lists = np.repeat(before.which[some.parent], some.n)
        same = before.same_lists(lists, request.lists, request.which[places])
        # Bins of a family are adjacent, box by box.
        begins = np.repeat(request.first[place[some.first]], some.n)
        same &= request.first[places] == begins + inside * before.widths[lists]
        if not len(same):
            return some
        return some[np.logical_and.reduceat(same, np.cumsum(some.n) - some.n)]


class _Plan(Protocol):
    """Obtains the counts of one attribute; ``counted`` is the part that needs the records."""

    @property
    def counted(self) -> RequestedBins | None: ...

    def filled(self, counted: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return the counts (classes, bins) of the whole request."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _AllCounted:
    """Everything is counted."""

    counted: RequestedBins

    def filled(self, counted: NDArray[np.int64] | None) -> NDArray[np.int64]:
        if counted is None:
            raise InternalError("The bins of a level were not counted.")
        return counted


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _AllKnown:
    """Nothing is counted: the level has counts for more borders, ``known`` by box, then bin."""

    request: RequestedBins
    known: NDArray[np.int64]
    counted: None = None

    def filled(self, counted: NDArray[np.int64] | None) -> NDArray[np.int64]:
        counts = np.empty_like(self.known)
        counts[:, self.request.bins(np.arange(len(self.request.rows)))] = self.known
        return counts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _WorkedOut:
    """All but the largest box of each family are counted; ``left`` are their positions."""

    request: RequestedBins
    left: NDArray[np.int64]
    families: _Families
    before: HeldCounts

    @cached_property
    def counted(self) -> RequestedBins | None:
        return self.request.some(self.left) if len(self.left) else None

    def filled(self, counted: NDArray[np.int64] | None) -> NDArray[np.int64]:
        n_classes = len(self.before.counts)
        counts = np.zeros((n_classes, self.request.borders.n_bins), dtype=np.int64)
        if counted is not None and self.counted is not None:
            bins = self.counted.bins(np.arange(len(self.left)))
            counts[:, self.request.bins(self.left)] = counted[:, bins]
        self._work_out(counts)
        return counts

    def _work_out(self, counts: NDArray[np.int64]) -> None:
        """Compute the counts of the largest box of each family from its parent and the others."""
        families, before = self.families, self.before
        widths = before.widths[before.which[families.parent]]
        place = np.searchsorted(self.request.rows, families.first)
        # One entry per family and bin; then one per family, bin and box.
        _, bin_ = ragged(widths)
        start = np.repeat(self.request.first[place], widths)
        n, width = np.repeat(families.n, widths), np.repeat(widths, widths)
        starts, box = ragged(n)
        cells = np.repeat(start + bin_, n) + box * np.repeat(width, n)
        others = np.add.reduceat(counts[:, cells], starts[:-1], axis=1)
        rank = np.repeat(families.largest - families.first, widths)
        whole = before.counts[:, np.repeat(before.first[families.parent], widths) + bin_]
        rest = whole - others
        if (rest < 0).any():
            raise InternalError("Children of a box have more records than the box.")
        counts[:, start + rank * width + bin_] = rest
