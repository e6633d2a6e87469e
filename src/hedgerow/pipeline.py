"""publish(plan): the only module that knows the whole chain.

The order is what keeps promises: everything that can be refused is refused first, the
confidential table is read and encoded, the persistent ledger is booked, and only then
is noise drawn. A run that fails after the booking stays booked.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from hedgerow.count.basket_kernels import BasketEngine
from hedgerow.count.engine import Engine
from hedgerow.encode.schema import Schema, schema_of
from hedgerow.encode.universe import Universe, universe_of
from hedgerow.errors import InternalError, PlanError, SettingError, UnconfirmedPlanError
from hedgerow.partition.baskets import BasketMethod
from hedgerow.partition.method import Method, Outline, Progress, no_progress
from hedgerow.partition.registry import basket_method_for, method_for
from hedgerow.plan.load import load_plan, plan_digest, plan_of
from hedgerow.plan.methods import PrivatePublishPlan
from hedgerow.plan.model import Plan
from hedgerow.privacy.budget import EpsilonLike, PathLedger
from hedgerow.privacy.ledger import Entry
from hedgerow.privacy.source import RandomSource, SeededSource, SystemSource
from hedgerow.release.account import Account
from hedgerow.release.baskets import BasketRelease
from hedgerow.release.certify import RunFacts, certify, certify_baskets
from hedgerow.release.release import Release
from hedgerow.release.write import CERTIFICATE, check_destination

PlanLike = Plan | Mapping[str, Any] | str | Path


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

    def outline(self) -> Outline:
        """Return what a run will buy, without any data."""
        return self.method.outline(self.schema, self.epsilon)

    def read(self, data: Any, query: str | None, base: Path, progress: Progress) -> Engine:
        """Return an engine that holds the confidential table, as codes."""
        from hedgerow.count.memory import MemoryEngine
        from hedgerow.encode.encode import encode_table
        from hedgerow.read.open import open_table

        table = open_table(data, query=query, base=base)
        codes = encode_table(
            table, self.schema, progress=lambda fraction: progress("reading", fraction)
        )
        return MemoryEngine(table=codes)

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

    def outline(self) -> Outline:
        """Return what a run will buy, without any data."""
        return self.method.outline(self.universe.taxonomy, self.epsilon)

    def read(self, data: Any, query: str | None, base: Path, progress: Progress) -> BasketEngine:
        """Return an engine that holds the confidential baskets, as codes."""
        from hedgerow.count.basket_memory import BasketMemory
        from hedgerow.encode.items import encode_baskets
        from hedgerow.read.items import open_items

        source = open_items(data, self.universe.place, query=query, base=base)
        baskets = encode_baskets(
            source, self.universe, progress=lambda fraction: progress("reading", fraction)
        )
        return BasketMemory(baskets=baskets)

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


AnyPrepared = Prepared | PreparedBaskets
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


def prepare(plan: PlanLike, **settings: Any) -> AnyPrepared:
    """Return the plan with its taxonomies loaded and its method built and validated.

    ``settings`` override the plan's ``publish`` section; ``None`` leaves it as it is.
    """
    checked = as_plan(plan).override(**settings)
    publish = checked.publish
    if not isinstance(publish, PrivatePublishPlan):
        raise PlanError(
            "the plan does not say how to publish",
            where="publish",
            do="Add a section such as 'publish: {method: diffgen, epsilon: 1}'.",
        )
    if checked.items is not None:
        universe, basket_method = universe_of(checked), basket_method_for(publish)
        basket_method.validate(universe.taxonomy, publish.epsilon)
        return PreparedBaskets(
            plan=checked, publish=publish, universe=universe, method=basket_method
        )
    schema = schema_of(checked)
    method = method_for(publish, has_class=schema.class_attribute is not None)
    method.validate(schema, publish.epsilon)
    return Prepared(plan=checked, publish=publish, schema=schema, method=method)


def publish(
    plan: PlanLike,
    *,
    data: Any = None,
    out: str | os.PathLike[str] | None = None,
    records: bool = False,
    parquet: bool = False,
    force: bool = False,
    engine: Literal["memory"] = "memory",
    seed: int | None = None,
    progress: Progress = no_progress,
    method: str | None = None,
    epsilon: EpsilonLike | None = None,
    faithful: bool | None = None,
    **settings: Any,
) -> AnyRelease:
    """Return a differentially private release, and write it where ``out`` says.

    What the plan describes decides what comes back: a `Release` of a table with
    ``attributes``, a `BasketRelease` of set-valued data with ``items``.

    ``data`` is a file, a database URL or any dataframe, and replaces the plan's own.
    ``method``, ``epsilon``, ``faithful`` and further ``settings`` (such as ``h``) replace
    those of the plan. A ``seed`` makes the run reproducible and *not private*: its
    certificate says so and the ledger does not book it.

    Privacy: the release costs the plan's epsilon under adding or removing one record,
    booked on the data set's ledger before any noise is drawn.
    """
    if engine != "memory":
        raise SettingError(f"{engine!r} is not known", where="engine", do="Give: memory.")
    ready = prepare(plan, method=method, epsilon=epsilon, faithful=faithful, **settings)
    if not ready.plan.confirmed:
        raise UnconfirmedPlanError(
            "nobody has confirmed that the domains in this plan are public knowledge",
            where="confirmed",
            do="Read every domain, replace what was taken from the data, then set"
            " 'confirmed: true'.",
        )
    source: RandomSource = SystemSource() if seed is None else SeededSource(seed)
    if out is not None:
        check_destination(out, force=force)
    account = Account.of(ready.plan, ready.epsilon, data)
    if seed is None:
        account.check_room(ready.epsilon)
    table = encoded(ready, data, progress)
    booking = _book(ready, account) if seed is None else None
    try:
        release = _run(ready, table, account, booking, source=source, progress=progress)
        if out is not None:
            progress("writing", None)
            release.write(out, records=records, parquet=parquet, force=force, source=source)
    except BaseException as error:
        account.failed(booking, error)
        raise
    account.released(booking, _digest(release, out))
    return release


def encoded(ready: AnyPrepared, data: Any, progress: Progress) -> Any:
    """Return the confidential data as codes: ``data``, or what the plan names."""
    plan = ready.plan
    if data is not None:
        return ready.read(data, None, Path(), progress)
    if plan.data is None:
        raise PlanError(
            "the plan names no data", where="data", do="Name a file there, or give --data FILE."
        )
    return ready.read(plan.data, plan.query, plan.base, progress)


def _book(ready: AnyPrepared, account: Account) -> Entry:
    """Book the release before its noise is drawn."""
    return account.book(
        ready.epsilon, method=ready.method.name, plan_digest=plan_digest(ready.plan)
    )


def _run(
    ready: AnyPrepared,
    confidential: Any,
    account: Account,
    booking: Entry | None,
    *,
    source: RandomSource,
    progress: Progress,
) -> AnyRelease:
    facts = RunFacts(
        epsilon=ready.epsilon,
        dataset=account.dataset,
        engine="memory",
        reproducible=source.reproducible,
        ledger=account.line(booking),
    )
    run = Run(facts=facts, progress=progress)
    return ready.run(confidential, path=PathLedger(ready.epsilon), source=source, run=run)


def _digest(release: AnyRelease, out: str | os.PathLike[str] | None) -> str:
    """Return what names the release on the ledger: the digest of its certificate."""
    if out is None:
        return hashlib.sha256(release.certificate.to_json().encode()).hexdigest()
    return hashlib.sha256((Path(out) / CERTIFICATE).read_bytes()).hexdigest()
