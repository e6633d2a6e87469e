"""What every publishing method offers, so that one pipeline can run them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from hedgerow.count.engine import Engine
from hedgerow.encode.schema import Schema
from hedgerow.partition.groups import Groups
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import RandomSource

Progress = Callable[[str, float | None], None]
"""Called with the name of a step and how much of it is done, where that is known."""


def no_progress(step: str, fraction: float | None) -> None:
    """Report nothing."""


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
