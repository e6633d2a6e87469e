"""The streaming engine: codes on disk, counted a piece at a time in bounded memory.

The table is read and encoded once. Every sum over the records then loads one piece after
another and counts it as the in-memory engine would, so that the sums, and the releases for a
given seed, are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.table import CompiledPaths, MemoryEngine
from hedgerow.count.remembered import RememberedCounts
from hedgerow.count.stream.placed import PlacedOnDisk
from hedgerow.count.stream.scratch import Scratch, Shelf, Slot
from hedgerow.encode.batch import BatchEncoder, table_of_columns
from hedgerow.encode.sums import ColumnSums
from hedgerow.model.arrays import Codes
from hedgerow.model.engine import DenseKernel, SparseCounts, SparseKernel
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.read.source import Source
from hedgerow.taxonomy.domain import code_dtype

BASE_BYTES = 520 << 20
"""Memory of a run besides its pieces: the interpreter, libraries and a batch being read."""

LEAST_ROWS = 1 << 16

_SCRATCH_PER_ROW = 28
"""Bytes besides the codes while a piece is regrouped: positions of records, and scratch."""

_T = TypeVar("_T")

Report = Callable[[str, float | None], None]


def rows_per_piece(schema: Schema, memory: int) -> int:
    """Return the number of records that can be counted and regrouped in ``memory`` bytes."""
    width = sum(np.dtype(code_dtype(each.domain.size)).itemsize for each in schema.used())
    return max(LEAST_ROWS, (memory - BASE_BYTES) // (3 * width + _SCRATCH_PER_ROW))


class StreamEngine:
    """Sums kernels over a table whose codes are in a scratch folder.

    ``passes`` is the number of times that all records were read. Close the engine to remove the
    codes.
    """

    name = "stream"
    unit = 1

    def __init__(
        self,
        schema: Schema,
        scratch: Scratch,
        shelf: Shelf,
        slots: list[Slot],
        *,
        paths: CompiledPaths | None = None,
    ) -> None:
        self.schema = schema
        self._paths = paths
        self.passes = 0
        self._scratch = scratch
        self._shelf = shelf
        self._slots = slots

    def __repr__(self) -> str:
        return "StreamEngine()"

    @classmethod
    def read(
        cls,
        source: Source,
        schema: Schema,
        *,
        scratch: Scratch,
        memory: int,
        report: Report,
        sums: ColumnSums | None = None,
    ) -> StreamEngine:
        """Return an engine over ``source``, read once and stored as codes in ``scratch``."""
        shelf = scratch.shelf()
        encode = BatchEncoder(schema, name=source.name, sums=sums)
        pieces = _pieces(source, encode, rows_per_piece(schema, memory), report)
        return cls(schema, scratch, shelf, [shelf.put(columns) for columns in pieces])

    def sum(self, kernel: DenseKernel) -> NDArray[np.int64]:
        """Return the sum of a dense kernel over all records (confidential)."""
        total = np.zeros(kernel.size, dtype=np.int64)
        for slot in self._pass():
            total += self._piece(slot).sum(kernel)
        return total

    def tally(self, kernel: SparseKernel) -> SparseCounts:
        """Return the frequency of each key of a sparse kernel (confidential)."""
        total = SparseCounts.merged([])
        for slot in self._pass():
            total = SparseCounts.merged([total, self._piece(slot).tally(kernel)])
        return total

    def place(self) -> RememberedCounts:
        """Return all records placed in one box, for methods that grow a tree."""
        return RememberedCounts(
            PlacedOnDisk(
                self.schema,
                self._scratch,
                self._shelf,
                self._slots,
                self._passed,
                compiled=None if self._paths is None else self._paths.boxes,
            )
        )

    def labelled(self, labels: NearestCentre) -> StreamEngine:
        """Return an engine over the same records, their class joined with a public label.

        They are stored beside the others, and removed with them.
        """
        shelf = self._scratch.shelf()
        slots = [
            shelf.put(labels.columns(tuple(self._shelf.get(slot)), self.schema))
            for slot in self._pass()
        ]
        schema = labels.schema(self.schema)
        return StreamEngine(schema, self._scratch, shelf, slots, paths=self._paths)

    def rehearsing(self, table: EncodedTable) -> StreamEngine:
        """Return an engine over a simulated table on the same disk, by the same loops."""
        n_records = max((slot.kinds[0][1] for slot in self._slots if slot.kinds), default=0)
        paths = self._paths or CompiledPaths.of(n_records, len(self.schema.attributes))
        scratch = Scratch(self._scratch.folder.parent)
        try:
            shelf, half = scratch.shelf(), len(table) // 2
            columns = table.codes if table.classes is None else (*table.codes, table.classes)
            slots = [
                shelf.put(tuple(column[rows] for column in columns))
                for rows in (slice(half), slice(half, None))
            ]
            return StreamEngine(self.schema, scratch, shelf, slots, paths=paths)
        except BaseException:
            scratch.close()
            raise

    def close(self) -> None:
        """Remove the codes from the disk."""
        self._scratch.close()

    def _pass(self) -> list[Slot]:
        self._passed()
        return self._slots

    def _piece(self, slot: Slot) -> MemoryEngine:
        """Return one piece, which must be released before the next is loaded."""
        columns = self._shelf.get(slot)
        return MemoryEngine(table=table_of_columns(self.schema, columns), paths=self._paths)

    def _passed(self) -> None:
        self.passes += 1


def _pieces(
    source: Source, encode: BatchEncoder, rows: int, report: Report
) -> Iterator[tuple[Codes, ...]]:
    """Yield the codes of ``rows`` records at a time; each piece is overwritten by the next."""
    buffers = [np.empty(rows, dtype=code_dtype(each.domain.size)) for each in encode.attributes]
    pace = Pace(report)
    n_read = n_held = 0
    for batch in source.batches(encode.columns, text=encode.text, progress=pace.share):
        columns = encode(batch, n_before=n_read).columns
        n_read += batch.num_rows
        pace.read(n_read)
        for start in range(0, len(columns[0]) if columns else 0, rows):
            part = [column[start : start + rows] for column in columns]
            room = min(rows - n_held, len(part[0]))
            _copy([each[:room] for each in part], buffers, n_held)
            n_held += room
            if n_held == rows:
                yield tuple(buffers)
                _copy([each[room:] for each in part], buffers, 0)
                n_held = len(part[0]) - room
    if n_held:
        yield tuple(buffer[:n_held] for buffer in buffers)


def _copy(part: list[Codes], buffers: list[Codes], start: int) -> None:
    for buffer, codes in zip(buffers, part, strict=True):
        buffer[start : start + len(codes)] = codes


class Pace:
    """Reports the speed of reading and the remaining time; both are facts about the file."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._begun = monotonic()
        self._share = 0.0

    def share(self, fraction: float) -> None:
        """Record the share of the table that was read."""
        self._share = fraction

    def read(self, n_rows: int) -> None:
        """Report progress after reading some rows."""
        spent = max(monotonic() - self._begun, 1e-3)
        words = f"reading, {n_rows / spent / 1e6:.1f} million rows a second"
        if self._share > 0.01:
            words += f", {_duration(spent / self._share - spent)} left"
        self._report(words, self._share or None)


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(12.2), _duration(150), _duration(7300)
    ('12 s', '2 min 30 s', '2 h 1 min')
    """
    whole = round(max(seconds, 0.0))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
