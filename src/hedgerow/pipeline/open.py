"""The confidential data opened: read, encoded, and held by the engine that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.count.settings import DEFAULT_MEMORY, EngineSettings
from hedgerow.errors import PlanError
from hedgerow.model.engine import BasketEngine, Engine
from hedgerow.model.people import KeyedRule
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.plan.model import Plan
from hedgerow.progress import Progress

if TYPE_CHECKING:
    from hedgerow.count.owned_baskets import OwnedBasketEngine
    from hedgerow.count.people import PeopleEngine
    from hedgerow.encode.sums import ColumnSums


@dataclass(frozen=True, kw_only=True, repr=False)
class DataPlace:
    """Location of the confidential data: a file, a URL or a dataframe, and a database's query.

    ``reading`` sets how the bytes of a file are parsed into records.
    """

    data: Any
    query: str | None = None
    base: Path = Path()
    reading: Reading = PLAIN

    @classmethod
    def of(cls, plan: Plan, data: Any = None) -> DataPlace:
        """Return ``data``, or what the plan names."""
        if data is not None:
            return cls(data=data, reading=plan.how_to_read())
        if plan.data is None:
            raise PlanError(
                "The plan names no data.",
                where="data",
                do="Name a file there, or give --data FILE.",
            )
        return cls(
            data=plan.data, query=plan.table_query, base=plan.base, reading=plan.how_to_read()
        )


def open_engine(
    domain: Schema | Universe,
    place: DataPlace,
    *,
    settings: EngineSettings,
    progress: Progress,
    sums: ColumnSums | None = None,
    people: KeyedRule | None = None,
) -> Any:
    """Return an engine that holds the confidential data as codes; close it after use.

    ``sums`` receive the checksums that identify the data, before this returns. With ``people`` the
    engine holds all records and selects those that count once the bound is set.
    """
    if people is not None:
        return _of_people(domain, place, settings, progress, sums=sums, people=people)
    if settings.kind == "spark":
        return _on_spark(domain, place, settings, sums)
    if settings.kind == "memory":
        return _in_memory(domain, place, progress, sums)
    from hedgerow.count.stream.scratch import Scratch

    scratch = Scratch(settings.scratch)
    try:
        return _streamed(domain, place, scratch, settings, progress, sums=sums)
    except BaseException:
        scratch.close()
        raise


def _of_people(
    domain: Schema | Universe,
    place: DataPlace,
    settings: EngineSettings,
    progress: Progress,
    *,
    sums: ColumnSums | None,
    people: KeyedRule,
) -> PeopleEngine | OwnedBasketEngine:
    if settings.kind == "spark":
        return _people_on_spark(domain, place, settings, sums, people)
    if settings.kind == "memory":
        if isinstance(domain, Universe):
            return _baskets_in_memory(domain, place, progress, sums, people)
        return _people_in_memory(domain, place, progress, sums, people)
    from hedgerow.count.stream.owned_baskets import OwnedBasketsOnDisk
    from hedgerow.count.stream.people import PeopleOnDisk
    from hedgerow.count.stream.scratch import Scratch

    scratch = Scratch(settings.scratch)
    options: dict[str, Any] = {
        "scratch": scratch,
        "memory": settings.memory or DEFAULT_MEMORY,
        "report": progress,
        "sums": sums,
    }
    try:
        if isinstance(domain, Universe):
            owned = _owned_items(place, domain, people)
            return OwnedBasketsOnDisk.read(owned, domain, people, **options)
        return PeopleOnDisk.read(_table(place), domain, people, **options)
    except BaseException:
        scratch.close()
        raise


def _people_in_memory(
    schema: Schema,
    place: DataPlace,
    progress: Progress,
    sums: ColumnSums | None,
    people: KeyedRule,
) -> PeopleEngine:
    from hedgerow.count.people import PeopleInMemory
    from hedgerow.encode.batch import BatchEncoder
    from hedgerow.encode.people import Gathered, PeopleEncoder, people_batches
    from hedgerow.encode.table import check_size

    source = _table(place)
    encode = PeopleEncoder(BatchEncoder(schema, name=source.name, sums=sums), people)
    batches, used = [], 0
    for batch in people_batches(source, encode, progress=lambda share: progress("reading", share)):
        batches.append(batch)
        used += batch.nbytes
        check_size(used, place.reading.most_bytes, source.name)
    gathered = Gathered.of(batches, encode)
    return PeopleInMemory(schema, gathered, people.rule)


def _people_on_spark(
    domain: Schema | Universe,
    place: DataPlace,
    settings: EngineSettings,
    sums: ColumnSums | None,
    people: KeyedRule,
) -> PeopleEngine | OwnedBasketEngine:
    options: dict[str, Any] = {
        "query": place.query,
        "base": place.base,
        "reading": place.reading,
        "settings": settings,
        "sums": sums,
    }
    if isinstance(domain, Universe):
        from hedgerow.count.spark.owned_baskets import open_spark_owned_baskets

        return open_spark_owned_baskets(domain, place.data, people, **options)
    from hedgerow.count.spark.people import open_spark_people

    return open_spark_people(domain, place.data, people, **options)


def _baskets_in_memory(
    universe: Universe,
    place: DataPlace,
    progress: Progress,
    sums: ColumnSums | None,
    people: KeyedRule,
) -> OwnedBasketEngine:
    from hedgerow.count.owned_baskets import OwnedBasketsInMemory
    from hedgerow.encode.owned_baskets import OwnedBasketEncoder, owned_batches
    from hedgerow.encode.table import check_size

    source = _owned_items(place, universe, people)
    encode = OwnedBasketEncoder(universe, people, name=source.name, sums=sums)
    batches, used = [], 0
    for batch in owned_batches(source, encode, progress=lambda share: progress("reading", share)):
        batches.append(batch)
        used += batch.nbytes
        check_size(used, place.reading.most_bytes, source.name)
    return OwnedBasketsInMemory(universe.taxonomy, encode.gathered(batches, sums), people.rule)


def _on_spark(
    domain: Schema | Universe,
    place: DataPlace,
    settings: EngineSettings,
    sums: ColumnSums | None,
) -> Engine | BasketEngine:
    options: dict[str, Any] = {
        "query": place.query,
        "base": place.base,
        "reading": place.reading,
    }
    if isinstance(domain, Schema):
        from hedgerow.count.spark.table import open_spark_table

        return open_spark_table(domain, place.data, settings=settings, sums=sums, **options)
    from hedgerow.count.spark.baskets import open_spark_baskets

    return open_spark_baskets(domain, place.data, settings=settings, sums=sums, **options)


def _in_memory(
    domain: Schema | Universe, place: DataPlace, progress: Progress, sums: ColumnSums | None
) -> Engine | BasketEngine:
    def reading(share: float | None) -> None:
        progress("reading", share)

    most = place.reading.most_bytes
    if isinstance(domain, Schema):
        from hedgerow.count.memory.table import MemoryEngine
        from hedgerow.encode.table import encode_table

        table = encode_table(_table(place), domain, progress=reading, sums=sums, most_bytes=most)
        return MemoryEngine(table=table)
    from hedgerow.count.memory.baskets import BasketMemory
    from hedgerow.encode.baskets import encode_baskets

    source = _items(place, domain)
    baskets = encode_baskets(source, domain, progress=reading, sums=sums, most_bytes=most)
    return BasketMemory(baskets=baskets)


def _streamed(
    domain: Schema | Universe,
    place: DataPlace,
    scratch: Any,
    settings: EngineSettings,
    progress: Progress,
    *,
    sums: ColumnSums | None,
) -> Engine | BasketEngine:
    memory = settings.memory or DEFAULT_MEMORY
    if isinstance(domain, Schema):
        from hedgerow.count.stream.table import StreamEngine

        return StreamEngine.read(
            _table(place), domain, scratch=scratch, memory=memory, report=progress, sums=sums
        )
    from hedgerow.count.stream.baskets import BasketStream

    return BasketStream.read(
        _items(place, domain), domain, scratch=scratch, memory=memory, report=progress, sums=sums
    )


def _table(place: DataPlace) -> Any:
    from hedgerow.read.open import open_table

    return open_table(place.data, query=place.query, base=place.base, reading=place.reading)


def _items(place: DataPlace, universe: Universe) -> Any:
    from hedgerow.read.items import open_items

    return open_items(
        place.data, universe.place, query=place.query, base=place.base, reading=place.reading
    )


def _owned_items(place: DataPlace, universe: Universe, people: KeyedRule) -> Any:
    from hedgerow.read.owned_items import open_owned_items

    return open_owned_items(
        place.data,
        universe.place,
        people.rule,
        query=place.query,
        base=place.base,
        reading=place.reading,
    )
