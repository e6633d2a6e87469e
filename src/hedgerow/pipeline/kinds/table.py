"""Tables: one record a row, with a schema of attributes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.ledger.covers import Cover
from hedgerow.model.certificate import Certificate, CertifiedCover
from hedgerow.model.groups import Groups
from hedgerow.model.people import KeyedRule
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.pipeline.covers import booked_cover, certified_cover, cover_notes
from hedgerow.pipeline.kinds.kind import DataKind, Held, Published
from hedgerow.pipeline.place import DataPlace, Opening
from hedgerow.plan.defaults import DEFAULT_METHOD
from hedgerow.plan.model import Plan
from hedgerow.plan.settings import PrivateSettings
from hedgerow.privacy.source import RandomSource, integers_below
from hedgerow.taxonomy.domain import Domain, code_dtype

if TYPE_CHECKING:
    from hedgerow.count.people import PeopleEngine
    from hedgerow.count.stream.scratch import Scratch
    from hedgerow.read.source import Source
    from hedgerow.release.release import Release

N_RECORDS = 6_000
"""Number of records of a rehearsal."""


class _HoldsTable(Protocol):
    def rehearsing(self, table: EncodedTable, /) -> Held: ...


@dataclass(frozen=True, kw_only=True)
class TableKind(DataKind):
    """Records of a table."""

    schema: Schema

    called: ClassVar[str] = "records"
    default_method: ClassVar[str] = DEFAULT_METHOD
    less_noise: ClassVar[str] = "coarser taxonomies, wider steps or fewer columns"
    count_people: ClassVar[str] = "Give 'count: records', or a method such as hedge."

    @property
    def domain(self) -> Schema:
        """The schema of the table."""
        return self.schema

    @property
    def public(self) -> Schema:
        """The schema of the table."""
        return self.schema

    @property
    def domains(self) -> list[Domain]:
        """The domains of all columns that are read."""
        return [attribute.domain for attribute in self.schema.read()]

    @property
    def has_class(self) -> bool:
        """True if the schema has a class."""
        return self.schema.class_attribute is not None

    @property
    def bytes_per_record(self) -> int:
        """Size of an encoded record."""
        sizes = [attribute.domain.size for attribute in self.schema.used()]
        return sum(np.dtype(code_dtype(size)).itemsize for size in sizes)

    def _in_memory(self, opening: Opening) -> Held:
        if opening.people is not None:
            return self._people_in_memory(opening, opening.people)
        from hedgerow.count.memory.table import MemoryEngine
        from hedgerow.encode.table import encode_table

        table = encode_table(
            _source(opening.place),
            self.schema,
            progress=opening.reading,
            sums=opening.sums,
            most_bytes=opening.place.reading.most_bytes,
        )
        return MemoryEngine(table=table)

    def _people_in_memory(self, opening: Opening, people: KeyedRule) -> PeopleEngine:
        from hedgerow.count.people import PeopleInMemory
        from hedgerow.encode.batch import BatchEncoder
        from hedgerow.encode.people import Gathered, PeopleEncoder, people_batches
        from hedgerow.encode.table import check_size

        source = _source(opening.place)
        encoder = BatchEncoder(self.schema, name=source.name, sums=opening.sums)
        encode = PeopleEncoder(encoder, people)
        batches, used = [], 0
        for batch in people_batches(source, encode, progress=opening.reading):
            batches.append(batch)
            used += batch.nbytes
            check_size(used, opening.place.reading.most_bytes, source.name)
        return PeopleInMemory(self.schema, Gathered.of(batches, encode), people.rule)

    def _streamed(self, opening: Opening, scratch: Scratch) -> Held:
        source, report, sums = _source(opening.place), opening.progress, opening.sums
        if opening.people is not None:
            from hedgerow.count.stream.people import PeopleOnDisk

            return PeopleOnDisk.read(
                source,
                self.schema,
                opening.people,
                scratch=scratch,
                memory=opening.memory,
                report=report,
                sums=sums,
            )
        from hedgerow.count.stream.table import StreamEngine

        return StreamEngine.read(
            source, self.schema, scratch=scratch, memory=opening.memory, report=report, sums=sums
        )

    def _on_spark(self, opening: Opening) -> Held:
        place, settings, sums = opening.place, opening.settings, opening.sums
        if opening.people is not None:
            from hedgerow.count.spark.people import open_spark_people

            return open_spark_people(
                self.schema,
                place.data,
                opening.people,
                query=place.query,
                base=place.base,
                reading=place.reading,
                settings=settings,
                sums=sums,
            )
        from hedgerow.count.spark.table import open_spark_table

        return open_spark_table(
            self.schema,
            place.data,
            query=place.query,
            base=place.base,
            reading=place.reading,
            settings=settings,
            sums=sums,
        )

    def simulated(self, source: RandomSource) -> EncodedTable:
        """Return records with even, independent columns."""
        codes = [_codes(attribute.domain.size, source) for attribute in self.schema.attributes]
        target = self.schema.class_attribute
        classes = None if target is None else _codes(target.domain.size, source)
        return EncodedTable.from_codes(self.schema, codes, classes)

    def rehearsing(self, engine: Held, source: RandomSource) -> Held:
        """Return an engine of the same kind over a simulated table."""
        return cast("_HoldsTable", engine).rehearsing(self.simulated(source))

    def release(self, published: Published, certificate: Certificate) -> Release:
        """Return the release of the groups."""
        if not isinstance(published, Groups):
            raise InternalError("A table was published as baskets.")
        from hedgerow.release.release import Release

        return Release(schema=self.schema, groups=published, certificate=certificate)

    def load(self, folder: Path) -> Release:
        """Return the release of a folder."""
        from hedgerow.release.release import Release

        return Release.load(folder)

    def refuses_people(self, settings: PrivateSettings) -> str | None:
        """Return why the method does not count people."""
        return settings.refuses_people(has_class=self.has_class)

    def booked_cover(self, plan: Plan, data: object) -> Cover | None:
        """Return the part of the table that the ledger books."""
        return booked_cover(plan, self.schema, data)

    def certified_cover(self, plan: Plan, data: object) -> CertifiedCover | None:
        """Return the part of the table that the certificate names."""
        return certified_cover(plan, self.schema, data)

    def cover_notes(self, plan: Plan) -> tuple[str, ...]:
        """Return the notes on the part of the table that is read."""
        return tuple(cover_notes(plan, self.schema))


def _source(place: DataPlace) -> Source:
    from hedgerow.read.open import open_table

    return open_table(place.data, query=place.query, base=place.base, reading=place.reading)


def _codes(size: int, source: RandomSource) -> NDArray[np.int64]:
    return integers_below(N_RECORDS, bound=size, source=source).astype(np.int64)
