"""Placed records in memory: the rows of a box are adjacent, so that counting stays in cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.bins import RequestedRows, count_by_numpy, count_compiled
from hedgerow.model.arrays import Codes
from hedgerow.model.compiler import pays
from hedgerow.model.placed import Borders, LevelBins, Routing, SharedBorders
from hedgerow.model.table import EncodedTable

_T = TypeVar("_T")
_R = TypeVar("_R")

_Move = Callable[[Codes], Codes]

_INT32, _UINT16 = 1 << 31, 1 << 16
_UNDIVIDED = Borders.of([[]])

COMPILED_FROM = 200_000
"""Minimum number of records for which loading compiled loops pays."""


PARALLEL_FROM = 2_000_000
"""Minimum number of records for using several cores: distributing work takes time."""

COUNTS_AT_ONCE = 1 << 20
"""Approximate number of counts in memory; those of further attributes are computed later."""


def boxes_compiled(n_records: int) -> bool:
    """Return whether compiled loops place this number of records: they pay, or are loaded."""
    return pays(n_records, COMPILED_FROM, loops="count.compiled.placed")


class PlacedInMemory:
    """The records of a table, sorted by box; the records of finished boxes are dropped.

    Results depend neither on the order of rows within a box nor on the number of threads.
    ``starts`` has the first row of each box, if the records are sorted already.
    """

    def __init__(
        self,
        table: EncodedTable,
        *,
        starts: NDArray[np.int64] | None = None,
        compiled: bool | None = None,
    ) -> None:
        classes = table.schema.class_attribute
        self._n_classes = 1 if classes is None else classes.domain.size
        self._sizes = [attribute.domain.size for attribute in table.schema.attributes]
        self._codes: list[Codes] = list(table.codes)
        self._classes = table.classes
        self._starts = np.array([0, len(table)], dtype=np.int64) if starts is None else starts
        self._pool: ThreadPoolExecutor | None = None
        self._compiled = boxes_compiled(len(table)) if compiled is None else compiled

    def __repr__(self) -> str:
        return "PlacedInMemory()"

    def classes(self) -> NDArray[np.int64]:
        """Return class counts of shape (boxes, classes)."""
        n_boxes = len(self._starts) - 1
        if self._classes is None:
            sizes: NDArray[np.int64] = np.diff(self._starts)
            return sizes[:, None]
        if self._compiled and self._codes:
            undivided = SharedBorders(lists=_UNDIVIDED, which=np.zeros(n_boxes, dtype=np.int64))
            rows = RequestedRows.of(self._starts, None, self._classes, self._n_classes)
            return count_compiled(self._codes[0], undivided, self._sizes[0], rows)
        cells = self._boxes() * self._n_classes + self._classes
        counts = np.bincount(cells, minlength=n_boxes * self._n_classes)
        return counts.reshape(n_boxes, self._n_classes)

    def sum(self, level: LevelBins) -> dict[int, NDArray[np.int64]]:
        """Return, by attribute, class counts of shape (bins, classes)."""
        return dict(self.each(level))

    def each(self, level: LevelBins) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the same attribute by attribute, with few in memory at once."""
        rows = self._requested_rows(level)

        def count(item: tuple[int, Borders | SharedBorders]) -> NDArray[np.int64]:
            attribute, borders = item
            one = count_compiled if self._compiled else count_by_numpy
            return one(self._codes[attribute], borders, self._sizes[attribute], rows[attribute])

        for some in self._some_at_once(level):
            for (attribute, _), counts in zip(some, self._in_parallel(count, some), strict=True):
                yield attribute, counts

    def _some_at_once(
        self, level: LevelBins
    ) -> Iterator[list[tuple[int, Borders | SharedBorders]]]:
        """Yield attributes to count at once: one per core, or more if they are small."""
        least = max(2, os.cpu_count() or 1) if self._compiled else 1
        some: list[tuple[int, Borders | SharedBorders]] = []
        n_counts = 0
        for attribute, borders in level.borders.items():
            some.append((attribute, borders))
            n_counts += borders.n_bins * self._n_classes
            if len(some) >= least and n_counts >= COUNTS_AT_ONCE:
                yield some
                some, n_counts = [], 0
        if some:
            yield some

    def _requested_rows(self, level: LevelBins) -> dict[int, RequestedRows]:
        """Return the requested rows by attribute, shared by requests for the same boxes."""
        of_boxes: dict[bytes | None, RequestedRows] = {}
        rows = {}
        for attribute in level.borders:
            boxes = level.boxes.get(attribute)
            key = None if boxes is None else boxes.tobytes()
            if key not in of_boxes:
                requested = RequestedRows.of(self._starts, boxes, self._classes, self._n_classes)
                of_boxes[key] = requested
            rows[attribute] = of_boxes[key]
        return rows

    def route(self, routing: Routing) -> None:
        """Send every record to its child; the children are the next level's boxes."""
        if self._compiled:
            self._regroup(*self._moves_compiled(routing))
        else:
            self._regroup(*self._moves(routing))

    def _regroup(self, move: _Move, starts: NDArray[np.int64]) -> None:
        def regroup(attribute: int) -> None:
            self._codes[attribute] = move(self._codes[attribute])

        # Column by column, so that an old one is freed as soon as its new one is complete.
        self._in_parallel(regroup, list(range(len(self._codes))))
        if self._classes is not None:
            self._classes = move(self._classes)
        self._starts = starts

    def descend(self, tree: Sequence[Routing]) -> None:
        """Send every record down several levels."""
        for routing in tree:
            self.route(routing)

    def rows(self) -> tuple[tuple[Codes, ...], NDArray[np.int64]]:
        """Return the columns in their present order, the class last, and the start of each box."""
        of_class = () if self._classes is None else (self._classes,)
        return (*self._codes, *of_class), self._starts

    def _in_parallel(self, work: Callable[[_T], _R], items: list[_T]) -> list[_R]:
        """Process the items on all cores if the table is large enough for that to pay."""
        if not self._compiled or len(items) < 2 or int(self._starts[-1]) < PARALLEL_FROM:
            return [work(item) for item in items]
        n = min(os.cpu_count() or 1, len(items))
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=os.cpu_count())
        parts = self._pool.map(lambda first: [work(item) for item in items[first::n]], range(n))
        done = list(parts)
        return [done[i % n][i // n] for i in range(len(items))]

    def _boxes(self) -> NDArray[np.int64]:
        sizes = np.diff(self._starts)
        return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)

    def _children(self, routing: Routing) -> NDArray[np.int64]:
        """Return each record's child, -1 where its box is finished."""
        boxes = self._boxes()
        child = np.full(len(boxes), -1, dtype=np.int64)
        split = routing.attribute[boxes]
        for attribute in np.unique(routing.attribute[routing.attribute >= 0]):
            here = np.flatnonzero(split == attribute)
            child[here] = self._child_of(routing, int(attribute), here, boxes[here])
        return child

    def _moves_compiled(self, routing: Routing) -> tuple[_Move, NDArray[np.int64]]:
        """Return the same by compiled loops: the children of a box take its place."""
        from hedgerow.count.compiled import placed as compiled

        places = self._no_places()
        kept = np.where(routing.attribute >= 0, np.diff(self._starts), 0)
        begins = _starts_of(kept)
        starts = np.empty(routing.n_children + 1, dtype=np.int64)
        starts[-1] = begins[-1]

        def place(attribute: int) -> None:
            compiled.place_rows(
                self._codes[attribute],
                self._starts,
                np.flatnonzero(routing.attribute == attribute),
                routing.borders.starts,
                routing.borders.values,
                routing.first_child,
                begins,
                places,
                starts,
            )

        split = np.unique(routing.attribute[routing.attribute >= 0])
        self._in_parallel(place, split.tolist())
        return _moving(places, n_rows=int(starts[-1])), starts

    def _no_places(self) -> NDArray[np.signedinteger[Any]]:
        n_rows = int(self._starts[-1])
        kind: type[np.signedinteger[Any]] = np.int32 if n_rows < _INT32 else np.int64
        return np.full(n_rows, -1, dtype=kind)

    def _child_of(
        self, routing: Routing, attribute: int, here: NDArray[np.int64], boxes: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        borders = routing.borders
        width = self._sizes[attribute] + 1
        owners = np.repeat(np.arange(borders.n_boxes, dtype=np.int64), np.diff(borders.starts))
        mine = routing.attribute[owners] == attribute
        keys = owners[mine] * width + borders.values[mine]
        codes = self._codes[attribute][here]
        low = np.searchsorted(keys, boxes * width, side="left")
        reached = np.searchsorted(keys, boxes * width + codes, side="right") - low
        return routing.first_child[boxes] + reached

    def _moves(self, routing: Routing) -> tuple[_Move, NDArray[np.int64]]:
        """Return a function that sorts a column by child, and the start of each child."""
        child = self._children(routing)
        kept = np.flatnonzero(child >= 0)
        sizes = np.bincount(child[kept], minlength=routing.n_children)
        # Numbers of 16 bits are sorted by radix sort, which is much faster.
        narrow = child[kept].astype(np.uint16) if routing.n_children < _UINT16 else child[kept]
        order = kept[np.argsort(narrow, kind="stable")]
        return lambda codes: codes[order], _starts_of(sizes)


def _moving(places: NDArray[np.signedinteger[Any]], *, n_rows: int) -> _Move:
    """Return a function that moves the rows of a column to their places, or drops them."""
    from hedgerow.count.compiled import placed as compiled

    def move(codes: Codes) -> Codes:
        moved = np.empty(n_rows, dtype=codes.dtype)
        compiled.move_rows(codes, places, moved)
        return moved

    return move


def _starts_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
