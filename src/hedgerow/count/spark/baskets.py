"""The Spark engine of set-valued data."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.count.folding import fold
from hedgerow.count.memory.baskets import BasketMemory, MemoryWalk
from hedgerow.count.spark.lines import LineBatches
from hedgerow.count.spark.session import (
    RequestedColumns,
    Session,
    collected,
    guarded,
    open_columns,
    open_lines,
    refusing,
    session_for,
)
from hedgerow.count.spark.workers import (
    NAME,
    SUMS,
    ColumnsOf,
    gathered,
    keyed,
    merge_sums,
    occupied,
    sums_text,
)
from hedgerow.count.stream.baskets import WalkStep, follow
from hedgerow.encode.baskets import BasketEncoder, sum_words
from hedgerow.encode.sums import ColumnSums
from hedgerow.errors import InternalError
from hedgerow.model.baskets import EncodedBaskets, ItemCodes, item_dtype, offsets_of
from hedgerow.model.engine import BasketKernel, FeatureKernel, SequenceKernel, SparseCounts
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.sizes import require_rows
from hedgerow.model.universe import ItemsPlace, Universe
from hedgerow.read.items import words_in_order, words_of_lists
from hedgerow.read.words import WordBatch, WordSplitter
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    from hedgerow.count.settings import EngineSettings


def open_spark_baskets(
    universe: Universe,
    data: Any,
    *,
    query: str | None,
    base: Path,
    reading: Reading = PLAIN,
    settings: EngineSettings,
    sums: ColumnSums | None = None,
) -> SparkBaskets:
    """Return an engine over lines of text, a column of lists, or a long table on Spark.

    All records are encoded before it returns, so that refusals come before a booking.
    ``sums`` take an additional pass over the data.
    """
    place = universe.place
    with session_for(settings, data) as session:
        if place.column is None:
            words = open_lines(session, data, base=base, reading=reading)
        else:
            requested = _requested(place, reading)
            words = _columns(session, data, place, requested, query=query, base=base)
        with refusing():
            encode = _Encode(universe, reading if place.column is None else None)
            codes = words.mapInArrow(guarded(encode), "items array<int>").persist()
            require_rows(codes.count(), NAME)
            if sums is not None:
                summed = _Sums(universe, reading if place.column is None else None, key=sums.key)
                results = words.mapInArrow(guarded(summed), "sums binary").toArrow()
                merge_sums(sums, results.column(0).to_pylist())
        return SparkBaskets(universe.taxonomy, session, codes)


def _requested(place: ItemsPlace, reading: Reading) -> RequestedColumns:
    names = [name for name in (place.record, place.column, place.order) if name is not None]
    return RequestedColumns(names=names, text=names, reading=reading)


def _columns(
    session: Session,
    data: Any,
    place: ItemsPlace,
    requested: RequestedColumns,
    *,
    query: str | None,
    base: Path,
) -> Any:
    names = requested.names
    frame, parse = open_columns(session, data, requested, query=query, base=base)
    with refusing():
        if parse is not None:
            schema = ", ".join(f"`{name.replace('`', '``')}` string" for name in names)
            frame = frame.mapInArrow(guarded(_AsText(parse)), schema)
        if place.record is None:
            return frame
        return _grouped(frame, record=place.record, column=names[1], order=place.order)


class _AsText:
    """Worker task: converts lines to columns of plain text."""

    def __init__(self, parse: ColumnsOf) -> None:
        self.parse = parse

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in self.parse.batches(batches):
            columns = [column.dictionary_decode() for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _grouped(frame: Any, *, record: str, column: str, order: str | None) -> Any:
    """Return one list of items per record of a long table, without rows that have no record.

    With ``order`` it is a list of items with their positions.
    """
    from pyspark.sql import functions as sql

    name = sql.trim(frame[f"`{record}`"].cast("string"))
    item = frame[f"`{column}`"].cast("string").alias("item")
    if order is not None:
        place = frame[f"`{order}`"].cast("string").alias("place")
        pairs = frame.select(name.alias("record"), sql.struct(place, item).alias("pair"))
        placed = pairs.where("record is not null and record != ''").groupBy("record")
        return placed.agg(sql.collect_list("pair").alias("items")).select("items")
    rows = frame.select(name.alias("record"), item)
    named = rows.where("record is not null and record != ''")
    return named.groupBy("record").agg(sql.collect_set("item").alias("items")).select("items")


class SparkBaskets:
    """Counts baskets of a Spark DataFrame; ``passes`` is the number of passes over them."""

    name = "spark"

    def __init__(self, taxonomy: Taxonomy, session: Session, codes: Any) -> None:
        self.taxonomy = taxonomy
        self.passes = 0
        self._session = session
        self._codes = codes
        self._folded: Any = None

    def __repr__(self) -> str:
        return "SparkBaskets()"

    def walk(self, *, max_length: int | None) -> SparkWalk:
        """Return all records in partition 0, each cut to ``max_length`` items by a public rule."""
        return SparkWalk(self, max_length)

    def itemsets(self) -> SparseCounts:
        """Return the frequency of each set of items, as masks; for small universes."""
        return self.sums(_Itemsets(self.taxonomy))

    def sum(self, kernel: SequenceKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel over all records in their order; one pass (confidential)."""
        found = self.sums(_SequenceSum(self.taxonomy, kernel), size=kernel.size)
        total = np.zeros(kernel.size, dtype=np.int64)
        total[found.keys] = found.counts
        return total

    def sums(self, counting: _Counting, *, size: int | None = None) -> SparseCounts:
        """Return the workers' counts, added up by key; one pass (confidential)."""
        self.passes += 1
        with refusing():
            return collected(self._codes.mapInArrow(guarded(counting), SUMS), size=size)

    def features(self, kernel: FeatureKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel's vectors over all records (confidential)."""
        self.passes += 1
        total = np.zeros(kernel.size, dtype=np.int64)
        with refusing():
            if self._folded is None:
                self._folded = self._codes.groupBy("items").count().persist()
            counting = guarded(_Features(self.taxonomy, kernel))
            found = collected(self._folded.mapInArrow(counting, SUMS), size=kernel.size)
        total[found.keys] = found.counts
        return total

    def rehearsing(self, baskets: EncodedBaskets) -> SparkBaskets:
        """Return an engine over simulated baskets on the same cluster, which it does not close."""
        lists = pa.ListArray.from_arrays(
            pa.array(baskets.offsets, pa.int32()), pa.array(baskets.items, pa.int32())
        )
        rows = pa.table({"items": lists})
        with refusing():
            codes = self._session.spark.createDataFrame(rows, "items array<int>").persist()
        return SparkBaskets(self.taxonomy, Session(spark=self._session.spark, own=False), codes)

    def close(self) -> None:
        """Remove the codes from the cluster, and end a session that was started for the run."""
        with contextlib.suppress(Exception):  # a session that has ended holds no codes
            self._codes.unpersist()
            if self._folded is not None:
                self._folded.unpersist()
        self._session.close()


class SparkWalk:
    """Records on their way down: the driver has the path, the workers follow it (confidential)."""

    def __init__(self, engine: SparkBaskets, max_length: int | None) -> None:
        self._engine = engine
        self._max_length = max_length
        self._steps: list[WalkStep] = []
        self._last_kernel: BasketKernel | None = None

    def __repr__(self) -> str:
        return "SparkWalk()"

    def size(self) -> int:
        """Return the number of records (confidential)."""
        found = self._engine.sums(_Size(*self._way()), size=1)
        return int(found.counts.sum())

    def item_counts(self) -> NDArray[np.int64]:
        """Return the number of records with each item, after cutting (confidential)."""
        n_items = self._engine.taxonomy.n_leaves
        found = self._engine.sums(_ItemCounts(*self._way()), size=n_items)
        total = np.zeros(n_items, dtype=np.int64)
        total[found.keys] = found.counts
        return total

    def tally(self, kernel: BasketKernel) -> SparseCounts:
        """Return the number of records in each sub-partition (confidential)."""
        self._last_kernel = kernel
        return self._engine.sums(_Split(*self._way(), kernel))

    def descend(self, keys: NDArray[np.int64]) -> None:
        """Make the sub-partitions of the last tally with these keys the partitions 0, 1, ..."""
        if self._last_kernel is None:
            raise InternalError("Records were sent down before they were counted.")
        self._steps, self._last_kernel = [*self._steps, (self._last_kernel, keys)], None

    def _way(self) -> tuple[Taxonomy, int | None, list[WalkStep]]:
        return self._engine.taxonomy, self._max_length, self._steps


def lists_of(lengths: NDArray[np.int64], items: ItemCodes) -> pa.RecordBatch:
    """Return encoded records in the form that Spark reads."""
    lists = pa.ListArray.from_arrays(
        pa.array(offsets_of(lengths), pa.int32()), pa.array(items, pa.int32())
    )
    return pa.RecordBatch.from_arrays([lists], names=["items"])


class _Encode:
    """Worker task: converts lines (with their format) or lists of words to codes."""

    def __init__(self, universe: Universe, reading: Reading | None) -> None:
        self.universe = universe
        self.lines = None if reading is None else LineBatches(reading)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        encoder = BasketEncoder(self.universe)
        for words in self.words(batches):
            yield lists_of(*encoder.of_batch(words))

    def words(self, batches: Iterator[pa.RecordBatch]) -> Iterator[WordBatch]:
        """Yield the words of each batch."""
        splitter = WordSplitter(self.universe.place.separators)
        for batch in batches:
            if not batch.num_rows:
                continue
            if self.universe.place.order is not None:
                yield words_in_order(batch.column(0))
            elif self.lines is not None:
                yield splitter.split(self.lines(batch))
            else:
                yield words_of_lists(batch.column(0), where=NAME)


class _Sums(_Encode):
    """Worker task: sums that identify the baskets of a task."""

    def __init__(self, universe: Universe, reading: Reading | None, *, key: bytes) -> None:
        super().__init__(universe, reading)
        self.key = key

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sums = ColumnSums(self.key)
        for words in self.words(batches):
            sum_words(sums, words)
        yield pa.RecordBatch.from_arrays([pa.array([sums_text(sums)])], names=["sums"])


class _Counting(ABC):
    """Worker task: sums the baskets of a task by key."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy

    @abstractmethod
    def sums(self, baskets: BasketMemory) -> SparseCounts:
        """Return the sums of some baskets."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = SparseCounts.merged([])
        for held in gathered(batches):
            lists = pa.chunked_array([batch.column(0) for batch in held]).combine_chunks()
            lengths = np.asarray(lists.value_lengths(), dtype=np.int64)
            items = np.asarray(lists.flatten()).astype(item_dtype(self.taxonomy.n_leaves))
            baskets = EncodedBaskets(
                taxonomy=self.taxonomy, offsets=offsets_of(lengths), items=items
            )
            total = SparseCounts.merged([total, self.sums(BasketMemory(baskets=baskets))])
        yield keyed(total)


class _Features:
    """Worker task: folds distinct baskets, and sums a kernel over them."""

    def __init__(self, taxonomy: Taxonomy, kernel: FeatureKernel) -> None:
        self.taxonomy = taxonomy
        self.kernel = kernel

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = np.zeros(self.kernel.size, dtype=np.int64)
        for held in gathered(batches):
            table = pa.Table.from_batches(held).combine_chunks()
            lists = pa.chunked_array(table.column(0)).combine_chunks()
            lengths = np.asarray(lists.value_lengths(), dtype=np.int64)
            items = np.asarray(lists.flatten()).astype(item_dtype(self.taxonomy.n_leaves))
            weights = np.asarray(table.column(1), dtype=np.int64)
            total += self.kernel.count(fold(offsets_of(lengths), items, weights))
        yield keyed(occupied(total))


class _Itemsets(_Counting):
    def sums(self, baskets: BasketMemory) -> SparseCounts:
        return baskets.itemsets()


class _SequenceSum(_Counting):
    def __init__(self, taxonomy: Taxonomy, kernel: SequenceKernel) -> None:
        super().__init__(taxonomy)
        self.kernel = kernel

    def sums(self, baskets: BasketMemory) -> SparseCounts:
        return occupied(baskets.sum(self.kernel))


class _Walking(_Counting):
    """Sums over records that have gone down the path so far."""

    def __init__(self, taxonomy: Taxonomy, max_length: int | None, steps: list[WalkStep]) -> None:
        super().__init__(taxonomy)
        self.max_length = max_length
        self.steps = steps

    def walked(self, baskets: BasketMemory) -> MemoryWalk:
        """Return the records where they are now."""
        walk = baskets.walk(max_length=self.max_length)
        follow(walk, self.steps)
        return walk


class _Size(_Walking):
    def sums(self, baskets: BasketMemory) -> SparseCounts:
        return occupied(np.array([self.walked(baskets).size()], dtype=np.int64))


class _ItemCounts(_Walking):
    def sums(self, baskets: BasketMemory) -> SparseCounts:
        return occupied(self.walked(baskets).item_counts())


class _Split(_Walking):
    def __init__(
        self,
        taxonomy: Taxonomy,
        max_length: int | None,
        steps: list[WalkStep],
        kernel: BasketKernel,
    ) -> None:
        super().__init__(taxonomy, max_length, steps)
        self.kernel = kernel

    def sums(self, baskets: BasketMemory) -> SparseCounts:
        return self.walked(baskets).tally(self.kernel)
