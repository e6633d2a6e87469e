"""What every publishing method offers, so that one pipeline can run them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.engine import BasketEngine, Engine
from hedgerow.model.groups import Groups
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress, no_progress
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True)
class Departure:
    """One step that is not as the paper prints it."""

    paper: str
    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class About:
    """What the certificate says of a method.

    ``name`` is the one that plans give it, ``faithful`` says whether it runs as its paper
    prints it, wherever that is private, and ``departures`` what is not as printed. ``chosen``
    are settings that the plan left to the method, ``details`` whatever else is to be told, and
    ``rests_on`` what the guarantee rests on beyond what is proved, in a sentence.
    """

    name: str
    faithful: bool = False
    departures: tuple[Departure, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    rests_on: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A line of the planned budget: ``times`` mechanisms of ``share`` each."""

    on: str
    share: Fraction
    times: int


@dataclass(frozen=True, kw_only=True)
class Instead:
    """Other steps that a run takes where a noisy answer of its first ones says so."""

    when: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """What a run will do, from public settings alone.

    ``counts`` is the share that each published count is drawn with, and ``n_groups`` a
    typical number of groups; ``notes`` are further sentences for ``check``. A method that
    ``counts_marginals`` publishes invented records: both are then about the cells of one
    of its marginals. One with ``true_counts`` adds no noise to what it counts. Steps may be others
    ``instead``. ``most_groups`` is a number of groups that no run exceeds, whatever the data, each
    with at least the share ``counts``; ``None`` where none is known.
    """

    steps: tuple[Step, ...]
    counts: Fraction
    n_groups: int
    notes: tuple[str, ...] = ()
    counts_marginals: bool = False
    true_counts: bool = False
    instead: Instead | None = None
    most_groups: int | None = None


Domain_contra = TypeVar("Domain_contra", contravariant=True)
Engine_contra = TypeVar("Engine_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class PrivateMethod(Protocol[Domain_contra, Engine_contra, Result_co]):
    """A differentially private publishing method with its settings.

    The domain is what is public of the data: the schema of a table, or the taxonomy of the
    items of baskets.
    """

    @property
    def about(self) -> About:
        """What the certificate says of the method."""
        ...

    def validate(self, domain: Domain_contra, epsilon: Fraction, /) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        ...

    def outline(self, domain: Domain_contra, epsilon: Fraction, /) -> Outline:
        """Return what a run will spend and how many groups to expect, without any data."""
        ...

    def publish(self, run: Run[Engine_contra], /) -> Result_co:
        """Return what may be published; the ledger is settled afterwards."""
        ...


TableMethod: TypeAlias = PrivateMethod[Schema, Engine, Groups]
BasketMethod: TypeAlias = PrivateMethod[Taxonomy, BasketEngine, NoisyBaskets]
AnyMethod: TypeAlias = PrivateMethod[Any, Any, Groups | NoisyBaskets]
"""A method for the data that its settings are for: a table's, or one for items."""


@runtime_checkable
class Approximate(Protocol):
    """A private method whose guarantee has a delta: a probability added to the bound of epsilon."""

    def delta(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Return the delta, from public settings alone."""
        ...

    def caveat(self, schema: Schema, epsilon: Fraction) -> str | None:
        """Return what must be said about that delta, in plain words."""
        ...


@runtime_checkable
class Sized(Protocol):
    """A method whose course depends on how many records there are."""

    def outline_of(self, domain: Any, epsilon: Fraction, n_records: int, /) -> Outline:
        """Return the outline for a public number of records, in place of an example's."""
        ...


@runtime_checkable
class Useful(Protocol):
    """A method that can say how far a counting query may be off, whatever the data."""

    def usefulness(
        self, taxonomy: Taxonomy, epsilon: Fraction, *, n_itemsets: int, delta: float
    ) -> float | None:
        """Return the error that a query exceeds with chance ``delta`` at the most.

        ``n_itemsets`` bounds how many itemsets the query covers; ``None`` where there is
        no such bound.
        """
        ...


class PlainMethod(Protocol):
    """A publishing method without a guarantee of differential privacy, with its settings.

    Its counts are exact, so what it publishes must be weighed by whoever releases it; the
    certificate repeats ``statement``.
    """

    @property
    def about(self) -> About:
        """What the certificate says of the method."""
        ...

    @property
    def statement(self) -> str:
        """What the method promises and what it does not, in plain words."""
        ...

    def validate(self, schema: Schema) -> None:
        """Raise where the settings cannot work, before anything is read."""
        ...

    def publish(
        self, engine: Engine, *, source: RandomSource, progress: Progress = no_progress
    ) -> Groups:
        """Return groups with exact counts."""
        ...
