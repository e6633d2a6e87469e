"""What lies in a release folder, seen without following a link or trusting a name."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hedgerow.model.certificate import ReleasedFile

MOST_CERTIFICATE = 50_000_000
"""Bytes of the largest certificate that is read."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something in a release folder that is not as it was written: in which file, and what."""

    file: str
    what: str


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """Files and folders by their path from the release folder, and what is neither."""

    files: dict[str, os.stat_result]
    folders: tuple[str, ...]
    faults: tuple[Fault, ...]

    @property
    def plain(self) -> set[str]:
        """Files that are nothing but files."""
        return self.files.keys() - {fault.file for fault in self.faults}

    def outside(self, folder: str) -> Inventory:
        """Return the same without a folder and all that is in it."""
        below = f"{folder}/"
        return Inventory(
            files={name: seen for name, seen in self.files.items() if not name.startswith(below)},
            folders=tuple(f for f in self.folders if f != folder and not f.startswith(below)),
            faults=tuple(each for each in self.faults if not each.file.startswith(below)),
        )


def inventory(folder: Path) -> Inventory:
    """Return what lies in a folder and below."""
    files: dict[str, os.stat_result] = {}
    folders: list[str] = []
    faults: list[Fault] = []
    for name, found in _walk(folder, PurePosixPath()):
        if stat.S_ISDIR(found.st_mode):
            folders.append(name)
            continue
        what = _odd(found)
        if what is not None:
            faults.append(Fault(file=name, what=what))
        files[name] = found
    return Inventory(files=files, folders=tuple(folders), faults=tuple(faults))


def _walk(folder: Path, above: PurePosixPath) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        inside = sorted(entries, key=lambda entry: entry.name)
    for entry in inside:
        found = entry.stat(follow_symlinks=False)
        name = _text(str(above / entry.name))
        if stat.S_ISDIR(found.st_mode):
            yield name, found
            yield from _walk(folder / entry.name, above / entry.name)
        else:
            # On some systems an entry's own stat does not count names.
            yield name, (folder / entry.name).lstat()


def _text(name: str) -> str:
    """Return a name that can be printed, whatever bytes it has."""
    return os.fsencode(name).decode("utf-8", errors="backslashreplace")


def _odd(found: os.stat_result) -> str | None:
    if stat.S_ISLNK(found.st_mode):
        return "is a link, and no file of its own"
    if not stat.S_ISREG(found.st_mode):
        return "is not a plain file"
    if found.st_nlink > 1:
        return "has a second name elsewhere (a hard link), by which it can be changed; copy it"
    return None


def same_file(path: Path, promised: ReleasedFile, seen: os.stat_result) -> bool:
    """Whether a file has the size and the digest that the certificate promises."""
    if seen.st_size != promised.bytes:
        return False
    with os.fdopen(_opened(path), "rb") as file:
        now = os.fstat(file.fileno())
        if (now.st_dev, now.st_ino) != (seen.st_dev, seen.st_ino):
            return False
        return hashlib.file_digest(file, "sha256").hexdigest() == promised.sha256


def small_content(path: Path) -> bytes:
    """Return the bytes of a small file that is no link; a large one is cut."""
    with os.fdopen(_opened(path), "rb") as file:
        return file.read(MOST_CERTIFICATE + 1)


def _opened(path: Path) -> int:
    # Without a link at its end, and without waiting for a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags | getattr(os, "O_BINARY", 0))
