"""The records of people on Spark: gathered by a shuffle on the hash of their person."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.count.people import PersonSizes, clipped_sizes
from hedgerow.count.spark.session import (
    RequestedColumns,
    Session,
    collected,
    guarded,
    open_columns,
    refusing,
    session_for,
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
"""Number of parts, by the hash of a person; all rows of a person are on one worker."""

BUCKETS = "bucket int, body binary"

COUNTED = -2
"""Replaces a bucket number in the row with the number of rows that a task has read."""


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

    All records are encoded before it returns, so that refusals come before a booking.
    """
    with session_for(settings, data) as session:
        read = PeopleEncoder(BatchEncoder(schema, name=NAME), people)
        requested = RequestedColumns(
            names=read.columns, text=read.text, reading=reading, in_pieces=True
        )
        frame, parse = open_columns(session, data, requested, query=query, base=base)
        with refusing():
            key = None if sums is None else sums.key
            encode = EncodePeople(schema, people, parse, key)
            buckets, summed = shuffled(session, frame, encode)
            if sums is not None:
                merge_sums(sums, summed)
        return PeopleOnSpark(schema, session, buckets, people)


def n_partitions(session: Session) -> int:
    """Return Spark's number of shuffle partitions, at most one per bucket."""
    return max(1, min(N_BUCKETS, int(session.spark.conf.get("spark.sql.shuffle.partitions"))))


def shuffled(session: Session, frame: Any, encode: EncodeRows) -> tuple[Any, list[bytes]]:
    """Return the encoded rows, with each person in one bucket, and the sums of all tasks."""
    buckets = (
        frame.mapInArrow(guarded(encode), BUCKETS)
        .repartition(n_partitions(session), "bucket")
        .persist()
    )
    return buckets, sums_of_tasks(buckets)


def of_people(buckets: Any) -> Any:
    """Return the rows that hold records, without those that end a task."""
    return buckets.where("bucket >= 0")


