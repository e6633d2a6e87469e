"""Placed records whose counts are remembered for a level: what follows is not counted again.

Three things follow. A box that was asked about is known between fewer borders, too. A box that
was divided has as many records in its children as in itself, so that of the children the
largest needs no counting: it is what the others leave of their parent. And the classes of the
children are those of the bins that the choice was made from.

So an engine counts about half of the records of a level or fewer, and the last level of a tree
is never placed at all. Counts are exact either way: releases are the same.

Privacy: nothing is added or lost. What is counted and what follows depends on exact sizes, as
the time of counting does (docs/limits.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.held import NOT_ASKED, AskedBins, HeldCounts
from hedgerow.errors import InternalError
from hedgerow.model.placed import LevelBins, Placed, Routing, ragged

MOST_HELD = 1 << 23
"""Counts of a level that are remembered, at the most."""

ROWS_PER_COUNT = 32
"""Records that must be saved for each count that is worked out, or put in its place, instead."""


class RememberedCounts:
    """Placed records that answer from earlier counts where these say it (confidential)."""

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
        """Yield the same attribute by attribute, in the order of the question."""
        asked = {
            a: AskedBins.of(borders, level.boxes.get(a), self._n_boxes)
            for a, borders in level.borders.items()
        }
        plans = {a: self._plan(a, question) for a, question in asked.items()}
        counted = self._counted({a: plan.counted for a, plan in plans.items() if plan.counted})
        for a, question in asked.items():
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
        """Send every record to its child; none is moved before the next question."""
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

    def _counted(self, asked: dict[int, AskedBins]) -> Iterator[NDArray[np.int64]]:
        """Yield what the records must be asked for (classes, bins), in one pass."""
        if not asked:
            return
        self._place_all()
        level = LevelBins(
            borders={a: each.borders for a, each in asked.items()},
            boxes={a: each.rows for a, each in asked.items() if len(each.rows) < self._n_boxes},
        )
        for _, counts in self._placed.each(level):
            yield counts.T

    def _hold(self, a: int, asked: AskedBins, counts: NDArray[np.int64]) -> None:
        if self._n_held + counts.size <= self._most_held:
            self._n_held += counts.size
            self._now[a] = HeldCounts.of(asked, counts, self._n_boxes)

    def _plan(self, a: int, asked: AskedBins) -> _Plan:
        held = self._now.get(a)
        if held is not None:
            known = held.between(asked.rows, asked.own_borders())
            if known is not None:
                return _AllKnown(asked=asked, known=known)
        before = self._before.get(a)
        if before is None or self._families is None:
            return _AllCounted(counted=asked)
        families = self._families.that_pay(before, asked, self._n_boxes, self._rows_per_count)
        least = self._rows_per_count * asked.borders.n_bins * len(before.counts)
        if families.size.sum() <= least:  # all other counts are put in their places
            return _AllCounted(counted=asked)
        left = np.flatnonzero(~np.isin(asked.rows, families.largest, assume_unique=True))
        return _WorkedOut(asked=asked, left=left, families=families, before=before)

    def _known_classes(self) -> NDArray[np.int64] | None:
        """Return class counts (boxes, classes) as far as bins of all boxes tell them."""
        told = [held for held in self._now.values() if held.asks_all]
        if not told:
            return None
        held = min(told, key=lambda each: each.counts.size)
        ends = held.first + held.widths[held.which]
        return (held.running[:, ends] - held.running[:, held.first]).T

    def _child_classes(self, routing: Routing) -> NDArray[np.int64] | None:
        """Return class counts (children, classes), if the bins of the chosen attributes tell."""
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
    """Boxes of one parent each: the first of them, how many, and which has most records.

    ``size`` is how many that one has (confidential); ``parent`` the row of the level before.
    """

    parent: NDArray[np.int64]
    first: NDArray[np.int64]
    n: NDArray[np.int64]
    largest: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, routing: Routing, sizes: NDArray[np.int64]) -> _Families:
        """Return the families of a level, from the records of each box."""
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
        self, before: HeldCounts, asked: AskedBins, n_boxes: int, rows_per_count: int
    ) -> _Families:
        """Return the families whose largest box is better worked out than counted.

        All boxes of the family must be asked about, with the borders that their parent had.
        """
        n_classes = len(before.counts)
        place = np.full(n_boxes, NOT_ASKED)
        place[asked.rows] = np.arange(len(asked.rows))
        n_asked = np.concatenate([[0], np.cumsum(place != NOT_ASKED)])
        lists = before.which[self.parent]
        cells = self.n * before.widths[lists] * n_classes
        pays = (self.size > rows_per_count * cells) & (lists != NOT_ASKED)
        some = self[pays & (n_asked[self.first + self.n] - n_asked[self.first] == self.n)]
        _, inside = ragged(some.n)
        places = np.repeat(place[some.first], some.n) + inside
        lists = np.repeat(before.which[some.parent], some.n)
        same = before.same_lists(lists, asked.lists, asked.which[places])
        # Bins of a family lie one after the other, box by box.
        begins = np.repeat(asked.first[place[some.first]], some.n)
        same &= asked.first[places] == begins + inside * before.widths[lists]
        if not len(same):
            return some
        return some[np.logical_and.reduceat(same, np.cumsum(some.n) - some.n)]


class _Plan(Protocol):
    """How the counts of one attribute are come by; ``counted`` is what the records are asked."""

    @property
    def counted(self) -> AskedBins | None: ...

    def filled(self, counted: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return the counts (classes, bins) of the whole question."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _AllCounted:
    """Everything is counted."""

    counted: AskedBins

    def filled(self, counted: NDArray[np.int64] | None) -> NDArray[np.int64]:
        if counted is None:
            raise InternalError("the bins of a level were not counted")
        return counted


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _AllKnown:
    """The level was asked before, with more borders; ``known`` are counts by box, then bin."""

    asked: AskedBins
    known: NDArray[np.int64]
    counted: None = None

    def filled(self, counted: NDArray[np.int64] | None) -> NDArray[np.int64]:
        counts = np.empty_like(self.known)
        counts[:, self.asked.bins(np.arange(len(self.asked.rows)))] = self.known
        return counts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _WorkedOut:
    """Of each family but the largest box is counted; ``left`` are the places of the others."""

    asked: AskedBins
    left: NDArray[np.int64]
    families: _Families
    before: HeldCounts

    @cached_property
    def counted(self) -> AskedBins | None:
        return self.asked.some(self.left) if len(self.left) else None

    def filled(self, counted: NDArray[np.int64] | None) -> NDArray[np.int64]:
        n_classes = len(self.before.counts)
        counts = np.zeros((n_classes, self.asked.borders.n_bins), dtype=np.int64)
        if counted is not None and self.counted is not None:
            bins = self.counted.bins(np.arange(len(self.left)))
            counts[:, self.asked.bins(self.left)] = counted[:, bins]
        self._work_out(counts)
        return counts

    def _work_out(self, counts: NDArray[np.int64]) -> None:
        """Give the largest box of each family what the others leave of their parent."""
        families, before = self.families, self.before
        widths = before.widths[before.which[families.parent]]
        place = np.searchsorted(self.asked.rows, families.first)
        # One entry for each family and bin; then one for each family, bin and box.
        _, bin_ = ragged(widths)
        start = np.repeat(self.asked.first[place], widths)
        n, width = np.repeat(families.n, widths), np.repeat(widths, widths)
        starts, box = ragged(n)
        cells = np.repeat(start + bin_, n) + box * np.repeat(width, n)
        others = np.add.reduceat(counts[:, cells], starts[:-1], axis=1)
        rank = np.repeat(families.largest - families.first, widths)
        whole = before.counts[:, np.repeat(before.first[families.parent], widths) + bin_]
        rest = whole - others
        if (rest < 0).any():
            raise InternalError("children of a box have more records than the box")
        counts[:, start + rank * width + bin_] = rest
