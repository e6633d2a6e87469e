"""The key under which the columns of confidential tables are recognised again.

It lies in a file of its own beside the ledger, mode 0600. Who has it and a digest could try
out tables, so neither is ever shown, exported or sent anywhere but to those who read the data.
The same file keeps the highest event of the ledger that was seen (see `mark`).
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hedgerow.errors import LedgerError
from hedgerow.ledger.file import file_beside, make_folder, place

KEY_BYTES = 32
SLOTS, SLOT_BYTES = 2, 72
"""What follows the secret in the file: the highest event seen, twice. Older keys have none."""


@dataclass(frozen=True, kw_only=True)
class ColumnKey:
    """A secret in parts: for labels, to finish columns, to name the key, for the ledger's chain."""

    secret: bytes = field(repr=False)

    @property
    def labels(self) -> bytes:
        """What every label of a column is hashed with; the only part that readers get."""
        return self._part(b"labels")

    @property
    def name(self) -> str:
        """What tells this key from others, and tells nothing of it."""
        return self._part(b"name").hex()[:32]

    def finished(self, sums: Mapping[str, int]) -> dict[str, str]:
        """Return the digest of each column from the sum of its labels.

        Privacy: sums of two tables that differ in one record would give away that record's hash
        by subtraction; what a second HMAC made of them does not.
        """
        part = self._part(b"columns")
        return {
            column: hmac.digest(part, total.to_bytes(32, "big") + column.encode(), "sha256").hex()
            for column, total in sums.items()
        }

    def chained(self, head: str) -> str:
        """Return the keyed digest of the head of the ledger's chain, as certificates carry it.

        Privacy: a pseudo-random function of the digest of public events; it says nothing of them
        to anybody without the key.
        """
        return hmac.digest(self._part(b"chain"), head.encode(), "sha256").hex()

    def seal_mark(self, said: bytes) -> bytes:
        """Return the HMAC that goes with the highest event that was seen."""
        return hmac.digest(self._part(b"mark"), said, "sha256")

    def _part(self, label: bytes) -> bytes:
        return hmac.digest(self.secret, label, "sha256")


def key_path(ledger: Path) -> Path:
    """Return where the key of a ledger is."""
    return file_beside(ledger, ".key")


def read_key(ledger: Path) -> ColumnKey:
    """Return the key of a ledger, made at first use."""
    path = key_path(ledger)
    try:
        if not path.exists():
            _make(path)
        if os.name == "posix" and path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
            raise LedgerError(
                "everybody on this computer may read or change the ledger's key",
                where=str(path),
                do="Take that right away from others with: chmod o-rw FILE",
            )
        secret = path.read_bytes()
    except OSError as error:
        raise LedgerError(
            f"the ledger's key cannot be read or made: {(error.strerror or 'no access').lower()}",
            where=str(path),
            do="Ask its owner for the same rights as on the ledger: who publishes needs both.",
        ) from error
    if len(secret) < KEY_BYTES:
        raise LedgerError(
            "the ledger's key is damaged",
            where=str(path),
            do="Put a backup in its place. Where there is none, remove it and run:"
            " hedgerow ledger new-key --reason TEXT",
        )
    return ColumnKey(secret=secret[:KEY_BYTES])


def _make(path: Path) -> None:
    """Make a key; it appears under its name complete or not at all."""
    make_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES) + bytes(SLOTS * SLOT_BYTES))
            file.flush()
            os.fsync(file.fileno())
        place(Path(name), path)
    finally:
        Path(name).unlink(missing_ok=True)
