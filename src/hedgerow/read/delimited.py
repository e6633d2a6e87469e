"""CSV and TSV files: delimiter and names from the first lines, records in parallel.

Every column comes as dictionary-encoded text: the few distinct values of a block are
looked at once each, and the records only through small integers. Blocks are parsed by a
thread per core, in order.
"""

from __future__ import annotations

import csv
import os
import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv

from hedgerow.errors import DataError
from hedgerow.read.lines import BLOCK, Block, record_blocks, text_lines
from hedgerow.read.source import ReadProgress, check_columns, places_of

DELIMITERS = (",", ";", "\t", "|")
_WRITTEN = re.compile(rb"[^\r\n]")
_MOST_WORKERS = 8  # each keeps a block and what it parsed from it in memory
_SAMPLE_BYTES = 1 << 16
_SAMPLE_ROWS = 50
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DelimitedSource:
    """A CSV or TSV file; see :class:`hedgerow.read.source.Source`."""

    path: Path
    columns: tuple[str, ...]
    delimiter: str
    header_lines: int
    block_size: int = BLOCK

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),  # everything here is text
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the asked columns, all of them as dictionary-encoded text."""
        parser = _Parser(self.columns, places_of(columns, self), self.delimiter)
        workers = min(os.cpu_count() or 1, _MOST_WORKERS)
        waiting: deque[tuple[Block, Future[pa.RecordBatch]]] = deque()
        with ThreadPoolExecutor(workers) as pool:
            for block in self._record_blocks():
                waiting.append((block, pool.submit(parser.parse, block.data)))
                if len(waiting) > workers + 1:
                    yield self._finished(*waiting.popleft(), columns, progress)
            while waiting:
                yield self._finished(*waiting.popleft(), columns, progress)
        if progress:
            progress(1.0)

    def _record_blocks(self) -> Iterator[Block]:
        skipped = False
        for whole in record_blocks(self.path, delimiter=self.delimiter, size=self.block_size):
            block = whole
            if not skipped:
                block, skipped = self._without_header(whole)
            if _WRITTEN.search(block.data):
                yield block

    def _without_header(self, block: Block) -> tuple[Block, bool]:
        """Cut the header's lines off, as far as the block holds them."""
        left = self.header_lines - (block.line - 1)
        place = 0
        for _ in range(left):
            place = block.data.find(b"\n", place) + 1
            if not place:
                return Block(data=b"", line=block.line, done=block.done), False
        rest = Block(data=block.data[place:], line=block.line + left, done=block.done)
        return rest, True

    def _finished(
        self,
        block: Block,
        parsed: Future[pa.RecordBatch],
        columns: Sequence[str],
        progress: ReadProgress | None,
    ) -> pa.RecordBatch:
        try:
            batch = parsed.result()
        except pa.ArrowException:  # its text quotes the record
            raise _diagnosis(block, self.delimiter, len(self.columns), self.name) from None
        if progress:
            progress(block.done)
        return batch.rename_columns(list(columns))


class _Parser:
    """Turns the bytes of a block into a batch of the asked columns."""

    def __init__(self, columns: Sequence[str], places: Sequence[int], delimiter: str) -> None:
        # Columns go by number: names of a header may repeat up to blanks or be empty.
        self.names = [str(place) for place in range(len(columns))]
        asked = [str(place) for place in places]
        self.parsing = arrow_csv.ParseOptions(delimiter=delimiter)
        self.converting = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(asked, _TEXT),
            include_columns=asked,
            null_values=[""],
            strings_can_be_null=True,
            check_utf8=False,  # done while the encoding was settled
        )

    def parse(self, data: bytes) -> pa.RecordBatch:
        """Return the records of ``data``, which must fill one block exactly."""
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=self.names, block_size=len(data) + 1
            ),
            parse_options=self.parsing,
            convert_options=self.converting,
        )
        return table.combine_chunks().to_batches()[0]


def open_delimited(path: Path) -> DelimitedSource:
    """Return a CSV or TSV file, opened far enough to know its columns."""
    start = next(text_lines(path), None)
    if start is None or not start.data.strip():
        raise DataError(
            "the file is empty", where=path.name, do="It must begin with a line of column names."
        )
    if b"\n" not in start.data and b"\r" in start.data:
        raise DataError("lines end in CR alone", where=path.name, do="Save it with LF line ends.")
    delimiter = _sniffed(start.data)
    names, lines = _header(start.data, delimiter, path.name)
    return DelimitedSource(
        path=path,
        columns=check_columns([name.strip() for name in names], name=f"{path.name}, line {lines}"),
        delimiter=delimiter,
        header_lines=lines,
    )


def _rows(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its last line."""
    lines = (line.decode() for line in BytesIO(data))
    reader = csv.reader(lines, delimiter=delimiter)
    for row in reader:
        if row:
            yield reader.line_num, row


def _header(data: bytes, delimiter: str, name: str) -> tuple[list[str], int]:
    try:
        line, names = next(_rows(data, delimiter))
    except csv.Error:
        raise DataError(
            "the line of column names cannot be read",
            where=f"{name}, line 1",
            do="Begin the file with a line of column names.",
        ) from None
    return names, line


def _sniffed(data: bytes) -> str:
    """Return the delimiter that cuts the first lines into equally many fields."""
    sample = data[: data.rfind(b"\n", 0, _SAMPLE_BYTES) + 1]
    if not sample.strip():
        sample = data
    best, best_score = DELIMITERS[0], (0.0, 1)
    for delimiter in DELIMITERS:
        try:
            widths = [len(row) for _, row in islice(_rows(sample, delimiter), _SAMPLE_ROWS)]
        except csv.Error:
            continue
        score = (widths.count(widths[0]) / len(widths), widths[0])
        if widths[0] > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def _diagnosis(block: Block, delimiter: str, expected: int, name: str) -> DataError:
    """Say which line of a block the parser could not take, and why."""
    line = 0
    try:
        for last, row in _rows(block.data, delimiter):
            if len(row) != expected:
                first = block.line + last - 1 - sum(field.count("\n") for field in row)
                return DataError(
                    f"the record has {len(row)} fields, and the header has {expected}",
                    where=f"{name}, line {first}",
                    do="Put fields that hold the delimiter in quotes; leave none out.",
                )
            line = last
    except csv.Error:
        pass
    return DataError(
        "the record cannot be read as delimited text",
        where=f"{name}, line {block.line + line} or after",
        do='Check its quotes: a quote inside a quoted field is written twice ("").',
    )
