"""Contenders of a comparison: booked releases, or plans run on data that are not confidential."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.encode.table import encode_table
from hedgerow.errors import LedgerError, PlanError, RefusedError, SettingError
from hedgerow.evaluation.subject import EvaluatedSubject, TableSubject, subject_of
from hedgerow.ledger.ledger import Ledger
from hedgerow.model.certificate import Certificate
from hedgerow.model.groups import Groups
from hedgerow.model.table import EncodedTable
from hedgerow.pipeline.kinds.table import TableKind
from hedgerow.pipeline.prepare import Prepared, as_plan, prepare
from hedgerow.pipeline.retry import booked_entry, certificate_digest
from hedgerow.pipeline.simulate import simulated_table
from hedgerow.plan.model import Plan
from hedgerow.privacy.source import SeededSource
from hedgerow.progress import Progress
from hedgerow.read.open import open_table
from hedgerow.release.folder import load_certificate
from hedgerow.release.generalise import OptionalPlan
from hedgerow.release.release import Release
from hedgerow.release.write import CERTIFICATE


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Contender:
    """One release to measure, with the records to which it is compared."""

    name: str
    method: str
    epsilon: str | None
    is_private: bool
    subject: TableSubject


def is_release(contender: Any) -> bool:
    """Return true for a release or the folder of one, false for a plan."""
    if isinstance(contender, Release):
        return True
    return isinstance(contender, str | os.PathLike) and (Path(contender) / CERTIFICATE).exists()


def booked_releases(
    releases: Sequence[Any],
    data: Any,
    *,
    test: Any,
    plan: OptionalPlan,
    ledger: str | os.PathLike[str] | None,
    progress: Progress,
) -> list[Contender]:
    """Return releases with the owner's data; a release that is not on the ledger is refused.

    Privacy: none; the result holds the confidential records. All compared releases have already
    been published and booked, so the comparison influences no release.
    """
    if any(not is_release(each) for each in releases):
        raise RefusedError(
            "Running plans on the confidential data to find the best one is a choice based on that"
            " data, which no epsilon covers.",
            where="compare",
            do="Run plans on a simulated table with --simulate or on a public file with --public"
            " FILE; with --data, compare booked releases.",
        )
    known = _plan(plan)
    file = _ledger_file(known, ledger)
    certificates = [_booked(each, file) for each in releases]
    reading = None if known is None or known.reading is None else known
    return [
        _contender(
            each, certificate, subject_of(each, data, test=test, plan=reading, progress=progress)
        )
        for each, certificate in zip(releases, certificates, strict=True)
    ]


def _booked(release: Any, ledger: Path | None) -> Certificate:
    """Return the certificate of a release that is on the ledger or has no guarantee."""
    is_open = isinstance(release, Release)
    certificate = release.certificate if is_open else load_certificate(Path(release))
    if certificate.guarantee.kind == "none":
        return certificate
    digest = None if is_open else certificate_digest(Path(release))
    try:
        entry = booked_entry(certificate, Ledger(ledger, create=False))
    except LedgerError:  # no such ledger, or no such data set on it
        entry = None
    if entry is None or (digest is not None and entry.release_digest not in (None, digest)):
        raise RefusedError(
            "This release is not on the ledger.",
            where=_name(release),
            do="Name its ledger with --ledger FILE, or its plan with --plan. A release made with a"
            " seed is never booked: run its plan on public data instead.",
        )
    return certificate


def _contender(release: Any, certificate: Certificate, subject: EvaluatedSubject) -> Contender:
    if not isinstance(subject, TableSubject):
        raise SettingError(
            "Only releases of tables can be compared.",
            where=_name(release),
            do="Name releases of tables only.",
        )
    guarantee = certificate.guarantee
    return Contender(
        name=_name(release),
        method=certificate.method.name,
        epsilon=None if guarantee.epsilon is None else str(guarantee.epsilon),
        is_private=guarantee.kind != "none",
        subject=subject,
    )


def _plan(plan: OptionalPlan) -> Plan | None:
    if plan is None or isinstance(plan, Plan | Mapping):
        return None if plan is None else as_plan(plan)
    return as_plan(Path(plan))


def _ledger_file(plan: Plan | None, ledger: str | os.PathLike[str] | None) -> Path | None:
    if ledger is not None:
        return Path(ledger)
    file = None if plan is None or plan.ledger is None else plan.ledger.file
    return None if plan is None or file is None else plan.resolve(file)


def simulated_plans(
    plans: Sequence[Any], *, records: int | None, seed: int, progress: Progress
) -> list[Contender]:
    """Return plans run on one table that is simulated from their public domains.

    Privacy: no record is read.
    """
    prepared = _prepared(plans)
    first = prepared[0][1]
    n_records = records if records is not None else first.plan.records
    if n_records is None:
        raise SettingError(
            "The number of records to simulate is not set.",
            where="records",
            do="Add 'records:' to the plan, or give --records.",
        )
    table = simulated_table(first.schema, n_records, seed=seed)
    runs = _Runs(table=table, test=None, seed=seed)
    return [runs.contender(name, ready, progress) for name, ready in prepared]


def public_plans(
    plans: Sequence[Any], data: Any, *, test: Any, seed: int, progress: Progress
) -> list[Contender]:
    """Return plans run on a file that the user declares public; nothing is booked.

    Privacy: none is needed; the random source is seeded.
    """
    prepared = _prepared(plans)
    first = prepared[0][1]
    table = _encoded(data, first)
    held_out = None if test is None else _encoded(test, first)
    runs = _Runs(table=table, test=held_out, seed=seed)
    return [runs.contender(name, ready, progress) for name, ready in prepared]


def _encoded(data: Any, ready: Prepared) -> EncodedTable:
    return encode_table(open_table(data, reading=ready.plan.how_to_read()), ready.schema)


def _prepared(plans: Sequence[Any]) -> list[tuple[str, Prepared]]:
    if any(is_release(each) for each in plans):
        raise SettingError(
            "A release was made from other data.",
            where="compare",
            do="Name plans only; releases are compared with --data.",
        )
    prepared = [(_name(each), prepare(each)) for each in plans]
    for name, ready in prepared:
        if not isinstance(ready.kind, TableKind):
            raise PlanError(
                "Plans for baskets and sequences cannot be compared.",
                where=name,
                do="Name plans for tables.",
            )
        if ready.schema != prepared[0][1].schema:
            raise PlanError(
                "The plan describes other columns or domains than the first plan.",
                where=name,
                do="Name plans that differ only in their section 'publish'.",
            )
    return prepared


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Runs:
    """Runs of plans on one table that is not confidential, with one seed."""

    table: EncodedTable
    test: EncodedTable | None
    seed: int

    def contender(self, name: str, ready: Prepared, progress: Progress) -> Contender:
        progress(f"running {ready.settings.method}", None)
        with closing(MemoryEngine(table=self.table)) as engine:
            groups = self._groups(ready, engine)
        subject = TableSubject(
            name=name,
            schema=ready.schema,
            groups=groups,
            certificate=None,
            table=self.table,
            test=self.test,
        )
        return Contender(
            name=name,
            method=ready.settings.method,
            epsilon=str(ready.epsilon) if ready.private else None,
            is_private=ready.private,
            subject=subject,
        )

    def _groups(self, ready: Prepared, engine: MemoryEngine) -> Groups:
        source = SeededSource(self.seed)
        if ready.private:
            return ready.tried(engine, rate=ready.rate, source=source)
        return ready.plain_method.publish(engine, source=source)


def _name(contender: Any) -> str:
    if isinstance(contender, str | os.PathLike):
        return str(contender)
    if isinstance(contender, Release):
        return contender.certificate.data.name
    return "a plan" if isinstance(contender, Plan | Mapping) else type(contender).__name__
