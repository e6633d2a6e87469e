"""Code that runs on the workers of Spark: encoding, and counting of kernels and levels.

Everything here is a small picklable object that is called with the record batches of one task.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.count.spark.walked import walked
from hedgerow.encode.batch import BatchEncoder, table_of_columns
from hedgerow.encode.sums import ColumnSums
from hedgerow.errors import DataError, UnlistedValueError
from hedgerow.model.arrays import Codes
from hedgerow.model.engine import DenseKernel, SparseCounts, SparseKernel
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.placed import LevelBins, Routing
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.read.text import as_text
from hedgerow.taxonomy.domain import code_dtype

ROWS_AT_ONCE = 1 << 20
"""Number of records that a worker gathers before it counts them."""

SUMS = "key long, count long"
"""Schema of the result of every counting task."""

BLOCKS = "block long, cells binary"
"""Schema of the result of a task with numbered cells: one row per block of them."""

CELLS_AT_ONCE = 1 << 14
"""Number of cells of a block; the last may have fewer."""

NAME = "the Spark table"

PACKED = "records long, codes binary"
"""Schema of encoded records: some thousands per row, column after column.

Spark converts rows to Arrow and back one value at a time, which for single codes would take
much longer than counting them.
"""

WEIGHED = "records long, codes binary, weight int"
"""Schema of encoded records as in `PACKED`, with the weight of each record of a row."""

Weighed = tuple[int, EncodedTable]
"""Records, and the weight of each."""

SUMMED = -1
"""Number of records in a row that ends a task, which holds the sums that identify columns."""

PACKED_AT_ONCE = 1 << 13
"""Maximum number of records of a row."""


def packed_codes(columns: tuple[Codes, ...]) -> pa.RecordBatch:
    """Return encoded records as rows of :data:`PACKED`."""
    n_records = len(columns[0])
    starts = range(0, n_records, PACKED_AT_ONCE)
    rows = [
        b"".join(column[start : start + PACKED_AT_ONCE].tobytes() for column in columns)
        for start in starts
    ]
    sizes = [min(PACKED_AT_ONCE, n_records - start) for start in starts]
    return pa.RecordBatch.from_arrays(
        [pa.array(sizes, pa.int64()), pa.array(rows, pa.binary())], names=["records", "codes"]
    )


def packed_sums(sums: ColumnSums | None) -> pa.RecordBatch:
    """Return the sums that identify the columns of a task, if any, as a row of :data:`PACKED`."""
    text = None if sums is None else sums_text(sums)
    return pa.RecordBatch.from_arrays(
        [pa.array([SUMMED], pa.int64()), pa.array([text], pa.binary())],
        names=["records", "codes"],
    )


def sums_text(sums: ColumnSums) -> bytes:
    """Return sums in the form that the driver reads."""
    return json.dumps({column: hex(total) for column, total in sums.totals.items()}).encode()


def merge_sums(sums: ColumnSums, texts: Iterable[bytes]) -> None:
    """Add up the sums that tasks returned."""
    for text in texts:
        totals = json.loads(bytes(text))
        sums.merge({column: int(total, 16) for column, total in totals.items()})


def unpacked(
    batch: pa.RecordBatch, dtypes: list[np.dtype[Any]]
) -> Iterator[tuple[int, tuple[Codes, ...]]]:
    """Yield the weight and the columns of each row, and refuse damaged rows.

    Rows that end a task hold no records, and are skipped.
    """
    weights = [1] * len(batch) if batch.num_columns < 3 else batch.column(2).to_pylist()
    for size, row, weight in zip(batch.column(0), batch.column(1), weights, strict=True):
        n_records, stored = size.as_py(), row.as_buffer()
        if n_records == SUMMED:
            continue
        widths = [dtype.itemsize for dtype in dtypes]
        if not n_records or stored is None or stored.size != n_records * sum(widths):
            raise DataError(
                "A worker returned truncated records.",
                where=NAME,
                do="Run it again; if it happens again, check the cluster's disks.",
            )
        starts = np.cumsum([0, *widths[:-1]]) * n_records
        yield (
            weight,
            tuple(
                np.frombuffer(stored, dtype=dtype, count=n_records, offset=int(start))
                for dtype, start in zip(dtypes, starts, strict=True)
            ),
        )


class ColumnsOf(Protocol):
    """Converts the batches of a task to columns."""

    def batches(self, batches: Iterator[pa.RecordBatch], /) -> Iterator[pa.RecordBatch]:
        """Return batches of the requested columns."""
        ...


class Encode:
    """Encodes records; if they come as lines or pieces of files, ``parse`` returns columns.

    With the key of labels, it also returns the sums that identify the columns.
    """

    def __init__(
        self,
        schema: Schema,
        parse: ColumnsOf | None = None,
        key: bytes | None = None,
    ) -> None:
        self.schema = schema
        self.parse = parse
        self.key = key

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield each batch as packed codes, without the records that lack a value.

        Every task ends with a row of its own, by which the driver counts the tasks.
        """
        sums = None if self.key is None else ColumnSums(self.key)
        encode = BatchEncoder(self.schema, name=NAME, sums=sums)
        for batch in batches if self.parse is None else self.parse.batches(batches):
            columns = [
                as_text(column, where=f"{NAME}, column {name!r}") if name in encode.text else column
                for name, column in zip(encode.columns, batch.columns, strict=True)
            ]
            texts = pa.RecordBatch.from_arrays(columns, names=encode.columns)
            try:
                codes = encode(texts, n_before=0).columns
            except UnlistedValueError as error:
                # Records have no order on Spark, so their numbers would be misleading.
                what = str(error.what).split(": ", 1)[-1]
                raise DataError(
                    f"Attribute {error.attribute!r}: {what}", where=NAME, do=error.do
                ) from None
            if len(codes[0]):
                yield packed_codes(codes)
        yield packed_sums(sums)


