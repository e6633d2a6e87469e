"""Compare releases with the ledger that booked them, to detect a ledger that was rolled back."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hedgerow.errors import HedgerowError, ReleaseError
from hedgerow.ledger.key import ColumnKey
from hedgerow.ledger.ledger import Entry, Ledger
from hedgerow.ledger.mark import read_key_file
from hedgerow.model.certificate import LedgerEntry
from hedgerow.release.folder import load_certificate
from hedgerow.release.leftovers import CERTIFICATE

BookingVerdict = Literal["on the ledger", "not on the ledger", "not booked", "unreadable"]


@dataclass(frozen=True, kw_only=True)
class ComparedRelease:
    """A release folder and the result of the search for its booking on the ledger."""

    folder: Path
    verdict: BookingVerdict
    why: str

    @property
    def passed(self) -> bool:
        """True if nothing contradicts the ledger."""
        return self.verdict in ("on the ledger", "not booked")

    def as_dict(self) -> dict[str, object]:
        """Return the comparison for JSON."""
        return {"folder": str(self.folder), "verdict": self.verdict, "why": self.why}


def compared(ledger: Ledger, folders: Iterable[Path]) -> tuple[ComparedRelease, ...]:
    """Return the comparison of each release with the ledger, whose chain is checked first.

    Each folder is a release or contains releases. A certificate is on the ledger if its keyed
    digest equals that of the chain at its entry, or if the ledger has the digest of the
    certificate itself; only the latter exists for releases of earlier versions, and for those made
    before the key was replaced.
    """
    heads = ledger.heads()
    entries = {entry.id: entry for account in ledger.accounts() for entry in account.entries}
    found = [release for folder in folders for release in _releases(folder)]
    return tuple(_compared(ledger, release, heads, entries) for release in found)


def _releases(folder: Path) -> list[Path]:
    if (folder / CERTIFICATE).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{CERTIFICATE}"))
    if not found:
        raise ReleaseError(
            "No release is in this folder.",
            where=str(folder),
            do="Give release folders, or a folder that contains some.",
        )
    return found


def _compared(
    ledger: Ledger, folder: Path, heads: dict[int, str], entries: dict[int, Entry]
) -> ComparedRelease:
    try:
        certificate = load_certificate(folder)
        digest = hashlib.sha256((folder / CERTIFICATE).read_bytes()).hexdigest()
    except (HedgerowError, OSError) as error:
        why = error.what if isinstance(error, HedgerowError) else "the certificate cannot be read"
        return ComparedRelease(folder=folder, verdict="unreadable", why=why)
    line = certificate.ledger
    if line is None:
        why = "its certificate names no booking"
        return ComparedRelease(folder=folder, verdict="not booked", why=why)
    entry = entries.get(line.entry) if isinstance(line.entry, int) else None
    difference = _difference(line, entry, heads, key_of(ledger), digest)
    if difference is not None:
        return ComparedRelease(folder=folder, verdict="not on the ledger", why=difference)
    return ComparedRelease(folder=folder, verdict="on the ledger", why=f"entry {line.entry}")


def key_of(ledger: Ledger) -> ColumnKey | None:
    """Return the key beside a ledger, or ``None``; no key is created."""
    held = read_key_file(ledger.path)
    return None if held is None else held.key


def _difference(
    line: LedgerEntry,
    entry: Entry | None,
    heads: dict[int, str],
    key: ColumnKey | None,
    digest: str,
) -> str | None:
    """Return the reason why a certificate is not on the ledger, or ``None`` if it is."""
    if entry is None:
        return f"the ledger has no entry {line.entry}"
    if entry.release_digest == digest:
        return None
    if line.chain is None:
        if entry.release_digest is None:
            return f"entry {entry.id} names no release, and the certificate has no chain"
        return f"entry {entry.id} belongs to another release"
    if key is None:
        return "the key to compare the certificate's chain with is not beside the ledger"
    if not hmac.compare_digest(key.chained(heads[entry.id]), line.chain):
        return f"entry {entry.id} is not the one that this certificate was booked as"
    if entry.release_digest is not None:
        return f"entry {entry.id} names another certificate: this one was modified"
    return None
