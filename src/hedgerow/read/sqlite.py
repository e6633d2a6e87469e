"""Tables from a SQLite database: one SELECT, on a connection that can only read.

A query may run forever, and a value have any size: the plan bounds time and memory.
"""

from __future__ import annotations

import marshal
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.errors import DataError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.source import ROWS_PER_BATCH, ReadProgress, check_columns, places_of
from hedgerow.read.text import spell, text_columns

_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
MOST_VALUE = 1 << 20
"""Maximum size of a value in bytes."""

_ROWS_AT_ONCE = 64
_BATCH_BYTES = 1 << 26
_STEPS = 100_000  # steps of SQLite's virtual machine between two checks of the time
_SQL_ERRORS = (sqlite3.Error, sqlite3.Warning, ValueError)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SqliteSource:
    """The result of a query; see :class:`hedgerow.read.source.Source`."""

    path: Path
    query: str
    columns: tuple[str, ...]
    reading: Reading = PLAIN
    batch_rows: int = ROWS_PER_BATCH

    @property
    def name(self) -> str:
        """The name of the database file."""
        return self.path.name

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the requested columns; the number of rows is not known beforehand."""
        places_of(columns, self)
        if not columns:
            return
        with _connection(self.path, self.reading) as connection:
            cursor = connection.execute(chosen(columns, self.query))
            for rows in self._pieces(cursor, len(columns)):
                arrays = [_as_array(values, self.name) for values in zip(*rows, strict=True)]
                batch = pa.RecordBatch.from_arrays(arrays, names=list(columns))
                yield text_columns(batch, columns, text, name=self.name)
        if progress:
            progress(1.0)

    def _pieces(self, cursor: sqlite3.Cursor, n_columns: int) -> Iterator[list[Any]]:
        """Yield few enough rows at a time for the bound on memory, whatever they contain."""
        most = min(_BATCH_BYTES, self.reading.most_bytes)
        at_once = max(1, min(_ROWS_AT_ONCE, self.reading.most_bytes // (n_columns * MOST_VALUE)))
        held: list[Any] = []
        size = 0
        while rows := cursor.fetchmany(min(at_once, self.batch_rows)):
            held += rows
            size += len(marshal.dumps(rows))
            if len(held) >= self.batch_rows or size > most:
                yield held
                held, size = [], 0
        if held:
            yield held


def open_sqlite(url: str, query: str, *, base: Path, reading: Reading = PLAIN) -> SqliteSource:
    """Return the result of ``query`` on ``sqlite:///FILE`` (or ``sqlite:FILE``)."""
    place = url[len("sqlite:") :]
    path = base / (place[3:] if place.startswith("///") else place)
    if not path.is_file():
        raise DataError(
            "The database file does not exist.",
            where=path.name,
            do="Give sqlite:///FILE for a relative path, or sqlite:////PATH for an absolute one.",
        )
    query = single_statement(query)
    with _connection(path, reading) as connection:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")  # fails if it is not a database
        cursor = connection.execute(f"{everything(query)} LIMIT 0")
        names = [column[0] for column in cursor.description]
    columns = check_columns(names, name=path.name)
    return SqliteSource(path=path, query=query, columns=columns, reading=reading)


def single_statement(query: str) -> str:
    """Return the query without a closing semicolon, for use in parentheses."""
    return query.strip().removesuffix(";").rstrip()


def everything(query: str) -> str:
    """Return the query as a subquery, where anything but a SELECT is a syntax error."""
    return f"SELECT * FROM (\n{query}\n) AS asked"  # noqa: S608 - the owner's own query


def quoted_name(column: str) -> str:
    """Return a column's name quoted for SQL."""
    return '"' + column.replace('"', '""') + '"'


def chosen(columns: Sequence[str], query: str) -> str:
    """Return the query reduced to some columns, so that no other leaves the database."""
    quoted = ", ".join(map(quoted_name, columns))
    return f"SELECT {quoted} FROM (\n{query}\n) AS asked"  # noqa: S608 - names are quoted


@contextmanager
def _connection(path: Path, reading: Reading) -> Iterator[sqlite3.Connection]:
    """Open the database read-only with a time limit; errors keep their kind and lose their text."""
    deadline = time.monotonic() + reading.seconds
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            opened.set_authorizer(_only_reading)
            opened.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
            opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
            yield opened
    except _SQL_ERRORS as error:
        code = getattr(error, "sqlite_errorname", None) or type(error).__name__
        what, do = _ENDS.get(code, _REFUSED)
        raise DataError(
            f"{what.format(seconds=reading.seconds)} ({code}).", where=path.name, do=do
        ) from None


_REFUSED = (
    "SQLite refused the query or could not read the file",
    "Give one SELECT statement on the tables of this database.",
)
_ENDS = {
    "SQLITE_INTERRUPT": (
        "the query took longer than {seconds} seconds",
        "Check that it comes to an end, or allow more in the plan: 'reading: {seconds: 7200}'.",
    ),
    "SQLITE_TOOBIG": (
        "a value is larger than a megabyte",
        "Select other columns, or shorten the value in the query.",
    ),
}


def _only_reading(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _as_array(values: tuple[Any, ...], name: str) -> pa.Array:
    """Return a column, as text if its values are of several types."""
    kinds = set(map(type, values)) - {type(None)}
    if bytes in kinds:
        raise DataError(
            "A column holds binary values.",
            where=name,
            do="Cast it to text in the query, or drop it in the plan.",
        )
    if len(kinds) > 1:
        return pa.array(map(spell, values), pa.string())
    return pa.array(values)
