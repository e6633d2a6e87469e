"""What is compared: releases that are on a ledger, or plans run on data that are not secret."""

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
from hedgerow.release.generalise import PlanGiven
from hedgerow.release.release import Release
from hedgerow.release.write import CERTIFICATE


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Contender:
    """One release to measure, with the records that it is compared with."""

    name: str
    method: str
    epsilon: str | None
    is_private: bool
    subject: TableSubject


def is_release(given: Any) -> bool:
    """Whether something is a release, or the folder of one, and not a plan."""
    if isinstance(given, Release):
        return True
    return isinstance(given, str | os.PathLike) and (Path(given) / CERTIFICATE).exists()


def booked_releases(
    given: Sequence[Any],
    data: Any,
    *,
    test: Any,
    plan: PlanGiven,
    ledger: str | os.PathLike[str] | None,
    progress: Progress,
) -> list[Contender]:
    """Return releases with the owner's data; one that no ledger has is refused.

    Privacy: none; the result holds the confidential records. What is compared has been
    released and booked already, so that the comparison chooses nothing that is still to come.
    """
    if any(not is_release(each) for each in given):
        raise RefusedError(
            "a plan would be run on the confidential data to see whether it is the best: that"
            " choice is spending, and no epsilon covers it",
            where="compare",
            do="Run plans on a made-up table with --simulate or on a public file with --public"
            " FILE; with --data compare releases that are made and booked.",
        )
    known = _plan(plan)
    file = _ledger_file(known, ledger)
    certificates = [_booked(each, file) for each in given]
    reading = None if known is None or known.reading is None else known
    return [
        _contender(
            each, certificate, subject_of(each, data, test=test, plan=reading, progress=progress)
        )
        for each, certificate in zip(given, certificates, strict=True)
    ]


def _booked(given: Any, ledger: Path | None) -> Certificate:
    """Return the certificate of a release that is on the ledger, or has no guarantee to book."""
    is_open = isinstance(given, Release)
    certificate = given.certificate if is_open else load_certificate(Path(given))
    if certificate.guarantee.kind == "none":
        return certificate
    digest = None if is_open else certificate_digest(Path(given))
    try:
        entry = booked_entry(certificate, Ledger(ledger, create=False))
    except LedgerError:  # there is no such ledger, or no such data set on it
        entry = None
    if entry is None or (digest is not None and entry.release_digest not in (None, digest)):
        raise RefusedError(
            "this release is not on the ledger",
            where=_name(given),
            do="Name the ledger that booked it with --ledger FILE, or the plan with --plan. What"
            " was made with a seed can be compared only by running its plan on public data.",
        )
    return certificate


def _contender(given: Any, certificate: Certificate, subject: EvaluatedSubject) -> Contender:
    if not isinstance(subject, TableSubject):
        raise SettingError(
            "is no release of a table", where=_name(given), do="Compare releases of tables."
        )
    promised = certificate.guarantee
    return Contender(
        name=_name(given),
        method=certificate.method.name,
        epsilon=None if promised.epsilon is None else str(promised.epsilon),
        is_private=promised.kind != "none",
        subject=subject,
    )


def _plan(plan: PlanGiven) -> Plan | None:
    if plan is None or isinstance(plan, Plan | Mapping):
        return None if plan is None else as_plan(plan)
    return as_plan(Path(plan))


def _ledger_file(plan: Plan | None, ledger: str | os.PathLike[str] | None) -> Path | None:
    if ledger is not None:
        return Path(ledger)
    file = None if plan is None or plan.ledger is None else plan.ledger.file
    return None if plan is None or file is None else plan.resolve(file)


def simulated_plans(
    given: Sequence[Any], *, records: int | None, seed: int, progress: Progress
) -> list[Contender]:
    """Return plans run on one table that is made from their public domains.

    Privacy: no record is read.
    """
    plans = _prepared(given)
    known = records if records is not None else plans[0][1].plan.records
    if known is None:
        raise SettingError(
            "nothing says how many records to make up",
            where="records",
            do="Add 'records:' to the plan, or give --records.",
        )
    table = simulated_table(plans[0][1].schema, known, seed=seed)
    runs = _Runs(table=table, test=None, seed=seed)
    return [runs.contender(name, ready, progress) for name, ready in plans]


def public_plans(
    given: Sequence[Any], data: Any, *, test: Any, seed: int, progress: Progress
) -> list[Contender]:
    """Return plans run on a file that somebody declares public; nothing is booked.

    Privacy: none, and none is needed; the source is seeded.
    """
    plans = _prepared(given)
    first = plans[0][1]
    table = _encoded(data, first)
    held_out = None if test is None else _encoded(test, first)
    runs = _Runs(table=table, test=held_out, seed=seed)
    return [runs.contender(name, ready, progress) for name, ready in plans]


def _encoded(data: Any, ready: Prepared) -> EncodedTable:
    return encode_table(open_table(data, reading=ready.plan.how_to_read()), ready.schema)


def _prepared(given: Sequence[Any]) -> list[tuple[str, Prepared]]:
    if any(is_release(each) for each in given):
        raise SettingError(
            "a release was made from other data",
            where="compare",
            do="Compare plans here; releases are compared with --data.",
        )
    plans = [(_name(each), prepare(each)) for each in given]
    for name, ready in plans:
        if not isinstance(ready.kind, TableKind):
            raise PlanError(
                "set-valued data is not compared", where=name, do="Compare plans for tables."
            )
        if ready.schema != plans[0][1].schema:
            raise PlanError(
                "describes other columns or domains than the first plan",
                where=name,
                do="Compare plans that differ in their 'publish' section alone.",
            )
    return plans


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Runs:
    """Runs of plans on one table that is not secret, from one seed."""

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


def _name(given: Any) -> str:
    if isinstance(given, str | os.PathLike):
        return str(given)
    if isinstance(given, Release):
        return given.certificate.data.name
    return "a plan" if isinstance(given, Plan | Mapping) else type(given).__name__
