"""Blocks of plain lines parsed by a compiled loop, several times as fast as Arrow's parser.

A plain line is sound and has a field for every column; it may contain quotes around fields, and
doubled quotes inside them. Blank lines, a CR that does not end a line, malformed lines and bytes
that are not UTF-8 are not plain: a block with one of them is returned unparsed.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.model.compiler import pays
from hedgerow.model.reading import Reading
from hedgerow.read.lines import Block
from hedgerow.read.sound import BOM, lines_not_in

COMPILED_FROM = 1 << 25
"""Minimum size of a file in bytes for which loading the compiled loops pays."""

_FIELDS = 8192  # number of fields whose ends are found before they are looked up
_FIRST_WORDS = 1 << 13
_MOST_WORDS = 1 << 20  # 48 megabytes
_MOST_BYTES = 1 << 30


def _spread() -> int:
    """Return an odd number to multiply hashes by.

    It is not known beforehand, so that no file can be made whose words all have the same hash,
    which would take hours to read. The result of reading does not depend on it.
    """
    return secrets.randbits(64) | 1


def blocks_compiled(n_bytes: int) -> bool:
    """Return whether compiled loops read a file of this size: they pay, or are loaded already."""
    is_little_endian = sys.byteorder == "little"
    return is_little_endian and pays(n_bytes, COMPILED_FROM, loops="read.compiled.plain")


class PlainBlocks:
    """Parses blocks of plain lines, and returns all others unparsed.

    Privacy: how a record is read is a function of its own bytes and the plan, as for any other
    parser: the columns equal those of ``RecordParser`` without compiled loops in every value, so
    a block that is returned unparsed, because of whichever record, changes only the time.
    """

    def __init__(
        self, reading: Reading, *, delimiter: str, n_columns: int, requested: Sequence[int]
    ) -> None:
        self.reading = reading
        self.delimiter = ord(delimiter)
        # No plain text contains a NUL: where quotes are letters, it stands for 'no quote'.
        self.quote = 0 if reading.quote == "none" else ord('"')
        self.n_columns = n_columns
        self.requested = np.array(requested, dtype=np.int64)
        self.n_words = _FIRST_WORDS
        self.spread = np.uint64(_spread())

    def columns(self, block: Block) -> list[pa.DictionaryArray] | None:
        """Return the requested columns of a block with dictionaries; ``None`` if it is not plain.

        Words are in the order of their first occurrence, and an empty field is null.
        """
        data = block.data
        if block.line == 1 and self.reading.encoding == "utf-8":
            data = data.removeprefix(BOM)
        if not self._may_be_plain(data):
            return None
        work = _Work(self, data)
        if not work.read() or (work.is_foreign and len(lines_not_in(data, "utf-8"))):
            return None
        self.n_words = max(self.n_words, len(work.slots) // 2)  # the next block is similar
        return work.columns()

    def _may_be_plain(self, data: bytes) -> bool:
        """Return whether a block is worth trying, without examining every line."""
        reading = self.reading
        has_size = len(self.requested) > 0 and 0 < len(data) < _MOST_BYTES
        has_form = reading.quote != "multi-line" and not data.endswith(b"\r")
        return has_size and has_form and (reading.encoding == "utf-8" or data.isascii())


class _Work:
    """The words of one block, and the codes of its records."""

    def __init__(self, parser: PlainBlocks, data: bytes) -> None:
        from hedgerow.read.compiled import plain
        from hedgerow.read.compiled.windows import WINDOW

        self.loops = plain
        self.parser = parser
        line_end = b"" if data.endswith(b"\n") else b"\n"
        text = b"".join((data, line_end, bytes(WINDOW)))
        self.letters = np.frombuffer(text, dtype=np.uint8)
        self.stop = len(text) - WINDOW
        n_requested, n_columns = len(parser.requested), parser.n_columns
        self.n_lines = plain.count_lines(self.letters, self.stop)
        self.codes = np.empty((n_requested, self.n_lines), dtype=np.int32)
        self.n_codes = np.zeros(n_requested, dtype=np.int64)
        n_ends = max(_FIELDS // n_columns, 1) * n_columns + 2 * WINDOW
        self.ends = np.empty(n_ends, dtype=np.int32)
        self.slots = np.zeros(2 * parser.n_words, dtype=np.uint64)
        self.words = np.empty(parser.n_words * plain.WORD, dtype=np.uint64)
        self.place = self.n_read = self.n_words = 0
        self.seen = plain.SOUND

    @property
    def is_foreign(self) -> bool:
        """True if there are bytes beyond ASCII."""
        return bool(self.seen & self.loops.FOREIGN)

    def read(self) -> bool:
        """Read all lines; return False if one is not plain, or there are too many words."""
        loops = self.loops
        while (why := self._read_on()) == loops.FULL:
            if not self._grow():
                return False
        return bool(why == loops.DONE)

    def _read_on(self) -> int:
        """Read as many lines as there is space for, and return why reading stopped."""
        parser = self.parser
        why: int
        why, self.place, self.n_read, self.n_words, seen = self.loops.read_lines(
            self.letters,
            self.place,
            self.stop,
            parser.n_columns,
            np.uint8(parser.delimiter),
            np.uint8(parser.quote),
            parser.requested,
            parser.spread,
            self.ends,
            self.slots,
            self.words,
            self.n_words,
            self.n_codes,
            self.codes,
            self.n_read,
        )
        self.seen |= seen
        return why

    def _grow(self) -> bool:
        """Make space for twice as many words, if that is not too many."""
        if len(self.slots) > _MOST_WORDS:
            return False
        slots = np.zeros(2 * len(self.slots), dtype=np.uint64)
        self.loops.move_slots(self.slots, slots)
        words = np.empty(2 * len(self.words), dtype=np.uint64)
        words[: len(self.words)] = self.words
        self.slots, self.words = slots, words
        return True

    def columns(self) -> list[pa.DictionaryArray]:
        """Return the columns that were read."""
        starts = np.concatenate([[0], np.cumsum(self.n_codes)])
        places = np.empty(starts[-1], dtype=np.int32)
        offsets = np.zeros(starts[-1] + 1, dtype=np.int32)
        has_empty = np.zeros(len(self.codes), dtype=np.bool_)
        self.loops.sort_words(self.words, self.n_words, starts, places, offsets, has_empty)
        texts = np.empty(offsets[-1], dtype=np.uint8)
        self.loops.copy_texts(self.letters, places, offsets, texts)
        if self.seen & self.loops.DOUBLED:
            self.loops.single_quotes(np.uint8(self.parser.quote), offsets, texts)
        buffer = pa.py_buffer(texts)
        return [
            self._column(number, offsets[starts[number] : starts[number + 1] + 1], buffer, empty)
            for number, empty in enumerate(has_empty.tolist())
        ]

    def _column(
        self, number: int, offsets: NDArray[np.int32], texts: pa.Buffer, has_empty: bool
    ) -> pa.DictionaryArray:
        dictionary = pa.Array.from_buffers(
            pa.string(), len(offsets) - 1, [None, pa.py_buffer(offsets), texts]
        )
        codes, valid = self.codes[number], None
        if has_empty:
            is_valid = codes >= 0
            codes *= is_valid
            valid = pa.py_buffer(np.packbits(is_valid, bitorder="little"))
        places = pa.Array.from_buffers(pa.int32(), self.n_lines, [valid, pa.py_buffer(codes)])
        return pa.DictionaryArray.from_arrays(places, dictionary, safe=False)
