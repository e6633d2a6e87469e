"""Basket files: one record per line, its items separated by spaces, commas or tabs.

A block of lines is split into words without examining single records: separators and line ends
are flags over the bytes, words are the bytes between them, and Arrow's dictionary finds the
distinct ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.errors import DataError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.lines import BLOCK, Block, text_blocks
from hedgerow.read.sound import LineRules
from hedgerow.read.source import ReadProgress

HEADER = b"%"
"""First bytes of the comment lines of a sequence file."""

_WORD, _SEPARATOR, _LINE_END = 0, 1, 2


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WordBatch:
    """Some records: all their words in order, and the number of each record's words (confidential).

    ``order`` are texts that give the position of each word in its record, if the rows are not in
    order.
    """

    words: pa.DictionaryArray
    lengths: NDArray[np.int64]
    order: pa.Array | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BasketFile:
    """A file with one record per line, plain or gzipped."""

    path: Path
    separators: bytes
    reading: Reading = PLAIN
    block_size: int = BLOCK

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def batches(self, *, progress: ReadProgress | None = None) -> Iterator[WordBatch]:
        """Stream the records in order."""
        splitter = WordSplitter(self.separators)
        rules = LineRules(reading=self.reading, delimiter=None, name=self.name)
        for block in self._blocks():
            if data := rules.sound(block):
                yield splitter.split(data)
            if progress:
                progress(block.done)
        if progress:
            progress(1.0)

    def _blocks(self) -> Iterator[Block]:
        """Yield the lines of records, after the header that the plan states."""
        header = self.reading.header_lines
        drops = self.reading.drops_malformed
        for block in text_blocks(self.path, size=self.block_size, drop_long=drops):
            if block.line == 1:
                self._check_beginning(block)
            if header and block.line <= header:
                yield block.without_lines(header)
            else:
                yield block

    def _check_beginning(self, block: Block) -> None:
        if b"\n" not in block.data and b"\r" in block.data.rstrip(b"\r"):
            raise DataError(
                "Lines end in CR alone.", where=self.name, do="Save it with LF line ends."
            )
        if self.reading.header_lines is None and block.data.startswith(HEADER):
            raise DataError(
                "The file begins with a header, as files of sequences do.",
                where=f"{self.name}, line 1",
                do="State its number of lines in the plan: 'reading: {header: 7}'. 0 means that"
                " the first line is a record.",
            )


class WordSplitter:
    """Splits blocks of lines into words at the given separator bytes, and at line ends."""

    def __init__(self, separators: bytes) -> None:
        kinds = bytearray([_WORD] * 256)
        for separator in separators + b"\r":
            kinds[separator] = _SEPARATOR
        kinds[ord("\n")] = _LINE_END
        self.kinds = bytes(kinds)

    def split(self, data: bytes) -> WordBatch:
        r"""Return the words of whole lines in UTF-8; the last line end may be missing.

        >>> batch = WordSplitter(b" ,").split(b"milk, bread\n\nmilk\n")
        >>> batch.words.to_pylist(), batch.lengths.tolist()
        (['milk', 'bread', 'milk'], [2, 0, 1])
        """
        whole = data if data.endswith(b"\n") else data + b"\n"
        letters = np.frombuffer(whole, dtype=np.uint8)
        kinds = np.frombuffer(whole.translate(self.kinds), dtype=np.uint8)
        in_word = kinds == _WORD
        # Borders of words: even ones begin one, odd ones end it; the block ends outside words.
        borders = np.flatnonzero(in_word[1:] != in_word[:-1]) + 1
        if in_word[0]:
            borders = np.concatenate([np.zeros(1, dtype=borders.dtype), borders])
        starts, stops = borders[::2], borders[1::2]
        ends = np.flatnonzero(kinds == _LINE_END)
        before = np.searchsorted(starts, ends)
        return WordBatch(
            words=_words(letters[in_word], stops - starts),
            lengths=np.diff(before, prepend=0).astype(np.int64),
        )


def _words(letters: NDArray[np.uint8], lengths: NDArray[np.int64]) -> pa.DictionaryArray:
    """Return adjacent words, dictionary-encoded."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    words = pa.StringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(letters))
    return words.dictionary_encode()
