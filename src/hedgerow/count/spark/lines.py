"""Text files on Spark, line by line, by the same public rules as in the other engines.

Spark's own CSV reader guesses: it reads a bare CR as a line end, cuts and pads rows of the wrong
width, and replaces bytes that are not UTF-8. So it only provides lines as bytes, split at LF
alone, and the workers parse them as the other engines do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from hedgerow.count.spark.workers import NAME
from hedgerow.errors import DataError, SettingError
from hedgerow.model.reading import Reading
from hedgerow.read.delimited import RecordParser, rows_in
from hedgerow.read.jsonlines import ObjectParser
from hedgerow.read.lines import Block
from hedgerow.read.sound import BOM, LineRules
from hedgerow.read.source import check_columns

_HEADER_WITHIN = 100
_OBJECTS_WITHIN = 1000


def byte_lines(spark: Any, path: str) -> Any:
    """Return a frame with the lines of text files as bytes, without the LF that ends them."""
    lines = spark.read.option("lineSep", "\n").text(path)
    return lines.select(lines["value"].cast("binary").alias("line"))


def records_of(
    spark: Any, path: str, *, names: Sequence[str], text: Collection[str], reading: Reading
) -> tuple[Any, ParseLines]:
    """Return the lines of a CSV or TSV file, and their parser for the requested columns.

    Lines have no order on Spark, so every line that equals the header counts as a header.
    """
    if reading.quote == "multi-line":
        raise SettingError(
            "The engine spark reads one record per line.",
            where="reading.quote",
            do="Use the engine stream for quoted fields with line ends, or give Parquet.",
        )
    lines = byte_lines(spark, path)
    delimiter = reading.delimiter_of(PurePath(path))
    rules = LineRules(reading=reading, delimiter=delimiter, name=NAME)
    header: bytes | None = None
    if isinstance(reading.header, tuple):
        columns = reading.header
    else:
        header, columns = _header(lines, rules, delimiter)
    missing = [name for name in names if name not in columns]
    if missing:
        raise DataError(
            f"The column {missing[0]!r} does not exist.",
            where=NAME,
            do="Give the attribute the name of its column; names are case-sensitive. If the"
            " separator is not a comma, set it under 'reading' in the plan.",
        )
    parser = RecordParser(
        rules,
        delimiter=delimiter,
        n_columns=len(columns),
        requested=[(columns.index(name), name) for name in names],
        text=text,
    )
    return lines, ParseLines(parser, header, columns)


def objects_of(
    spark: Any, path: str, *, names: Sequence[str], reading: Reading
) -> tuple[Any, ParseLines]:
    """Return the lines of a file of JSON objects, and their parser.

    Unless the plan lists the columns, they are the keys of some of the first objects; if malformed
    records are dropped, every name is a column, as in `JsonLinesSource`.
    """
    lines = byte_lines(spark, path)
    parser = ObjectParser(reading, name=NAME, requested=names)
    if isinstance(reading.header, tuple):
        columns = reading.header
    else:
        first = b"".join(bytes(row[0]) + b"\n" for row in lines.take(_OBJECTS_WITHIN))
        columns, nested = parser.keys(Block(data=first, line=2, done=1.0))
        columns += tuple(names) if reading.drops_malformed else nested
    missing = [name for name in names if name not in columns]
    if missing:
        raise DataError(
            f"The column {missing[0]!r} does not exist.",
            where=NAME,
            do="Give the attribute the name of its key; names are case-sensitive.",
        )
    return lines, ParseLines(parser, None, columns)


def _header(lines: Any, rules: LineRules, delimiter: str) -> tuple[bytes, tuple[str, ...]]:
    first = next((row[0] for row in lines.take(_HEADER_WITHIN) if bytes(row[0]).strip()), None)
    if first is None:
        raise DataError(
            "The file is empty.", where=NAME, do="It must begin with a line of column names."
        )
    line = bytes(first)
    data = without_numbers(rules, Block(data=line.removeprefix(BOM), line=2, done=1.0))
    _, names = next(rows_in(data, delimiter, rules.reading), (0, []))
    return line, check_columns([name.strip() for name in names], name=NAME)


def without_numbers(rules: LineRules, block: Block) -> bytes:
    """Return sound lines; a refusal names no line, since they have no order here."""
    try:
        return rules.sound(block)
    except DataError as error:
        raise DataError(error.what, where=NAME, do=error.do) from None


class ParseLines:
    """Converts lines to columns of text; ``columns`` are all columns of the file."""

    def __init__(
        self,
        parser: RecordParser | ObjectParser,
        header: bytes | None,
        columns: Sequence[str] = (),
    ) -> None:
        self.parser = parser
        self.header = header
        self.columns = tuple(columns)

    def batches(self, lines: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the records of all batches of lines."""
        return map(self, lines)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the records of a batch of lines."""
        found = batch.column(0).to_pylist()
        lines = [line for line in found if line is not None and line != self.header]
        block = Block(data=b"".join(line + b"\n" for line in lines), line=2, done=1.0)
        try:
            return self.parser.parse(block)
        except DataError as error:
            raise DataError(error.what, where=NAME, do=error.do) from None


class LineBatches:
    """Converts batches of lines to sound lines, for a basket file."""

    def __init__(self, reading: Reading) -> None:
        self.rules = LineRules(reading=reading, delimiter=None, name=NAME)
        decoded = replace(reading, encoding="utf-8")  # Spark has decoded them
        self.of_text = LineRules(reading=decoded, delimiter=None, name=NAME)

    def __call__(self, batch: pa.RecordBatch) -> bytes:
        """Return the lines of a batch in UTF-8; a row is a record even if it contains line ends."""
        lines = b"".join(map(_as_line, batch.column(0).to_pylist()))
        is_text = pa.types.is_string(batch.schema.field(0).type)
        rules = self.of_text if is_text else self.rules
        return without_numbers(rules, Block(data=lines, line=2, done=1.0))


def _as_line(row: str | bytes | None) -> bytes:
    data = row.encode() if isinstance(row, str) else bytes(row or b"")
    return data.replace(b"\n", b" ") + b"\n"
