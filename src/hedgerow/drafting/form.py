"""The apparent form of a text file, for a person to confirm; `publish` never guesses it."""

from __future__ import annotations

import csv
import json
import re
import textwrap
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from hedgerow.errors import DataError
from hedgerow.model.reading import (
    DELIMITERS,
    PLAIN,
    Delimiter,
    Reading,
    TextEncoding,
    unpacked_name,
)
from hedgerow.read.delimited import open_delimited
from hedgerow.read.lines import text_blocks, unpacking
from hedgerow.read.sound import BOM, lines_not_in
from hedgerow.read.words import HEADER as FILE_HEADER

_SAMPLE = 1 << 16
_SAMPLE_ROWS = 50
_MOST_HEADER_LINES = 100
_MOST_MALFORMED = 0.1
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*", re.ASCII)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}", re.ASCII)
_SEPARATOR = re.compile(r"[ ,;\t|]+")
_TABLES = (".csv", ".tsv", ".tab")
_NOT_TEXT = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"PK\x03\x04", b"SQLite format 3", b"%PDF")


def form_of(path: Path) -> Reading:
    """Return the apparent form of a CSV or TSV file.

    Privacy: as confidential as the data, until a person confirms that it is public knowledge.
    """
    encoding = encoding_of(path)
    sample = beginning(path).removeprefix(BOM).decode(encoding, "replace")
    delimiter = _delimiter(sample)
    form = Reading(encoding=encoding, delimiter=delimiter)
    rows = list(_rows(sample, DELIMITERS[delimiter]))
    if _begins_with_numbers(rows):
        form = replace(form, header=column_numbers(len(rows[0])))
    for quote in ('"', "multi-line", "none"):
        candidate = replace(form, quote=quote)
        if _records(path, candidate) is not None:
            return candidate
    left = _records(path, replace(form, malformed="drop"))
    every = sum(block.data.count(b"\n") for block in text_blocks(path))
    if left is not None and left >= (1 - _MOST_MALFORMED) * every:
        return replace(form, malformed="drop")
    return form


def column_numbers(n_columns: int) -> tuple[str, ...]:
    """Return the names of the columns of a file without names.

    >>> column_numbers(2)
    ('column-1', 'column-2')
    """
    return tuple(f"column-{place}" for place in range(1, n_columns + 1))


def _begins_with_numbers(rows: list[list[str]]) -> bool:
    """Return whether the first line holds numbers like those below it, not column names."""
    if len(rows) < 3:
        return False
    first, *others = rows
    numbers = [
        field
        for field, *below in zip(first, *others, strict=False)
        if _NUMBER.fullmatch(field.strip())
        and 2 * sum(bool(_NUMBER.fullmatch(each.strip())) for each in below) > len(below)
    ]
    is_years = all(_YEAR.fullmatch(field.strip()) for field in numbers)
    return len(numbers) >= 1 and 5 * len(numbers) >= len(first) and not is_years


def basket_form_of(path: Path) -> Reading:
    """Return the apparent form of a basket file; see :func:`form_of`."""
    sample = beginning(path)
    header = end = 0
    if sample.startswith(FILE_HEADER):
        for line in sample.split(b"\n")[:_MOST_HEADER_LINES]:
            end += 1
            if line.startswith(FILE_HEADER) or (header == end - 1 and not line.strip()):
                header = end
    return Reading(encoding=encoding_of(path), header=header)


def table_form_text(form: Reading) -> str:
    """Return the ``reading`` section of a plan for a CSV or TSV file."""
    header = "true"
    if isinstance(form.header, tuple):
        header = f"[{', '.join(form.header)}]"
    said = f"header: {header}, quote: {json.dumps(form.quote)}, malformed: {form.malformed}}}"
    return "\n".join(
        (
            f"reading: {{encoding: {form.encoding}, delimiter: {form.delimiter}, decimal:"
            f" {form.decimal}, thousands: {form.thousands},",
            *textwrap.wrap(said, 98, initial_indent="  ", subsequent_indent="  "),
        )
    )


def basket_form_text(form: Reading) -> str:
    """Return the ``reading`` section of a plan for a basket file."""
    said = f"encoding: {form.encoding}, header: {form.header}, malformed: {form.malformed}"
    return f"reading: {{{said}}}"


def is_called_table(path: Path) -> bool:
    """Return whether the name of a file is that of a table."""
    return unpacked_name(path).endswith(_TABLES)


def looks_like_basket_lines(path: Path) -> bool:
    """Return whether the lines of a file look like baskets rather than rows of a table.

    Some delimiter splits rows into equally many fields. It does not split the lines of baskets so:
    they have different lengths, and their words recur in other lines.
    """
    if is_called_table(path) or PLAIN.holds_objects(path) or not path.is_file():
        return False
    sample = beginning(path)
    if sample.startswith(_NOT_TEXT) or b"\0" in sample:
        return False
    text = sample.decode("utf-8", "replace")
    lines = [line.strip() for line in text.split("\n")[:200] if line.strip()][:-1]
    if len(lines) < 2 or any(_is_even(text, letter) for letter in DELIMITERS.values()):
        return False
    words = [_SEPARATOR.split(line.strip(" ,;\t|")) for line in lines]
    distinct = {word for line in words for word in line}
    total = sum(map(len, words))
    return len({len(line) for line in words}) > 1 and 2 * len(distinct) <= total


def encoding_of(path: Path) -> TextEncoding:
    """Return UTF-8 if most lines beyond ASCII are in it, else Windows-1252 or Latin-1."""
    beyond = wrong = 0
    undefined = False
    for block in text_blocks(path):
        if block.data.isascii():
            continue
        letters = np.frombuffer(block.data, dtype=np.uint8)
        ends = np.flatnonzero(letters == ord("\n"))
        beyond += len(np.unique(np.searchsorted(ends, np.flatnonzero(letters >= 128))))
        wrong += len(lines_not_in(block.data, "utf-8"))
        undefined = undefined or len(lines_not_in(block.data, "windows-1252")) > 0
    if 2 * wrong < beyond or not wrong:
        return "utf-8"
    return "latin-1" if undefined else "windows-1252"


def beginning(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked; none if it cannot be read or is damaged."""
    try:
        with path.open("rb") as raw:
            return bytes(unpacking(raw, path)[0].read(_SAMPLE))
    except (OSError, EOFError, zlib.error):
        return b""


def _records(path: Path, form: Reading) -> int | None:
    """Return the number of records of a file under this form, or ``None``."""
    try:
        source = open_delimited(path, form)
        return sum(int(batch.num_rows) for batch in source.batches(source.columns[:1]))
    except DataError:
        return None


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the first rows that are not blank, without the last one of the sample."""
    whole = text[: text.rfind("\n") + 1] or text
    try:
        rows = (row for row in csv.reader(whole.split("\n"), delimiter=delimiter) if row)
        yield from islice(rows, _SAMPLE_ROWS)
    except csv.Error:
        return


def _is_even(text: str, delimiter: str) -> bool:
    widths = {len(row) for row in _rows(text, delimiter)}
    return len(widths) == 1 and widths != {1}


def _delimiter(text: str) -> Delimiter:
    """Return the delimiter that splits the first lines into equally many fields."""
    best: Delimiter = "comma"
    best_score = (0.0, 1)
    for name, letter in DELIMITERS.items():
        widths = [len(row) for row in _rows(text, letter)]
        if not widths or widths[0] < 2:
            continue
        score = (widths.count(widths[0]) / len(widths), widths[0])
        if score > best_score:
            best, best_score = name, score
    return best
