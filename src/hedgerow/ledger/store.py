"""Checked access to the ledger: one append-only chain of events and the state it leads to.

Every event names the digest of the state (caps and sums) after it; the state is stored beside the
chain. A booking checks the end of the chain, the whole state, and one part of the chain, another
with every booking: this takes the same time after ten releases as after ten thousand. Commands that
show the ledger check all of it, and so does the first access after a run was killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hedgerow.errors import LedgerError
from hedgerow.ledger.chain import ChainLink, ChainRules, EventChain, LedgerRows
from hedgerow.ledger.disk import check_disk
from hedgerow.ledger.errors import (
    broken,
    damaged_key,
    explained,
    foreign,
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
from hedgerow.ledger.sqlite import SqliteLedger, begun, committed, ledger_script
from hedgerow.ledger.state import State, played

SCHEMA_VERSION = 4
"""Current format. Format 2 added delta, format 3 the state beside the chain, format 4 neighbours,
accounts of people and covers. A ledger of an earlier format is read as it is and becomes format 4
with its next event, so that no older hedgerow adds to it.
"""

_READABLE = (1, 2, 3, SCHEMA_VERSION)
_WITH_STATE = 3
"""First format that keeps the state beside the chain, as all later ones do."""

_APPLICATION_ID = 0x48656467  # "Hedg", in the header of the file
_GENESIS = hashlib.sha256(b"hedgerow ledger").hexdigest()

_MARKED = "marked"
"""Row in the table of digests which says that the key file keeps the highest event."""

_NO_KEY = (
    "The key file is missing or cannot be read: an older copy of the ledger would not be noticed."
    " Put it back; if it is lost: hedgerow ledger new-key --reason TEXT"
)

_END, _PART = 16, 64
"""Number of events that are checked at the end of the chain, and elsewhere, at a booking."""

_SCHEMA = ledger_script(application_id=_APPLICATION_ID, genesis=_GENESIS, number=SCHEMA_VERSION)


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the chain; ``body`` is the text that the digest covers."""

    seq: int
    body: str
    digest: str

    @property
    def fields(self) -> dict[str, Any]:
        """Content of the event."""
        fields = json.loads(self.body)
        if not isinstance(fields, dict):
            raise ValueError("an event is not a mapping")
        return fields


