"""Text files as blocks of complete lines, decompressed but not decoded.

Blocks end at line ends, and so at ends of records: a line is a record unless the plan says
that quoted fields may contain line ends (`quoted_blocks`). The content of lines is checked
later, in any thread: see `sound`.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import DataError

BLOCK = 1 << 22
"""Number of bytes read at a time."""

MAX_RECORD = 1 << 24
"""Maximum size of one record, or of one line, in bytes."""

MOST_UNPACKED = 1 << 28
MOST_GROWTH = 200
"""Maximum size of a decompressed file in bytes, or in multiples of its own size if larger."""

_GZIP = b"\x1f\x8b"
ZSTD = b"(\xb5/\xfd"
"""First bytes of a Zstandard file; it is decompressed only if its name says so, too."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Block:
    """Complete lines of a file; ``line`` is the number of the first of them, from 1."""

    data: bytes
    line: int
    done: float

    def line_of(self, place: int) -> int:
        """Return the number of the line with the byte at ``place``."""
        return self.line + self.data.count(b"\n", 0, place)

    def joined(self, after: Block) -> Block:
        """Return this block and the following one as one."""
        return Block(data=self.data + after.data, line=self.line, done=after.done)

    def without_lines(self, n_lines: int) -> Block:
        """Return the part after the file's first ``n_lines`` lines, which may be empty."""
        place = 0
        for _ in range(max(0, n_lines - (self.line - 1))):
            place = self.data.find(b"\n", place) + 1
            if not place:
                place = len(self.data)
                break
        return Block(data=self.data[place:], line=self.line_of(place), done=self.done)


def text_blocks(path: Path, *, size: int = BLOCK, drop_long: bool = False) -> Iterator[Block]:
    """Yield blocks of complete lines, whatever their content.

    A line of more than `MAX_RECORD` bytes is refused with its file or, under ``drop_long``,
    dropped alone; it still counts as a line. Whether a line is too long depends on it alone.
    """
    return _LineReader(path, size, drop_long=drop_long).blocks()


def quoted_blocks(path: Path, *, size: int = BLOCK) -> Iterator[Block]:
    """Yield blocks of complete records, whose quoted fields may contain line ends.

    A line ends a record if the number of quotes before its end is even. One stray quote makes
    it odd from there on, so that the file ends inside a quote and is refused.
    """
    held: Block | None = None
    for lines in text_blocks(path, size=size):
        block = lines if held is None else held.joined(lines)
        cut = _last_record_end(block.data)
        if cut:
            yield Block(data=block.data[:cut], line=block.line, done=block.done)
        rest = block.data[cut:]
        held = Block(data=rest, line=block.line_of(cut), done=block.done) if rest else None
        if len(rest) > MAX_RECORD:
            raise _unclosed(path, block.line_of(cut + rest.find(b'"')))
    if held is not None:
        if held.data.count(b'"') % 2:
            raise _unclosed(path, held.line_of(held.data.rfind(b'"')))
        yield held


def _last_record_end(data: bytes) -> int:
    """Return the end of the last line with an even number of quotes before its end."""
    if b'"' not in data:
        return len(data)
    letters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    even = np.searchsorted(np.flatnonzero(letters == ord('"')), ends) % 2 == 0
    whole = ends[even]
    return int(whole[-1]) + 1 if len(whole) else 0


def unpacking(raw: Any, path: Path) -> tuple[Any, bool]:
    """Return a reader of the text of an open file, and whether the file is compressed.

    Gzip is detected by its first bytes: a member is followed by another one or by the end of the
    file, so no record of a plain file is mistaken for it. Zstandard may skip the rest of a file,
    so the name must say it.
    """
    head = raw.peek(4)
    if head.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw), True
    if path.name.lower().endswith(".zst") and head.startswith(ZSTD):
        packed = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
        return io.BufferedReader(packed), True
    return raw, False


class _LineReader:
    def __init__(self, path: Path, size: int, *, drop_long: bool) -> None:
        self.path = path
        self.size = min(size, MAX_RECORD)  # so that only a block's last line can be too long
        self.drop_long = drop_long
        self.line = 1
        self.n_dropped = 0

    def blocks(self) -> Iterator[Block]:
        for data, done in self._whole_lines():
            n_dropped, self.n_dropped = self.n_dropped, 0
            if data:
                yield Block(data=data, line=self.line, done=done)
            letters = np.frombuffer(data, dtype=np.uint8)
            self.line += int(np.count_nonzero(letters == ord("\n"))) + n_dropped

    def _whole_lines(self) -> Iterator[tuple[bytes, float]]:
        try:
            total = max(1, self.path.stat().st_size)
            with self.path.open("rb") as raw:
                stream, packed = unpacking(raw, self.path)
                most = max(MOST_UNPACKED, MOST_GROWTH * total) if packed else None
                bounded = _Bounded(stream, most=most, refuse=self._refuse_here)
                while data := bounded.read(self.size):
                    yield self._ended(data, bounded), min(1.0, raw.tell() / total)
        except OSError as error:
            raise DataError(
                error.strerror or "the file cannot be read",
                where=self.path.name,
                do="Name a file that can be read.",
            ) from None

    def _ended(self, data: bytes, stream: _Bounded) -> bytes:
        """Return what was read up to the end of its last line, without a line that is too long."""
        if data.endswith(b"\n"):
            return data
        start = data.rfind(b"\n") + 1
        data += stream.readline(MAX_RECORD - (len(data) - start) + 1)
        if data.endswith(b"\n") or len(data) - start <= MAX_RECORD:
            return data
        if not self.drop_long:
            line = self.line + data.count(b"\n")
            raise self._refuse("The line is too long.", line, _LINE_ENDS)
        self.n_dropped += 1
        while (rest := stream.readline(self.size)) and not rest.endswith(b"\n"):
            pass
        return data[:start]

    def _refuse_here(self, what: str, do: str) -> DataError:
        return self._refuse(what, self.line, do)

    def _refuse(self, what: str, line: int, do: str) -> DataError:
        return DataError(what, where=f"{self.path.name}, line {line}", do=do)


class _Bounded:
    """The bytes of an open file; a compressed one may hold at most ``most`` of them."""

    def __init__(
        self, stream: Any, *, most: int | None, refuse: Callable[[str, str], DataError]
    ) -> None:
        self.stream = stream
        self.most = most
        self.refuse = refuse
        self.n_read = 0

    def read(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end."""
        return self._counted(self.stream.read, size)

    def readline(self, size: int) -> bytes:
        """Return the rest of a line, or its next ``size`` bytes."""
        return self._counted(self.stream.readline, size)

    def _counted(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        except (EOFError, OSError, zlib.error):
            if self.most is None:
                raise
            raise self.refuse(
                "the compressed file is truncated or damaged", "Compress it again."
            ) from None
        self.n_read += len(data)
        if self.most is not None and self.n_read > self.most:
            raise self.refuse(
                f"the decompressed file has more than {MOST_GROWTH} times the file's size",
                "If that is correct, decompress it and give the plain file.",
            )
        return data


_LINE_ENDS = "Lines must end in LF or CR LF, and a record may have up to 16 megabytes."


def _unclosed(path: Path, line: int) -> DataError:
    return DataError(
        "A quoted field that begins here does not end.",
        where=f"{path.name}, line {line}",
        do='Close the quote; a quote inside a quoted field is written twice ("").',
    )
