"""Text files as blocks of whole records: decompressed, checked and in UTF-8.

Two passes over every block, both at memory speed. `_LineReader` cuts the bytes at line
ends, checks them and settles the encoding; `record_blocks` joins what a quoted field
with a line end in it would tear apart. Only then is a block parsed, in any thread.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError

BLOCK = 1 << 21
"""Bytes read at a time."""

MAX_RECORD = 1 << 24
"""Bytes of one record, or of one line, beyond which a file is refused."""

MOST_UNPACKED = 1 << 28
MOST_GROWTH = 200
"""A compressed file may hold that many bytes, or that many times its own size if that is more."""

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
# Windows-1252, and Latin-1 for the five bytes that it leaves open: every byte is a letter.
_WESTERN = "".join(
    bytes([byte]).decode("cp1252" if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else "latin-1")
    for byte in range(256)
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Block:
    """Whole lines of a file in UTF-8; ``line`` numbers the first of them, from 1."""

    data: bytes
    line: int
    done: float

    def line_of(self, place: int) -> int:
        """Return the number of the line that holds the byte at ``place``."""
        return self.line + self.data.count(b"\n", 0, place)

    def joined(self, after: Block) -> Block:
        """Return this block and the one that follows it as one."""
        return Block(data=self.data + after.data, line=self.line, done=after.done)


def record_blocks(path: Path, *, delimiter: str, size: int = BLOCK) -> Iterator[Block]:
    """Yield blocks of whole records, the line of column names included."""
    quoted = _quoted_field(delimiter)
    held: Block | None = None
    for lines in text_lines(path, size=size):
        block = lines if held is None else held.joined(lines)
        held = None
        if b'"' not in block.data:
            yield block
            continue
        cut, unclosed = _last_record_end(block.data, delimiter, quoted)
        if cut:
            yield Block(data=block.data[:cut], line=block.line, done=block.done)
        if unclosed is not None:
            held = Block(data=block.data[cut:], line=block.line_of(cut), done=block.done)
            if len(held.data) > MAX_RECORD:
                raise _unclosed(path, block.line_of(unclosed))
    if held is not None:
        _, unclosed = _last_record_end(held.data, delimiter, quoted)
        raise _unclosed(path, held.line_of(unclosed or 0))


def text_lines(path: Path, *, size: int = BLOCK) -> Iterator[Block]:
    """Yield blocks of whole lines, whatever quotes they hold."""
    return _LineReader(path, size).blocks()


class _LineReader:
    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.size = size
        self.line = 1
        self.encoding: str | None = None  # settled by the first line that is not ASCII

    def blocks(self) -> Iterator[Block]:
        for data, done in self._whole_lines():
            if (nul := data.find(b"\0")) >= 0:
                line = self.line + data.count(b"\n", 0, nul)
                raise self._refuse("the file is not text: it holds NUL bytes", line, _AS_TEXT)
            if len(data) > self.size + MAX_RECORD:
                line = self.line + data.count(b"\n")
                raise self._refuse("the line is too long", line, _LINE_ENDS)
            yield self._block(data, done)

    def _whole_lines(self) -> Iterator[tuple[bytes, float]]:
        try:
            total = max(1, self.path.stat().st_size)
            with self.path.open("rb") as raw:
                packed = raw.peek(2).startswith(_GZIP)
                stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
                while data := stream.read(self.size):
                    if not data.endswith(b"\n"):
                        data += stream.readline(MAX_RECORD + 1)
                    if packed and stream.tell() > max(MOST_UNPACKED, MOST_GROWTH * total):
                        raise self._refuse(
                            f"the compressed file holds over {MOST_GROWTH} times its size",
                            self.line,
                            "If that is right, decompress it and give the plain file.",
                        )
                    yield data, min(1.0, raw.tell() / total)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise self._refuse(
                "the compressed file is cut off or damaged", self.line, "Compress it again."
            ) from None
        except OSError as error:
            raise DataError(
                error.strerror or "the file cannot be read",
                where=self.path.name,
                do="Name a file that can be read.",
            ) from None

    def _block(self, data: bytes, done: float) -> Block:
        line = self.line
        self.line += int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))
        if line == 1 and data.startswith(_BOM):
            data = data[len(_BOM) :]
            self.encoding = "utf-8"
        if not data.isascii():
            data = self._as_utf8(data, line)
        return Block(data=data, line=line, done=done)

    def _as_utf8(self, data: bytes, line: int) -> bytes:
        if self.encoding != "western":
            try:
                codecs.utf_8_decode(data, "strict", True)
                self.encoding = "utf-8"
                return data
            except UnicodeDecodeError as error:
                start = data.rfind(b"\n", 0, error.start) + 1
            if self.encoding == "utf-8" or not data[:start].isascii():
                raise self._refuse(
                    "the text is UTF-8 up to here, and not from here on",
                    line + data.count(b"\n", 0, start),
                    "Save the whole file as UTF-8.",
                )
            self.encoding = "western"
        return codecs.charmap_decode(data, "strict", _WESTERN)[0].encode()

    def _refuse(self, what: str, line: int, do: str) -> DataError:
        return DataError(what, where=f"{self.path.name}, line {line}", do=do)


_AS_TEXT = "Give CSV or TSV text (UTF-8), Parquet or Arrow."
_LINE_ENDS = "Lines must end in LF or CR LF, and a record may hold 16 megabytes."


def _unclosed(path: Path, line: int) -> DataError:
    return DataError(
        "a quoted field begins here and does not end",
        where=f"{path.name}, line {line}",
        do='Close the quote; a quote inside a quoted field is written twice ("").',
    )


def _quoted_field(delimiter: str) -> re.Pattern[bytes]:
    """Match quoted fields one after the other, the last one perhaps unclosed.

    A quote opens a field only at the field's start; elsewhere it is a letter.
    """
    before = re.escape(delimiter).encode()
    return re.compile(rb"(?:\A|(?<=[\r\n" + before + rb']))"[^"]*+(?:""[^"]*+)*+("|\Z)')


def _last_record_end(
    data: bytes, delimiter: str, quoted: re.Pattern[bytes]
) -> tuple[int, int | None]:
    """Return where the last whole record ends, and where an unclosed field begins."""
    starts, stops = _quoted_spans(data, delimiter, quoted)
    if len(starts) == len(stops):
        return len(data), None
    last = len(starts) - 1
    while last and stops[last - 1] + 1 == starts[last]:  # a doubled quote, not a new field
        last -= 1
    place = unclosed = int(starts[last])
    while (end := data.rfind(b"\n", 0, place)) >= 0:
        span = int(np.searchsorted(starts, end)) - 1
        if span < 0 or stops[span] < end:
            return end + 1, unclosed
        place = int(starts[span])  # that line end is inside quotes
    return 0, unclosed


def _quoted_spans(
    data: bytes, delimiter: str, quoted: re.Pattern[bytes]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where quoted pieces begin and end; one more begins than ends if one is unclosed."""
    letters = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    opening, closing = quotes[::2], quotes[1::2]
    border = np.zeros(256, dtype=np.bool_)
    border[list(b'\r\n"' + delimiter.encode())] = True
    before = letters[np.maximum(opening - 1, 0)]
    after = letters[np.minimum(closing + 1, len(letters) - 1)]
    # Where every quote stands at a field's border or beside another, they alternate.
    if border[before].all() and border[after].all():
        return opening, closing
    fields = list(quoted.finditer(data))
    begins = np.array([field.start() for field in fields], dtype=np.int64)
    ends = np.array([field.end() - 1 for field in fields if field[1]], dtype=np.int64)
    return begins, ends
