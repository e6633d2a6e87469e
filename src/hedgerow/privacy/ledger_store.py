"""The ledger's file: an SQLite database with one append-only chain of events.

Every event carries the SHA-256 digest of its text and of the digest before it, and a
second table holds the length and the last digest. So an event that was changed, taken
out or cut off shows at the next reading, and every reading checks the whole chain.

A connection lives for one reading or one booking. Nothing is shared between processes
or threads but the file, and between bookings the file is complete in itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hedgerow.errors import LedgerError

SCHEMA_VERSION = 2
"""Format 2 knows delta. A ledger of format 1 is read as it is, with delta 0 throughout, and
becomes format 2 with its next event, so that no older hedgerow adds to it and forgets delta."""

_READABLE = (1, SCHEMA_VERSION)

_APPLICATION_ID = 0x48656467  # "Hedg", in the header of the file
_GENESIS = hashlib.sha256(b"hedgerow ledger").hexdigest()
_RETRY_SECONDS = 0.01
_SCHEMA = f"""
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    events INTEGER NOT NULL,
    digest TEXT NOT NULL
);
INSERT INTO head VALUES (1, 0, '{_GENESIS}');
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""  # noqa: S608 (nothing in it comes from outside)

RECOVER = (
    "Put a backup in its place, then book what was spent since with"
    " 'hedgerow ledger spend'. Publish nothing from its data sets before that."
)
"""What to do when a ledger cannot be trusted."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the chain; ``body`` is the text that the digest covers."""

    seq: int
    body: str
    digest: str

    @property
    def fields(self) -> dict[str, Any]:
        """What the event says."""
        fields: dict[str, Any] = json.loads(self.body)
        return fields


class BookingDraft:
    """The chain as it stands while its file is locked for writing."""

    def __init__(self, connection: sqlite3.Connection, events: list[Event]) -> None:
        self.events = events
        self._connection = connection

    def append(self, kind: str, **fields: str | None) -> Event:
        """Add an event to the chain; it counts once the draft is committed."""
        previous = self.events[-1].digest if self.events else _GENESIS
        seq = len(self.events) + 1
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        body = json.dumps({"seq": seq, "kind": kind, "at": stamp, **fields})
        event = Event(seq=seq, body=body, digest=_digest(previous, body))
        self._connection.execute("INSERT INTO events VALUES (?, ?, ?)", (seq, body, event.digest))
        self._connection.execute("UPDATE head SET events = ?, digest = ?", (seq, event.digest))
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self.events.append(event)
        return event


