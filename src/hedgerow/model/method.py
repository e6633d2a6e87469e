"""What every publishing method offers, so that one pipeline can run them all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.engine import BasketEngine, Engine
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Schema
from hedgerow.privacy.budget import PathLedger
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
class Step:
    """A line of the planned budget: ``times`` purchases of ``share`` each."""

    on: str
    share: Fraction
    times: int


@dataclass(frozen=True, kw_only=True)
class Outline:
    """What a run will do, from public settings alone.

    ``counts`` is the share that each published count is drawn with, and ``n_groups`` a
    typical number of groups; ``notes`` are further sentences for ``check``. A method that
    ``counts_marginals`` publishes invented records: both are then about the cells of one
    of its marginals. One with ``true_counts`` adds no noise to what it counts.
    """

    steps: tuple[Step, ...]
    counts: Fraction
    n_groups: int
    notes: tuple[str, ...] = ()
    counts_marginals: bool = False
    true_counts: bool = False


class Method(Protocol):
    """A differentially private publishing method with its settings."""

    @property
    def name(self) -> str:
        """The name that plans give the method."""
        ...

    @property
    def faithful(self) -> bool:
        """Whether the method runs as its paper prints it, wherever that is private."""
        ...

    @property
    def departures(self) -> tuple[Departure, ...]:
        """What is not as the paper prints it."""
        ...

    @property
    def chosen(self) -> dict[str, str]:
        """Settings that the plan left to the method, as it has chosen them."""
        ...

    @property
    def details(self) -> dict[str, str]:
        """What the certificate adds about the method."""
        ...

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        ...

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what a run will buy and how many groups to expect, without any data."""
        ...

    def publish(
        self,
        engine: Engine,
        *,
        epsilon: Fraction,
        ledger: PathLedger,
        source: RandomSource,
        progress: Progress = no_progress,
    ) -> Groups:
        """Return the noisy groups; the ledger is settled afterwards."""
        ...


@runtime_checkable
class Approximate(Protocol):
    """A private method whose guarantee has a delta: with that chance it may fail."""

    def delta(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Return the delta, from public settings alone."""
        ...

    def caveat(self, schema: Schema, epsilon: Fraction) -> str | None:
        """Return what must be said about that delta, in plain words."""
        ...


class PlainMethod(Protocol):
    """A publishing method without a guarantee of differential privacy, with its settings.

    Its counts are exact, so what it publishes must be weighed by whoever releases it; the
    certificate repeats ``statement``.
    """

    @property
    def name(self) -> str:
        """The name that plans give the method."""
        ...

    @property
    def faithful(self) -> bool:
        """Whether the method runs as its paper prints it."""
        ...

    @property
    def departures(self) -> tuple[Departure, ...]:
        """What is not as the paper prints it."""
        ...

    @property
    def chosen(self) -> dict[str, str]:
        """Settings that the plan left to the method, as it has chosen them."""
        ...

    @property
    def details(self) -> dict[str, str]:
        """What the certificate adds about the method."""
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


class BasketMethod(Protocol):
    """A differentially private publishing method for set-valued data, with its settings.

    The same words as :class:`hedgerow.model.method.Method`, with the taxonomy of the
    item universe in place of a schema.
    """

    @property
    def name(self) -> str:
        """The name that plans give the method."""
        ...

    @property
    def faithful(self) -> bool:
        """Whether the method runs as its paper prints it, wherever that is private."""
        ...

    @property
    def departures(self) -> tuple[Departure, ...]:
        """What is not as the paper prints it."""
        ...

    @property
    def chosen(self) -> dict[str, str]:
        """Settings that the plan left to the method, as it has chosen them."""
        ...

    @property
    def details(self) -> dict[str, str]:
        """What the certificate adds about the method."""
        ...

    def validate(self, taxonomy: Taxonomy, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        ...

    def outline(self, taxonomy: Taxonomy, epsilon: Fraction) -> Outline:
        """Return what a run will buy and how many baskets to expect, without any data."""
        ...

    def publish(
        self,
        engine: BasketEngine,
        *,
        epsilon: Fraction,
        ledger: PathLedger,
        source: RandomSource,
        progress: Progress = no_progress,
    ) -> NoisyBaskets:
        """Return the noisy baskets; the ledger is settled afterwards."""
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
