"""Encoding of one batch of a table as codes; every engine uses this step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hedgerow.encode.columns import ColumnEncoder, Encoded, column_encoder, is_text
from hedgerow.encode.dates import DateReader, DerivedEncoder, ReadDates
from hedgerow.encode.sums import ColumnSums, column_of
from hedgerow.errors import UnlistedValueError
from hedgerow.model.arrays import Codes, Flags
from hedgerow.model.derive import DateColumn
from hedgerow.model.schema import Attribute, CoverRule, Schema
from hedgerow.model.sizes import require_rows
from hedgerow.model.table import EncodedTable


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _ReadBatch:
    """The columns of a batch, the dates in them, and the number of records before it."""

    named: dict[str, pa.Array]
    dates: dict[tuple[DateColumn, frozenset[str]], ReadDates]
    n_before: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EncodedBatch:
    """The codes of a batch's complete records, by column; ``kept`` are their positions, if not all.

    ``inside`` are the records that a cover selects, complete or not, if there is one.
    """

    columns: tuple[Codes, ...]
    kept: Flags | None
    inside: Flags | None = None

    def table(self, schema: Schema) -> EncodedTable:
        """Return the batch as a table of its own."""
        return table_of_columns(schema, self.columns)


class BatchEncoder:
    """Encoder of batches of the schema's columns, by one rule for every record.

    With ``sums``, collects digests of the columns for the ledger, from records that are left out as
    well. Records outside the schema's cover are dropped before they are checked.

    Privacy: none is added. Every record is treated by itself and by public rules alone.
    """

    def __init__(self, schema: Schema, *, name: str, sums: ColumnSums | None = None) -> None:
        self.sums = sums
        self.schema = schema
        self.attributes = tuple(schema.used())
        self.columns = schema.columns()
        self.text = schema.text_columns()
        self.name = name
        self._n_rows = 0
        self.encoders = [self._encoder(schema, attribute) for attribute in self.attributes]
        self.cover = None if schema.cover is None else _CoverFlags(schema.cover)
        covering = schema.covering
        self.covering = None if covering is None else self._encoder(schema, covering)
        self.readers = {
            (column, encode.markers): DateReader(column, encode.markers)
            for encode in (*self.encoders, self.covering)
            if isinstance(encode, DerivedEncoder)
            for column in encode.derivation.columns
        }

    @staticmethod
    def _encoder(schema: Schema, attribute: Attribute) -> ColumnEncoder | DerivedEncoder:
        keeps_missing = schema.missing == "value" and attribute is not schema.class_attribute
        missing_code = attribute.domain.missing_code if keeps_missing else None
        if attribute.derivation is None:
            return column_encoder(
                attribute, missing_values=schema.missing_values, missing_code=missing_code
            )
        return DerivedEncoder(
            attribute.derivation,
            attribute.domain,
            markers=schema.missing_values | attribute.missing_values | {""},
            missing_code=missing_code,
            is_lenient=attribute.unreadable == "missing",
        )

    def __call__(self, batch: pa.RecordBatch, *, n_before: int) -> EncodedBatch:
        """Return the codes of a batch of ``columns`` without the records that lack a value.

        ``n_before`` is the number of records before the batch, for the numbers in messages.
        """
        self._n_rows += batch.num_rows
        require_rows(self._n_rows, self.name)
        named = dict(zip(self.columns, self._summed(batch), strict=True))
        dates = {key: read(named[key[0].name]) for key, read in self.readers.items()}
        read = _ReadBatch(named=named, dates=dates, n_before=n_before)
        inside = self._inside(read)
        encoded = [
            self._encoded(attribute, encode, read, inside)
            for attribute, encode in zip(self.attributes, self.encoders, strict=True)
        ]
        kept = _complete(encoded)
        if inside is not None:
            kept = inside if kept is None else kept & inside
        columns = tuple(each.codes if kept is None else each.codes[kept] for each in encoded)
        return EncodedBatch(columns=columns, kept=kept, inside=inside)

    def _inside(self, read: _ReadBatch) -> Flags | None:
        """Return which records the cover selects; ``None`` if that is all of them."""
        if self.cover is None:
            return None
        attribute = self.cover.rule.attribute
        names = [each.name for each in self.attributes]
        encode = self.covering or self.encoders[names.index(attribute.name)]
        return self.cover(self._encoded(attribute, encode, read, None))

    def _encoded(
        self,
        attribute: Attribute,
        encode: ColumnEncoder | DerivedEncoder,
        read: _ReadBatch,
        inside: Flags | None,
    ) -> Encoded:
        """Return the codes of one attribute; values that it does not list are refused.

        Of records that are not ``inside`` nothing is refused: they do not count.
        """
        values = read.named[attribute.columns[0]]
        if isinstance(encode, DerivedEncoder):
            columns = encode.derivation.columns
            codes = encode([read.dates[column, encode.markers] for column in columns])
        else:
            codes = encode(values)
        if codes.unlisted is not None:
            unlisted = codes.unlisted if inside is None else codes.unlisted & inside
            if unlisted.any():
                raise self._unlisted(attribute, values, unlisted, read.n_before)
        return codes

    def _summed(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns, after adding them to the sums, if there are any."""
        if self.sums is None:
            return list(batch.columns)
        columns = [
            column.dictionary_encode() if is_text(column.type) else column
            for column in batch.columns
        ]
        for name, column in zip(self.columns, columns, strict=True):
            self.sums.add_column(column_of(name), column)
        return columns

    def _unlisted(
        self, attribute: Attribute, values: pa.Array, flags: Flags, n_before: int
    ) -> UnlistedValueError:
        place = int(np.argmax(flags))
        if attribute.domain.kind == "categorical":
            what = "The value is not listed in the taxonomy."
            do = (
                "Add it as a leaf, give the taxonomy a catch-all with 'other: NAME', or list the"
                " text in 'missing-values' if it means a missing value."
            )
        elif attribute.derivation is not None:
            what = f"The text is not a date in the format {attribute.derivation.start.format}."
            do = (
                "Correct it, give its 'format', or list the text in 'missing-values' if it means a"
                " missing value."
            )
        else:
            what = "The text is not a number."
            do = (
                "Correct it, list the text in 'missing-values' if it means a missing value, or"
                " give the column 'unreadable: missing'."
            )
        return UnlistedValueError(
            _value_at(values, place),
            attribute=attribute.name,
            record=n_before + place + 1,
            what=what,
            where=self.name,
            do=do,
        )


