"""Codes on disk, for tables larger than memory: private, nameless and gone with the run.

All data are in files without a name (or, on systems without such files, deleted when closed)
inside a folder that only the owner may enter. However the run ends, the codes are removed;
only an empty folder may remain when the process is killed outright.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ScratchError

Arrays = tuple[NDArray[Any], ...]


@dataclass(frozen=True, kw_only=True)
class Slot:
    """Location of some arrays on a shelf: an offset, and the type and length of each."""

    offset: int
    kinds: tuple[tuple[str, int], ...]


class Scratch:
    """A folder of mode 0700 that is removed when the block ends, however it ends."""

    def __init__(self, where: str | os.PathLike[str] | None = None) -> None:
        try:
            self._folder = tempfile.TemporaryDirectory(
                prefix="hedgerow-", dir=where, ignore_cleanup_errors=True
            )
        except OSError as error:
            raise _failure(error, where) from error
        self._shelves: list[Shelf] = []

    def __repr__(self) -> str:
        return "Scratch()"

    @property
    def folder(self) -> Path:
        """Folder of the scratch files."""
        return Path(self._folder.name)

    def shelf(self) -> Shelf:
        """Return an empty shelf."""
        with scratch_errors(self.folder):
            file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115 - kept
        shelf = Shelf(file, self.folder)
        self._shelves.append(shelf)
        return shelf

    def close(self) -> None:
        """Close every shelf and remove the folder."""
        for shelf in self._shelves:
            shelf.close()
        self._folder.cleanup()


class Shelf:
    """Arrays written one after the other to a nameless file, and read back by slot.

    Uses plain reads and writes, not a memory map: the system may count the pages of a map as
    memory of the process, which would break a bound on memory.
    """

    def __init__(self, file: IO[bytes], folder: Path) -> None:
        self._file = file
        self._folder = folder
        self._end = 0

    def __repr__(self) -> str:
        return "Shelf()"

    def put(self, arrays: Arrays) -> Slot:
        """Write arrays, and return their slot."""
        slot = Slot(
            offset=self._end, kinds=tuple((array.dtype.str, len(array)) for array in arrays)
        )
        with scratch_errors(self._folder):
            self._file.seek(self._end)
            for array in arrays:
                self._write(np.ascontiguousarray(array).view(np.uint8).data)
        return slot

    def _write(self, left: memoryview) -> None:
        while len(left):  # a raw file may write only a part
            written = self._file.write(left)
            self._end += written
            left = left[written:]

    def get(self, slot: Slot) -> Arrays:
        """Read arrays back."""
        arrays = tuple(np.empty(length, dtype=kind) for kind, length in slot.kinds)
        with scratch_errors(self._folder):
            self._file.seek(slot.offset)
            for array in arrays:
                self._read(array.view(np.uint8).data)
        return arrays

    def _read(self, left: memoryview) -> None:
        while len(left):
            read = self._file.readinto(left)  # type: ignore[attr-defined]  # a raw file has it
            if not read:
                raise OSError("the file ended early")
            left = left[read:]

    def close(self) -> None:
        """Free the space on the disk."""
        self._file.close()


@contextlib.contextmanager
def scratch_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the disk into messages of hedgerow."""
    try:
        yield
    except OSError as error:
        raise _failure(error, folder) from error


def _failure(error: OSError, where: object) -> ScratchError:
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    return ScratchError(
        f"The scratch folder cannot be used: {reason}.",
        where=str(where) if where is not None else "the system's folder for temporary files",
        do="Give a folder with free space, on a disk that you trust, with --scratch DIR.",
    )