class Relabel:
    """Joins the class of packed records with a public label, row by row."""

    def __init__(self, schema: Schema, labels: NearestCentre) -> None:
        self.schema = schema
        self.labels = labels

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield each batch with other classes and the same weights."""
        dtypes = [np.dtype(code_dtype(attribute.domain.size)) for attribute in self.schema.used()]
        for batch in batches:
            rows = [
                b"".join(column.tobytes() for column in self.labels.columns(columns, self.schema))
                for _, columns in unpacked(batch, dtypes)
            ]
            kept = [batch.column(0), pa.array(rows, pa.binary()), *batch.columns[2:]]
            yield pa.RecordBatch.from_arrays(kept, names=batch.schema.names)


class Counting(ABC):
    """Gathers the codes of a task and returns their sums by key."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    @abstractmethod
    def sums(self, tables: Iterator[Weighed]) -> SparseCounts:
        """Return the sums over the records of a task."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one batch of keys and counts."""
        total = self.sums(self._tables(batches))
        yield keyed(total)

    def _tables(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Weighed]:
        dtypes = [np.dtype(code_dtype(attribute.domain.size)) for attribute in self.schema.used()]
        held: dict[int, list[tuple[Codes, ...]]] = {}
        n_held = 0
        for batch in batches:
            for weight, columns in unpacked(batch, dtypes):
                held.setdefault(weight, []).append(columns)
                n_held += len(columns[0])
                if n_held >= ROWS_AT_ONCE:
                    yield from ((each, self._joined(parts)) for each, parts in held.items())
                    held, n_held = {}, 0
        yield from ((each, self._joined(parts)) for each, parts in held.items())

    def _joined(self, held: list[tuple[Codes, ...]]) -> EncodedTable:
        columns = tuple(np.concatenate(each) for each in zip(*held, strict=True))
        return table_of_columns(self.schema, columns)


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield batches in lists of about :data:`ROWS_AT_ONCE` records."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        held.append(batch)
        n_held += batch.num_rows
        if n_held >= ROWS_AT_ONCE:
            yield held
            held, n_held = [], 0
    if n_held:
        yield held


