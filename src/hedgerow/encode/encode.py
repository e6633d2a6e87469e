"""The confidential table, batch by batch, to small unsigned columns of codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hedgerow.encode.columns import ColumnEncoder, Encoded, Flags, column_encoder
from hedgerow.encode.schema import Attribute, Schema
from hedgerow.encode.table import Codes, EncodedTable
from hedgerow.errors import UnlistedValueError
from hedgerow.read.source import Progress, Source
from hedgerow.taxonomy.domain import code_dtype


def encode_table(
    source: Source, schema: Schema, *, progress: Progress | None = None
) -> EncodedTable:
    """Return the table as codes, with nothing in it that the schema does not describe.

    Records are read once and in order, a batch at a time. Numbers outside their bounds
    are clamped; a text that its taxonomy does not list gets the code of ``other``, or is
    refused where there is none. Missing values follow the schema's policy.

    Privacy: the result is as confidential as the table. Encoding treats every record by
    itself and by public rules alone, so neighbouring tables stay neighbours.
    """
    work = _Work.begin(source, schema)
    names = [attribute.name for attribute in schema.used()]
    text = {a.name for a in schema.used() if a.domain.kind == "categorical"}
    for batch in source.batches(names, text=text, progress=progress):
        work.add(batch)
    return work.finish()


class _Column:
    """A column on its way: how to encode it, and its codes so far, in one array that grows.

    Growing in place keeps the peak near the size of the result; a list of pieces would
    need twice that while they are joined.
    """

    def __init__(self, attribute: Attribute, encode: ColumnEncoder) -> None:
        self.attribute = attribute
        self.encode = encode
        self.codes = np.empty(0, dtype=code_dtype(attribute.domain.size))
        self.n_codes = 0

    def add(self, codes: Codes) -> None:
        """Append the codes of a batch."""
        end = self.n_codes + len(codes)
        if end > len(self.codes):
            self.codes.resize(max(end, len(self.codes) * 5 // 4), refcheck=False)
        self.codes[self.n_codes : end] = codes
        self.n_codes = end

    def finish(self) -> Codes:
        """Return the codes and let go of the room to grow."""
        self.codes.resize(self.n_codes, refcheck=False)
        return self.codes


@dataclass(kw_only=True, eq=False, repr=False)
class _Work:
    source: Source
    schema: Schema
    columns: list[_Column]
    n_read: int = 0

    @classmethod
    def begin(cls, source: Source, schema: Schema) -> _Work:
        columns = []
        for attribute in schema.used():
            keeps_missing = schema.missing == "value" and attribute is not schema.class_attribute
            encoder = column_encoder(
                attribute,
                missing_values=schema.missing_values,
                missing_code=attribute.domain.missing_code if keeps_missing else None,
            )
            columns.append(_Column(attribute, encoder))
        return cls(source=source, schema=schema, columns=columns)

    def add(self, batch: pa.RecordBatch) -> None:
        """Encode a batch, without the records that lack a value."""
        encoded = []
        for column, values in zip(self.columns, batch.columns, strict=True):
            codes = column.encode(values)
            if codes.unlisted is not None and codes.unlisted.any():
                raise self._unlisted(column.attribute, values, codes.unlisted)
            encoded.append(codes)
        kept = _complete(encoded)
        for column, codes in zip(self.columns, encoded, strict=True):
            column.add(codes.codes if kept is None else codes.codes[kept])
        self.n_read += batch.num_rows

    def finish(self) -> EncodedTable:
        """Return the whole table."""
        joined = tuple(column.finish() for column in self.columns)
        if self.schema.class_attribute is None:
            return EncodedTable(schema=self.schema, codes=joined, classes=None)
        return EncodedTable(schema=self.schema, codes=joined[:-1], classes=joined[-1])

    def _unlisted(self, attribute: Attribute, values: pa.Array, flags: Flags) -> UnlistedValueError:
        place = int(np.argmax(flags))
        if attribute.domain.kind == "categorical":
            what = "holds a value that the taxonomy does not list"
            do = "Add it as a leaf, or give the taxonomy a catch-all with 'other: NAME'."
        else:
            what = "holds something that is not a number"
            do = "Correct it, or list that text in 'missing-values'."
        return UnlistedValueError(
            values[place].as_py(),
            attribute=attribute.name,
            record=self.n_read + place + 1,
            what=what,
            where=self.source.name,
            do=do,
        )


def _complete(encoded: list[Encoded]) -> Flags | None:
    """Return which records of a batch lack nothing; ``None`` if all are complete."""
    lacking: Flags | None = None
    for column in encoded:
        if column.missing is not None and column.missing.any():
            lacking = column.missing if lacking is None else lacking | column.missing
    return None if lacking is None else ~lacking
