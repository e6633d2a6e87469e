"""Placed records on Spark: the driver has the tree, the workers walk records down it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.spark.workers import DenseCounting, LevelSum
from hedgerow.model.placed import LevelBins, Routing
from hedgerow.model.schema import Schema

Sums = Callable[[DenseCounting, int], NDArray[np.int64]]


class PlacedOnSpark:
    """The records of a Spark table, each in one box of the present level (confidential).

    No record is moved: its box follows from the tree, which is sent out with every level.
    """

    def __init__(self, schema: Schema, sums: Sums) -> None:
        self._schema = schema
        self._sums = sums
        self._tree: tuple[Routing, ...] = ()
        self._n_boxes = 1
        self._classes: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        return "PlacedOnSpark()"

    def sum(self, level: LevelBins) -> dict[int, NDArray[np.int64]]:
        """Return, by attribute, class counts of shape (bins, classes)."""
        target = self._schema.class_attribute
        n_classes = 1 if target is None else target.domain.size
        heights = [*(borders.n_bins for borders in level.borders.values()), self._n_boxes]
        ends = np.cumsum(heights) * n_classes
        size = int(ends[-1])
        total = self._sums(LevelSum(self._schema, self._tree, level, size), size)
        parts = [part.reshape(n_classes, -1).T for part in np.split(total, ends[:-1])]
        self._classes = parts[-1]
        return dict(zip(level.borders, parts[:-1], strict=True))

    def each(self, level: LevelBins) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the same attribute by attribute, from one pass."""
        yield from self.sum(level).items()

    def classes(self) -> NDArray[np.int64]:
        """Return class counts of shape (boxes, classes)."""
        if self._classes is None:
            self.sum(LevelBins())
        return self._classes if self._classes is not None else np.zeros((0, 0), dtype=np.int64)

    def route(self, routing: Routing) -> None:
        """Send every record to its child; the children are the next level's boxes."""
        self._tree = (*self._tree, routing)
        self._n_boxes = routing.n_children
        self._classes = None
