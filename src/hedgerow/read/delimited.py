"""CSV and TSV files, read by the plan's public rules, with records in parallel.

Every column comes as dictionary-encoded text: each distinct value of a block is examined once, and
the records only as small integers. Blocks are checked and parsed by a thread per core, in order. In
large files, plain blocks are parsed by compiled loops (`plain_blocks`), to the same columns.
"""

from __future__ import annotations

import csv
import os
import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from hedgerow.errors import DataError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.lines import BLOCK, Block, quoted_blocks, text_blocks
from hedgerow.read.marks import marks_of_columns, with_points
from hedgerow.read.plain_blocks import PlainBlocks, blocks_compiled
from hedgerow.read.sound import BOM, LineRules
from hedgerow.read.source import ReadProgress, check_columns, places_of

_WRITTEN = re.compile(rb"[^\r\n]")
_MOST_WORKERS = 8  # each holds a block and its parsed form in memory
_HEADER_BYTES = 1 << 16
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DelimitedSource:
    """A CSV or TSV file; see :class:`hedgerow.read.source.Source`."""

    path: Path
    columns: tuple[str, ...]
    reading: Reading
    header_lines: int
    block_size: int = BLOCK

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    @property
    def delimiter(self) -> str:
        """Separator of fields."""
        return self.reading.delimiter_of(self.path)

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the requested columns, all of them as dictionary-encoded text.

        If the plan says that numbers have a decimal comma or thousands separators, those of columns
        that are not in ``text`` come with a decimal point only.
        """
        parser = RecordParser.of(self, columns, text=text, compiled=self._compiled())
        workers = min(os.cpu_count() or 1, _MOST_WORKERS)
        waiting: deque[tuple[Block, Future[pa.RecordBatch]]] = deque()
        with ThreadPoolExecutor(workers) as pool:
            for block in self._blocks():
                waiting.append((block, pool.submit(parser.parse, block)))
                if len(waiting) > workers + 1:
                    yield _finished(*waiting.popleft(), progress)
            while waiting:
                yield _finished(*waiting.popleft(), progress)
        if progress:
            progress(1.0)

    def _compiled(self) -> bool:
        try:
            return blocks_compiled(self.path.stat().st_size)
        except OSError:  # it is reported when the file is read
            return False

    def _blocks(self) -> Iterator[Block]:
        for whole in _cut(self.path, self.reading, self.block_size):
            block = whole
            if whole.line <= self.header_lines:
                block = whole.without_lines(self.header_lines)
            if _WRITTEN.search(block.data):
                yield block


def _cut(path: Path, reading: Reading, size: int) -> Iterator[Block]:
    """Yield blocks of complete records, without too long ones if the plan drops them."""
    if reading.quote == "multi-line":
        return quoted_blocks(path, size=size)
    return text_blocks(path, size=size, drop_long=reading.drops_malformed)


def _finished(
    block: Block, parsed: Future[pa.RecordBatch], progress: ReadProgress | None
) -> pa.RecordBatch:
    batch = parsed.result()
    if progress:
        progress(block.done)
    return batch


class RecordParser:
    """Converts blocks of lines to batches of the requested columns, by public rules alone.

    With ``compiled``, which needs a large file, compiled loops parse the plain blocks.
    """

    def __init__(
        self,
        rules: LineRules,
        *,
        delimiter: str,
        n_columns: int,
        requested: Sequence[tuple[int, str]],
        text: Collection[str],
        compiled: bool = False,
    ) -> None:
        # Columns are identified by number: names in a header may repeat up to spaces or be empty.
        self.rules = rules
        self.delimiter = delimiter
        self.n_columns = n_columns
        self.requested = list(requested)
        self.marks = marks_of_columns(rules.reading, [name for _, name in requested], text=text)
        places = [place for place, _ in requested]
        self.plain = (
            PlainBlocks(rules.reading, delimiter=delimiter, n_columns=n_columns, requested=places)
            if compiled
            else None
        )

    @classmethod
    def of(
        cls,
        source: DelimitedSource,
        columns: Sequence[str],
        *,
        text: Collection[str],
        compiled: bool = False,
    ) -> RecordParser:
        """Return the parser for the blocks of a file."""
        reading, delimiter = source.reading, source.delimiter
        return cls(
            LineRules(reading=reading, delimiter=delimiter, name=source.name),
            delimiter=delimiter,
            n_columns=len(source.columns),
            requested=list(zip(places_of(columns, source), columns, strict=True)),
            text=text,
            compiled=compiled,
        )

    def parse(self, block: Block) -> pa.RecordBatch:
        """Return the records of complete lines, or name the malformed one."""
        plain = None if self.plain is None else self.plain.columns(block)
        batch = self._checked(block) if plain is None else self._named(plain)
        return with_points(batch, self.marks) if self.marks else batch

    def _checked(self, block: Block) -> pa.RecordBatch:
        data = self.rules.sound(block)
        try:
            return self._parsed(data)
        except pa.ArrowException:  # its text quotes the record
            raise self._diagnosis(Block(data=data, line=block.line, done=1.0)) from None

    def _parsed(self, data: bytes) -> pa.RecordBatch:
        names = [str(place) for place in range(self.n_columns)]
        requested = [str(place) for place, _ in self.requested]
        if not _WRITTEN.search(data):  # every record was dropped
            return self._named([_no_words()] * len(requested))
        if data.startswith(BOM):  # Arrow removes one from every block, as if it were a file
            data = BOM + data
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=names, block_size=len(data) + 1
            ),
            parse_options=self._parsing(),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(requested, _TEXT),
                include_columns=requested,
                null_values=[""],
                strings_can_be_null=True,
                check_utf8=False,  # checked with the encoding
            ),
        )
        batches = table.combine_chunks().to_batches()
        return self._named(batches[0].columns if batches else [_no_words()] * len(requested))

    def _named(self, arrays: Sequence[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(list(arrays), names=[name for _, name in self.requested])

    def _parsing(self) -> arrow_csv.ParseOptions:
        reading = self.rules.reading
        drops = reading.malformed == "drop"
        return arrow_csv.ParseOptions(
            delimiter=self.delimiter,
            quote_char=False if reading.quote == "none" else '"',
            invalid_row_handler=_skip if drops else None,
        )

    def _diagnosis(self, block: Block) -> DataError:
        """Return an error that names the line of a block that cannot be parsed, and the reason."""
        line, name = 0, self.rules.name
        drop = "" if self.rules.reading.quote == "multi-line" else _OR_DROP
        try:
            for last, row in rows_in(block.data, self.delimiter, self.rules.reading):
                if len(row) != self.n_columns:
                    first = block.line + last - 1 - sum(field.count("\n") for field in row)
                    return DataError(
                        f"The record has {len(row)} fields, and the header has {self.n_columns}.",
                        where=f"{name}, line {first}",
                        do=f"Put fields that contain the delimiter in quotes; omit no field.{drop}",
                    )
                line = last
        except csv.Error:
            pass
        return DataError(
            "The record cannot be read as delimited text.",
            where=f"{name}, line {block.line + line} or after",
            do=f'Check its quotes: a quote inside a quoted field is written twice ("").{drop}',
        )


_OR_DROP = " With 'malformed: drop' in the plan's reading, such records are dropped."


def _no_words() -> pa.DictionaryArray:
    # Not when this module is loaded: it loads pandas if that is installed.
    return pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array([], pa.string()))


def _skip(row: Any) -> str:
    """Drop a record of the wrong width, without a message about the file."""
    return "skip"


def open_delimited(path: Path, reading: Reading = PLAIN) -> DelimitedSource:
    """Return a CSV or TSV file, opened far enough to know its columns."""
    start = next(text_blocks(path, drop_long=reading.drops_malformed), None)
    if start is None or not start.data.removeprefix(BOM).strip():
        raise DataError(
            "The file is empty.", where=path.name, do="It must begin with a line of column names."
        )
    if b"\n" not in start.data and b"\r" in start.data:
        raise DataError("Lines end in CR alone.", where=path.name, do="Save it with LF line ends.")
    lines = 0
    if isinstance(reading.header, tuple):
        names = list(reading.header)
    else:
        names, lines = _header(path, reading)
    return DelimitedSource(
        path=path,
        columns=check_columns([name.strip() for name in names], name=f"{path.name}, line {lines}"),
        reading=reading,
        header_lines=lines,
    )


def rows_in(data: bytes, delimiter: str, reading: Reading) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of sound text that are not blank, each with the number of its last line."""
    lines = (line.decode() for line in BytesIO(data))
    if reading.quote == "none":
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, delimiter=delimiter)
    for row in reader:
        if row:
            yield reader.line_num, row


