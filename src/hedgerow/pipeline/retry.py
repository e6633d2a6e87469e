"""The same run once more: answered by the release that is in place, at no cost.

A script that lost sight of a run repeats it, and would spend twice. So a run is known again
by its destination: the release there was made by a plan of the same fingerprint and with the
same options, this ledger has it as ``released`` under the digest of its certificate, and all its
files are as the certificate says.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.errors import HedgerowError, KeptReleaseError
from hedgerow.ledger.ledger import Entry, Ledger
from hedgerow.model.certificate import Certificate
from hedgerow.pipeline.prepare import Prepared
from hedgerow.plan.load import plan_digest
from hedgerow.release.baskets import BasketRelease
from hedgerow.release.domains import certified_fingerprint
from hedgerow.release.folder import PARQUET, load_certificate
from hedgerow.release.leftovers import CERTIFICATE, recoverable
from hedgerow.release.release import RECORDS, Release
from hedgerow.release.sequences import SequenceRelease
from hedgerow.release.verify import check_intact


@dataclass(frozen=True, kw_only=True)
class RunAsked:
    """What a run was asked for, as far as it tells one release from another."""

    ready: Prepared
    data: Any
    out: Path
    engine: str
    records: bool
    parquet: bool

    def made(self, certificate: Certificate) -> bool:
        """Whether a release with this certificate is what was asked for."""
        same = certified_fingerprint(certificate) == self.ready.fingerprint()
        records = self.ready.has_items or self.records == (RECORDS in certificate.files)
        parquet = self.parquet == (PARQUET in certificate.files)
        engine = self.engine == certificate.engine
        own = "rests-on" in certificate.method.details  # a function that nothing recognises
        known = same and not own
        return known and records and parquet and engine and certificate.guarantee.private

    def own_data(self) -> bool:
        """Whether the data are the plan's own: nothing tells which others were released."""
        plan = self.ready.plan
        if self.data is None:
            return True
        if not isinstance(self.data, str | os.PathLike) or not isinstance(plan.data, str):
            return False
        return Path(self.data).absolute() == plan.resolve(plan.data).absolute()


def release_in_place(asked: RunAsked) -> Release | BasketRelease | SequenceRelease | None:
    """Return the release of this very run, if it is in its place and booked as released."""
    with suppress(HedgerowError, OSError):  # whatever is wrong with it, it is not the answer
        if asked.out.is_symlink() or not (asked.out / CERTIFICATE).is_file():
            return None
        if not asked.own_data():
            return None
        certificate = load_certificate(asked.out)
        if not asked.made(certificate) or not _is_released(asked, certificate):
            return None
        check_intact(asked.out)
        if not asked.ready.has_items:
            return Release.load(asked.out)
        kind = SequenceRelease if asked.ready.is_ordered else BasketRelease
        return kind.load(asked.out)
    return None


def check_nothing_waits(asked: RunAsked) -> None:
    """Refuse to spend where this run's release is complete and only lacks its name."""
    for folder in recoverable(asked.out.absolute()):
        if _waits(asked, folder):
            raise KeptReleaseError(
                "a release of an earlier run of this plan is complete, and has not got its name",
                where=str(asked.out),
                kept=str(folder),
                ledger=_told(_ledger_file(asked)),
            )


def _waits(asked: RunAsked, folder: Path) -> bool:
    with suppress(HedgerowError, OSError):
        certificate = load_certificate(folder)
        if certificate.plan_sha256 == plan_digest(asked.ready.plan):
            entry = booked_entry(certificate, _ledger(asked))
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
    """Return what the ledger calls the release of a folder."""
    return hashlib.sha256((folder / CERTIFICATE).read_bytes()).hexdigest()


def _is_released(asked: RunAsked, certificate: Certificate) -> bool:
    entry = booked_entry(certificate, _ledger(asked))
    if entry is None or entry.state != "released":
        return False
    return entry.release_digest == certificate_digest(asked.out)


def _ledger(asked: RunAsked) -> Ledger:
    return Ledger(_ledger_file(asked), create=False)


def _ledger_file(asked: RunAsked) -> Path | None:
    """Return the plan's own ledger, if it has one."""
    plan = asked.ready.plan
    file = None if plan.ledger is None else plan.ledger.file
    return None if file is None else plan.resolve(file)


def _told(file: Path | None) -> str | None:
    return None if file is None else str(file.absolute())


def say_where_booked(error: BaseException, kept: str, ledger: Path | None) -> BaseException:
    """Return an error about a kept release that also names the plan's own ledger, if any."""
    booked_in = _told(ledger)
    if isinstance(error, KeptReleaseError):
        return KeptReleaseError(error.what, where=error.where, kept=kept, ledger=booked_in)
    notes, how = getattr(error, "__notes__", []), KeptReleaseError.how
    notes[:] = [note.replace(how(kept), how(kept, booked_in)) for note in notes]
    return error
