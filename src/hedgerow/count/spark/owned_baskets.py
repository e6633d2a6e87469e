"""The baskets of people on Spark: gathered by a shuffle on the hash of their person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hedgerow.count.spark.baskets import SparkBaskets, lists_of
from hedgerow.count.spark.people import (
    BUCKETS,
    EncodeRows,
    HeldOnSpark,
    bucket_rows,
    bucketed,
    of_people,
    shuffled,
)
from hedgerow.count.spark.session import (
    RequestedColumns,
    Session,
    guarded,
    open_columns,
    refusing,
    session_for,
)
from hedgerow.count.spark.workers import (
    NAME,
    SUMMED,
    ColumnsOf,
    merge_sums,
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

    All rows are encoded before it returns, so that refusals come before a booking.
    ``sums`` take an additional pass over the gathered rows.
    """
    with session_for(settings, data) as session:
        names = owned_columns(people.rule, universe.place)
        requested = RequestedColumns(names=names, text=names, reading=reading)
        frame, parse = open_columns(session, data, requested, query=query, base=base)
        with refusing():
            key = None if sums is None else sums.key
            encode = EncodeOwned(universe, people, parse, key)
            rows, summed = shuffled(session, frame, encode)
            if sums is not None:
                lengths = guarded(RowLengths(universe, people, sums.key))
                later = of_people(rows).mapInArrow(lengths, BUCKETS).toArrow()
                merge_sums(sums, [*summed, *later.column("body").to_pylist()])
        return OwnedBasketsOnSpark(universe, session, rows, people)


class OwnedBasketsOnSpark(HeldOnSpark):
    """The baskets of all people, on the cluster (confidential)."""

    def __init__(self, universe: Universe, session: Session, rows: Any, people: KeyedRule) -> None:
        super().__init__(session, rows, GatherOwned(universe, people))
        self.taxonomy: Taxonomy = universe.taxonomy
        self._universe = universe
        self._people = people

    def bounded(self, rule: PeopleRule) -> SparkBaskets:
        """Return an engine over the baskets that count."""
        kept = self._keep(BoundBaskets(self._universe, self._people, rule), "items array<int>")
        return SparkBaskets(self.taxonomy, self._borrowed(), kept)

    def rehearsing(self, baskets: EncodedBaskets) -> SparkBaskets:
        """Return an engine over synthetic baskets on the same cluster."""
        return SparkBaskets(self.taxonomy, self._borrowed(), None).rehearsing(baskets)


class EncodeOwned(EncodeRows):
    """Encodes rows of baskets."""

    def __init__(
        self, universe: Universe, people: KeyedRule, parse: ColumnsOf | None, key: bytes | None
    ) -> None:
        super().__init__(people, parse, key)
        self.universe = universe

    def encoder(self, sums: ColumnSums | None) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """Return the function that encodes a batch, and adds it to the sums."""
        place, rule = self.universe.place, self.people.rule
        encode = OwnedBasketEncoder(self.universe, self.people, name=NAME, sums=sums, ordered=False)
        return lambda batch: encode(owned_batch(batch, rule, place, name=NAME), n_before=0)


class GatherOwned:
    """Gathers the baskets of each bucket of a task."""

    def __init__(self, universe: Universe, people: KeyedRule) -> None:
        self.universe = universe
        self.people = people

    def gathered(
        self, batches: Iterator[pa.RecordBatch], sums: ColumnSums | None = None
    ) -> Iterator[OwnedBaskets]:
        """Yield the baskets of each bucket, by person."""
        encode = OwnedBasketEncoder(self.universe, self.people, name=NAME)
        for rows in bucketed(batches):
            yield encode.gathered(rows, sums)


class RowLengths(GatherOwned):
    """Task that computes the sums that identify baskets, once their rows are gathered."""

    def __init__(self, universe: Universe, people: KeyedRule, key: bytes) -> None:
        super().__init__(universe, people)
        self.key = key

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the sums of a task."""
        sums = ColumnSums(self.key)
        for _ in self.gathered(batches, sums):
            pass
        yield bucket_rows([SUMMED], [sums_text(sums)])


class BoundBaskets(GatherOwned):
    """The baskets that count, as lists of codes."""

    def __init__(self, universe: Universe, people: KeyedRule, rule: PeopleRule) -> None:
        super().__init__(universe, people)
        self.rule = rule

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield lists of codes, bucket by bucket."""
        for owned in self.gathered(batches):
            yield lists_of(*owned.kept(self.rule))
