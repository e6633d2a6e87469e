"""Records with different weights: one engine for each weight, with weighted sums.

A weight is an integer number of units, and few weights occur (model/people.py), so every engine
counts as usual and only its sums are multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.engine import DenseKernel, Engine, SparseCounts, SparseKernel
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.placed import LevelBins, Placed, Routing
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WeightedEngine:
    """Sums kernels over records with one engine per weight; a person has ``unit``."""

    parts: Sequence[tuple[int, Engine]]
    unit: int

    @property
    def name(self) -> str:
        """Name of the engine in the certificate."""
        return self.parts[0][1].name

    @property
    def schema(self) -> Schema:
        """The public description of the table's attributes."""
        return self.parts[0][1].schema

    def sum(self, kernel: DenseKernel) -> NDArray[np.int64]:
        """Return the weighted sum of a dense kernel over all records (confidential)."""
        total = np.zeros(kernel.size, dtype=np.int64)
        for weight, engine in self.parts:
            total += weight * engine.sum(kernel)
        return total

    def tally(self, kernel: SparseKernel) -> SparseCounts:
        """Return the weight of each key of a sparse kernel (confidential)."""
        return SparseCounts.merged(
            [
                SparseCounts(keys=found.keys, counts=weight * found.counts)
                for weight, engine in self.parts
                if len((found := engine.tally(kernel)).keys)
            ]
        )

    def place(self) -> WeightedPlaced:
        """Return all records placed in one box, for methods that grow a tree."""
        return WeightedPlaced([(weight, engine.place()) for weight, engine in self.parts])

    def labelled(self, labels: NearestCentre) -> WeightedEngine:
        """Return an engine over the same records, their class joined with a public label."""
        parts = [(weight, engine.labelled(labels)) for weight, engine in self.parts]
        return WeightedEngine(parts=parts, unit=self.unit)

    def rehearsing(self, table: EncodedTable) -> WeightedEngine:
        """Return engines of the same kinds over a simulated table, each with a part of it."""
        n_parts = len(self.parts)
        return WeightedEngine(
            parts=[
                (weight, engine.rehearsing(_every(table, n_parts, place)))
                for place, (weight, engine) in enumerate(self.parts)
            ],
            unit=self.unit,
        )

    def close(self) -> None:
        """Release the records."""
        for _, engine in self.parts:
            engine.close()


class WeightedPlaced:
    """Placed records, each with the weight of its part (confidential)."""

    def __init__(self, parts: Sequence[tuple[int, Placed]]) -> None:
        self._parts = parts

    def __repr__(self) -> str:
        return "WeightedPlaced()"

    def sum(self, level: LevelBins) -> dict[int, NDArray[np.int64]]:
        """Return, by attribute, weighted class counts of shape (bins, classes)."""
        total: dict[int, NDArray[np.int64]] = {}
        for weight, placed in self._parts:
            for attribute, counts in placed.sum(level).items():
                weighed = weight * counts
                total[attribute] = total[attribute] + weighed if attribute in total else weighed
        return total

    def each(self, level: LevelBins) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the same attribute by attribute, from one pass."""
        yield from self.sum(level).items()

    def classes(self) -> NDArray[np.int64]:
        """Return weighted class counts of shape (boxes, classes)."""
        counts = np.stack([weight * placed.classes() for weight, placed in self._parts])
        return np.asarray(counts.sum(axis=0), dtype=np.int64)

    def route(self, routing: Routing) -> None:
        """Send every record to its child; the children are the next level's boxes."""
        for _, placed in self._parts:
            placed.route(routing)


def _every(table: EncodedTable, n: int, first: int) -> EncodedTable:
    return EncodedTable(
        schema=table.schema,
        codes=tuple(codes[first::n] for codes in table.codes),
        classes=None if table.classes is None else table.classes[first::n],
    )
