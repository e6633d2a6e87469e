"""Tables from a PostgreSQL server: one SELECT in a read-only transaction, as Arrow batches.

A value may have a gigabyte, and the client needs several times that to receive it. So the query
itself omits values that are too large, and an additional column marks the rows that had some.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from hedgerow.errors import DataError, MissingExtraError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.source import ROWS_PER_BATCH, ReadProgress, check_columns, in_pieces, places_of
from hedgerow.read.sqlite import MOST_VALUE, everything, quoted_name, single_statement
from hedgerow.read.text import text_columns

_CANCELLED = "57014"
# Meaning of the first two or five characters of an SQLSTATE, in words that quote nothing.
_STATES = {
    "08": ("the server cannot be reached", "Check host, port and network."),
    "28": ("the server refused the user or the password", "Check the user and the password."),
    "3D": ("the server has no such database", "Check the database's name in the URL."),
    "42501": ("the user may not read a table of the query", "Ask for the right to SELECT."),
    "42P01": ("a table of the query does not exist", "Check the query's table names."),
    "42703": ("a column of the query does not exist", "Check the query's column names."),
    "42": ("the query is not valid", "Give one SELECT statement without parameters."),
    "25006": ("the query would change the database", "Give a query that only reads."),
    _CANCELLED: (
        "the query took longer than the plan allows",
        "Check that it comes to an end, or allow more in the plan: 'reading: {seconds: 7200}'.",
    ),
    "0A": ("the query is not one that only reads", "Give one SELECT statement."),
}
_UNKNOWN = ("the server could not answer the query", "Try the query with psql.")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PostgresSource:
    """The result of a query; see :class:`hedgerow.read.source.Source`."""

    url: str  # may hold a password: never shown
    query: str
    name: str
    columns: tuple[str, ...]
    unbounded: frozenset[str] = frozenset()  # columns whose values may have any size
    reading: Reading = PLAIN
    batch_rows: int = ROWS_PER_BATCH

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
        for whole in self._whole_batches(columns):
            for batch in in_pieces(whole, self.batch_rows):
                yield text_columns(batch, columns, text, name=self.name)
        if progress:
            progress(1.0)

    def _whole_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _cursor(self.url, self.name, self.reading) as cursor:
            cursor.execute(bounded(columns, self.unbounded, self.query))
            for flagged in cursor.fetch_record_batch():
                batch = self._without_large_values(flagged)
                if batch.nbytes > self.reading.most_bytes:
                    raise DataError(
                        f"Some rows take more than {self.reading.megabytes} megabytes.",
                        where=self.name,
                        do="Select other columns, or allow more: 'reading: {megabytes: 8192}'.",
                    )
                yield batch

    def _without_large_values(self, flagged: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch without its last column, which marks rows with a value that is too large.

        Privacy: whether a row has one depends on that row alone.
        """
        *columns, flags = flagged.columns
        batch = pa.RecordBatch.from_arrays(columns, names=flagged.schema.names[:-1])
        if not flags.true_count:
            return batch
        if not self.reading.drops_malformed:
            raise DataError(
                "A value is larger than a megabyte.",
                where=self.name,
                do="Select other columns, or shorten the value in the query. With 'malformed: drop'"
                " in the plan's reading, such rows are dropped.",
            )
        import pyarrow.compute as pc

        return batch.filter(pc.invert(flags))


def bounded(columns: Sequence[str], unbounded: Collection[str], query: str) -> str:
    """Return the query reduced to some columns, without values of more than `MOST_VALUE` bytes.

    An additional last column marks the rows that had such a value.
    """
    parts, too_large = [], []
    for column in columns:
        name = quoted_name(column)
        if column in unbounded:
            size = f"coalesce(octet_length({name}::text), 0) > {MOST_VALUE}"
            parts.append(f"CASE WHEN {size} THEN NULL ELSE {name} END AS {name}")
            too_large.append(size)
        else:
            parts.append(name)
    parts.append(f"({' OR '.join(too_large) or 'FALSE'})")
    return f"SELECT {', '.join(parts)} FROM (\n{query}\n) AS asked"  # noqa: S608 - names are quoted


def _is_unbounded(kind: pa.DataType) -> bool:
    """Return whether values of this type may have any size; exact numbers have at most 150 KB."""
    if isinstance(kind, pa.BaseExtensionType):
        if getattr(kind, "type_name", None) == "numeric":
            return False
        kind = kind.storage_type
    try:
        kind.bit_width  # noqa: B018 - which types without a fixed width refuse to say
    except ValueError:
        return True
    return False


def open_postgres(url: str, query: str, *, reading: Reading = PLAIN) -> PostgresSource:
    """Return the result of ``query`` on a server, with only its columns read so far."""
    name = _shown(url)
    query = single_statement(query)
    with _cursor(url, name, reading) as cursor:
        schema = cursor.adbc_execute_schema(everything(query))
    return PostgresSource(
        url=url,
        query=query,
        name=name,
        columns=check_columns(schema.names, name=name),
        unbounded=frozenset(field.name for field in schema if _is_unbounded(field.type)),
        reading=reading,
    )


def _shown(url: str) -> str:
    """Return the URL without user, password and options, for messages."""
    try:
        parts = urlsplit(url)
        return f"postgresql://{parts.hostname or ''}{parts.path}"
    except ValueError:
        return "postgresql://"


@contextmanager
def _cursor(url: str, name: str, reading: Reading) -> Iterator[Any]:
    """Begin a read-only transaction with a time limit; errors keep only their SQLSTATE."""
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise MissingExtraError("Reading from PostgreSQL", extra="sql") from None
    begun = time.monotonic()
    try:
        with closing(dbapi.connect(url)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(f"SET LOCAL statement_timeout = {reading.seconds * 1000}")
            yield cursor
    except (dbapi.Error, pa.ArrowException, OSError) as error:
        # Errors of single values reach Python as OSError, with the value in the text.
        state = getattr(error, "sqlstate", None) or ""
        if not state and time.monotonic() >= begun + reading.seconds:
            state = _CANCELLED
        what, do = _STATES.get(state) or _STATES.get(state[:2]) or _UNKNOWN
        raise DataError(f"{what} (SQLSTATE {state or 'none'}).", where=name, do=do) from None
