"""The baskets of people on Spark: gathered by a shuffle on the hash of their person."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.count.owned_baskets import clipped_basket_sizes
from hedgerow.count.spark.baskets import SparkBaskets, lists_of
from hedgerow.count.spark.people import (
    BUCKETS,
    bucket_rows,
    bucketed,
    by_bucket,
    n_partitions,
    rows_told,
    told_by_tasks,
)
from hedgerow.count.spark.session import (
    AskedColumns,
    Session,
    collected,
    guarded,
    open_columns,
    refusing,
    spark_session,
)
from hedgerow.count.spark.workers import (
    NAME,
    SUMMED,
    SUMS,
    ColumnsOf,
    keyed,
    merge_sums,
    occupied,
    sums_text,
)
from hedgerow.encode.owned_baskets import OwnedBasketEncoder, OwnedBaskets
from hedgerow.encode.sums import ColumnSums
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.people import KeyedRule, PeopleRule
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.universe import Universe
from hedgerow.read.owned_items import owned_batch, owned_columns
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    from hedgerow.count.settings import EngineSettings


def open_spark_owned_baskets(
    universe: Universe,
    data: Any,
    people: KeyedRule,
    *,
    query: str | None,
    base: Path,
    reading: Reading = PLAIN,
    settings: EngineSettings,
    sums: ColumnSums | None = None,
) -> OwnedBasketsOnSpark:
    """Return an engine over a column of lists or a long table on Spark, with their persons.

    All rows are encoded before it returns: what is refused is refused before a booking.
    ``sums`` take one pass over the gathered rows of their own.
    """
    session = spark_session(settings, data)
    try:
        names = owned_columns(people.rule, universe.place)
        asked = AskedColumns(names=names, text=names, reading=reading)
        frame, parse = open_columns(session, data, asked, query=query, base=base)
        with refusing():
            key = None if sums is None else sums.key
            encode = EncodeOwned(universe, people, parse, key)
            rows = (
                frame.mapInArrow(guarded(encode), BUCKETS)
                .repartition(n_partitions(session), "bucket")
                .persist()
            )
            told = told_by_tasks(rows)
            if sums is not None:
                lengths = guarded(RowLengths(universe, people, sums.key))
                later = _of_people(rows).mapInArrow(lengths, BUCKETS).toArrow()
                merge_sums(sums, [*told, *later.column("body").to_pylist()])
        return OwnedBasketsOnSpark(universe, session, rows, people)
    except BaseException:
        session.close()
        raise


def _of_people(rows: Any) -> Any:
    return rows.where("bucket >= 0")


class OwnedBasketsOnSpark:
    """The baskets of everybody, on the cluster (confidential)."""

    name = "spark"

    def __init__(self, universe: Universe, session: Session, rows: Any, people: KeyedRule) -> None:
        self.taxonomy: Taxonomy = universe.taxonomy
        self._universe = universe
        self._session = session
        self._rows = rows
        self._people = people
        self._bounded: Any = None

    def __repr__(self) -> str:
        return "OwnedBasketsOnSpark()"

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` baskets or more (confidential)."""
        total = np.zeros(most + 1, dtype=np.int64)
        with refusing():
            task = guarded(BasketSizes(self._universe, self._people, most))
            found = collected(_of_people(self._rows).mapInArrow(task, SUMS), size=most + 1)
        total[found.keys] = found.counts
        return total

    def bounded(self, rule: PeopleRule) -> SparkBaskets:
        """Return an engine over the baskets that count."""
        with refusing():
            task = guarded(BoundBaskets(self._universe, self._people, rule))
            kept = _of_people(self._rows).mapInArrow(task, "items array<int>")
            self._bounded = kept.persist()
        return SparkBaskets(self.taxonomy, self._borrowed(), self._bounded)

    def rehearsing(self, baskets: EncodedBaskets) -> SparkBaskets:
        """Return an engine over made-up baskets on the same cluster."""
        return SparkBaskets(self.taxonomy, self._borrowed(), None).rehearsing(baskets)

    def close(self) -> None:
        """Let the cluster forget the baskets, and end a session that was begun for the run."""
        for frame in (self._bounded, self._rows):
            if frame is not None:
                with contextlib.suppress(Exception):  # a session that is gone has forgotten them
                    frame.unpersist()
        self._session.close()

    def _borrowed(self) -> Session:
        return Session(spark=self._session.spark, own=False)


class EncodeOwned:
    """Rows to codes with their persons, some rows to a bucket."""

    def __init__(
        self, universe: Universe, people: KeyedRule, parse: ColumnsOf | None, key: bytes | None
    ) -> None:
        self.universe = universe
        self.people = people
        self.parse = parse
        self.key = key

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield each batch's rows by bucket."""
        sums = None if self.key is None else ColumnSums(self.key)
        place, rule = self.universe.place, self.people.rule
        encode = OwnedBasketEncoder(self.universe, self.people, name=NAME, sums=sums, ordered=False)
        n_rows = 0
        for batch in batches if self.parse is None else self.parse.batches(batches):
            n_rows += batch.num_rows
            rows = encode(owned_batch(batch, rule, place, name=NAME), n_before=0)
            if rows.num_rows:
                yield by_bucket(rows)
        yield rows_told(n_rows, sums)


class _OverOwned:
    """Gathers the baskets of each bucket of a task."""

    def __init__(self, universe: Universe, people: KeyedRule) -> None:
        self.universe = universe
        self.people = people

    def owned(
        self, batches: Iterator[pa.RecordBatch], sums: ColumnSums | None = None
    ) -> Iterator[OwnedBaskets]:
        """Yield everybody's baskets, a bucket at a time."""
        encode = OwnedBasketEncoder(self.universe, self.people, name=NAME)
        for rows in bucketed(batches):
            yield encode.gathered(rows, sums)


class RowLengths(_OverOwned):
    """What the baskets of a task are recognised by, where that shows once rows are gathered."""

    def __init__(self, universe: Universe, people: KeyedRule, key: bytes) -> None:
        super().__init__(universe, people)
        self.key = key

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the sums of a task."""
        sums = ColumnSums(self.key)
        for _ in self.owned(batches, sums):
            pass
        yield bucket_rows([SUMMED], [sums_text(sums)])


class BasketSizes(_OverOwned):
    """How many persons have how many baskets."""

    def __init__(self, universe: Universe, people: KeyedRule, most: int) -> None:
        super().__init__(universe, people)
        self.most = most

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one batch of sizes and of how many persons have them."""
        total = np.zeros(self.most + 1, dtype=np.int64)
        for owned in self.owned(batches):
            total += clipped_basket_sizes(owned, self.most)
        yield keyed(occupied(total))


class BoundBaskets(_OverOwned):
    """The baskets that count, as lists of codes."""

    def __init__(self, universe: Universe, people: KeyedRule, rule: PeopleRule) -> None:
        super().__init__(universe, people)
        self.rule = rule

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield lists of codes, bucket by bucket."""
        for owned in self.owned(batches):
            yield lists_of(*owned.kept(self.rule))
