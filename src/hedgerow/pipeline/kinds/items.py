"""Baskets, records that are sets of items, and sequences, records of ordered items."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

import numpy as np

from hedgerow.errors import InternalError
from hedgerow.model.baskets import EncodedBaskets, NoisyBaskets, item_dtype, offsets_of
from hedgerow.model.certificate import Certificate
from hedgerow.model.people import KeyedRule
from hedgerow.model.sequences import NoisySequences
from hedgerow.model.universe import Universe
from hedgerow.pipeline.kinds.kind import AnyRelease, DataKind, Held, Published
from hedgerow.pipeline.place import DataPlace, Opening
from hedgerow.plan.defaults import DEFAULT_BASKET_METHOD
from hedgerow.plan.settings import PrivateSettings
from hedgerow.privacy.source import RandomSource, below, integers_below
from hedgerow.taxonomy.domain import CategoricalDomain, Domain
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    from hedgerow.count.owned_baskets import OwnedBasketEngine
    from hedgerow.count.stream.scratch import Scratch
    from hedgerow.read.items import ItemSource
    from hedgerow.read.owned_items import OwnedItems

N_BASKETS = 3_000
N_KINDS = 48
"""Different baskets of a rehearsal: each often enough to be found."""

MOST_ITEMS = 6

USUAL_LENGTH = 10
"""Number of items that a record is assumed to have."""


class _HoldsBaskets(Protocol):
    def rehearsing(self, baskets: EncodedBaskets, /) -> Held: ...


@dataclass(frozen=True, kw_only=True)
class BasketKind(DataKind):
    """Baskets: sets of items of a universe."""

    universe: Universe

    called: ClassVar[str] = "baskets"
    default_method: ClassVar[str] = DEFAULT_BASKET_METHOD
    less_noise: ClassVar[str] = "a smaller universe"
    count_people: ClassVar[str] = (
        "Give 'count: records', or 'join: union' in place of records-per-person: every"
        " person is then one basket."
    )

    @property
    def domain(self) -> Universe:
        """The universe of items."""
        return self.universe

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy of the items."""
        return self.universe.taxonomy

    @property
    def public(self) -> Taxonomy:
        """The taxonomy of the items."""
        return self.taxonomy

    @property
    def domains(self) -> list[Domain]:
        """The items as one domain."""
        return [CategoricalDomain(taxonomy=self.taxonomy)]

    @property
    def bytes_per_record(self) -> int:
        """Size of an encoded record of a usual length."""
        n_items = self.taxonomy.n_leaves
        return 8 + min(USUAL_LENGTH, n_items) * item_dtype(n_items).itemsize

    def _in_memory(self, opening: Opening) -> Held:
        if opening.people is not None:
            return self._owned_in_memory(opening, opening.people)
        from hedgerow.count.memory.baskets import BasketMemory
        from hedgerow.encode.baskets import encode_baskets

        baskets = encode_baskets(
            _items(opening.place, self.universe),
            self.universe,
            progress=opening.reading,
            sums=opening.sums,
            most_bytes=opening.place.reading.most_bytes,
        )
        return BasketMemory(baskets=baskets)

    def _owned_in_memory(self, opening: Opening, people: KeyedRule) -> OwnedBasketEngine:
        from hedgerow.count.owned_baskets import OwnedBasketsInMemory
        from hedgerow.encode.owned_baskets import OwnedBasketEncoder, owned_batches
        from hedgerow.encode.table import check_size

        source = _owned_items(opening.place, self.universe, people)
        encode = OwnedBasketEncoder(self.universe, people, name=source.name, sums=opening.sums)
        batches, used = [], 0
        for batch in owned_batches(source, encode, progress=opening.reading):
            batches.append(batch)
            used += batch.nbytes
            check_size(used, opening.place.reading.most_bytes, source.name)
        gathered = encode.gathered(batches, opening.sums)
        return OwnedBasketsInMemory(self.taxonomy, gathered, people.rule)

    def _streamed(self, opening: Opening, scratch: Scratch) -> Held:
        place, report, sums = opening.place, opening.progress, opening.sums
        if opening.people is not None:
            from hedgerow.count.stream.owned_baskets import OwnedBasketsOnDisk

            return OwnedBasketsOnDisk.read(
                _owned_items(place, self.universe, opening.people),
                self.universe,
                opening.people,
                scratch=scratch,
                memory=opening.memory,
                report=report,
                sums=sums,
            )
        from hedgerow.count.stream.baskets import BasketStream

        return BasketStream.read(
            _items(place, self.universe),
            self.universe,
            scratch=scratch,
            memory=opening.memory,
            report=report,
            sums=sums,
        )

    def _on_spark(self, opening: Opening) -> Held:
        place, settings, sums = opening.place, opening.settings, opening.sums
        if opening.people is not None:
            from hedgerow.count.spark.owned_baskets import open_spark_owned_baskets

            return open_spark_owned_baskets(
                self.universe,
                place.data,
                opening.people,
                query=place.query,
                base=place.base,
                reading=place.reading,
                settings=settings,
                sums=sums,
            )
        from hedgerow.count.spark.baskets import open_spark_baskets

        return open_spark_baskets(
            self.universe,
            place.data,
            query=place.query,
            base=place.base,
            reading=place.reading,
            settings=settings,
            sums=sums,
        )

    def simulated(self, source: RandomSource) -> EncodedBaskets:
        """Return baskets of a few kinds, each drawn several times."""
        n_items = self.taxonomy.n_leaves
        sizes = 1 + below(np.full(N_KINDS, min(MOST_ITEMS, n_items)), source=source)
        drawn = [integers_below(int(size), bound=n_items, source=source) for size in sizes]
        kinds = drawn if self.universe.place.ordered else [np.unique(each) for each in drawn]
        chosen = integers_below(N_BASKETS, bound=N_KINDS, source=source).tolist()
        records = [kinds[kind] for kind in chosen]
        return EncodedBaskets(
            taxonomy=self.taxonomy,
            offsets=offsets_of(np.array([len(record) for record in records], dtype=np.int64)),
            items=np.concatenate(records).astype(item_dtype(n_items)),
        )

    def rehearsing(self, engine: Held, source: RandomSource) -> Held:
        """Return an engine of the same kind over simulated baskets."""
        return cast("_HoldsBaskets", engine).rehearsing(self.simulated(source))

    def release(self, published: Published, certificate: Certificate) -> AnyRelease:
        """Return the release of the baskets."""
        if not isinstance(published, NoisyBaskets):
            raise InternalError("Baskets were published as a table.")
        from hedgerow.release.baskets import BasketRelease

        return BasketRelease(baskets=published, certificate=certificate)

    def load(self, folder: Path) -> AnyRelease:
        """Return the release of a folder."""
        from hedgerow.release.baskets import BasketRelease

        return BasketRelease.load(folder)

    def refuses_people(self, settings: PrivateSettings) -> str | None:
        """Return why people are not counted: whatever the method, baskets are counted whole."""
        return settings.refuses_people(has_class=False) or "baskets are counted whole"


@dataclass(frozen=True, kw_only=True)
class SequenceKind(BasketKind):
    """Sequences: items in order, with repeats."""

    called: ClassVar[str] = "sequences"

    def release(self, published: Published, certificate: Certificate) -> AnyRelease:
        """Return the release of the sequences."""
        if not isinstance(published, NoisySequences):
            raise InternalError("Sequences were published as something else.")
        from hedgerow.release.sequences import SequenceRelease

        return SequenceRelease(baskets=published, certificate=certificate)

    def load(self, folder: Path) -> AnyRelease:
        """Return the release of a folder."""
        from hedgerow.release.sequences import SequenceRelease

        return SequenceRelease.load(folder)


def _items(place: DataPlace, universe: Universe) -> ItemSource:
    from hedgerow.read.items import open_items

    return open_items(
        place.data, universe.place, query=place.query, base=place.base, reading=place.reading
    )


def _owned_items(place: DataPlace, universe: Universe, people: KeyedRule) -> OwnedItems:
    from hedgerow.read.owned_items import open_owned_items

    return open_owned_items(
        place.data,
        universe.place,
        people.rule,
        query=place.query,
        base=place.base,
        reading=place.reading,
    )