class HeldOnSpark:
    """Rows of all people on the cluster, with each person in one bucket (confidential)."""

    name = "spark"

    def __init__(self, session: Session, buckets: Any, gather: GathersPeople) -> None:
        self._session = session
        self._buckets = buckets
        self._gather = gather
        self._bounded: Any = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` records or more (confidential)."""
        total = np.zeros(most + 1, dtype=np.int64)
        with refusing():
            task = guarded(Sizes(self._gather, most))
            found = collected(of_people(self._buckets).mapInArrow(task, SUMS), size=most + 1)
        total[found.keys] = found.counts
        return total

    def close(self) -> None:
        """Remove the rows from the cluster, and end a session that was started for the run."""
        for frame in (self._bounded, self._buckets):
            if frame is not None:
                with contextlib.suppress(Exception):  # a session that has ended holds no rows
                    frame.unpersist()
        self._session.close()

    def _keep(self, task: Callable[..., Any], form: str) -> Any:
        """Run a task over the rows of people, and store its result on the cluster."""
        with refusing():
            self._bounded = of_people(self._buckets).mapInArrow(guarded(task), form).persist()
        return self._bounded

    def _borrowed(self) -> Session:
        return Session(spark=self._session.spark, own=False)


class PeopleOnSpark(HeldOnSpark):
    """The records of all people, on the cluster (confidential)."""

    def __init__(self, schema: Schema, session: Session, buckets: Any, people: KeyedRule) -> None:
        super().__init__(session, buckets, GatherPeople(schema, people))
        self.schema = schema
        self._people = people

    def bounded(self, rule: PeopleRule) -> Engine:
        """Return an engine over the records that count."""
        kept = self._keep(Bound(self.schema, self._people, rule), WEIGHED)
        n_tasks = n_partitions(self._session)
        engine = SparkEngine(self.schema, self._borrowed(), kept, n_tasks=n_tasks)
        return engine.counting_in(rule.unit)

    def rehearsing(self, table: EncodedTable) -> Engine:
        """Return an engine over a synthetic table on the same cluster."""
        return SparkEngine(self.schema, self._borrowed(), None, n_tasks=1).rehearsing(table)


class EncodeRows(ABC):
    """Task that encodes rows with their persons, some rows to a bucket."""

    def __init__(self, people: KeyedRule, parse: ColumnsOf | None, key: bytes | None) -> None:
        self.people = people
        self.parse = parse
        self.key = key

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield each batch's rows by bucket, then the number of rows and the sums."""
        sums = None if self.key is None else ColumnSums(self.key)
        encode = self.encoder(sums)
        n_rows = 0
        for batch in batches if self.parse is None else self.parse.batches(batches):
            n_rows += batch.num_rows
            rows = encode(batch)
            if rows.num_rows:
                yield by_bucket(rows)
        yield end_of_task(n_rows, sums)

    @abstractmethod
    def encoder(self, sums: ColumnSums | None) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """Return the function that encodes a batch, and adds it to the sums."""


class EncodePeople(EncodeRows):
    """Encodes records, without those that lack a value."""

    def __init__(
        self, schema: Schema, people: KeyedRule, parse: ColumnsOf | None, key: bytes | None
    ) -> None:
        super().__init__(people, parse, key)
        self.schema = schema

    def encoder(self, sums: ColumnSums | None) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """Return the function that encodes a batch, and adds it to the sums."""
        encode = PeopleEncoder(BatchEncoder(self.schema, name=NAME, sums=sums), self.people)
        return lambda batch: _encoded(encode, batch)


def _encoded(encode: PeopleEncoder, batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        as_text(column, where=f"{NAME}, column {name!r}") if name in encode.text else column
        for name, column in zip(encode.columns, batch.columns, strict=True)
    ]
    try:
        texts = pa.RecordBatch.from_arrays(columns, names=encode.columns)
        return encode(texts, n_before=None)
    except UnlistedValueError as error:
        # Records have no order on Spark, so their numbers would be misleading.
        what = str(error.what).split(": ", 1)[-1]
        raise DataError(f"Attribute {error.attribute!r}: {what}", where=NAME, do=error.do) from None


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


def end_of_task(n_rows: int, sums: ColumnSums | None) -> pa.RecordBatch:
    """Return how many rows a task has read, and its sums, as rows that end it."""
    buckets, bodies = [COUNTED], [str(n_rows).encode()]
    if sums is not None:
        buckets, bodies = [*buckets, SUMMED], [*bodies, sums_text(sums)]
    return bucket_rows(buckets, bodies)


def sums_of_tasks(buckets: Any) -> list[bytes]:
    """Return the sums of all tasks, after checking that they have not read too many rows."""
    ends = buckets.where("bucket < 0").toArrow()
    kinds, bodies = ends.column("bucket").to_pylist(), ends.column("body").to_pylist()
    pairs = list(zip(kinds, bodies, strict=True))
    require_rows(sum(int(bytes(body)) for kind, body in pairs if kind == COUNTED), NAME)
    return [body for kind, body in pairs if kind == SUMMED]


class GatherPeople:
    """Gathers the records of each bucket of a task."""

    def __init__(self, schema: Schema, people: KeyedRule) -> None:
        self.schema = schema
        self.people = people

    def gathered(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Gathered]:
        """Yield the records of each bucket, by person."""
        encode = PeopleEncoder(BatchEncoder(self.schema, name=NAME), self.people)
        for rows in bucketed(batches):
            yield Gathered.of(rows, encode)


def bucketed(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield the rows of each bucket of a task, with all rows of a person in one.

    Rows that end a task hold no records, and are skipped.
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


class GathersPeople(Protocol):
    """Gathers the rows of each bucket of a task."""

    def gathered(self, batches: Iterator[pa.RecordBatch]) -> Iterator[PersonSizes]:
        """Yield the records of each bucket, by person."""
        ...


class Sizes:
    """Task that counts people by their number of records."""

    def __init__(self, gather: GathersPeople, most: int) -> None:
        self.gather = gather
        self.most = most

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one batch of sizes, with the number of people of each."""
        yield keyed(occupied(clipped_sizes(self.gather.gathered(batches), self.most)))


class Bound(GatherPeople):
    """Task that returns the records that count, as packed codes with their weights."""

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
