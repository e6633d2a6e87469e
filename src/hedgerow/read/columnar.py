"""Parquet files (one or a folder of them) and Arrow files, read column by column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types

from hedgerow.errors import DataError
from hedgerow.read.source import ROWS_PER_BATCH, ReadProgress, check_columns, in_pieces, places_of
from hedgerow.read.text import text_columns

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

MOST_ROWS = 100_000_000
MOST_ROWS_PER_BYTE = 20
"""Maximum number of records of a Parquet file: the first, or the second per byte if larger."""


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Replace Arrow's messages about a file, which may quote values, by our own."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError):
        raise DataError(
            "The file is damaged, encrypted, or of a kind that cannot be read.",
            where=path.name,
            do="Write it again, or check that it was copied completely.",
        ) from None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ParquetSource:
    """Parquet files with the same columns; see :class:`hedgerow.read.source.Source`."""

    paths: tuple[Path, ...]
    name: str
    columns: tuple[str, ...]
    n_rows: int
    batch_rows: int = ROWS_PER_BATCH

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the requested columns; text keeps the dictionary that the file stores."""
        places_of(columns, self)
        done = 0
        for path in self.paths:
            for batch in row_groups(path, columns, rows=self.batch_rows):
                yield text_columns(batch, columns, text, name=path.name)
                done += batch.num_rows
                if progress:
                    progress(min(1.0, done / max(1, self.n_rows)))
        if progress:
            progress(1.0)


def row_groups(
    path: Path,
    columns: Sequence[str],
    *,
    groups: Sequence[int] | None = None,
    rows: int = ROWS_PER_BATCH,
) -> Iterator[pa.RecordBatch]:
    """Stream columns of some row groups of a file, or of all; text keeps its dictionary."""
    from pyarrow.parquet import ParquetFile

    with readable(path):
        with ParquetFile(path) as file:
            fields = {name: file.schema_arrow.field(name) for name in columns}
        words = [name for name, field in fields.items() if _is_text(field.type)]
        with ParquetFile(path, read_dictionary=words) as file:
            # Arrow keeps what it read of a row group until the iterator ends: one each.
            stretches = _stretches(file.metadata, rows) if groups is None else [list(groups)]
            for some in stretches:
                for batch in file.iter_batches(
                    batch_size=rows, row_groups=some, columns=list(columns)
                ):
                    yield _sound(batch).select(list(columns))


def _stretches(metadata: FileMetaData, rows: int) -> Iterator[list[int]]:
    """Yield adjacent row groups in stretches of at least ``rows`` records.

    A reader holds one stretch at a time, so memory does not depend on the file's size.
    """
    held, n_held = [], 0
    for group in range(metadata.num_row_groups):
        held.append(group)
        n_held += metadata.row_group(group).num_rows
        if n_held >= rows:
            yield held
            held, n_held = [], 0
    if held:
        yield held


def _is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def open_parquet(paths: Sequence[Path], *, name: str) -> ParquetSource:
    """Return Parquet files as one table; all must have the same columns."""
    from pyarrow.parquet import ParquetFile

    columns: tuple[str, ...] = ()
    n_rows = 0
    for path in paths:
        with readable(path), ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
            n_claimed = file.metadata.num_rows
        if n_claimed > max(MOST_ROWS, MOST_ROWS_PER_BYTE * path.stat().st_size):
            raise DataError(
                f"The file claims more than {MOST_ROWS_PER_BYTE:,} records per byte.",
                where=path.name,
                do="Check its origin; if it is correct, give the table as CSV.",
            )
        n_rows += n_claimed
        checked = check_columns(names, name=path.name)
        if path != paths[0] and set(checked) != set(columns):
            raise DataError(
                "The columns differ from those of the first file in the folder.",
                where=f"{name}, {path.name}",
                do="Keep the files of one table in a folder of their own.",
            )
        columns = columns or checked
    return ParquetSource(paths=tuple(paths), name=name, columns=columns, n_rows=n_rows)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ArrowSource:
    """An Arrow file or stream (Feather 2); see :class:`hedgerow.read.source.Source`."""

    path: Path
    columns: tuple[str, ...]
    batch_rows: int = ROWS_PER_BATCH

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the requested columns."""
        places = places_of(columns, self)
        for whole, done in self._whole_batches(places):
            for batch in in_pieces(whole.select(list(columns)), self.batch_rows):
                yield text_columns(batch, columns, text, name=self.name)
            if progress:
                progress(done)
        if progress:
            progress(1.0)

    def _whole_batches(self, places: Sequence[int]) -> Iterator[tuple[pa.RecordBatch, float]]:
        options = pa.ipc.IpcReadOptions(included_fields=sorted(places))
        with readable(self.path), pa.memory_map(str(self.path)) as file:
            if _is_stream(file):
                for batch in pa.ipc.open_stream(file, options=options):
                    yield _sound(batch), file.tell() / file.size()
            else:
                reader = pa.ipc.open_file(file, options=options)
                for i in range(reader.num_record_batches):
                    batch = _sound(reader.get_batch(i))
                    yield batch, (i + 1) / reader.num_record_batches


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch after checking every offset, index and text in it.

    Arrow trusts the file for these, and would read past its end.
    """
    batch.validate(full=True)
    return batch


def open_arrow(path: Path) -> ArrowSource:
    """Return an Arrow file or stream, opened far enough to know its columns."""
    with readable(path), pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_stream(file) if _is_stream(file) else pa.ipc.open_file(file)
        names = list(reader.schema.names)
    return ArrowSource(path=path, columns=check_columns(names, name=path.name))


def _is_stream(file: pa.NativeFile) -> bool:
    head = file.read(6)
    file.seek(0)
    return bool(head != b"ARROW1")
