"""Encoding of the confidential table, batch by batch, as small unsigned columns of codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.encode.batch import BatchEncoder, table_of_columns
from hedgerow.encode.columns import numbers_in
from hedgerow.encode.keys import check_distinct, keys_in
from hedgerow.encode.sums import ColumnSums
from hedgerow.errors import DataError
from hedgerow.model.arrays import Codes, Flags
from hedgerow.model.reading import PLAIN
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.read.source import ReadProgress, Source
from hedgerow.taxonomy.domain import code_dtype


def encode_table(
    source: Source,
    schema: Schema,
    *,
    progress: ReadProgress | None = None,
    sums: ColumnSums | None = None,
    most_bytes: int = PLAIN.most_bytes,
) -> EncodedTable:
    """Return the table as codes of the columns that the schema describes.

    Records are read once and in order, a batch at a time. Numbers outside their bounds are clamped;
    a text that its taxonomy does not list gets the code of ``other``, or is refused if there is
    none. Missing values follow the schema's policy. A table whose codes would take more than
    ``most_bytes`` is refused.

    Privacy: the result is as confidential as the table. Encoding treats every record by
    itself and by public rules alone, so neighbouring tables stay neighbours.
    """
    work = _Work.begin(source, schema, sums, most_bytes)
    names, text = schema.columns(), schema.text_columns()
    for batch in source.batches(names, text=text, progress=progress):
        work.add(batch)
    return work.finish()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Accompanied:
    """A table as codes, the rows of its records in the source, and numbers beside them.

    ``numbers`` has one row per record and one column for each requested column; ``keys`` are the
    texts of the key column, if there is one; ``n_read`` rows were read, those left out included.
    """

    table: EncodedTable
    n_read: int
    rows: NDArray[np.int64]
    numbers: NDArray[np.float64]
    keys: tuple[str, ...] | None


def encode_accompanied(
    source: Source,
    schema: Schema,
    *,
    numbers: Sequence[str] = (),
    key: str | None = None,
    progress: ReadProgress | None = None,
) -> Accompanied:
    """Return the table as codes, with the positions of its rows, columns of numbers, and keys.

    Records left out by :func:`encode_table` are left out of all of them. Every kept record must
    have a number, and a unique key.

    Privacy: all of the result is confidential.
    """
    work = _Work.begin(source, schema)
    names, text = schema.columns(), schema.text_columns()
    rows, found = [np.zeros(0, dtype=np.int64)], [np.zeros((0, len(numbers)))]
    keys: list[str] = []
    extra = [*numbers] if key is None else [*numbers, key]
    text = text if key is None else {*text, key}
    for batch in source.batches([*names, *extra], text=text, progress=progress):
        start = work.n_read
        kept = work.add(batch.select(range(len(names))))
        places = np.arange(batch.num_rows) if kept is None else np.flatnonzero(kept)
        rows.append(start + places)
        columns = [batch.column(len(names) + i) for i in range(len(numbers))]
        found.append(_numbers_of(columns, places, names=numbers, source=source, start=start))
        if key is not None:
            keys += keys_in(batch.columns[-1], places, name=key, where=source.name, start=start)
    joined = np.concatenate(rows)
    if key is not None:
        check_distinct(keys, joined, name=key, where=source.name)
    return Accompanied(
        table=work.finish(),
        n_read=work.n_read,
        rows=joined,
        numbers=np.vstack(found),
        keys=None if key is None else tuple(keys),
    )


def _numbers_of(
    columns: Sequence[pa.Array],
    places: NDArray[np.int64],
    *,
    names: Sequence[str],
    source: Source,
    start: int,
) -> NDArray[np.float64]:
    found = np.empty((len(places), len(columns)))
    for i, column in enumerate(columns):
        found[:, i] = numbers_in(column)[places]
        wrong = np.flatnonzero(~np.isfinite(found[:, i]))
        if len(wrong):
            raise DataError(
                f"Record {start + int(places[wrong[0]]) + 1}, column {names[i]!r}: the number"
                " is missing.",
                where=source.name,
                do="Give every record a number there.",
            )
    return found


def check_size(used: int, most_bytes: int, name: str) -> None:
    """Refuse data whose codes take more memory than the plan allows."""
    if used > most_bytes:
        raise DataError(
            f"The encoded data take more than the {most_bytes >> 20:,} megabytes allowed.",
            where=name,
            do="Use the engine stream, or allow more in the plan: 'reading: {megabytes: 8192}'.",
        )


class _Column:
    """The codes of a column so far, in one growing array.

    Growing in place keeps the peak near the size of the result; a list of pieces would
    need twice that while they are joined.
    """

    def __init__(self, attribute: Attribute) -> None:
        self.codes = np.empty(0, dtype=code_dtype(attribute.domain.size))
        self.n_codes = 0

    def add(self, codes: Codes) -> None:
        """Append the codes of a batch."""
        end = self.n_codes + len(codes)
        if end > len(self.codes):
            self.codes.resize(max(end, len(self.codes) * 5 // 4), refcheck=False)
        self.codes[self.n_codes : end] = codes
        self.n_codes = end

    @property
    def used(self) -> int:
        """Number of bytes of the codes so far."""
        return self.n_codes * self.codes.itemsize

    def finish(self) -> Codes:
        """Return the codes and release the spare room."""
        self.codes.resize(self.n_codes, refcheck=False)
        return self.codes


@dataclass(kw_only=True, eq=False, repr=False)
class _Work:
    schema: Schema
    encode: BatchEncoder
    columns: list[_Column]
    most_bytes: int
    n_read: int = 0

    @classmethod
    def begin(
        cls,
        source: Source,
        schema: Schema,
        sums: ColumnSums | None = None,
        most_bytes: int = PLAIN.most_bytes,
    ) -> _Work:
        encode = BatchEncoder(schema, name=source.name, sums=sums)
        columns = [_Column(attribute) for attribute in encode.attributes]
        return cls(schema=schema, encode=encode, columns=columns, most_bytes=most_bytes)

    def add(self, batch: pa.RecordBatch) -> Flags | None:
        """Add a batch without the records that lack a value; return which were kept, if not all."""
        encoded = self.encode(batch, n_before=self.n_read)
        for column, codes in zip(self.columns, encoded.columns, strict=True):
            column.add(codes)
        check_size(sum(column.used for column in self.columns), self.most_bytes, self.encode.name)
        self.n_read += batch.num_rows
        return encoded.kept

    def finish(self) -> EncodedTable:
        """Return the whole table."""
        return table_of_columns(self.schema, tuple(column.finish() for column in self.columns))
