"""The key under which columns of confidential tables are recognised again.

It is in a file beside the ledger, mode 0600. A holder of the key and a digest could test candidate
tables, so neither is ever shown, exported or sent anywhere but to the processes that read the data.
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
"""Layout after the secret in the file: the highest event seen, twice. Older keys have none."""


@dataclass(frozen=True, kw_only=True)
class ColumnKey:
    """A secret in parts: for labels, to finish columns, to name the key, for the ledger's chain."""

    secret: bytes = field(repr=False)

    @property
    def labels(self) -> bytes:
        """Key with which labels of a column are hashed; the only part that readers get."""
        return self._part(b"labels")

    @property
    def name(self) -> str:
        """Public name that distinguishes this key from others and reveals nothing of it."""
        return self._part(b"name").hex()[:32]

    def finished(self, sums: Mapping[str, int]) -> dict[str, str]:
        """Return the digest of each column from the sum of its labels.

        Privacy: sums of two tables that differ in one record would reveal that record's hash by
        subtraction; their second HMAC does not.
        """
        part = self._part(b"columns")
        return {
            column: hmac.digest(part, total.to_bytes(32, "big") + column.encode(), "sha256").hex()
            for column, total in sums.items()
        }

    def chained(self, head: str) -> str:
        """Return the keyed digest of the head of the ledger's chain, as certificates carry it.

        Privacy: a pseudo-random function of the digest of public events; it reveals nothing without
        the key.
        """
        return hmac.digest(self._part(b"chain"), head.encode(), "sha256").hex()

    def seal_mark(self, content: bytes) -> bytes:
        """Return the HMAC of the highest event that was seen."""
        return hmac.digest(self._part(b"mark"), content, "sha256")

    def _part(self, label: bytes) -> bytes:
        return hmac.digest(self.secret, label, "sha256")


def key_path(ledger: Path) -> Path:
    """Return the path of a ledger's key."""
    return file_beside(ledger, ".key")


def read_key(ledger: Path) -> ColumnKey:
    """Return the key of a ledger, created at first use."""
    path = key_path(ledger)
    try:
        if not path.exists():
            _make(path)
        if os.name == "posix" and path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
            raise LedgerError(
                "Every user of this computer may read or change the ledger's key.",
                where=str(path),
                do="Remove that right with: chmod o-rw FILE",
            )
        secret = path.read_bytes()
    except OSError as error:
        raise LedgerError(
            "The ledger's key cannot be read or created:"
            f" {(error.strerror or 'no access').lower()}.",
            where=str(path),
            do="Ask its owner for the same rights as on the ledger: a publisher needs both.",
        ) from error
    if len(secret) < KEY_BYTES:
        raise LedgerError(
            "The ledger's key is damaged.",
            where=str(path),
            do=(
                "Put a backup in its place. If there is none, remove it and run: hedgerow ledger"
                " new-key --reason TEXT"
            ),
        )
    return ColumnKey(secret=secret[:KEY_BYTES])


def _make(path: Path) -> None:
    """Create a key; it appears under its name complete or not at all."""
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
