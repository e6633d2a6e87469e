"""Numbers with decimal commas and thousands separators, converted to a decimal point only.

The meaning of a text depends on the plan's public marks and on nothing else in the table: with
points as thousands separators ``6.893`` is 6,893, whatever the rest of the column is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Self

import pyarrow as pa
from pyarrow import types

from hedgerow.model.reading import Decimal, NumberMarks, Reading, Thousands
from hedgerow.read.source import ReadProgress, Source

DECIMALS: dict[Decimal, str] = {"point": ".", "comma": ","}
THOUSANDS: dict[Thousands, str] = {
    "none": "",
    "point": ".",
    "comma": ",",
    "blank": " \u00a0\u2009\u202f",
    "apostrophe": "'\u2019",
}
"""The characters that may separate thousands."""

_AS_PROGRAMS_WRITE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


@cache
def number_pattern(marks: NumberMarks) -> re.Pattern[str]:
    """Return a pattern for the numbers of a column: groups of three digits, or no separators."""
    point = re.escape(DECIMALS[marks.decimal])
    plain = rf"(?:[0-9]+(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    if marks.thousands == "none":
        return re.compile(rf"[+-]?{plain}", re.ASCII)
    mark = f"[{re.escape(THOUSANDS[marks.thousands])}]"
    grouped = rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+(?:{point}[0-9]*)?"
    return re.compile(rf"[+-]?(?:{grouped}|{plain})", re.ASCII)


def plain_number_text(word: str, marks: NumberMarks) -> str:
    """Return a number with a decimal point only; a text that is not a number stays so.

    >>> german = NumberMarks(decimal="comma", thousands="point")
    >>> [plain_number_text(word, german) for word in ("1.234,56", "6.893", "6.89", "unknown")]
    ['1234.56', '6893', '6,89', 'unknown']
    """
    if number_pattern(marks).fullmatch(word.strip()):
        for letter in THOUSANDS[marks.thousands]:
            word = word.replace(letter, "")
        return word.replace(",", ".")
    # A text that programs would read as a number, but the plan does not, must not pass for one.
    return word.replace(".", ",") if _AS_PROGRAMS_WRITE.fullmatch(word.strip()) else word


def marks_of_columns(
    reading: Reading, columns: Sequence[str], *, text: Collection[str]
) -> dict[str, NumberMarks]:
    """Return the marks of columns of numbers that differ from a decimal point only."""
    marks = {name: reading.marks_of(name) for name in columns if name not in text}
    return {
        name: column_marks for name, column_marks in marks.items() if not column_marks.are_plain
    }


def with_points(batch: pa.RecordBatch, marks: Mapping[str, NumberMarks]) -> pa.RecordBatch:
    """Return the batch with decimal points only in the columns of numbers that are text."""
    arrays = [
        _pointed(column, marks[name]) if name in marks else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _pointed(column: pa.Array, marks: NumberMarks) -> pa.Array:
    kind = column.type
    held = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(held) or types.is_large_string(held) or types.is_string_view(held)):
        return column
    encoded = column if types.is_dictionary(kind) else column.dictionary_encode()
    words = [
        word if word is None else plain_number_text(word, marks)
        for word in encoded.dictionary.to_pylist()
    ]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(words, pa.string()))


def marked(source: Source, reading: Reading) -> Source:
    """Return a table of any kind whose texts may contain numbers with the plan's marks.

    The parser of text files handles them itself.
    """
    return source if hasattr(source, "delimiter") else MarkedSource(source, reading)


class MarkedSource:
    """A table whose texts contain numbers with marks; values stored as numbers are unchanged."""

    def __init__(self, source: Source, reading: Reading) -> None:
        self.source = source
        self.reading = reading

    def __getattr__(self, name: str) -> Any:
        """Return the table's other attributes, such as the labels of its values."""
        return getattr(self.source, name)

    def __enter__(self) -> Self:
        if isinstance(self.source, AbstractContextManager):
            self.source.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        if isinstance(self.source, AbstractContextManager):
            self.source.__exit__(*raised)

    @property
    def name(self) -> str:
        """Name of the table in messages."""
        return self.source.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.source.columns

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the requested columns; see :class:`hedgerow.read.source.Source`."""
        marks = marks_of_columns(self.reading, columns, text=text)
        for batch in self.source.batches(columns, text=text, progress=progress):
            yield with_points(batch, marks) if marks else batch
