"""A plan made ready to run: everything that can be refused is refused here.

Nothing confidential is read before `read` is called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.count.settings import EngineSettings
from hedgerow.encode.schema import schema_of
from hedgerow.encode.universe import universe_of
from hedgerow.errors import InternalError, PlanError
from hedgerow.methods.build import basket_method_for, method_for, plain_method_for
from hedgerow.model.engine import BasketEngine, Engine
from hedgerow.model.method import Approximate, BasketMethod, Method, Outline, PlainMethod
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.pipeline.open import open_basket_engine, open_engine
from hedgerow.plan.load import load_plan, plan_digest, plan_of
from hedgerow.plan.model import Plan
from hedgerow.plan.override import override
from hedgerow.plan.publishing import PrivatePublishPlan, PublishPlan
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress
from hedgerow.release.baskets import BasketRelease
from hedgerow.release.certify import RunFacts, certify, certify_baskets, certify_plain
from hedgerow.release.domains import describe
from hedgerow.release.release import Release
from hedgerow.taxonomy.domain import CategoricalDomain, Domain

PlanLike = Plan | Mapping[str, Any] | str | Path


@dataclass(frozen=True, kw_only=True, repr=False)
class DataPlace:
    """Where the confidential data lie: a file, a URL or a dataframe, and a database's query."""

    data: Any
    query: str | None = None
    base: Path = Path()

    @classmethod
    def of(cls, plan: Plan, data: Any = None) -> DataPlace:
        """Return ``data``, or what the plan names."""
        if data is not None:
            return cls(data=data)
        if plan.data is None:
            raise PlanError(
                "the plan names no data",
                where="data",
                do="Name a file there, or give --data FILE.",
            )
        return cls(data=plan.data, query=plan.query, base=plan.base)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A plan for a table made ready to run: nothing confidential has been read yet."""

    plan: Plan
    publish: PrivatePublishPlan
    schema: Schema
    method: Method

    @property
    def epsilon(self) -> Fraction:
        """The budget of the release."""
        return self.publish.epsilon

    @property
    def delta(self) -> Fraction:
        """The delta of the release, 0 for methods of pure epsilon."""
        if not isinstance(self.method, Approximate):
            return Fraction(0)
        return self.method.delta(self.schema, self.epsilon)

    @property
    def caveat(self) -> str | None:
        """What must be said about the delta."""
        if not isinstance(self.method, Approximate):
            return None
        return self.method.caveat(self.schema, self.epsilon)

    def outline(self) -> Outline:
        """Return what a run will buy, without any data."""
        return self.method.outline(self.schema, self.epsilon)

    def read(self, place: DataPlace, settings: EngineSettings, progress: Progress) -> Engine:
        """Return an engine that holds the confidential table, as codes; close it after use."""
        return open_engine(
            self.schema,
            place.data,
            query=place.query,
            base=place.base,
            settings=settings,
            report=progress,
        )

    def run(self, engine: Engine, *, path: PathLedger, source: RandomSource, run: Run) -> Release:
        """Return the release of the table that the engine holds."""
        groups = self.method.publish(
            engine, epsilon=self.epsilon, ledger=path, source=source, progress=run.progress
        )
        certificate = certify(
            plan=self.plan,
            publish=self.publish,
            method=self.method,
            schema=self.schema,
            groups=groups,
            path=_settled(path),
            facts=run.facts,
        )
        return Release(schema=self.schema, groups=groups, certificate=certificate)


@dataclass(frozen=True, kw_only=True)
class PreparedBaskets:
    """A plan for set-valued data made ready to run: nothing confidential has been read yet."""

    plan: Plan
    publish: PrivatePublishPlan
    universe: Universe
    method: BasketMethod

    @property
    def epsilon(self) -> Fraction:
        """The budget of the release."""
        return self.publish.epsilon

    @property
    def delta(self) -> Fraction:
        """All methods for baskets are of pure epsilon."""
        return Fraction(0)

    @property
    def caveat(self) -> str | None:
        """There is no delta to speak of."""
        return None

    def outline(self) -> Outline:
        """Return what a run will buy, without any data."""
        return self.method.outline(self.universe.taxonomy, self.epsilon)

    def read(self, place: DataPlace, settings: EngineSettings, progress: Progress) -> BasketEngine:
        """Return an engine that holds the confidential baskets, as codes; close it after use."""
        return open_basket_engine(
            self.universe,
            place.data,
            query=place.query,
            base=place.base,
            settings=settings,
            report=progress,
        )

    def run(
        self, engine: BasketEngine, *, path: PathLedger, source: RandomSource, run: Run
    ) -> BasketRelease:
        """Return the release of the baskets that the engine holds."""
        noisy = self.method.publish(
            engine, epsilon=self.epsilon, ledger=path, source=source, progress=run.progress
        )
        certificate = certify_baskets(
            plan=self.plan,
            publish=self.publish,
            method=self.method,
            universe=self.universe,
            baskets=noisy,
            path=_settled(path),
            facts=run.facts,
        )
        return BasketRelease(baskets=noisy, certificate=certificate)


@dataclass(frozen=True, kw_only=True)
class PreparedPlain:
    """A plan for a table and a method without a guarantee; nothing has been read yet."""

    plan: Plan
    publish: PublishPlan
    schema: Schema
    method: PlainMethod

    def read(self, place: DataPlace, settings: EngineSettings, progress: Progress) -> Engine:
        """Return an engine that holds the confidential table, as codes; close it after use."""
        return open_engine(
            self.schema,
            place.data,
            query=place.query,
            base=place.base,
            settings=settings,
            report=progress,
        )

    def run(self, engine: Engine, *, source: RandomSource, run: Run) -> Release:
        """Return the release of the table that the engine holds."""
        groups = self.method.publish(engine, source=source, progress=run.progress)
        certificate = certify_plain(
            plan=self.plan,
            publish=self.publish,
            method=self.method,
            schema=self.schema,
            groups=groups,
            facts=run.facts,
        )
        return Release(schema=self.schema, groups=groups, certificate=certificate)


PreparedPrivate = Prepared | PreparedBaskets
AnyPrepared = PreparedPrivate | PreparedPlain
AnyRelease = Release | BasketRelease


@dataclass(frozen=True, kw_only=True)
class Run:
    """What goes along with a run: its publishable facts, and whom to tell how far it is."""

    facts: RunFacts
    progress: Progress


def _settled(path: PathLedger) -> PathLedger:
    if not path.settled():
        raise InternalError("the method did not spend exactly its epsilon")
    return path


def as_plan(plan: PlanLike) -> Plan:
    """Return a plan from a plan, a mapping with a plan file's keys, or a file."""
    if isinstance(plan, Plan):
        return plan
    return plan_of(plan) if isinstance(plan, Mapping) else load_plan(plan)


