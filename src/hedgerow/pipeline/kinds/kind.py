"""The contract of a kind of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

from hedgerow.ledger.covers import Cover
from hedgerow.model.baskets import EncodedBaskets, NoisyBaskets
from hedgerow.model.certificate import Certificate, CertifiedCover
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.model.universe import Universe
from hedgerow.pipeline.place import Opening
from hedgerow.plan.model import Plan
from hedgerow.plan.settings import PrivateSettings
from hedgerow.privacy.source import RandomSource
from hedgerow.taxonomy.domain import Domain
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    from hedgerow.count.stream.scratch import Scratch
    from hedgerow.release.baskets import BasketRelease
    from hedgerow.release.release import Release
    from hedgerow.release.sequences import SequenceRelease

AnyRelease: TypeAlias = "Release | BasketRelease | SequenceRelease"
Published: TypeAlias = Groups | NoisyBaskets


class Held(Protocol):
    """An engine that holds the confidential data as codes; close it after use."""

    @property
    def name(self) -> str:
        """Name of the engine in the certificate."""
        ...

    def close(self) -> None:
        """Release the records."""
        ...


class DataKind(ABC):
    """Tables, baskets or sequences over public domains.

    ``called`` is what records are called, ``default_method`` the method of a plan that names
    none, ``less_noise`` and ``count_people`` what a message advises where a release would be
    mostly noise, and where people cannot be counted.
    """

    called: ClassVar[str]
    default_method: ClassVar[str]
    less_noise: ClassVar[str]
    count_people: ClassVar[str]

    @property
    @abstractmethod
    def domain(self) -> Schema | Universe:
        """The schema of a table, or the universe of baskets."""

    @property
    @abstractmethod
    def public(self) -> Schema | Taxonomy:
        """Public description that methods get: a schema, or the taxonomy of the items."""

    @property
    @abstractmethod
    def domains(self) -> list[Domain]:
        """The domains that the fingerprint of a plan covers, in order."""

    @property
    def has_class(self) -> bool:
        """True if records have a class."""
        return False

    @property
    @abstractmethod
    def bytes_per_record(self) -> int:
        """Approximate size of an encoded record."""

    def open(self, opening: Opening) -> Held:
        """Return an engine that holds the confidential data as codes."""
        if opening.settings.kind == "spark":
            return self._on_spark(opening)
        if opening.settings.kind == "memory":
            return self._in_memory(opening)
        from hedgerow.count.stream.scratch import Scratch

        scratch = Scratch(opening.settings.scratch)
        try:
            return self._streamed(opening, scratch)
        except BaseException:
            scratch.close()
            raise

    @abstractmethod
    def _in_memory(self, opening: Opening) -> Held: ...

    @abstractmethod
    def _streamed(self, opening: Opening, scratch: Scratch) -> Held: ...

    @abstractmethod
    def _on_spark(self, opening: Opening) -> Held: ...

    @abstractmethod
    def simulated(self, source: RandomSource) -> EncodedTable | EncodedBaskets:
        """Return records drawn from the public domains alone, for a rehearsal."""

    @abstractmethod
    def rehearsing(self, engine: Held, source: RandomSource) -> Held:
        """Return an engine of the same kind, by the same code path, over simulated records."""

    @abstractmethod
    def release(self, published: Published, certificate: Certificate) -> AnyRelease:
        """Return the release of what a method published."""

    @abstractmethod
    def load(self, folder: Path) -> AnyRelease:
        """Return the release of a folder."""

    @abstractmethod
    def refuses_people(self, settings: PrivateSettings) -> str | None:
        """Return why ``count: people`` is not offered, or ``None`` where it is."""

    def booked_cover(self, plan: Plan, data: object) -> Cover | None:
        """Return the part of the data that the ledger books; ``None`` if all of it is read."""
        return None

    def certified_cover(self, plan: Plan, data: object) -> CertifiedCover | None:
        """Return the part of the data that the certificate names."""
        return None

    def cover_notes(self, plan: Plan) -> tuple[str, ...]:
        """Return the notes of `check` on the part that is read."""
        return ()
