"""The folder of the studio, the only place that it reads and writes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hedgerow.errors import InputError, RefusedError

LONGEST = 1_000
MOST_ENTRIES = 2_000
DEEPEST = 4
STATE = ".hedgerow-studio"
"""Subfolder with the runs of the studio, accessible only to its owner."""


class OutsideError(RefusedError):
    """A path leads out of the folder of the studio."""

    def __init__(self) -> None:
        super().__init__(
            "The path leads out of the folder of the studio.",
            do="Choose a path inside the folder, or start the studio for another folder.",
        )


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A folder, by its real path; all names from the browser go through ``inside``."""

    root: Path

    @classmethod
    def at(cls, place: Path) -> Folder:
        """Return the folder ``place``, which must exist."""
        if not place.is_dir():
            raise InputError("The folder does not exist.", where=str(place), do="Create it first.")
        return cls(root=place.resolve())

    def inside(self, name: str) -> Path:
        """Return the path of ``name``; absolute, hidden and outside paths are refused.

        Links are followed and must end inside the folder; a path that does not exist yet is checked
        by its parent.
        """
        if not self.is_plain(name):
            raise OutsideError
        path = self.root.joinpath(*PurePosixPath(name).parts)
        if not self.holds(path):
            raise OutsideError
        return path

    def is_plain(self, name: str) -> bool:
        """Return true if a name leads only downwards and through no hidden folder."""
        parts = PurePosixPath(name).parts
        odd = not parts or "\0" in name or "\\" in name or len(name) > LONGEST or ":" in parts[0]
        return not (odd or name.startswith("/") or any(part.startswith(".") for part in parts))

    def holds(self, path: Path) -> bool:
        """Return true if a path is inside the folder after following all links."""
        return Path(os.path.realpath(path)).is_relative_to(self.root)

    def name_of(self, path: Path) -> str:
        """Return the name of a path in addresses and forms."""
        return path.relative_to(self.root).as_posix()

    def files(self, *suffixes: str) -> list[str]:
        """Return the sorted names of the files with these suffixes, a few folders deep."""
        found = [
            self.name_of(path)
            for path in self._walk()
            if path.name.lower().endswith(suffixes) and _is_file(path)
        ]
        return sorted(found, key=lambda name: (name.count("/"), name.casefold()))

    def folders_with(self, file: str) -> list[str]:
        """Return the sorted names of the folders that contain a file of that name."""
        found = [self.name_of(path.parent) for path in self._walk() if path.name == file]
        return sorted(found, key=str.casefold)

    def state(self) -> Path:
        """Return the state folder of the studio, created with access only for its owner."""
        path = self.root / STATE
        path.mkdir(mode=0o700, exist_ok=True)
        if path.is_symlink() or not path.is_dir():
            raise OutsideError
        return path

    def _walk(self) -> Iterator[Path]:
        """Yield the files of the folder, without hidden ones and without following links."""
        waiting, seen = [(self.root, 0)], 0
        while waiting:
            folder, depth = waiting.pop(0)
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                seen += 1
                if seen > MOST_ENTRIES:
                    return
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEEPEST:
                        waiting.append((Path(entry.path), depth + 1))
                else:
                    yield Path(entry.path)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
