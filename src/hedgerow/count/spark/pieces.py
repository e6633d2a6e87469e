"""Parquet files on this machine, read by the workers themselves, a piece each.

Spark turns the values of a file into rows and rows into Arrow one by one, which takes ten times
as long as reading them. If the workers see the same files as the driver, they open them by Arrow.
Spark provides the list of files of a path, their columns and types. Whatever might be read
differently than by Spark's own reader is left to that reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa

from hedgerow.count.spark.workers import NAME, ROWS_AT_ONCE
from hedgerow.errors import DataError
from hedgerow.read.columnar import open_parquet, readable, row_groups

LEAST_ROWS = 1 << 18
"""Minimum number of records of a piece if there are enough: starting a task costs time."""

MOST_ROWS = 4 * ROWS_AT_ONCE
"""Maximum number of records of a piece, to limit the memory of a task."""

PIECES_PER_CORE = 2

_LOCAL = re.compile(r"local(\[.*\])?")
_SAME = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
}
"""Types that Spark's reader and Arrow read alike, by Spark's name; decimals come in addition."""

_AS_USUAL = {
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
}
"""Settings of a session with which values are read unchanged."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GroupRows:
    """Records ``start`` to before ``stop`` of a file's row group with ``n_rows`` records."""

    path: str
    group: int
    start: int
    stop: int
    n_rows: int


FilePiece = tuple[GroupRows, ...]


def pieces_of(spark: Any, frame: Any, names: Sequence[str]) -> tuple[FilePiece, ...]:
    """Return the pieces that tasks should read of a frame of plain Parquet files.

    Returns none if Spark's own reader must read it.
    """
    n_cores = cores_here(spark)
    if not n_cores or any(spark.conf.get(each) != usual for each, usual in _AS_USUAL.items()):
        return ()
    paths = [_path_of(url) for url in frame.inputFiles()]
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    try:
        # This checks the number of records that a file may claim.
        open_parquet([Path(path) for path in paths if path is not None], name=NAME)
        stretches = [each for path in paths for each in _stretches(path, names, kinds)]
    except (DataError, _Otherwise):
        return ()
    return cut(stretches, n_cores=n_cores)


class _Otherwise(Exception):
    """Signals that a file might be read differently than by Spark's own reader."""


def cores_here(spark: Any) -> int:
    """Return the number of cores of this machine in a session, or 0 if it may use others."""
    try:
        context = spark.sparkContext
        return int(context.defaultParallelism) if _LOCAL.fullmatch(context.master) else 0
    except Exception:  # Spark Connect has no context
        return 0


def _path_of(url: str) -> str | None:
    parts = urlsplit(url)
    path = unquote(parts.path)
    return path if parts.scheme == "file" and Path(path).is_file() else None


def _stretches(
    path: str | None, names: Sequence[str], kinds: dict[str, str]
) -> Iterator[GroupRows]:
    """Yield the row groups of a file; refuse one that Spark would read differently."""
    from pyarrow.parquet import ParquetFile

    if path is None:
        raise _Otherwise
    with readable(Path(path)), ParquetFile(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
    # Every column of the file is one of the frame's, and none comes from a folder's name.
    if set(schema.names) != set(kinds):
        raise _Otherwise
    if not all(_is_same(schema.field(name).type, kinds[name]) for name in names):
        raise _Otherwise
    if "date" in (kinds[name] for name in names) and _has_old_calendar(metadata.metadata or {}):
        raise _Otherwise
    for group in range(metadata.num_row_groups):
        n_rows = metadata.row_group(group).num_rows
        yield GroupRows(path=path, group=group, start=0, stop=n_rows, n_rows=n_rows)


def _is_same(kind: pa.DataType, of_spark: str) -> bool:
    if pa.types.is_decimal128(kind):
        return of_spark == f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        kind = pa.string()
    return bool(_SAME.get(of_spark) == kind)


def _has_old_calendar(facts: dict[bytes, bytes]) -> bool:
    """Return whether a file's dates use the calendar of Spark before version 3."""
    version = facts.get(b"org.apache.spark.version", b"")
    return b"org.apache.spark.legacyDateTime" in facts or version.startswith((b"1.", b"2."))


def cut(stretches: Sequence[GroupRows], *, n_cores: int) -> tuple[FilePiece, ...]:
    """Return row groups in pieces of similar size, several for every core."""
    ends = np.cumsum([each.n_rows for each in stretches], dtype=np.int64)
    n_rows = int(ends[-1]) if len(ends) else 0
    n_pieces = min(n_cores * PIECES_PER_CORE, n_rows // LEAST_ROWS)
    n_pieces = max(1, n_pieces, -(-n_rows // MOST_ROWS))
    cuts = [n_rows * i // n_pieces for i in range(n_pieces + 1)]
    return tuple(tuple(_between(stretches, ends, start, stop)) for start, stop in pairwise(cuts))


def _between(
    stretches: Sequence[GroupRows], ends: np.ndarray[Any, np.dtype[np.int64]], start: int, stop: int
) -> Iterator[GroupRows]:
    """Yield the row groups between two record numbers."""
    first = int(np.searchsorted(ends, start, side="right"))
    last = int(np.searchsorted(ends, stop, side="left"))
    for each, end in zip(stretches[first : last + 1], ends[first : last + 1], strict=True):
        before = int(end) - each.n_rows
        inside = (max(start - before, 0), min(stop - before, each.n_rows))
        if inside[0] < inside[1]:
            yield GroupRows(
                path=each.path,
                group=each.group,
                start=inside[0],
                stop=inside[1],
                n_rows=each.n_rows,
            )


class ReadPieces:
    """Worker task: reads the columns of numbered pieces."""

    def __init__(self, pieces: tuple[FilePiece, ...], names: Sequence[str]) -> None:
        self.pieces = pieces
        self.names = list(names)

    def frame(self, spark: Any) -> Any:
        """Return a frame of the numbers of all pieces, each in a task of its own."""
        n_pieces = len(self.pieces)
        return spark.range(0, n_pieces, 1, n_pieces)

    def batches(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the requested columns, with text in dictionaries."""
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                for stretch in self.pieces[number]:
                    yield from self._read(stretch)

    def _read(self, stretch: GroupRows) -> Iterator[pa.RecordBatch]:
        done = 0
        for batch in row_groups(Path(stretch.path), self.names, groups=[stretch.group]):
            start, stop = max(stretch.start - done, 0), min(stretch.stop - done, len(batch))
            done += len(batch)
            if start < stop:
                yield batch.slice(start, stop - start)
            if done >= stretch.stop:
                return
        raise DataError(
            "A file was changed while it was read.",
            where=NAME,
            do="Run it again when no program writes to the file.",
        )
