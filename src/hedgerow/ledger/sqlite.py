"""Event chains in SQLite files: tables, statements and transactions.

A connection lives for one reading or one writing. Processes and threads share only the file,
which is complete without a journal between writings.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.ledger.chain import ChainLink
from hedgerow.ledger.errors import is_busy
from hedgerow.ledger.file import locks_work

_RETRY_SECONDS = 0.01
_PATIENCE = 1.0
"""Seconds after which the file system is checked for locks."""

_BESIDE = (
    "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE ends (entry INTEGER PRIMARY KEY, seq INTEGER NOT NULL)",
    "CREATE TABLE seen (tab INTEGER NOT NULL, dataset TEXT NOT NULL, name TEXT NOT NULL,"
    " digest TEXT NOT NULL, PRIMARY KEY (tab, name)) WITHOUT ROWID",
    "CREATE INDEX seen_digests ON seen (digest)",
    "CREATE INDEX seen_datasets ON seen (dataset)",
)


@dataclass(frozen=True, kw_only=True)
class ChainTable:
    """Columns of a table of events: the number and, if there are attachments, the attachment."""

    number: str
    attachment: str | None = None

    def script(self, *, application_id: int, genesis: str, key: bytes | None = None) -> str:
        """Return the statements that create an empty chain; ``key`` adds a secret to its head."""
        attachment = f"    {self.attachment} BLOB NOT NULL,\n" if self.attachment else ""
        secret = "" if key is None else ",\n    key BLOB NOT NULL"
        value = "" if key is None else f", x'{key.hex()}'"
        return f"""