class _CoverFlags:
    """The selection of records of a batch by a cover, from their codes alone."""

    def __init__(self, rule: CoverRule) -> None:
        self.rule = rule
        self.taken = np.zeros(rule.attribute.domain.size, dtype=np.bool_)
        self.taken[list(rule.codes)] = True

    def __call__(self, encoded: Encoded) -> Flags:
        """Return whether each record's code is covered; a record without a value has none."""
        inside: Flags = self.taken.take(encoded.codes, mode="clip")
        return inside if encoded.missing is None else inside & ~encoded.missing


def _value_at(values: pa.Array, place: int) -> object:
    """Return one value; ``None`` if Python cannot represent it, such as years above 9999."""
    try:
        return values[place].as_py()
    except (ValueError, OverflowError, pa.ArrowException):
        return None


def table_of_columns(schema: Schema, columns: tuple[Codes, ...]) -> EncodedTable:
    """Return a table from the codes of all used columns, the class last if there is one."""
    if schema.class_attribute is None:
        return EncodedTable(schema=schema, codes=columns, classes=None)
    return EncodedTable(schema=schema, codes=columns[:-1], classes=columns[-1])


def _complete(encoded: list[Encoded]) -> Flags | None:
    """Return which records lack nothing; ``None`` if all are complete."""
    lacking: Flags | None = None
    for column in encoded:
        if column.missing is not None and column.missing.any():
            lacking = column.missing if lacking is None else lacking | column.missing
    return None if lacking is None else ~lacking
