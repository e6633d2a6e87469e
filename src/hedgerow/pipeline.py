"""publish(plan): the only module that knows the whole chain.

The order is what keeps promises: everything that can be refused is refused first, the
confidential table is read and encoded, the persistent ledger is booked, and only then
is noise drawn. A run that fails after the booking stays booked.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from hedgerow.count.engine import Engine
from hedgerow.encode.schema import Schema, schema_of
from hedgerow.errors import (
    InternalError,
    LedgerError,
    PlanError,
    SettingError,
    UnconfirmedPlanError,
)
from hedgerow.partition.method import Method, Progress, no_progress
from hedgerow.partition.registry import method_for
from hedgerow.plan.load import load_plan, plan_digest, plan_of
from hedgerow.plan.methods import PrivatePublishPlan
from hedgerow.plan.model import Plan
from hedgerow.privacy.budget import EpsilonLike, PathLedger
from hedgerow.privacy.ledger import Entry, Ledger
from hedgerow.privacy.source import RandomSource, SeededSource, SystemSource
from hedgerow.release.certificate import LedgerEntry
from hedgerow.release.certify import RunFacts, certify
from hedgerow.release.release import Release
from hedgerow.release.write import CERTIFICATE, check_destination

PlanLike = Plan | Mapping[str, Any] | str | Path

_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|sqlite:")


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A plan made ready to run: nothing confidential has been read yet."""

    plan: Plan
    publish: PrivatePublishPlan
    schema: Schema
    method: Method

    @property
    def epsilon(self) -> Fraction:
        """The budget of the release."""
        return self.publish.epsilon


def as_plan(plan: PlanLike) -> Plan:
    """Return a plan from a plan, a mapping with a plan file's keys, or a file."""
    if isinstance(plan, Plan):
        return plan
    return plan_of(plan) if isinstance(plan, Mapping) else load_plan(plan)


def prepare(plan: PlanLike, **settings: Any) -> Prepared:
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
    schema = schema_of(checked)
    method = method_for(publish)
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
) -> Release:
    """Return a differentially private release of a table, and write it where ``out`` says.

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
    account = Account.of(ready, data)
    if seed is None:
        account.check_room(ready.epsilon)
    table = encoded(ready, data, progress)
    booking = account.book(ready) if seed is None else None
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


def encoded(ready: Prepared, data: Any, progress: Progress) -> Engine:
    """Return an engine that holds the confidential table, as codes."""
    from hedgerow.count.memory import MemoryEngine
    from hedgerow.encode.encode import encode_table
    from hedgerow.read.open import open_table

    plan = ready.plan
    if data is None and plan.data is None:
        raise PlanError(
            "the plan names no data", where="data", do="Name a file there, or give --data FILE."
        )
    if data is None:
        table = open_table(plan.data, query=plan.query, base=plan.base)
    else:
        table = open_table(data)
    codes = encode_table(
        table, ready.schema, progress=lambda fraction: progress("reading", fraction)
    )
    return MemoryEngine(table=codes)


def _run(
    ready: Prepared,
    engine: Engine,
    account: Account,
    booking: Entry | None,
    *,
    source: RandomSource,
    progress: Progress,
) -> Release:
    path = PathLedger(ready.epsilon)
    groups = ready.method.publish(
        engine, epsilon=ready.epsilon, ledger=path, source=source, progress=progress
    )
    if not path.settled():
        raise InternalError("the method did not spend exactly its epsilon")
    facts = RunFacts(
        epsilon=ready.epsilon,
        dataset=account.dataset,
        engine=engine.name,
        reproducible=source.reproducible,
        ledger=account.line(booking),
    )
    certificate = certify(
        plan=ready.plan,
        publish=ready.publish,
        method=ready.method,
        schema=ready.schema,
        groups=groups,
        path=path,
        facts=facts,
    )
    return Release(schema=ready.schema, groups=groups, certificate=certificate)


def _digest(release: Release, out: str | os.PathLike[str] | None) -> str:
    """Return what names the release on the ledger: the digest of its certificate."""
    if out is None:
        return hashlib.sha256(release.certificate.to_json().encode()).hexdigest()
    return hashlib.sha256((Path(out) / CERTIFICATE).read_bytes()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Account:
    """The data set's account on the persistent ledger."""

    dataset: str
    cap: Fraction
    file: Path | None

    @classmethod
    def of(cls, ready: Prepared, data: Any) -> Account:
        """Return the plan's account.

        A plan without one gets an account in the name of its data file whose cap is the
        plan's own epsilon: the data can be released once, and then somebody must decide.
        """
        plan = ready.plan
        if plan.ledger is not None:
            file = None if plan.ledger.file is None else plan.resolve(plan.ledger.file)
            return cls(dataset=plan.ledger.dataset, cap=plan.ledger.cap, file=file)
        place = data if data is not None else plan.data
        if not isinstance(place, str | os.PathLike) or _DATABASE.match(str(place)):
            raise PlanError(
                "this data set needs a name on the ledger",
                where="ledger",
                do="Add a section such as 'ledger: {dataset: NAME, cap: 1}' to the plan.",
            )
        return cls(dataset=Path(place).name, cap=ready.epsilon, file=None)

    def check_room(self, epsilon: Fraction) -> None:
        """Refuse at once what the booking would refuse after reading the data."""
        Ledger(self.file).check(self.dataset, epsilon, cap=self.cap)

    def book(self, ready: Prepared) -> Entry:
        """Book the release before its noise is drawn."""
        return Ledger(self.file).book(
            self.dataset,
            ready.epsilon,
            cap=self.cap,
            method=ready.method.name,
            plan_digest=plan_digest(ready.plan),
        )

    def line(self, booking: Entry | None) -> LedgerEntry | None:
        """Return what the certificate says of the booking."""
        if booking is None:
            return None
        return LedgerEntry(dataset=self.dataset, cap=self.cap, entry=booking.id)

    def released(self, booking: Entry | None, digest: str) -> None:
        """Write down that the release is out."""
        if booking is not None:
            Ledger(self.file).released(booking.id, digest)

    def failed(self, booking: Entry | None, error: BaseException) -> None:
        """Write down that the release failed; it stays booked either way."""
        if booking is not None:
            with suppress(LedgerError):
                Ledger(self.file).failed(booking.id, type(error).__name__)
