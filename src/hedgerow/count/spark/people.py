"""The records of people on Spark: gathered by a shuffle on the hash of their person."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.count.people import clipped_sizes
from hedgerow.count.spark.session import (
    AskedColumns,
    Session,
    collected,
    guarded,
    open_columns,
    refusing,
    spark_session,
)
from hedgerow.count.spark.table import SparkEngine
from hedgerow.count.spark.workers import (
    NAME,
    SUMMED,
    SUMS,
    WEIGHED,
    ColumnsOf,
    keyed,
    merge_sums,
    occupied,
    packed_codes,
    sums_text,
)
from hedgerow.encode.batch import BatchEncoder
from hedgerow.encode.people import Gathered, PeopleEncoder, serialised, unserialised
from hedgerow.encode.sums import ColumnSums
from hedgerow.errors import DataError, UnlistedValueError
from hedgerow.model.engine import Engine
from hedgerow.model.people import KeyedRule, PeopleRule
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_rows
from hedgerow.model.table import EncodedTable
from hedgerow.read.text import as_text

if TYPE_CHECKING:
    from hedgerow.count.settings import EngineSettings

N_BUCKETS = 256
"""Parts of the people, by the hash of a person; all of one are on one worker."""

BUCKETS = "bucket int, body binary"

COUNTED = -2
"""In place of a bucket: the row holds how many rows its task has read."""


def open_spark_people(
    schema: Schema,
    data: Any,
    people: KeyedRule,
    *,
    query: str | None,
    base: Path,
    reading: Reading = PLAIN,
    settings: EngineSettings,
    sums: ColumnSums | None = None,
) -> PeopleOnSpark:
    """Return an engine over a Spark DataFrame, the name of a table, or a path.

    All records are encoded before it returns: what is refused is refused before a booking.
    """
    session = spark_session(settings, data)
    try:
        read = PeopleEncoder(BatchEncoder(schema, name=NAME), people)
        asked = AskedColumns(names=read.columns, text=read.text, reading=reading, in_pieces=True)
        frame, parse = open_columns(session, data, asked, query=query, base=base)
        with refusing():
            key = None if sums is None else sums.key
            encode = EncodePeople(schema, people, parse, key)
            buckets = (
                frame.mapInArrow(guarded(encode), BUCKETS)
                .repartition(n_partitions(session), "bucket")
                .persist()
            )
            told = told_by_tasks(buckets)
            if sums is not None:
                merge_sums(sums, told)
        return PeopleOnSpark(schema, session, buckets, people)
    except BaseException:
        session.close()
        raise


def n_partitions(session: Session) -> int:
    """Return as many parts as Spark shuffles into, at the most one for every bucket."""
    return max(1, min(N_BUCKETS, int(session.spark.conf.get("spark.sql.shuffle.partitions"))))


class PeopleOnSpark:
    """The records of everybody, on the cluster (confidential)."""

    name = "spark"

    def __init__(self, schema: Schema, session: Session, buckets: Any, people: KeyedRule) -> None:
        self.schema = schema
        self._session = session
        self._buckets = buckets
        self._people = people
        self._bounded: Any = None

    def __repr__(self) -> str:
        return "PeopleOnSpark()"

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` records or more (confidential)."""
        total = np.zeros(most + 1, dtype=np.int64)
        with refusing():
            task = guarded(Sizes(self.schema, self._people, most))
            found = collected(self._records().mapInArrow(task, SUMS), size=most + 1)
        total[found.keys] = found.counts
        return total

    def bounded(self, rule: PeopleRule) -> Engine:
        """Return an engine over the records that count."""
        with refusing():
            task = guarded(Bound(self.schema, self._people, rule))
            self._bounded = self._records().mapInArrow(task, WEIGHED).persist()
        session = Session(spark=self._session.spark, own=False)
        engine = SparkEngine(
            self.schema, session, self._bounded, n_tasks=n_partitions(self._session)
        )
        return engine.counting_in(rule.unit)

    def rehearsing(self, table: EncodedTable) -> Engine:
        """Return an engine over a made-up table on the same cluster."""
        session = Session(spark=self._session.spark, own=False)
        return SparkEngine(self.schema, session, None, n_tasks=1).rehearsing(table)

    def close(self) -> None:
        """Let the cluster forget the records, and end a session that was begun for the run."""
        for frame in (self._bounded, self._buckets):
            if frame is not None:
                with contextlib.suppress(Exception):  # a session that is gone has forgotten them
                    frame.unpersist()
        self._session.close()

    def _records(self) -> Any:
        return self._buckets.where("bucket >= 0")


