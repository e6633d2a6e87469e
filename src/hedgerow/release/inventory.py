"""Content of a release folder, listed without following links or trusting names."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hedgerow.model.certificate import ReleasedFile

MOST_CERTIFICATE = 50_000_000
"""Maximum size of a certificate in bytes."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A deviation of a release folder from its certificate: the file, and the problem."""

    file: str
    what: str


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """Files and folders by their relative path, and entries that are neither."""

    files: dict[str, os.stat_result]
    folders: tuple[str, ...]
    faults: tuple[Fault, ...]

    @property
    def plain(self) -> set[str]:
        """Names of the regular files."""
        return self.files.keys() - {fault.file for fault in self.faults}

    def outside(self, folder: str) -> Inventory:
        """Return the inventory without a folder and its content."""
        below = f"{folder}/"
        return Inventory(
            files={name: seen for name, seen in self.files.items() if not name.startswith(below)},
            folders=tuple(f for f in self.folders if f != folder and not f.startswith(below)),
            faults=tuple(each for each in self.faults if not each.file.startswith(below)),
        )


def inventory(folder: Path) -> Inventory:
    """Return the content of a folder and its subfolders."""
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
            # On some systems the entry's own stat does not count hard links.
            yield name, (folder / entry.name).lstat()


def _text(name: str) -> str:
    """Return a printable name, whatever its bytes."""
    return os.fsencode(name).decode("utf-8", errors="backslashreplace")


def _odd(found: os.stat_result) -> str | None:
    if stat.S_ISLNK(found.st_mode):
        return "is a link, not a file"
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    if found.st_nlink > 1:
        return "has a hard link elsewhere, through which it can be changed; copy it"
    return None


def same_file(path: Path, promised: ReleasedFile, seen: os.stat_result) -> bool:
    """Return whether a file has the size and the digest that the certificate lists."""
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
    # Neither follow a link at the end of the path nor block on a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags | getattr(os, "O_BINARY", 0))
