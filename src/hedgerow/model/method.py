"""The contract of publishing methods, so that one pipeline can run them all."""

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
    """One step that differs from the printed paper."""

    paper: str
    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class About:
    """The certificate's description of a method.

    ``name`` is the one in plans, ``faithful`` whether it runs as its paper prints it, as far as
    that is private, and ``departures`` the differences. ``chosen`` are settings that the plan left
    to the method, ``details`` are further facts, and ``rests_on`` is a sentence on what the
    guarantee rests on beyond what is proved.
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
    """Alternative steps that a run takes if a noisy answer of its first steps says so."""

    when: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """Forecast of a run, from public settings alone.

    ``counts`` is the share of each published count, and ``n_groups`` a typical number of groups;
    ``notes`` are further sentences for ``check``. A method that ``counts_marginals`` publishes
    synthetic records: both are then about the cells of one of its marginals. A method with
    ``true_counts`` adds no noise to its counts. A run may take other steps ``instead``.
    ``most_groups`` is a number of groups that no run exceeds, whatever the data, each with at least
    the share ``counts``; ``None`` if none is known.
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

    The domain is the public part of the data: the schema of a table, or the taxonomy of the items
    of baskets.
    """

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        ...

    def validate(self, domain: Domain_contra, epsilon: Fraction, /) -> None:
        """Raise if the settings cannot work, before any budget is spent."""
        ...

    def outline(self, domain: Domain_contra, epsilon: Fraction, /) -> Outline:
        """Return the planned spending and the expected number of groups, without any data."""
        ...

    def publish(self, run: Run[Engine_contra], /) -> Result_co:
        """Return the publishable result; the caller settles the ledger."""
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
        """Return a plain sentence on the meaning of that delta."""
        ...


@runtime_checkable
class Sized(Protocol):
    """A method whose steps depend on the number of records."""

    def outline_of(self, domain: Any, epsilon: Fraction, n_records: int, /) -> Outline:
        """Return the outline for a public number of records instead of an example's."""
        ...


@runtime_checkable
class Useful(Protocol):
    """A method that can bound the error of a counting query, whatever the data."""

    def usefulness(
        self, taxonomy: Taxonomy, epsilon: Fraction, *, n_itemsets: int, delta: float
    ) -> float | None:
        """Return the error that a query exceeds with probability at most ``delta``.

        ``n_itemsets`` bounds the number of itemsets that the query covers; ``None`` if there is no
        such bound.
        """
        ...


class PlainMethod(Protocol):
    """A publishing method without a guarantee of differential privacy, with its settings.

    Its counts are exact, so the publisher must weigh what it reveals; the certificate repeats
    ``statement``.
    """

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        ...

    @property
    def statement(self) -> str:
        """Plain sentence on what the method guarantees and what not."""
        ...

    def validate(self, schema: Schema) -> None:
        """Raise if the settings cannot work, before anything is read."""
        ...

    def publish(
        self, engine: Engine, *, source: RandomSource, progress: Progress = no_progress
    ) -> Groups:
        """Return groups with exact counts."""
        ...
