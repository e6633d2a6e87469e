"""Check that lines agree with the plan: their encoding, and quotes that open and close.

Each line is checked by its own bytes and the plan. A malformed one is refused with its file, or
dropped alone; no other line is read differently because of it. Whole blocks are processed at once:
only malformed lines are examined one by one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.read.lines import MAX_RECORD, Block

BOM = b"\xef\xbb\xbf"
_NO_LINE_END = re.compile(rb"\r(?!\n)")
_BLANK = b"\x0b"
"""Replaces a CR that does not end a line: white space, but not a line end to any parser."""

_QUOTE, _LF, _CR = ord('"'), ord("\n"), ord("\r")

Places = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class _Fault:
    """The reason why a line is malformed, and what to do about it."""

    what: str
    do: str


_NUL = _Fault(
    what="the record contains a NUL byte, so the file may not be text",
    do="Give CSV or TSV text, Parquet or Arrow.",
)
_LONG = _Fault(
    what=f"the record has more than {MAX_RECORD >> 20} megabytes",
    do="Lines must end in LF or CR LF, and each holds one record.",
)
_QUOTES = _Fault(
    what="the record has a quote that is not closed on its line, or is inside a field",
    do='Put such fields in quotes and double the quotes in them (""); for line ends inside'
    " quotes use 'quote: multi-line', for quotes that are letters 'quote: none'.",
)


@dataclass(frozen=True, kw_only=True)
class LineRules:
    """The public rules for the lines of a file.

    ``delimiter`` is ``None`` for a basket file, in which quotes are letters and a CR is a space.
    """

    reading: Reading
    delimiter: str | None
    name: str

    def sound(self, block: Block) -> bytes:
        """Return the block's records in UTF-8, with the malformed ones refused or dropped.

        In tables, CR may occur only in CRLF.

        Privacy: whether a line is malformed depends on it alone. Under ``drop`` one record changes
        at most itself; a refusal of the whole file is outside the guarantee, and it depends on the
        form of the bytes alone.
        """
        data = block.data
        if block.line == 1 and self.reading.encoding == "utf-8":
            data = data.removeprefix(BOM)
        drops = self.reading.malformed == "drop"
        wrong: list[tuple[Places, _Fault]] = []
        for places, fault in self._faults(data):
            if not drops:
                raise self._refusal(block, data, int(places.min()), fault)
            wrong.append((places, fault))
        if wrong:
            data = _without_lines(data, np.concatenate([places for places, _ in wrong]))
        data = _recoded(data, self.reading.encoding)
        # Most files have no CR at all, which a search shows much faster than counting.
        if self.delimiter is not None and b"\r" in data:
            data = _NO_LINE_END.sub(_BLANK, data)
        return data

    def _faults(self, data: bytes) -> Iterator[tuple[Places, _Fault]]:
        """Yield places in malformed lines, by kind of fault."""
        if len(data) > MAX_RECORD and len(places := _long_lines(data)):
            yield places, _LONG
        if b"\0" in data:
            yield np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 0), _NUL
        if not data.isascii():
            places = lines_not_in(data, self.reading.encoding)
            if len(places):
                yield places, self._foreign()
        quote = self.reading.quote
        if self.delimiter is not None and quote != "none" and b'"' in data:
            by_line = quote != "multi-line"
            places = stray_quotes(data, self.delimiter, by_line=by_line)
            if len(places):
                yield places, _QUOTES

    def _foreign(self) -> _Fault:
        encoding = self.reading.encoding
        return _Fault(
            what=f"the record contains bytes that are not {encoding}",
            do="Set the file's encoding in the plan ('reading: {encoding: windows-1252}'), or save"
            " the whole file as UTF-8.",
        )

    def _refusal(self, block: Block, data: bytes, place: int, fault: _Fault) -> DataError:
        line = block.line + data.count(b"\n", 0, place)
        drop = "" if self.reading.quote == "multi-line" else " Or use 'malformed: drop' to drop it."
        return DataError(fault.what, where=f"{self.name}, line {line}", do=fault.do + drop)


def stray_quotes(data: bytes, delimiter: str, *, by_line: bool) -> Places:
    """Return misplaced quotes: not at a field's border, not doubled, or not closed.

    In a sound line the quotes alternate: an even one opens a field, or is the second of a doubled
    quote, and so follows a border or a quote; an odd one precedes one. ``by_line`` counts them
    from the start of each line, else from the start of the block.
    """
    letters = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(letters == _QUOTE)
    odd = np.zeros(0, dtype=np.int64)
    opening, closing = quotes[::2], quotes[1::2]
    if by_line:
        ends = np.flatnonzero(letters == _LF)
        before = np.searchsorted(quotes, np.append(ends, len(data)))
        if (before & 1).any():
            line = np.searchsorted(ends, quotes)
            first = np.append(0, before[:-1])[line]
            rank = np.arange(len(quotes)) - first
            opening, closing = quotes[rank & 1 == 0], quotes[rank & 1 == 1]
            odd = quotes[(before[line] - first) & 1 == 1]
    border = np.zeros(256, dtype=np.bool_)
    border[[_LF, _QUOTE, ord(delimiter)]] = True
    # Places outside the block are clipped to its ends; a border is assumed beyond both.
    opens = border.take(letters.take(opening - 1, mode="clip")) | (opening == 0)
    behind = letters.take(closing + 1, mode="clip")
    closes = border.take(behind) | (closing + 1 == len(data))
    if not closes.all():  # a line may end in CR LF
        second = letters.take(closing + 2, mode="clip")
        closes |= (behind == _CR) & (second == _LF)
    return np.concatenate([odd, opening[~opens], closing[~closes]])


def _long_lines(data: bytes) -> Places:
    """Return a place in each line that is longer than a record may be."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _LF)
    bounds = np.concatenate([[-1], ends, [len(data)]])
    return bounds[:-1][np.diff(bounds) - 1 > MAX_RECORD] + 1


def _without_lines(data: bytes, places: Places) -> bytes:
    """Return the lines without any of ``places``."""
    letters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(letters == _LF)
    bounds = np.concatenate([[0], ends + 1, [len(data)]])
    keep = np.ones(len(bounds) - 1, dtype=np.bool_)
    keep[np.searchsorted(ends, places)] = False
    return letters[np.repeat(keep, np.diff(bounds))].tobytes()


def lines_not_in(data: bytes, encoding: str) -> Places:
    """Return a place in each line with bytes that the encoding does not define."""
    if encoding != "utf-8":
        unknown = _table(encoding)[1]
        return np.flatnonzero(unknown[np.frombuffer(data, dtype=np.uint8)])
    places = []
    view, start = memoryview(data), 0
    while start < len(data):
        try:
            codecs.utf_8_decode(view[start:], "strict", True)
            break
        except UnicodeDecodeError as error:
            places.append(start + error.start)
        start = data.find(b"\n", places[-1]) + 1 or len(data)
    return np.array(places, dtype=np.int64)


def _recoded(data: bytes, encoding: str) -> bytes:
    if encoding == "utf-8" or data.isascii():
        return data
    return codecs.charmap_decode(data, "strict", _table(encoding)[0])[0].encode()


@cache
def _table(encoding: str) -> tuple[str, NDArray[np.bool_]]:
    """Return the characters of the 256 bytes, and which bytes the encoding does not define."""
    letters = [bytes([byte]).decode(encoding, "replace") for byte in range(256)]
    return "".join(letters), np.array([letter == "\ufffd" for letter in letters])
