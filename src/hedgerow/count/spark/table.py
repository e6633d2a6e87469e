"""The Spark engine: the same kernels on the workers, their sums added up by Spark.

The data stay on the cluster. A pass sends a request (a kernel, or the tree so far and the borders
of a level) to the workers, which count record batches through ``mapInArrow``; only sums come back.
Workers keep no state between passes: a record finds its box by walking down the tree again, so a
lost task or a retried stage is simply computed again and nothing is ever counted twice.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.remembered import RememberedCounts
from hedgerow.count.spark.placed import PlacedOnSpark
from hedgerow.count.spark.session import (
    RequestedColumns,
    Session,
    collected,
    dense_sums,
    guarded,
    open_columns,
    refusing,
    session_for,
)
from hedgerow.count.spark.workers import (
    BLOCKS,
    NAME,
    PACKED,
    SUMMED,
    SUMS,
    WEIGHED,
    DenseCounting,
    Encode,
    KernelSum,
    KernelTally,
    Relabel,
    added_blocks,
    merge_sums,
    packed_codes,
)
from hedgerow.encode.sums import ColumnSums
from hedgerow.model.engine import DenseKernel, SparseCounts, SparseKernel
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_rows
from hedgerow.model.table import EncodedTable

if TYPE_CHECKING:
    from hedgerow.count.settings import EngineSettings


ADDED_AT_ONCE = 1 << 23
"""Maximum number of cells of all tasks that the driver adds up; else the workers do."""


def open_spark_table(
    schema: Schema,
    data: Any,
    *,
    query: str | None,
    base: Path,
    reading: Reading = PLAIN,
    settings: EngineSettings,
    sums: ColumnSums | None = None,
) -> SparkEngine:
    """Return an engine over a Spark DataFrame, the name of a table, or a path.

    All records are encoded before it returns, so that refusals come before a booking.
    """
    with session_for(settings, data) as session:
        requested = RequestedColumns(
            names=schema.columns(),
            text=schema.text_columns(),
            reading=reading,
            in_pieces=True,
        )
        frame, parse = open_columns(session, data, requested, query=query, base=base)
        with refusing():
            key = None if sums is None else sums.key
            codes = frame.mapInArrow(guarded(Encode(schema, parse, key)), PACKED).persist()
            ends = f"if(records = {SUMMED}, codes, null) as codes"
            rows = codes.selectExpr("records", ends).toArrow()
            sizes = rows.column("records").to_numpy()
            require_rows(int(sizes[sizes > 0].sum()), NAME)
            if sums is not None:
                ended = rows.column("codes").to_pylist()
                merge_sums(sums, [each for each in ended if each is not None])
        return SparkEngine(schema, session, codes, n_tasks=int((sizes == SUMMED).sum()))


class SparkEngine:
    """Sums kernels over the encoded records of a Spark DataFrame.

    ``passes`` is the number of times that all records were read. ``n_tasks`` is the number of
    partitions of the records, or more.
    """

    name = "spark"

    def __init__(self, schema: Schema, session: Session, codes: Any, *, n_tasks: int) -> None:
        self.schema = schema
        self.passes = 0
        self._session = session
        self._codes = codes
        self._n_tasks = n_tasks
        self.unit = 1

    def __repr__(self) -> str:
        return "SparkEngine()"

    def counting_in(self, unit: int) -> SparkEngine:
        """Return the engine with the given number of units per person."""
        self.unit = unit
        return self

    def sum(self, kernel: DenseKernel) -> NDArray[np.int64]:
        """Return the sum of a dense kernel over all records (confidential)."""
        return self._cells(KernelSum(self.schema, kernel), kernel.size)

    def tally(self, kernel: SparseKernel) -> SparseCounts:
        """Return the frequency of each key of a sparse kernel (confidential)."""
        self.passes += 1
        with refusing():
            counting = guarded(KernelTally(self.schema, kernel))
            return collected(self._codes.mapInArrow(counting, SUMS))

    def place(self) -> RememberedCounts:
        """Return all records placed in one box, for methods that grow a tree."""
        return RememberedCounts(PlacedOnSpark(self.schema, self._cells))

    def labelled(self, labels: NearestCentre) -> SparkEngine:
        """Return an engine over the same records, their class joined with a public label.

        Nothing is stored: workers label the records in each pass.
        """
        with refusing():
            records = self._codes.where(f"records is null or records != {SUMMED}")
            kind = WEIGHED if "weight" in records.columns else PACKED
            codes = records.mapInArrow(guarded(Relabel(self.schema, labels)), kind)
        session = Session(spark=self._session.spark, own=False)
        schema = labels.schema(self.schema)
        engine = SparkEngine(schema, session, codes, n_tasks=self._n_tasks)
        return engine.counting_in(self.unit)

    def rehearsing(self, table: EncodedTable) -> SparkEngine:
        """Return an engine over a simulated table on the same cluster, which it does not close."""
        import pyarrow as pa

        columns = table.codes if table.classes is None else (*table.codes, table.classes)
        rows = pa.Table.from_batches([packed_codes(columns)])
        with refusing():
            codes = self._session.spark.createDataFrame(rows, PACKED).coalesce(1).persist()
        session = Session(spark=self._session.spark, own=False)
        return SparkEngine(self.schema, session, codes, n_tasks=1)

    def close(self) -> None:
        """Remove the codes from the cluster, and end a session that was started for the run."""
        with contextlib.suppress(Exception):  # a session that has ended holds no codes
            self._codes.unpersist()
        self._session.close()

    def _cells(self, counting: DenseCounting, size: int) -> NDArray[np.int64]:
        """Return the workers' counts, added up cell by cell; one pass over the records."""
        self.passes += 1
        with refusing():
            blocks = self._codes.mapInArrow(guarded(counting), BLOCKS)
            if size * self._n_tasks <= ADDED_AT_ONCE:
                return dense_sums(blocks.toArrow(), size=size, n_tasks=self._n_tasks)
            added = blocks.groupBy("block").applyInArrow(added_blocks, BLOCKS).toArrow()
            return dense_sums(added, size=size)
