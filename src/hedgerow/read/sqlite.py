"""Tables from a SQLite database: one SELECT, on a connection that can only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.errors import DataError
from hedgerow.read.source import ROWS_PER_BATCH, ReadProgress, check_columns, places_of
from hedgerow.read.text import spell, text_columns

_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_SQL_ERRORS = (sqlite3.Error, sqlite3.Warning, ValueError)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SqliteSource:
    """The result of a query; see :class:`hedgerow.read.source.Source`."""

    path: Path
    query: str
    columns: tuple[str, ...]
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
        """Stream the asked columns; how many rows there will be is not known."""
        places_of(columns, self)
        if not columns:
            return
        with _connection(self.path) as connection:
            cursor = connection.execute(chosen(columns, self.query))
            while rows := cursor.fetchmany(self.batch_rows):
                arrays = [_as_array(values, self.name) for values in zip(*rows, strict=True)]
                batch = pa.RecordBatch.from_arrays(arrays, names=list(columns))
                yield text_columns(batch, columns, text, name=self.name)
        if progress:
            progress(1.0)


def open_sqlite(url: str, query: str, *, base: Path) -> SqliteSource:
    """Return the result of ``query`` on ``sqlite:///FILE`` (or ``sqlite:FILE``)."""
    place = url[len("sqlite:") :]
    path = base / (place[3:] if place.startswith("///") else place)
    if not path.is_file():
        raise DataError(
            "there is no such database file",
            where=path.name,
            do="Give sqlite:///FILE with a path from here, or sqlite:////PATH with one from /.",
        )
    query = single_statement(query)
    with _connection(path) as connection:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")  # is it a database at all?
        cursor = connection.execute(f"{everything(query)} LIMIT 0")
        names = [column[0] for column in cursor.description]
    return SqliteSource(path=path, query=query, columns=check_columns(names, name=path.name))


def single_statement(query: str) -> str:
    """Return the query without a closing semicolon, ready to stand in parentheses."""
    return query.strip().removesuffix(";").rstrip()


def everything(query: str) -> str:
    """Return the query as a subquery: what is not a SELECT is a syntax error there."""
    return f"SELECT * FROM (\n{query}\n) AS asked"  # noqa: S608 - the owner's own query


def chosen(columns: Sequence[str], query: str) -> str:
    """Return the query cut to some of its columns, so that no other leaves the database."""
    quoted = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
    return f"SELECT {quoted} FROM (\n{query}\n) AS asked"  # noqa: S608 - names are quoted


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database to read only; errors keep the kind and lose the text."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            opened.set_authorizer(_only_reading)
            yield opened
    except _SQL_ERRORS as error:
        code = getattr(error, "sqlite_errorname", None) or type(error).__name__
        raise DataError(
            f"SQLite refused the query or could not read the file ({code})",
            where=path.name,
            do="Give one SELECT statement on the tables of this database.",
        ) from None


def _only_reading(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _as_array(values: tuple[Any, ...], name: str) -> pa.Array:
    """Return a column, as text where its values are of several kinds."""
    kinds = set(map(type, values)) - {type(None)}
    if bytes in kinds:
        raise DataError(
            "a column holds binary values",
            where=name,
            do="Cast it to text in the query, or drop it in the plan.",
        )
    if len(kinds) > 1:
        return pa.array(map(spell, values), pa.string())
    return pa.array(values)
