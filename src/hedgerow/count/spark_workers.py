"""What runs on the workers of Spark: encoding, and counting of kernels and levels.

Everything here is a small picklable object called with the record batches of one task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.count.engine import DenseKernel, SparseCounts, SparseKernel
from hedgerow.count.memory import MemoryEngine
from hedgerow.count.placed import LevelBins, Routing
from hedgerow.count.placed_memory import PlacedInMemory
from hedgerow.encode.batch import BatchEncoder, table_of_columns
from hedgerow.encode.schema import Schema
from hedgerow.encode.table import Codes, EncodedTable
from hedgerow.errors import DataError, UnlistedValueError
from hedgerow.read.text import as_text
from hedgerow.taxonomy.domain import code_dtype

ROWS_AT_ONCE = 1 << 20
"""Records that a worker gathers before it counts them."""

SUMS = "key long, count long"
"""What every counting task sends back."""

NAME = "the Spark table"

_SIGNED = ((1 << 7, np.int8, "byte"), (1 << 15, np.int16, "short"), (1 << 31, np.int32, "int"))


def _signed(size: int) -> tuple[Any, str]:
    """Return the smallest signed type, which is all that Spark has, for so many codes."""
    return next((dtype, name) for bound, dtype, name in _SIGNED if size <= bound)


def codes_schema(schema: Schema) -> str:
    """Return the columns of encoded records, as Spark writes a schema."""
    sizes = [attribute.domain.size for attribute in schema.used()]
    return ", ".join(f"c{place} {_signed(size)[1]}" for place, size in enumerate(sizes))


class Encode:
    """Records to codes."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield each batch as codes, without the records that lack a value."""
        encode = BatchEncoder(self.schema, name=NAME)
        attributes = encode.attributes
        for batch in batches:
            columns = [
                as_text(column, where=f"{NAME}, column {attribute.name!r}")
                if attribute.domain.kind == "categorical"
                else column
                for attribute, column in zip(attributes, batch.columns, strict=True)
            ]
            names = [attribute.name for attribute in attributes]
            texts = pa.RecordBatch.from_arrays(columns, names=names)
            try:
                codes = encode(texts, n_before=0).columns
            except UnlistedValueError as error:
                # Records have no order on Spark, so their numbers would mislead.
                what = str(error.what).split(": ", 1)[-1]
                raise DataError(
                    f"attribute {error.attribute!r}: a record {what}", where=NAME, do=error.do
                ) from None
            signed = [
                pa.array(column.astype(_signed(attribute.domain.size)[0]))
                for attribute, column in zip(attributes, codes, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(signed, names=[f"c{i}" for i in range(len(signed))])


class Counting(ABC):
    """Gathers the codes of a task and sends back their sums by key."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    @abstractmethod
    def sums(self, tables: Iterator[EncodedTable]) -> SparseCounts:
        """Return what the records of a task add up to."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one batch of keys and counts."""
        total = self.sums(self._tables(batches))
        yield keyed(total)

    def _tables(self, batches: Iterable[pa.RecordBatch]) -> Iterator[EncodedTable]:
        for held in gathered(batches):
            columns = [
                _codes(held, place, code_dtype(attribute.domain.size))
                for place, attribute in enumerate(self.schema.used())
            ]
            yield table_of_columns(self.schema, tuple(columns))


def _codes(held: list[pa.RecordBatch], place: int, dtype: Any) -> Codes:
    joined: Codes = np.concatenate([np.asarray(batch.column(place)) for batch in held])
    return joined.astype(dtype)


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
    """Return sums as Spark takes them."""
    return pa.RecordBatch.from_arrays(
        [pa.array(total.keys, pa.int64()), pa.array(total.counts, pa.int64())],
        names=["key", "count"],
    )


def occupied(total: NDArray[np.int64]) -> SparseCounts:
    """Return a dense sum without its zeros."""
    keys = np.flatnonzero(total)
    return SparseCounts(keys=keys, counts=total[keys])


class KernelSum(Counting):
    """The sum of a dense kernel."""

    def __init__(self, schema: Schema, kernel: DenseKernel) -> None:
        super().__init__(schema)
        self.kernel = kernel

    def sums(self, tables: Iterator[EncodedTable]) -> SparseCounts:
        """Return the cells that are not zero."""
        total = np.zeros(self.kernel.size, dtype=np.int64)
        for table in tables:
            total += MemoryEngine(table=table).sum(self.kernel)
        return occupied(total)


class KernelTally(Counting):
    """The tally of a sparse kernel."""

    def __init__(self, schema: Schema, kernel: SparseKernel) -> None:
        super().__init__(schema)
        self.kernel = kernel

    def sums(self, tables: Iterator[EncodedTable]) -> SparseCounts:
        """Return how often each key occurs."""
        total = SparseCounts.merged([])
        for table in tables:
            total = SparseCounts.merged([total, MemoryEngine(table=table).tally(self.kernel)])
        return total


class LevelSum(Counting):
    """The counts of a level: every record walks down the tree, then all boxes are counted.

    Cells come one attribute after another, in the order of the level, each (bins, classes);
    the class counts of the boxes come last.
    """

    def __init__(self, schema: Schema, tree: tuple[Routing, ...], level: LevelBins) -> None:
        super().__init__(schema)
        self.tree = tree
        self.level = level

    def sums(self, tables: Iterator[EncodedTable]) -> SparseCounts:
        """Return the cells that are not zero."""
        total: NDArray[np.int64] | None = None
        for table in tables:
            placed = PlacedInMemory(table)
            for routing in self.tree:
                placed.route(routing)
            counts = placed.sum(self.level)
            parts = [counts[attribute].ravel() for attribute in self.level.borders]
            flat = np.concatenate([*parts, placed.classes().ravel()])
            total = flat if total is None else total + flat
        return SparseCounts.merged([]) if total is None else occupied(total)
