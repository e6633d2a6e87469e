"""The ledger's file: an SQLite database with one append-only chain of events.

Every event carries the SHA-256 digest of its text and of the digest before it, and names the
digest of the state (caps and sums) that it leaves behind. A second table holds the length and
the last digest, a third the state. So an event that was changed, taken out or cut off shows.
A booking checks the end of the chain, the whole state, and a part of the chain that moves on
from booking to booking: that takes as long after ten releases as after ten thousand. What
shows the ledger to people checks all of it, and so does everyone who finds that a run was killed.

A connection lives for one reading or one booking. Nothing is shared between processes
or threads but the file. Between bookings that is complete in itself: there is no journal.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hedgerow.errors import LedgerError
from hedgerow.ledger.disk import check_disk
from hedgerow.ledger.errors import (
    broken,
    damaged_key,
    explained,
    foreign,
    is_busy,
    no_locks,
    rolled_back,
)
from hedgerow.ledger.file import (
    check_old_log,
    check_private,
    create,
    interrupted,
    locks_work,
    make_folder,
)
from hedgerow.ledger.mark import (
    HighestEvent,
    KeyFile,
    raise_mark,
    read_key_file,
    replace_mark,
)
from hedgerow.ledger.state import State, played

SCHEMA_VERSION = 4
"""Format 2 knew delta, format 3 keeps the state beside the chain, format 4 knows neighbours,
accounts of people and covers. A ledger of an earlier format is read as it is and becomes format 4
with its next event, so that no older hedgerow adds to it."""

_READABLE = (1, 2, 3, SCHEMA_VERSION)
_WITH_STATE = 3
"""The first format that keeps the state beside the chain, as all later ones do."""

_APPLICATION_ID = 0x48656467  # "Hedg", in the header of the file
_GENESIS = hashlib.sha256(b"hedgerow ledger").hexdigest()
_RETRY_SECONDS = 0.01
_PATIENCE = 1.0
"""Seconds after which a lock that is not given is looked into."""

_MARKED = "marked"
"""In the table of what was seen: the key file keeps the highest event of the ledger."""

_NO_KEY = (
    "The key file is missing or cannot be read: an older copy of the ledger would not be noticed."
    " Put it back; if it is lost: hedgerow ledger new-key --why WHY"
)

_END, _PART = 16, 64
"""The number of events that are checked at the end of the chain, and elsewhere at a booking."""

_CHAIN = f"""
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
"""  # noqa: S608 (nothing in it comes from outside)
_BESIDE = (
    "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE ends (entry INTEGER PRIMARY KEY, seq INTEGER NOT NULL)",
    "CREATE TABLE seen (tab INTEGER NOT NULL, dataset TEXT NOT NULL, name TEXT NOT NULL,"
    " digest TEXT NOT NULL, PRIMARY KEY (tab, name)) WITHOUT ROWID",
    "CREATE INDEX seen_digests ON seen (digest)",
    "CREATE INDEX seen_datasets ON seen (dataset)",
)
_NUMBERED = f"PRAGMA user_version = {SCHEMA_VERSION}"
_SCHEMA = _CHAIN + "".join(f"{statement};\n" for statement in (*_BESIDE, _NUMBERED))


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the chain; ``body`` is the text that the digest covers."""

    seq: int
    body: str
    digest: str

    @property
    def fields(self) -> dict[str, Any]:
        """What the event says."""
        fields = json.loads(self.body)
        if not isinstance(fields, dict):
            raise ValueError("an event is no mapping")
        return fields