def keyed(total: SparseCounts) -> pa.RecordBatch:
    """Return sums in the form that Spark reads."""
    return pa.RecordBatch.from_arrays(
        [pa.array(total.keys, pa.int64()), pa.array(total.counts, pa.int64())],
        names=["key", "count"],
    )


def occupied(total: NDArray[np.int64]) -> SparseCounts:
    """Return a dense sum without its zeros."""
    keys = np.flatnonzero(total)
    return SparseCounts(keys=keys, counts=total[keys])


class DenseCounting(Counting):
    """Adds up numbered cells; tasks return them in blocks, which are added up in turn."""

    def sums(self, tables: Iterator[Weighed]) -> SparseCounts:
        """Return the cells that are not zero."""
        return occupied(self.total(tables))

    @abstractmethod
    def total(self, tables: Iterator[Weighed]) -> NDArray[np.int64]:
        """Return the sums over the records of a task, cell by cell."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the blocks of cells that are not all zero."""
        total = self.total(self._tables(batches))
        starts = range(0, len(total), CELLS_AT_ONCE)
        found = [at for at in starts if total[at : at + CELLS_AT_ONCE].any()]
        cells = [total[at : at + CELLS_AT_ONCE].tobytes() for at in found]
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([at // CELLS_AT_ONCE for at in found], pa.int64()),
                pa.array(cells, pa.binary()),
            ],
            names=["block", "cells"],
        )


def added_blocks(blocks: pa.Table) -> pa.Table:
    """Return the sums of each block's cells over all tasks."""
    try:
        total = sum(np.frombuffer(each.as_buffer(), np.int64) for each in blocks.column(1))
        cells = np.asarray(total, dtype=np.int64).tobytes()
        return pa.table({"block": blocks.column(0)[:1], "cells": pa.array([cells], pa.binary())})
    except Exception as error:
        # Spark writes messages to its logs, and this one may quote a value.
        raise RuntimeError(f"a worker met an unexpected {type(error).__name__}") from None


class KernelSum(DenseCounting):
    """The sum of a dense kernel."""

    def __init__(self, schema: Schema, kernel: DenseKernel) -> None:
        super().__init__(schema)
        self.kernel = kernel

    def total(self, tables: Iterator[Weighed]) -> NDArray[np.int64]:
        """Return the sum over a task's records."""
        total = np.zeros(self.kernel.size, dtype=np.int64)
        for weight, table in tables:
            total += weight * MemoryEngine(table=table).sum(self.kernel)
        return total


class KernelTally(Counting):
    """The tally of a sparse kernel."""

    def __init__(self, schema: Schema, kernel: SparseKernel) -> None:
        super().__init__(schema)
        self.kernel = kernel

    def sums(self, tables: Iterator[Weighed]) -> SparseCounts:
        """Return the frequency of each key."""
        total = SparseCounts.merged([])
        for weight, table in tables:
            found = MemoryEngine(table=table).tally(self.kernel)
            weighed = SparseCounts(keys=found.keys, counts=weight * found.counts)
            total = SparseCounts.merged([total, weighed])
        return total


class LevelSum(DenseCounting):
    """The counts of a level: every record walks down the tree, then all boxes are counted.

    Cells are ordered by attribute, in the order of the level, and by class; the class counts of
    the boxes come last.
    """

    def __init__(
        self, schema: Schema, tree: tuple[Routing, ...], level: LevelBins, n_cells: int
    ) -> None:
        super().__init__(schema)
        self.tree = tree
        self.level = level
        self.n_cells = n_cells

    def total(self, tables: Iterator[Weighed]) -> NDArray[np.int64]:
        """Return the counts of a task's records."""
        total = np.zeros(self.n_cells, dtype=np.int64)
        for weight, table in tables:
            placed = walked(table, self.tree, self.level.borders)
            parts = [counts for _, counts in placed.each(self.level)]
            # By class, as they were counted: large tables need not be transposed.
            flat = [part.T.ravel() for part in (*parts, placed.classes())]
            total += weight * np.concatenate(flat)
        return total