def fingerprint(ready: AnyPrepared) -> str:
    """Return the SHA-256 of all that the plan says and of all that its taxonomy files hold.

    `hedgerow check` shows it, and `publish` can be told to accept no other.
    """
    domains: list[Domain] = (
        [CategoricalDomain(taxonomy=ready.universe.taxonomy)]
        if isinstance(ready, PreparedBaskets)
        else [attribute.domain for attribute in ready.schema.used()]
    )
    parts = [plan_digest(ready.plan), *(describe(domain).digest() for domain in domains)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def prepare(plan: PlanLike, **settings: Any) -> AnyPrepared:
    """Return the plan with its taxonomies loaded and its method built and validated.

    ``settings`` override the plan's ``publish`` section; ``None`` leaves it as it is.
    """
    checked = override(as_plan(plan), **settings)
    publish = checked.publish
    if publish is None:
        raise PlanError(
            "the plan does not say how to publish",
            where="publish",
            do="Add a section such as 'publish: {method: diffgen, epsilon: 1}'.",
        )
    if checked.items is not None:
        return _prepare_baskets(checked, publish)
    schema = schema_of(checked)
    if not isinstance(publish, PrivatePublishPlan):
        plain = plain_method_for(publish)
        plain.validate(schema)
        return PreparedPlain(plan=checked, publish=publish, schema=schema, method=plain)
    method = method_for(publish, has_class=schema.class_attribute is not None)
    method.validate(schema, publish.epsilon)
    return Prepared(plan=checked, publish=publish, schema=schema, method=method)


def _prepare_baskets(plan: Plan, publish: PublishPlan) -> PreparedBaskets:
    if not isinstance(publish, PrivatePublishPlan):
        raise InternalError(f"the method {publish.method!r} has no form for baskets")
    universe, method = universe_of(plan), basket_method_for(publish)
    method.validate(universe.taxonomy, publish.epsilon)
    return PreparedBaskets(plan=plan, publish=publish, universe=universe, method=method)
