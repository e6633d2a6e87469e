"""The interface of an open table of any kind: named columns, streamed in batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from hedgerow.errors import DataError

ROWS_PER_BATCH = 131_072
"""Maximum number of records in a batch: enough for vectorisation, small against memory."""

MAX_COLUMNS = 10_000

LABELLED = (".sav", ".zsav", ".dta")
"""Suffixes of SPSS and Stata files, which have labels for their values."""

ReadProgress = Callable[[float], None]


class Source(Protocol):
    """An open table. All of it is confidential except ``name``, which messages may show.

    Messages do not show the columns' names either: in a file without a header line they would be
    its first record.
    """

    @property
    def name(self) -> str:
        """Name of the table in messages: the name of its file, never its content."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, in the table's order."""
        ...

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the requested columns in the requested order; no other column is materialised.

        Columns named in ``text`` come as text, plain or dictionary-encoded, whatever their stored
        type; the others may come as any Arrow type, and not the same in every batch. ``progress``
        receives the share of the table read so far.
        """
        ...


def check_columns(columns: Sequence[str], *, name: str) -> tuple[str, ...]:
    """Return the names if a table may have them: not too many, and no duplicates."""
    if len(columns) > MAX_COLUMNS:
        raise DataError(
            f"The table has more than {MAX_COLUMNS:,} columns.",
            where=name,
            do="Select the columns of the plan first.",
        )
    first: dict[str, int] = {}
    for place, column in enumerate(columns, start=1):
        if column in first:
            raise DataError(
                f"Columns {first[column]} and {place} have the same name.",
                where=name,
                do="Give every column a name of its own; the first line must name the columns.",
            )
        first[column] = place
    return tuple(columns)


def places_of(columns: Sequence[str], source: Source) -> list[int]:
    """Return the position of each requested column, or name the one that does not exist.

    A table of objects may have ``any_column``: those that it lists are then only some of them.
    """
    if getattr(source, "any_column", False):
        return list(range(len(columns)))
    place = {column: i for i, column in enumerate(source.columns)}
    for column in columns:
        if column not in place:
            raise DataError(
                f"The column {column!r} does not exist.",
                where=source.name,
                do="Give the attribute the name of its column; names are case-sensitive. A file"
                " must begin with a line that names its columns, or the plan's reading names"
                " them; it also sets the separator if that is not a comma.",
            )
    return [place[column] for column in columns]


def in_pieces(batch: pa.RecordBatch, rows: int = ROWS_PER_BATCH) -> Iterator[pa.RecordBatch]:
    """Split a batch of any size into batches of at most ``rows`` records, without copying."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