def _header(path: Path, reading: Reading) -> tuple[list[str], int]:
    """Return the names in the first non-blank record, and the number of its last line."""
    delimiter = reading.delimiter_of(path)
    strict = replace(reading, malformed="refuse")
    rules = LineRules(reading=strict, delimiter=delimiter, name=path.name)
    line = 1
    for block in _cut(path, reading, _HEADER_BYTES):
        if block.line != line:  # a line before it was too long: no record may replace it
            break
        line += block.data.count(b"\n")
        first = _up_to_a_record(block, multi_line=reading.quote == "multi-line")
        if first is None:
            continue
        try:
            last, names = next(rows_in(rules.sound(first), delimiter, reading))
        except (csv.Error, StopIteration):
            break
        return names, first.line + last - 1
    raise DataError(
        "The line of column names cannot be read.",
        where=f"{path.name}, line 1",
        do="Begin the file with a line of column names.",
    )


def _up_to_a_record(block: Block, *, multi_line: bool) -> Block | None:
    """Return the start of a block up to its first non-blank record."""
    end, quotes, begun = 0, 0, False
    for line in BytesIO(block.data):
        end += len(line)
        quotes += line.count(b'"') if multi_line else 0
        begun = begun or bool(line.strip())
        if begun and not quotes % 2:
            return Block(data=block.data[:end], line=block.line, done=block.done)
    return None
