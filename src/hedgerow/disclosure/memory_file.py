"""The file that remembers what was given to whom: an append-only chain of events in SQLite.

Every event has a keyed digest of its text, of the forms it came with and of the digest before it;
a second table holds their number and the last digest. An event that was changed, taken out or cut
off shows. The key lies in the same file: it keeps keys of records from being read by the way, and
mistakes from passing, but no thief of the file. Everything here is confidential; the file has mode
0600.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hedgerow.errors import ReleaseError
from hedgerow.ledger.file import create

_APPLICATION_ID = 0x48676976  # "Hgiv", in the header of the file
_FORMAT = 1
_SECONDS = 30.0
"""How long to wait for another process that is writing."""

_RECOVER = (
    "Put a backup in its place. What was given since then must be counted too: give out nothing"
    " to its recipients before that."
)

_STRANGERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MemoryEvent:
    """One event: its number, what it says, and the forms that came with it, packed."""

    number: int
    fields: dict[str, Any]
    forms: bytes


class MemoryFile:
    """The chain of events in one file; a connection lives for one reading or one writing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether there is such a file."""
        return os.path.lexists(self.path)

    def make(self) -> None:
        """Make a file without events, which appears complete or not at all."""
        with self._told():
            create(self.path, _script(secrets.token_bytes(32)))

    def read(self) -> tuple[bytes, list[MemoryEvent]]:
        """Return the key for records, and all events, checked."""
        with self._opened("BEGIN") as connection:
            stored, events, _ = self._checked(connection)
        return hmac.digest(stored, b"records", "sha256"), events

    def append(
        self,
        fields: dict[str, Any],
        forms: bytes,
        *,
        check: Callable[[list[MemoryEvent]], None] | None = None,
    ) -> int:
        """Add an event, on the disk when this returns, and return its number.

        ``check`` is asked about the events so far, with the file locked, and may refuse.
        """
        with self._opened("BEGIN IMMEDIATE") as connection:
            stored, events, last = self._checked(connection)
            if check is not None:
                check(events)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            body = json.dumps({"at": now, **fields}, ensure_ascii=False, sort_keys=True)
            digest = _digest(stored, last, body, forms)
            number = len(events) + 1
            row = (number, body, forms, digest)
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
            connection.execute("UPDATE head SET events = ?, digest = ?", (number, digest))
        return number

    def _checked(self, connection: sqlite3.Connection) -> tuple[bytes, list[MemoryEvent], str]:
        """Return key, events and last digest, or refuse a file that is not as it was written."""
        n_events, last, key = connection.execute("SELECT events, digest, key FROM head").fetchone()
        if not isinstance(key, bytes) or len(key) != 32:
            raise self._broken("its key is damaged")
        found, previous = [], ""
        rows = connection.execute("SELECT number, body, forms, digest FROM events ORDER BY number")
        for place, (number, body, forms, digest) in enumerate(rows, start=1):
            texts = isinstance(body, str) and isinstance(forms, bytes)
            if number != place or not texts or digest != _digest(key, previous, body, forms):
                raise self._broken(f"event {place} was changed or taken out")
            found.append(MemoryEvent(number=number, fields=json.loads(body), forms=forms))
            previous = digest
        if len(found) != n_events or previous != last:
            raise self._broken("events at its end were cut off or added by other means")
        return key, found, previous

    @contextmanager
    def _opened(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._told():
            self._check_place()
            address = f"{self.path.absolute().as_uri()}?mode=rw"
            opened = sqlite3.connect(address, uri=True, timeout=_SECONDS, isolation_level=None)
            with closing(opened) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute(begin)
                self._check_kind(connection)
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                    raise

    def _check_place(self) -> None:
        if not self.path.is_file() or not self.path.stat().st_size:
            raise self._broken("it is empty or not a file")
        if os.name == "posix" and self.path.stat().st_mode & _STRANGERS:
            raise ReleaseError(
                "others on this computer may read or change what is remembered",
                where=str(self.path),
                do="Take that right away from them with: chmod 600 FILE",
            )

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        kind, made = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        if kind != _APPLICATION_ID:
            raise self._broken("it is a database of something else")
        if made != _FORMAT:
            raise ReleaseError(
                f"this file has format {made}, this hedgerow knows {_FORMAT}",
                where=str(self.path),
                do="Use the version of hedgerow that made it, or a newer one.",
            )

    def _broken(self, how: str) -> ReleaseError:
        return ReleaseError(
            f"what was given to whom cannot be trusted: {how}", where=str(self.path), do=_RECOVER
        )

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise ReleaseError(
                    "another process has been writing there for too long",
                    where=str(self.path),
                    do="Wait until it has ended, and try again.",
                ) from None
            raise self._broken("it is damaged, or no database") from None
        except OSError as error:
            raise ReleaseError(
                f"what was given cannot be remembered: {(error.strerror or 'no access').lower()}",
                where=str(self.path),
                do="Name a file in a folder that you may write to: 'disclose: {memory: FILE}'.",
            ) from error


def _digest(key: bytes, previous: str, body: str, forms: bytes) -> str:
    content = f"{previous}\n{body}\n{hashlib.sha256(forms).hexdigest()}"
    return hmac.digest(hmac.digest(key, b"chain", "sha256"), content.encode(), "sha256").hex()


def _script(key: bytes) -> str:
    return f"""
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    forms BLOB NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    events INTEGER NOT NULL,
    digest TEXT NOT NULL,
    key BLOB NOT NULL
);
INSERT INTO head VALUES (1, 0, '', x'{key.hex()}');
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'what was given only grows'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'what was given only grows'); END;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_FORMAT};
"""  # noqa: S608 (nothing in it comes from outside)
