"""The in-memory engine: encoded columns, counted in pieces on every core."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.placed import PlacedInMemory, boxes_compiled
from hedgerow.count.remembered import RememberedCounts
from hedgerow.model.compiler import pays
from hedgerow.model.engine import Batch, DenseKernel, SparseCounts, SparseKernel
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable

PIECE = 1 << 21
"""Records per piece; a table of one piece is counted on the calling thread."""

COMPILED_FROM = 40_000_000
"""Minimum number of cells (records x attributes) for which loading compiled kernels pays.

Loading them costs about a second in a new process; NumPy needs about as long for this
number of cells (`python benchmarks/bench_count.py`).
"""

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class CompiledPaths:
    """Which loops over a table are compiled: those of kernels, and those that place records."""

    kernels: bool
    boxes: bool

    @classmethod
    def of(cls, n_records: int, n_attributes: int) -> CompiledPaths:
        """Return the loops for a table of this size, in view of what is loaded already."""
        return cls(
            kernels=pays(n_records * n_attributes, COMPILED_FROM, loops="count.compiled.table"),
            boxes=boxes_compiled(n_records),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MemoryEngine:
    """Sums kernels over a table in memory; without ``paths``, its size decides on the loops."""

    table: EncodedTable
    piece: int = PIECE
    name: str = "memory"
    unit: int = 1
    paths: CompiledPaths | None = None

    @property
    def schema(self) -> Schema:
        """The public description of the table's attributes."""
        return self.table.schema

    def sum(self, kernel: DenseKernel) -> NDArray[np.int64]:
        """Return the sum of a dense kernel over all records (confidential)."""
        total = np.zeros(kernel.size, dtype=np.int64)
        for part in self._over_pieces(kernel.count):
            total += part
        return total

    def tally(self, kernel: SparseKernel) -> SparseCounts:
        """Return the frequency of each key of a sparse kernel (confidential)."""
        return SparseCounts.merged(self._over_pieces(kernel.count))

    def place(self) -> RememberedCounts:
        """Return all records placed in one box, for methods that grow a tree."""
        compiled = None if self.paths is None else self.paths.boxes
        return RememberedCounts(PlacedInMemory(self.table, compiled=compiled))

    def labelled(self, labels: NearestCentre) -> MemoryEngine:
        """Return an engine over the same records, their class joined with a public label."""
        return replace(self, table=labels.table(self.table))

    def rehearsing(self, table: EncodedTable) -> MemoryEngine:
        """Return an engine that counts a simulated table by the same loops."""
        alone = len(self.table) <= self.piece
        return MemoryEngine(
            table=table, piece=self.piece if alone else max(1, len(table) // 2), paths=self._paths()
        )

    def close(self) -> None:
        """Do nothing: the table is freed with the engine."""

    def _paths(self) -> CompiledPaths:
        return self.paths or CompiledPaths.of(len(self.table), len(self.table.codes))

    def _over_pieces(self, count: Callable[[Batch], _T]) -> list[_T]:
        starts = range(0, max(1, len(self.table)), self.piece)
        compiled = self._paths().kernels
        batches = [self._batch(start, compiled=compiled) for start in starts]
        if len(batches) == 1:
            return [count(batches[0])]
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            return list(pool.map(count, batches))

    def _batch(self, start: int, *, compiled: bool) -> Batch:
        stop = min(start + self.piece, len(self.table))
        classes = self.table.classes
        return Batch(
            codes=tuple(codes[start:stop] for codes in self.table.codes),
            classes=None if classes is None else classes[start:stop],
            n_records=stop - start,
            compiled=compiled,
        )
