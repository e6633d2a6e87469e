"""Repeated runs: return the release that is in place already, at no cost.

A script may repeat a run whose end it did not see, and would spend twice. A repeated run is
recognised by its destination: the release there has a plan of the same fingerprint and the
same options, this ledger has it as ``released`` under the digest of its certificate, and all its
files match the certificate.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hedgerow.errors import HedgerowError, KeptReleaseError
from hedgerow.ledger.ledger import Entry, Ledger
from hedgerow.model.certificate import Certificate
from hedgerow.pipeline.kinds.kind import AnyRelease
from hedgerow.pipeline.kinds.table import TableKind
from hedgerow.pipeline.prepare import Prepared
from hedgerow.plan.load import plan_digest
from hedgerow.release.domains import certified_fingerprint
from hedgerow.release.folder import PARQUET, load_certificate
from hedgerow.release.leftovers import CERTIFICATE, recoverable
from hedgerow.release.release import RECORDS
from hedgerow.release.verify import check_intact


@dataclass(frozen=True, kw_only=True)
class RequestedRun:
    """Settings of a run that distinguish its release from others."""

    ready: Prepared
    data: object
    out: Path
    engine: str
    records: bool
    parquet: bool

    def matches(self, certificate: Certificate) -> bool:
        """Return whether a release with this certificate is the requested one."""
        same = certified_fingerprint(certificate) == self.ready.fingerprint()
        records = not isinstance(self.ready.kind, TableKind) or self.records == (
            RECORDS in certificate.files
        )
        parquet = self.parquet == (PARQUET in certificate.files)
        engine = self.engine == certificate.engine
        own = "rests-on" in certificate.method.details  # a function cannot be recognised
        known = same and not own
        return known and records and parquet and engine and certificate.guarantee.private

    def own_data(self) -> bool:
        """Return whether the data are the plan's own; others cannot be recognised."""
        plan = self.ready.plan
        if self.data is None:
            return True
        if not isinstance(self.data, str | os.PathLike) or not isinstance(plan.data, str):
            return False
        return Path(self.data).absolute() == plan.resolve(plan.data).absolute()


def release_in_place(run: RequestedRun) -> AnyRelease | None:
    """Return the release of this very run, if it is in its place and booked as released."""
    with suppress(HedgerowError, OSError):  # a faulty release is not returned
        if run.out.is_symlink() or not (run.out / CERTIFICATE).is_file():
            return None
        if not run.own_data():
            return None
        certificate = load_certificate(run.out)
        if not run.matches(certificate) or not _is_released(run, certificate):
            return None
        check_intact(run.out)
        return run.ready.kind.load(run.out)
    return None


def check_nothing_waits(run: RequestedRun) -> None:
    """Refuse to spend if this run's release is complete and only its final move is missing."""
    for folder in recoverable(run.out.absolute()):
        if _waits(run, folder):
            raise KeptReleaseError(
                "A release of an earlier run of this plan is complete, but not moved to its"
                " folder.",
                where=str(run.out),
                kept=str(folder),
                ledger=_absolute(_ledger_file(run)),
            )


def _waits(run: RequestedRun, folder: Path) -> bool:
    with suppress(HedgerowError, OSError):
        certificate = load_certificate(folder)
        if certificate.plan_sha256 == plan_digest(run.ready.plan):
            entry = booked_entry(certificate, _ledger(run))
            return entry is not None and entry.state == "booked"
    return False


def booked_entry(certificate: Certificate, ledger: Ledger | None) -> Entry | None:
    """Return the entry of a ledger that a certificate names, if it is of that release."""
    line = certificate.ledger
    if line is None or ledger is None or not isinstance(line.entry, int):
        return None
    for entry in ledger.entries(line.dataset):
        if entry.id == line.entry:
            promised = certificate.guarantee
            same = (entry.epsilon, entry.delta) == (promised.epsilon, promised.delta)
            return entry if same and entry.plan_digest == certificate.plan_sha256 else None
    return None


def certificate_digest(folder: Path) -> str:
    """Return the digest by which the ledger names the release of a folder."""
    return hashlib.sha256((folder / CERTIFICATE).read_bytes()).hexdigest()


def _is_released(run: RequestedRun, certificate: Certificate) -> bool:
    entry = booked_entry(certificate, _ledger(run))
    if entry is None or entry.state != "released":
        return False
    return entry.release_digest == certificate_digest(run.out)


def _ledger(run: RequestedRun) -> Ledger:
    return Ledger(_ledger_file(run), create=False)


def _ledger_file(run: RequestedRun) -> Path | None:
    """Return the plan's own ledger, if it has one."""
    plan = run.ready.plan
    file = None if plan.ledger is None else plan.ledger.file
    return None if file is None else plan.resolve(file)


def _absolute(file: Path | None) -> str | None:
    return None if file is None else str(file.absolute())


def say_where_booked(error: BaseException, kept: str, ledger: Path | None) -> BaseException:
    """Return an error about a kept release that also names the plan's own ledger, if any."""
    booked_in = _absolute(ledger)
    if isinstance(error, KeptReleaseError):
        return KeptReleaseError(error.what, where=error.where, kept=kept, ledger=booked_in)
    notes, how = getattr(error, "__notes__", []), KeptReleaseError.how
    notes[:] = [note.replace(how(kept), how(kept, booked_in)) for note in notes]
    return error