class LedgerStore:
    """A checked chain of events in one file, safe between processes.

    ``timeout`` is how many seconds to wait for another process that is writing.
    """

    def __init__(self, path: Path, *, create: bool, timeout: float) -> None:
        self.path = path
        self.timeout = timeout
        with self._explained():
            if create and not os.path.lexists(path):
                _create(path)
            with self._transaction("BEGIN") as connection:
                damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if damage != "ok":
                    raise self._broken("its pages are damaged")

    def events(self) -> list[Event]:
        """Return the whole chain, checked, as it stands at one moment."""
        with self._explained(), self._transaction("BEGIN") as connection:
            return self._chain(connection)

    @contextmanager
    def writing(self) -> Iterator[BookingDraft]:
        """Lock the ledger, yield its chain, and commit what was appended to the disk.

        If the body raises, nothing was appended. When this returns, it is durable.
        """
        with self._explained(), self._transaction("BEGIN IMMEDIATE") as connection:
            yield BookingDraft(connection, self._chain(connection))

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with closing(self._begun(begin)) as connection:
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def _begun(self, begin: str) -> sqlite3.Connection:
        """Return a connection inside a transaction, once no other process is in the way.

        SQLite waits for a writer by itself, but not for a process that is just opening
        or closing the file; that is over in a moment, so ask again.
        """
        deadline = time.monotonic() + self.timeout
        while True:
            connection = self._connected()
            try:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute(begin)
                self._check_kind(connection)
            except BaseException as error:
                connection.close()
                if not _is_busy(error) or time.monotonic() >= deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return connection

    def _connected(self) -> sqlite3.Connection:
        if not self.path.exists():
            raise LedgerError(
                "there is no ledger here",
                where=str(self.path),
                do="Name another file with --ledger or HEDGEROW_LEDGER. The first release"
                " from a plan with 'ledger:' makes the file.",
            )
        if not self.path.is_file():
            raise self._foreign("this is not a file")
        if self.path.stat().st_size == 0:
            # A new ledger appears complete, so this is one that was cut off. SQLite would
            # take it for a new database, and everything spent would be forgotten.
            raise self._foreign("this file is empty")
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        return sqlite3.connect(address, uri=True, timeout=self.timeout, isolation_level=None)

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
            raise self._foreign("this database is not a hedgerow ledger")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in _READABLE:
            raise LedgerError(
                f"this ledger has format {version}, this hedgerow knows {SCHEMA_VERSION}",
                where=str(self.path),
                do="Use the version of hedgerow that made it, or a newer one.",
            )

    def _chain(self, connection: sqlite3.Connection) -> list[Event]:
        rows = connection.execute("SELECT seq, body, digest FROM events ORDER BY seq").fetchall()
        head = connection.execute("SELECT events, digest FROM head").fetchall()
        previous = _GENESIS
        events = []
        for place, (seq, body, digest) in enumerate(rows, start=1):
            if seq != place or not isinstance(body, str) or digest != _digest(previous, body):
                raise self._broken(f"event {place} was changed or taken out")
            events.append(Event(seq=seq, body=body, digest=digest))
            previous = digest
        if head != [(len(events), previous)]:
            raise self._broken("events at its end were cut off or added by other means")
        return events

    def _broken(self, how: str) -> LedgerError:
        return LedgerError(f"the ledger cannot be trusted: {how}", where=str(self.path), do=RECOVER)

    def _foreign(self, what: str) -> LedgerError:
        return LedgerError(
            what,
            where=str(self.path),
            do="Name the ledger with --ledger or HEDGEROW_LEDGER. If this file was the"
            f" ledger: {RECOVER[0].lower()}{RECOVER[1:]}",
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what SQLite or the system says into one message of what to do."""
        try:
            yield
        except OSError as error:
            raise LedgerError(
                f"the ledger cannot be opened: {error.strerror or 'input or output failed'}",
                where=str(self.path),
                do="Give a folder that you may write to, with --ledger or HEDGEROW_LEDGER.",
            ) from error
        except UnicodeDecodeError as error:  # SQLite quotes a damaged file's own words
            raise self._foreign("this file is damaged or not a ledger") from error
        except sqlite3.Error as error:
            raise self._explanation(error) from error

    def _explanation(self, error: sqlite3.Error) -> LedgerError:
        code = _code(error)
        if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
            return self._foreign("this file is damaged or not a ledger")
        if code == sqlite3.SQLITE_ERROR:
            return self._broken("a part of it is missing")
        what, do = {
            sqlite3.SQLITE_BUSY: (
                f"another process has kept the ledger locked for {self.timeout:g} seconds",
                "Wait for it to end, or end it, and try again.",
            ),
            sqlite3.SQLITE_FULL: (
                "the disk is full, nothing was booked",
                "Make room and try again.",
            ),
            sqlite3.SQLITE_READONLY: (
                "the ledger or its folder cannot be written",
                "Ask for write permission on the file and its folder.",
            ),
        }.get(
            code,
            (
                "the ledger cannot be read or written",
                "See that the disk has room and that you may write to the file and its"
                " folder; a ledger belongs on a local disk.",
            ),
        )
        return LedgerError(what, where=str(self.path), do=do)


def _digest(previous: str, body: str) -> str:
    return hashlib.sha256(f"{previous}\n{body}".encode()).hexdigest()


def _code(error: BaseException) -> int:
    # The low byte is the kind of error, the others say where in SQLite it arose.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.Error) and _code(error) == sqlite3.SQLITE_BUSY


def _create(path: Path) -> None:
    """Make a ledger without events; it appears under its name complete or not at all."""
    _make_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    os.close(handle)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        _place(Path(name), path)
    finally:
        Path(name).unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)


def _place(made: Path, path: Path) -> None:
    """Give ``made`` the name ``path``, unless another process was faster."""
    try:
        path.hardlink_to(made)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        _copy(made, path)
    _sync_folder(path.parent)


def _copy(made: Path, path: Path) -> None:
    """Copy ``made`` to ``path`` unless that exists; not safe from a crash half-way."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(made.read_bytes())
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where folders can be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