CREATE TABLE events (
    {self.number} INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
{attachment}    digest TEXT NOT NULL
);
CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    events INTEGER NOT NULL,
    digest TEXT NOT NULL{secret}
);
INSERT INTO head VALUES (1, 0, '{genesis}'{value});
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
PRAGMA application_id = {application_id};
"""  # noqa: S608 (nothing in it comes from outside)


LEDGER_TABLE = ChainTable(number="seq")


def ledger_script(*, application_id: int, genesis: str, number: int) -> str:
    """Return the statements that create an empty ledger of format ``number``."""
    chain = LEDGER_TABLE.script(application_id=application_id, genesis=genesis)
    return chain + "".join(f"{each};\n" for each in (*_BESIDE, f"PRAGMA user_version = {number}"))


class SqliteChain:
    """Rows of a chain in SQLite (`ChainRows`)."""

    def __init__(self, connection: sqlite3.Connection, table: ChainTable) -> None:
        self._run = connection.execute
        self._table = table

    def head(self) -> tuple[Any, Any] | None:
        """Return the number of events and the last digest; ``None`` if the head is damaged."""
        found = self._run("SELECT events, digest FROM head").fetchall()
        return found[0] if len(found) == 1 else None

    def between(self, first: int, last: int) -> list[tuple[Any, Any, Any, Any]]:
        """Return number, body, attachment and digest of events ``first`` to ``last``, in order."""
        number, attachment = self._table.number, self._table.attachment or "x''"
        return self._run(
            f"SELECT {number}, body, {attachment}, digest FROM events"  # noqa: S608
            f" WHERE {number} >= ? AND {number} <= ? ORDER BY {number}",
            (first, last),
        ).fetchall()

    def n_rows(self) -> int:
        """Return the number of stored events."""
        return int(self._one("SELECT count(*) FROM events"))

    def last_number(self) -> int:
        """Return the highest number of a stored event, 0 without events."""
        return int(self._one(f"SELECT max({self._table.number}) FROM events") or 0)  # noqa: S608

    def add(self, link: ChainLink) -> None:
        """Store an event and make it the head."""
        attachment = (link.attachment,) if self._table.attachment else ()
        row = (link.number, link.body, *attachment, link.digest)
        places = ", ".join("?" * len(row))
        self._run(f"INSERT INTO events VALUES ({places})", row)  # noqa: S608
        self._run("UPDATE head SET events = ?, digest = ?", (link.number, link.digest))

    def _one(self, query: str, values: tuple[object, ...] = ()) -> Any:
        row = self._run(query, values).fetchone()
        return None if row is None else row[0]


class SqliteLedger(SqliteChain):
    """A ledger's chain and the tables beside it in SQLite (`LedgerRows`)."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection, LEDGER_TABLE)
        self._run_many = connection.executemany

    def damage(self) -> str | None:
        """Return what SQLite's check of the pages finds, or ``None``."""
        found = str(self._one("PRAGMA quick_check(1)"))
        return None if found == "ok" else found

    def format(self) -> int:
        """Return the format of the ledger."""
        return int(self._one("PRAGMA user_version"))

    def set_format(self, number: int) -> None:
        """Set the format of the ledger."""
        self._run(f"PRAGMA user_version = {number}")

    def add_tables(self) -> None:
        """Create the tables beside the chain, which formats 1 and 2 do not have."""
        for statement in _BESIDE:
            self._run(statement)

    def state(self) -> list[tuple[Any, Any]]:
        """Return the rows of the state: keys and values."""
        return self._run("SELECT key, value FROM state").fetchall()

    def put_state(self, key: str, value: str | None) -> None:
        """Set one row of the state, or remove it with ``None``."""
        self._run("DELETE FROM state WHERE key = ?", (key,))
        if value is not None:
            self._run("INSERT INTO state VALUES (?, ?)", (key, value))

    def ends(self) -> dict[int, int]:
        """Return which event ended each booking."""
        return dict(self._run("SELECT entry, seq FROM ends").fetchall())

    def end_of(self, entry: int) -> int | None:
        """Return which event ended one booking."""
        number: int | None = self._one("SELECT seq FROM ends WHERE entry = ?", (entry,))
        return number

    def add_end(self, entry: int, number: int) -> None:
        """Store which event ended a booking."""
        self._run("INSERT INTO ends VALUES (?, ?)", (entry, number))

    def keys(self) -> dict[str, str]:
        """Return the names of the column keys, each with its mark."""
        return self.columns_of(0)

    def put_key(self, name: str, mark: str) -> None:
        """Store a column key, in place of what is stored under its name."""
        self._run("INSERT OR REPLACE INTO seen VALUES (0, '', ?, ?)", (name, mark))

    def columns_of(self, table: int) -> dict[str, str]:
        """Return the digests of a table's columns by name."""
        return dict(self._run("SELECT name, digest FROM seen WHERE tab = ?", (table,)).fetchall())

    def tables_with(self, digest: str) -> list[tuple[int, str]]:
        """Return the tables with a column of this digest, and their data sets."""
        return self._run("SELECT tab, dataset FROM seen WHERE digest = ?", (digest,)).fetchall()

    def tables_of(self, dataset: str) -> list[tuple[int, str, str]]:
        """Return table, column and digest for every column of a data set's tables."""
        query = "SELECT tab, name, digest FROM seen WHERE dataset = ?"
        return self._run(query, (dataset,)).fetchall()

    def add_table(self, dataset: str, digests: Mapping[str, str]) -> None:
        """Store the column digests of a new table of a data set."""
        number = self._one("SELECT coalesce(max(tab), 0) + 1 FROM seen")
        rows = [(number, dataset, name, digest) for name, digest in digests.items()]
        self._run_many("INSERT INTO seen VALUES (?, ?, ?, ?)", rows)

    def move_tables(self, old: str, new: str) -> None:
        """Assign the tables of one data set to another."""
        self._run("UPDATE seen SET dataset = ? WHERE dataset = ?", (new, old))

    def forget_tables(self) -> None:
        """Remove all column digests and column keys."""
        self._run("DELETE FROM seen")


def begun(
    path: Path,
    *,
    write: bool,
    timeout: float,
    check: Callable[[sqlite3.Connection], None],
    no_locks: Callable[[], Exception],
) -> sqlite3.Connection:
    """Return a connection inside a transaction, once no other process is in the way.

    SQLite waits for a writer itself, but not for a process that is opening or closing the file;
    this takes a moment, so the call is repeated until ``timeout`` seconds have passed.
    """
    deadline = time.monotonic() + timeout
    while True:
        connection = _connected(path, min(timeout, _PATIENCE))
        try:
            _begin(connection, write=write)
            check(connection)
            connection.execute(f"PRAGMA busy_timeout = {round(timeout * 1000)}")
        except BaseException as error:
            connection.close()
            if not is_busy(error):
                raise
            if not locks_work(path.absolute().parent):
                raise no_locks() from error
            if time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return connection


def _connected(path: Path, patience: float) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)


def _begin(connection: sqlite3.Connection, *, write: bool) -> None:
    if write:
        connection.execute("PRAGMA journal_mode = DELETE")
    # EXTRA also syncs the folder when the journal is deleted: otherwise a power cut could bring
    # the journal back and undo the last event.
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")


@contextmanager
def committed(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the body wrote, or roll it back if the body raises; then close."""
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.close()