class BookingDraft:
    """The ledger at one moment; while its file is locked, events can be added."""

    def __init__(self, path: Path, rows: LedgerRows) -> None:
        self.rows = rows
        self.chain = EventChain(rows, _rules(path))
        self._path = path
        self.state = State()

    @property
    def n_events(self) -> int:
        """Number of events in the chain."""
        return self.chain.n_events

    @property
    def last_digest(self) -> str:
        """Digest of the last event."""
        return self.chain.last_digest

    def check_all(self) -> list[Event]:
        """Return the whole chain, after checking it, the state and the pages of the file."""
        if self.rows.damage() is not None:
            raise broken(self._path, "its pages are damaged")
        events = [_event(link) for link in self.chain.all()]
        self.state, ends = self._played(events)
        if self._is_old():
            return events
        if self._stored().rows != self.state.rows or self.rows.ends() != ends:
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
        self.chain.check_last()

    def check_part(self) -> None:
        """Check one part of the chain, a different one with every event."""
        n_parts = -(-self.n_events // _PART)
        if n_parts:
            start = chosen_part(self.last_digest, n_parts) * _PART
            self._link(start, min(start + _PART, self.n_events))

    def event(self, seq: int) -> Event | None:
        """Return one event, checked against the digest before it."""
        return self._link(seq - 1, seq)[0] if 1 <= seq <= self.n_events else None

    def end_of(self, entry: int) -> Event | None:
        """Return the event that ended a booking, if it has ended."""
        number = self.rows.end_of(entry)
        return None if number is None else self.event(number)

    def append(self, kind: str, **fields: str | None) -> Event:
        """Add an event to the chain; it counts once the draft is committed."""
        seq = self.n_events + 1
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        fields_ = {"seq": seq, "kind": kind, "at": stamp, **fields}
        self.state.play(fields_)
        body = json.dumps({**fields_, "state": self.state.digest()})
        link = self.chain.append(body)
        if "entry" in fields:
            self.rows.add_end(int(fields["entry"] or 0), seq)
        self._write_state()
        return _event(link)

    def misses_mark(self, held: KeyFile) -> bool:
        """Return whether the key file lacks the mark that the ledger has recorded."""
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
            return  # another ledger's key, or one before a new key: it has not seen this chain
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
        """Record that the key file keeps the highest event: one without it was cut off."""
        if held.key is None or self._is_old():
            return
        names = self._keys()
        if not names or names.get(held.key.name) == "":
            self.rows.put_key(held.key.name, _MARKED)

    def key_notes(self, held: KeyFile | None) -> list[str]:
        """Return notices about the key file."""
        names = self._keys()
        if held is None or held.key is None:
            return [_NO_KEY] if names else []
        if not self.is_own(held):
            return [
                "The key beside the ledger is not the one with which its tables were recognised."
            ]
        if held.mark is None:
            return ["The key file does not hold the highest event yet; the next event writes it."]
        behind = self.n_events - held.mark.events
        if behind <= 1:  # a run that was killed leaves one
            return []
        return [
            f"The key file has seen {held.mark.events} of {self.n_events} events: it was"
            " replaced by an older copy, or users book who may not write it."
        ]

    def is_own(self, held: KeyFile) -> bool:
        """Return whether the ledger knows this key, or none yet."""
        names = self._keys()
        return held.key is not None and (not names or held.key.name in names)

    def _keys(self) -> Mapping[str, str]:
        """Return the names of the keys that recognised tables, and whether each keeps marks."""
        return {} if self._is_old() else self.rows.keys()

    def _digest_at(self, seq: int) -> str:
        found = self.rows.between(seq, seq)
        return str(found[0][3]) if found else ""

    def modernise(self) -> None:
        """Convert a ledger of an earlier format to this one; all of it is checked."""
        if self.rows.format() == SCHEMA_VERSION:
            return
        events = self.check_all()
        if self._is_old():
            self.rows.add_tables()
            _, ends = self._played(events)
            for entry, number in ends.items():
                self.rows.add_end(entry, number)
            self.state.changed = set(self.state.rows)
        self.rows.set_format(SCHEMA_VERSION)
        self.append("format", format=str(SCHEMA_VERSION))

    def _write_state(self) -> None:
        for key in sorted(self.state.changed):
            self.rows.put_state(key, self.state.rows.get(key))
        self.state.changed.clear()

    def _is_old(self) -> bool:
        """Return whether the state is not stored, but follows from the events alone."""
        return self.rows.format() < _WITH_STATE

    def _stored(self) -> State:
        rows = self.rows.state()
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
        """Return the state after all events, and the event that ended each booking."""
        with self.sensible():
            played_fields = [event.fields for event in events]
            return played(played_fields), _ends(played_fields)

    @contextmanager
    def sensible(self) -> Iterator[None]:
        """Refuse a ledger with an event that cannot be understood."""
        try:
            yield
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
            # The chain is intact, so all of it was written by one program.
            raise broken(self._path, "an event is invalid") from None

    def _link(self, start: int, end: int) -> list[Event]:
        """Return the events after ``start`` up to ``end``, each checked against its predecessor."""
        return [_event(link) for link in self.chain.between(start, end)]


class LedgerStore:
    """A checked chain of events in one file, safe between processes.

    ``timeout`` is the number of seconds to wait for another process that is writing. With
    ``restored`` the highest event that the key file has seen is not checked, and replaced at the
    next event.
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
        """Return the whole chain at one moment, and its state, all checked."""
        with explained(self.path, self.timeout), self._transaction("BEGIN") as draft:
            return draft.check_all(), draft.state

    def key_notes(self) -> list[str]:
        """Return notices about the key file."""
        held = read_key_file(self.path)
        with self.reading() as draft:
            return draft.key_notes(held)

    @contextmanager
    def reading(self) -> Iterator[BookingDraft]:
        """Yield the ledger at one moment, its end checked."""
        with explained(self.path, self.timeout), self._transaction("BEGIN") as draft:
            yield draft

    @contextmanager
    def writing(self) -> Iterator[BookingDraft]:
        """Lock the ledger, yield it, and commit appended events to the disk.

        If the body raises, nothing is appended. When this returns, it is durable. The key file
        records events after that: if this fails, the ledger is ahead of it.
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
        # Before the ledger: a concurrent booking makes it newer, never older than this.
        held = None if self._restored else read_key_file(self.path)
        connection = self._begun(begin)
        with committed(connection):
            self._check_size(connection)
            draft = BookingDraft(self.path, SqliteLedger(connection))
            if was_interrupted:
                draft.check_all()
            draft.check_end()
            if held is not None:
                # A mark is written before the ledger refers to it: one that was missing at first
                # exists by now, and the lock of this transaction keeps it unchanged.
                if draft.misses_mark(held):
                    held = read_key_file(self.path) or held
                draft.check_mark(held)
            yield draft

    def _begun(self, begin: str) -> sqlite3.Connection:
        return begun(
            self.path,
            write=begin != "BEGIN",
            timeout=self.timeout,
            check=self._check_kind,
            no_locks=lambda: no_locks(self.path),
        )

    def _check_place(self) -> None:
        if not self.path.exists():
            raise LedgerError(
                "The ledger does not exist.",
                where=str(self.path),
                do=(
                    "Name another file with --ledger or HEDGEROW_LEDGER. The first release from a"
                    " plan with 'ledger:' creates the file."
                ),
            )
        if not self.path.is_file():
            raise foreign(self.path, "The path is not a file.")
        if self.path.stat().st_size == 0:
            # A new ledger appears complete, so this is one that was cut off. SQLite would take it
            # for a new database, and everything spent would be forgotten.
            raise foreign(self.path, "The file is empty.")
        check_private(self.path)

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
            raise foreign(self.path, "The database is not a hedgerow ledger.")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in _READABLE:
            raise LedgerError(
                f"The ledger has format {version}; this version of hedgerow reads formats up"
                f" to {SCHEMA_VERSION}.",
                where=str(self.path),
                do="Use the version of hedgerow that wrote it, or a newer one.",
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
    """Return the event that ended each booking; an event that ends none is invalid."""
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
    """Return which part of the chain to check: a different one after every event."""
    return int(last_digest[:16], 16) % n_parts


def _event(link: ChainLink) -> Event:
    return Event(seq=link.number, body=link.body, digest=link.digest)


def _digest(previous: str, body: str, _: bytes) -> str:
    return hashlib.sha256(f"{previous}\n{body}".encode()).hexdigest()


def _rules(path: Path) -> ChainRules:
    return ChainRules(genesis=_GENESIS, digest=_digest, damaged=lambda clause: broken(path, clause))