class EncodePeople:
    """Records to codes with their persons, some rows to a bucket."""

    def __init__(
        self,
        schema: Schema,
        people: KeyedRule,
        parse: ColumnsOf | None,
        key: bytes | None,
    ) -> None:
        self.schema = schema
        self.people = people
        self.parse = parse
        self.key = key

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield each batch's records by bucket, without those that lack a value."""
        sums = None if self.key is None else ColumnSums(self.key)
        encode = PeopleEncoder(BatchEncoder(self.schema, name=NAME, sums=sums), self.people)
        n_rows = 0
        for batch in batches if self.parse is None else self.parse.batches(batches):
            n_rows += batch.num_rows
            rows = self._encoded(encode, batch)
            if rows.num_rows:
                yield by_bucket(rows)
        yield rows_told(n_rows, sums)

    def _encoded(self, encode: PeopleEncoder, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [
            as_text(column, where=f"{NAME}, column {name!r}") if name in encode.text else column
            for name, column in zip(encode.columns, batch.columns, strict=True)
        ]
        try:
            texts = pa.RecordBatch.from_arrays(columns, names=encode.columns)
            return encode(texts, n_before=None)
        except UnlistedValueError as error:
            # Records have no order on Spark, so their numbers would mislead.
            what = str(error.what).split(": ", 1)[-1]
            raise DataError(
                f"attribute {error.attribute!r}: a record {what}", where=NAME, do=error.do
            ) from None


def by_bucket(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with a column ``hash`` as :data:`BUCKETS`."""
    hashes = rows.column("hash").to_numpy()
    buckets = (hashes % np.uint64(N_BUCKETS)).astype(np.int64)
    order = np.argsort(buckets, kind="stable")
    ordered = pa.Table.from_batches([rows.take(pa.array(order))])
    found, starts = np.unique(buckets[order], return_index=True)
    ends = [*starts[1:].tolist(), rows.num_rows]
    bodies = [
        serialised(ordered.slice(start, end - start)).tobytes()
        for start, end in zip(starts.tolist(), ends, strict=True)
    ]
    return bucket_rows(found.tolist(), bodies)


def bucket_rows(buckets: list[int], bodies: list[bytes]) -> pa.RecordBatch:
    """Return bodies under the numbers of their buckets, or under :data:`SUMMED`."""
    return pa.RecordBatch.from_arrays(
        [pa.array(buckets, pa.int32()), pa.array(bodies, pa.binary())], names=["bucket", "body"]
    )


def rows_told(n_rows: int, sums: ColumnSums | None) -> pa.RecordBatch:
    """Return how many rows a task has read, and its sums, as rows that end it."""
    buckets, bodies = [COUNTED], [str(n_rows).encode()]
    if sums is not None:
        buckets, bodies = [*buckets, SUMMED], [*bodies, sums_text(sums)]
    return bucket_rows(buckets, bodies)


def told_by_tasks(buckets: Any) -> list[bytes]:
    """Return the sums of all tasks, once their rows are counted and found not to be too many."""
    told = buckets.where("bucket < 0").toArrow()
    kinds, bodies = told.column("bucket").to_pylist(), told.column("body").to_pylist()
    pairs = list(zip(kinds, bodies, strict=True))
    require_rows(sum(int(bytes(body)) for kind, body in pairs if kind == COUNTED), NAME)
    return [body for kind, body in pairs if kind == SUMMED]


class _OverBuckets:
    """Gathers the records of each bucket of a task."""

    def __init__(self, schema: Schema, people: KeyedRule) -> None:
        self.schema = schema
        self.people = people

    def gathered(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Gathered]:
        """Yield everybody's records, a bucket at a time."""
        encode = PeopleEncoder(BatchEncoder(self.schema, name=NAME), self.people)
        for rows in bucketed(batches):
            yield Gathered.of(rows, encode)


def bucketed(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield the rows of each bucket of a task: all of a person are in one.

    Rows that end a task hold no records, and are passed over.
    """
    held: dict[int, list[pa.RecordBatch]] = {}
    for batch in batches:
        for bucket, body in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            if bucket < 0:
                continue
            found = unserialised(np.frombuffer(body.as_buffer(), dtype=np.uint8))
            held.setdefault(bucket, []).extend(found)
    for bucket in sorted(held):
        yield held.pop(bucket)


class Sizes(_OverBuckets):
    """How many persons have how many records."""

    def __init__(self, schema: Schema, people: KeyedRule, most: int) -> None:
        super().__init__(schema, people)
        self.most = most

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one batch of sizes and of how many persons have them."""
        total = np.zeros(self.most + 1, dtype=np.int64)
        for gathered in self.gathered(batches):
            total += clipped_sizes(gathered, self.most)
        yield keyed(occupied(total))


class Bound(_OverBuckets):
    """The records that count, as packed codes with what each counts for."""

    def __init__(self, schema: Schema, people: KeyedRule, rule: PeopleRule) -> None:
        super().__init__(schema, people)
        self.rule = rule

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield packed codes, bucket by bucket and weight by weight."""
        for gathered in self.gathered(batches):
            for weight, columns in gathered.kept(self.rule):
                if len(columns[0]):
                    packed = packed_codes(columns)
                    yield packed.append_column(
                        "weight", pa.array([weight] * len(packed), pa.int32())
                    )
