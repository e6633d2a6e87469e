"""Placed records on disk: every piece is sorted by box, one piece in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.count.stream.scratch import Scratch, Shelf, Slot
from hedgerow.encode.batch import table_of_columns
from hedgerow.model.placed import LevelBins, Routing
from hedgerow.model.schema import Schema


class PlacedOnDisk:
    """The records of a streamed table, each in one box of the present level (confidential).

    Routings are applied at the next count, so that a level costs one pass: a piece is loaded,
    routed, counted and written to the next shelf.
    """

    def __init__(
        self,
        schema: Schema,
        scratch: Scratch,
        shelf: Shelf,
        slots: list[Slot],
        passed: Callable[[], None],
        *,
        compiled: bool | None = None,
    ) -> None:
        self._schema = schema
        self._compiled = compiled
        self._scratch = scratch
        self._own: Shelf | None = None  # the engine's shelf is not changed
        self._shelf = shelf
        self._pieces: list[tuple[Slot, NDArray[np.int64] | None]] = [(each, None) for each in slots]
        self._pending: list[Routing] = []
        self._n_boxes = 1
        self._classes: NDArray[np.int64] | None = None
        self._passed = passed

    def __repr__(self) -> str:
        return "PlacedOnDisk()"

    def sum(self, level: LevelBins) -> dict[int, NDArray[np.int64]]:
        """Return, by attribute, class counts of shape (bins, classes)."""
        n_classes = self._n_classes()
        totals = {
            attribute: np.zeros((borders.n_bins, n_classes), dtype=np.int64)
            for attribute, borders in level.borders.items()
        }

        def add(piece: PlacedInMemory) -> None:
            for attribute, counts in piece.sum(level).items():
                totals[attribute] += counts

        self._over_pieces(add)
        return totals

    def each(self, level: LevelBins) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the same attribute by attribute, from one pass."""
        yield from self.sum(level).items()

    def classes(self) -> NDArray[np.int64]:
        """Return class counts of shape (boxes, classes)."""
        if self._pending or self._classes is None:
            self._over_pieces(lambda piece: None)
        if self._classes is None:
            return np.zeros((self._n_boxes, self._n_classes()), dtype=np.int64)
        return self._classes

    def route(self, routing: Routing) -> None:
        """Send every record to its child; the children are the next level's boxes."""
        self._pending.append(routing)
        self._n_boxes = routing.n_children
        self._classes = None

    def _n_classes(self) -> int:
        target = self._schema.class_attribute
        return 1 if target is None else target.domain.size

    def _over_pieces(self, work: Callable[[PlacedInMemory], None]) -> None:
        """Load, route and count each piece, and store it again."""
        self._passed()
        shelf = self._scratch.shelf() if self._pending else self._shelf
        classes = np.zeros((self._n_boxes, self._n_classes()), dtype=np.int64)
        pieces: list[tuple[Slot, NDArray[np.int64] | None]] = []
        for slot, starts in self._pieces:
            piece = self._load(slot, starts)
            for routing in self._pending:
                piece.route(routing)
            work(piece)
            classes += piece.classes()
            if self._pending:
                columns, now = piece.rows()
                pieces.append((shelf.put(columns), now))
                del columns
            else:
                pieces.append((slot, starts))
            del piece  # before the next one is loaded
        self._keep(shelf, pieces, classes)

    def _load(self, slot: Slot, starts: NDArray[np.int64] | None) -> PlacedInMemory:
        table = table_of_columns(self._schema, self._shelf.get(slot))
        return PlacedInMemory(table, starts=starts, compiled=self._compiled)

    def _keep(
        self,
        shelf: Shelf,
        pieces: list[tuple[Slot, NDArray[np.int64] | None]],
        classes: NDArray[np.int64],
    ) -> None:
        if self._pending:
            if self._own is not None:
                self._own.close()
            self._own = self._shelf = shelf
        self._pieces, self._classes, self._pending = pieces, classes, []