class BookingDraft:
    """The ledger as it stands at one moment; while its file is locked, events can be added."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._path = path
        found = connection.execute("SELECT events, digest FROM head").fetchall()
        whole = len(found) == 1 and isinstance(found[0][0], int)
        self.n_events: int = found[0][0] if whole else -1
        self.last_digest: str = found[0][1] if whole else ""
        self.state = State()

    def check_all(self) -> list[Event]:
        """Return the whole chain, after checking it, the state and the pages of the file."""
        damage = self.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise broken(self._path, "its pages are damaged")
        events = self._link(0, self.n_events)
        if self._count() != self.n_events:
            raise self._cut()
        self.state, ends = self._played(events)
        if self._is_old():
            return events
        stored = dict(self.connection.execute("SELECT entry, seq FROM ends").fetchall())
        if self._stored().rows != self.state.rows or stored != ends:
            raise broken(self._path, "its sums are not those of its events")
        self._check_state(events[-1:])
        return events

    def check_end(self) -> None:
        """Check the state and the end of the chain."""
        if self._is_old():
            self.check_all()
            return
        self.state = self._stored()
        self._check_state(self._link(max(self.n_events - _END, 0), self.n_events))
        last = self.connection.execute("SELECT max(seq) FROM events").fetchone()[0] or 0
        if last != self.n_events:
            raise self._cut()

    def check_part(self) -> None:
        """Check one part of the chain, another with every event."""
        n_parts = -(-self.n_events // _PART)
        if n_parts:
            start = chosen_part(self.last_digest, n_parts) * _PART
            self._link(start, min(start + _PART, self.n_events))

    def event(self, seq: int) -> Event | None:
        """Return one event, checked against the digest before it."""
        return self._link(seq - 1, seq)[0] if 1 <= seq <= self.n_events else None

    def end_of(self, entry: int) -> Event | None:
        """Return the event that ended a booking, if it has ended."""
        found = self.connection.execute("SELECT seq FROM ends WHERE entry = ?", (entry,))
        row = found.fetchone()
        return None if row is None else self.event(row[0])

    def append(self, kind: str, **fields: str | None) -> Event:
        """Add an event to the chain; it counts once the draft is committed."""
        seq = self.n_events + 1
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        said = {"seq": seq, "kind": kind, "at": stamp, **fields}
        self.state.play(said)
        body = json.dumps({**said, "state": self.state.digest()})
        event = Event(seq=seq, body=body, digest=_digest(self.last_digest, body))
        run = self.connection.execute
        run("INSERT INTO events VALUES (?, ?, ?)", (seq, body, event.digest))
        run("UPDATE head SET events = ?, digest = ?", (seq, event.digest))
        if "entry" in fields:
            run("INSERT INTO ends VALUES (?, ?)", (int(fields["entry"] or 0), seq))
        self._write_state()
        self.n_events, self.last_digest = seq, event.digest
        return event

    def misses_mark(self, held: KeyFile) -> bool:
        """Return whether the ledger says that its key file has a mark, and this one has none."""
        if held.key is None:
            return _MARKED in self._keys().values()
        marked = self._keys().get(held.key.name) == _MARKED
        return marked and not (held.complete and held.mark)

    def check_mark(self, held: KeyFile) -> None:
        """Refuse a ledger that is older than the highest event that its key file has seen."""
        if self.misses_mark(held):
            raise damaged_key(self._path)
        names = self._keys()
        if held.key is None:
            return
        if names and held.key.name not in names:
            return  # the key of another ledger, or of before a new one: it has not seen this chain
        if held.mark is None:
            return
        if held.mark.events > self.n_events:
            raise rolled_back(
                self._path,
                f"it has {self.n_events} events, and its key has seen {held.mark.events}",
            )
        if held.mark.events and self._digest_at(held.mark.events) != held.mark.digest:
            raise rolled_back(
                self._path, f"event {held.mark.events} is not the one that its key has seen"
            )

    def keep_mark(self, held: KeyFile) -> None:
        """Write down that the key file keeps the highest event: one without it was cut off."""
        if held.key is None or self._is_old():
            return
        names = self._keys()
        if not names or names.get(held.key.name) == "":
            self.connection.execute("DELETE FROM seen WHERE tab = 0 AND name = ?", (held.key.name,))
            row = (0, "", held.key.name, _MARKED)
            self.connection.execute("INSERT INTO seen VALUES (?, ?, ?, ?)", row)

    def key_notes(self, held: KeyFile | None) -> list[str]:
        """Return what a person should know of the key file."""
        names = self._keys()
        if held is None or held.key is None:
            return [_NO_KEY] if names else []
        if not self.is_own(held):
            return ["The key beside the ledger is not the one that its tables were recognised by."]
        if held.mark is None:
            return ["The key file does not hold the highest event yet; the next event writes it."]
        behind = self.n_events - held.mark.events
        if behind <= 1:  # a run that was killed leaves one
            return []
        return [
            f"The key file has seen {held.mark.events} of {self.n_events} events: an older copy of"
            " it was put in its place, or others book who may not write it."
        ]

    def is_own(self, held: KeyFile) -> bool:
        """Return whether the ledger knows the key, or none yet."""
        names = self._keys()
        return held.key is not None and (not names or held.key.name in names)

    def _keys(self) -> dict[str, str]:
        """Return the names of the keys that tables were recognised by, and whether each marks."""
        if self._is_old():
            return {}
        rows = self.connection.execute("SELECT name, digest FROM seen WHERE tab = 0")
        return dict(rows.fetchall())

    def _digest_at(self, seq: int) -> str:
        found = self.connection.execute("SELECT digest FROM events WHERE seq = ?", (seq,))
        row = found.fetchone()
        return "" if row is None else str(row[0])

    def modernise(self) -> None:
        """Make a ledger of an earlier format one of this; it is checked as a whole."""
        if self._version() == SCHEMA_VERSION:
            return
        events = self.check_all()
        if self._is_old():
            for statement in _BESIDE:
                self.connection.execute(statement)
            _, ends = self._played(events)
            self.connection.executemany("INSERT INTO ends VALUES (?, ?)", list(ends.items()))
            self.state.changed = set(self.state.rows)
        self.connection.execute(_NUMBERED)
        self.append("format", format=str(SCHEMA_VERSION))

    def _write_state(self) -> None:
        for key in sorted(self.state.changed):
            self.connection.execute("DELETE FROM state WHERE key = ?", (key,))
            if (row := self.state.rows.get(key)) is not None:
                self.connection.execute("INSERT INTO state VALUES (?, ?)", (key, row))
        self.state.changed.clear()

    def _is_old(self) -> bool:
        """Return whether the state is not kept: what it is follows from the events alone."""
        return self._version() < _WITH_STATE

    def _version(self) -> int:
        version: int = self.connection.execute("PRAGMA user_version").fetchone()[0]
        return version

    def _stored(self) -> State:
        rows = self.connection.execute("SELECT key, value FROM state").fetchall()
        if not all(isinstance(text, str) for row in rows for text in row):
            raise broken(self._path, "its sums are damaged")
        return State(dict(rows))

    def _check_state(self, end: list[Event]) -> None:
        with self.sensible():
            named = end[-1].fields.get("state") if end else None
        if end and named != self.state.digest():
            raise broken(self._path, "its sums are not those of its last event")
        if not end and self.state.rows:
            raise broken(self._path, "it has sums without an event")

    def _played(self, events: list[Event]) -> tuple[State, dict[int, int]]:
        """Return the state after all events, and which event ended each booking."""
        with self.sensible():
            told = [event.fields for event in events]
            return played(told), _ends(told)

    @contextmanager
    def sensible(self) -> Iterator[None]:
        """Refuse a ledger one of whose events cannot be understood."""
        try:
            yield
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
            # The chain fits, so whoever wrote this wrote all of it.
            raise broken(self._path, "an event makes no sense") from None

    def _link(self, start: int, end: int) -> list[Event]:
        """Return the events after ``start`` up to ``end``, each checked against the one before."""
        rows = self.connection.execute(
            "SELECT seq, body, digest FROM events WHERE seq >= ? AND seq <= ? ORDER BY seq",
            (start, end),
        ).fetchall()
        previous = _GENESIS
        if start:
            if not rows or rows[0][0] != start:
                raise broken(self._path, f"event {start} was taken out")
            previous = rows.pop(0)[2]
        events = []
        for place, (seq, body, digest) in enumerate(rows, start=start + 1):
            if seq != place or not isinstance(body, str) or digest != _digest(previous, body):
                raise broken(self._path, f"event {place} was changed or taken out")
            events.append(Event(seq=seq, body=body, digest=digest))
            previous = digest
        if len(events) != end - start or (end == self.n_events and previous != self.last_digest):
            raise self._cut()
        return events

    def _count(self) -> int:
        n_events: int = self.connection.execute("SELECT count(*) FROM events").fetchone()[0]
        return n_events

    def _cut(self) -> LedgerError:
        return broken(self._path, "events at its end were cut off or added by other means")


class LedgerStore:
    """A checked chain of events in one file, safe between processes.

    ``timeout`` is how many seconds to wait for another process that is writing. With ``restored``
    the highest event that the key file has seen is not looked at, and replaced at the next event.
    """

    def __init__(
        self, path: Path, *, create_missing: bool, timeout: float, restored: bool = False
    ) -> None:
        self.path = path
        self.timeout = timeout
        self._restored = restored
        with explained(path, timeout):
            check_disk(path)
            if create_missing and not os.path.lexists(path):
                make_folder(path.parent)
                if not locks_work(path.absolute().parent):
                    raise no_locks(path)
                create(path, _SCHEMA)
        with self.reading():
            pass

    def events(self) -> tuple[list[Event], State]:
        """Return the whole chain as it stands at one moment, and its state, all checked."""
        with explained(self.path, self.timeout), self._transaction("BEGIN") as draft:
            return draft.check_all(), draft.state

    def key_notes(self) -> list[str]:
        """Return what a person should know of the key file."""
        held = read_key_file(self.path)
        with self.reading() as draft:
            return draft.key_notes(held)

    @contextmanager
    def reading(self) -> Iterator[BookingDraft]:
        """Yield the ledger as it stands at one moment, its end checked."""
        with explained(self.path, self.timeout), self._transaction("BEGIN") as draft:
            yield draft

    @contextmanager
    def writing(self) -> Iterator[BookingDraft]:
        """Lock the ledger, yield it, and commit what was appended to the disk.

        If the body raises, nothing was appended. When this returns, it is durable. The key file
        gets to know events after they are: if that fails, the ledger is ahead of it.
        """
        with explained(self.path, self.timeout), self._transaction("BEGIN IMMEDIATE") as draft:
            own = self._kept_mark(draft)
            draft.modernise()
            draft.check_part()
            if own is not None:
                draft.keep_mark(own)
            yield draft
            end = HighestEvent(events=draft.n_events, digest=draft.last_digest)
        if self._restored:
            with explained(self.path, self.timeout), suppress(FileNotFoundError):
                replace_mark(self.path, end)
        elif own is not None:
            with suppress(OSError):
                raise_mark(self.path, end)

    def _kept_mark(self, draft: BookingDraft) -> KeyFile | None:
        """Return the key file, if it is the ledger's own and has seen all events so far."""
        held = read_key_file(self.path)
        if self._restored or held is None or not draft.is_own(held):
            return None
        last = HighestEvent(events=draft.n_events, digest=draft.last_digest)
        return held if raise_mark(self.path, last) else None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[BookingDraft]:
        self._check_place()
        was_interrupted = interrupted(self.path)
        check_old_log(self.path)
        # Before the ledger: whoever books in between makes it newer, never older than this.
        held = None if self._restored else read_key_file(self.path)
        with closing(self._begun(begin)) as connection:
            try:
                self._check_size(connection)
                draft = BookingDraft(self.path, connection)
                if was_interrupted:
                    draft.check_all()
                draft.check_end()
                if held is not None:
                    # A mark is on the disk before the ledger says so: one that was not there yet
                    # is by now, and the lock of this transaction keeps it from going on.
                    if draft.misses_mark(held):
                        held = read_key_file(self.path) or held
                    draft.check_mark(held)
                yield draft
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
                if begin != "BEGIN":
                    connection.execute("PRAGMA journal_mode = DELETE")
                # In full: the folder is synced when the journal is gone, or a power cut could
                # bring it back and take the last booking away.
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute(begin)
                self._check_kind(connection)
                connection.execute(f"PRAGMA busy_timeout = {round(self.timeout * 1000)}")
            except BaseException as error:
                connection.close()
                if not is_busy(error):
                    raise
                if not locks_work(self.path.absolute().parent):
                    raise no_locks(self.path) from error
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return connection

    def _check_place(self) -> None:
        if not self.path.exists():
            raise LedgerError(
                "there is no ledger here",
                where=str(self.path),
                do="Name another file with --ledger or HEDGEROW_LEDGER. The first release"
                " from a plan with 'ledger:' makes the file.",
            )
        if not self.path.is_file():
            raise foreign(self.path, "this is not a file")
        if self.path.stat().st_size == 0:
            # A new ledger appears complete, so this is one that was cut off. SQLite would
            # take it for a new database, and everything spent would be forgotten.
            raise foreign(self.path, "this file is empty")
        check_private(self.path)

    def _connected(self) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        patience = min(self.timeout, _PATIENCE)
        return sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
            raise foreign(self.path, "this database is not a hedgerow ledger")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in _READABLE:
            raise LedgerError(
                f"this ledger has format {version}, this hedgerow knows {SCHEMA_VERSION}",
                where=str(self.path),
                do="Use the version of hedgerow that made it, or a newer one.",
            )

    def _check_size(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that ends within a page: SQLite would take the rest for zeros."""
        if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            return
        ask = ("PRAGMA page_count", "PRAGMA page_size")
        n_pages, size = (connection.execute(each).fetchone()[0] for each in ask)
        if self.path.stat().st_size < n_pages * size:
            raise broken(self.path, "its last page is cut off")


def _ends(events: list[dict[str, Any]]) -> dict[int, int]:
    """Return which event ended each booking; one that ends nothing makes no sense."""
    begun: set[int] = set()
    ends: dict[int, int] = {}
    for fields in events:
        if fields["kind"] == "booked":
            begun.add(fields["seq"])
        elif fields["kind"] in {"released", "failed"}:
            begun.remove(entry := int(fields["entry"]))
            ends[entry] = fields["seq"]
    return ends


def chosen_part(last_digest: str, n_parts: int) -> int:
    """Return which part of the chain to check: as good as any, and another after every event."""
    return int(last_digest[:16], 16) % n_parts


def _digest(previous: str, body: str) -> str:
    return hashlib.sha256(f"{previous}\n{body}".encode()).hexdigest()
