"""Check the dictionary of an SPSS file before a library reads it.

A value label refers to variables by number, and a text of more than eight bytes takes several
records. If these contradict each other in a damaged file, ReadStat ends the whole process.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO

_HEADER = 176
_LAYOUT_AT = 64
_LAYOUTS = (2, 3)
_VARIABLE, _LABELS, _LABELLED, _DOCUMENT, _EXTENSION, _END = 2, 3, 4, 6, 7, 999
_CONTINUED = -1  # the next eight bytes of a text, not a variable of its own
_SEGMENT, _MOST_WIDTH = 8, 255


class DamagedError(Exception):
    """The file is truncated, or its dictionary contradicts itself."""


def check_dictionary(path: Path) -> None:
    """Raise `DamagedError` unless texts have all their records, and value labels variables."""
    with path.open("rb") as file:
        _Dictionary(file).check()


class _Dictionary:
    """Reads the records that describe a file's variables."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        layout = self._take(_HEADER)[_LAYOUT_AT : _LAYOUT_AT + 4]
        orders = [each for each in "<>" if struct.unpack(f"{each}i", layout)[0] in _LAYOUTS]
        if not orders:
            raise DamagedError
        self.order = orders[0]
        self.widths: list[int] = []
        self.n_due = 0  # records that are missing for the last text

    def check(self) -> None:
        """Read up to the end of the dictionary."""
        readers = {
            _VARIABLE: self._variable,
            _LABELS: self._labels,
            _LABELLED: self._labelled,
            _DOCUMENT: lambda: self._skip(80 * self._count()),
            _EXTENSION: self._extension,
        }
        while (kind := self._number()) != _END:
            if kind not in readers or (self.n_due and kind != _VARIABLE):
                raise DamagedError
            readers[kind]()

    def _variable(self) -> None:
        width, has_label, n_missing = self._number(), self._number(), self._number()
        self._skip(16)
        if (width == _CONTINUED) != (self.n_due > 0) or not _CONTINUED <= width <= _MOST_WIDTH:
            raise DamagedError
        self.n_due = self.n_due - 1 if self.n_due else max(0, -(-width // _SEGMENT) - 1)
        self.widths.append(width)
        if has_label == 1:
            length = self._count()
            self._skip(length + -length % 4)
        self._skip(8 * abs(n_missing))

    def _labels(self) -> None:
        for _ in range(self._count()):
            self._skip(8)
            length = self._take(1)[0]
            self._skip(length + -(length + 1) % 8)

    def _labelled(self) -> None:
        for _ in range(self._count()):
            at = self._number()
            if not 1 <= at <= len(self.widths) or not 0 <= self.widths[at - 1] <= _SEGMENT:
                raise DamagedError

    def _extension(self) -> None:
        self._skip(4)
        self._skip(self._count() * self._count())

    def _count(self) -> int:
        found = self._number()
        if found < 0:
            raise DamagedError
        return found

    def _number(self) -> int:
        found: int = struct.unpack(f"{self.order}i", self._take(4))[0]
        return found

    def _skip(self, size: int) -> None:
        self.file.seek(size, 1)

    def _take(self, size: int) -> bytes:
        found = self.file.read(size)
        if len(found) < size:
            raise DamagedError
        return found
