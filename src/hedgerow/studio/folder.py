"""The folder that the studio may look into and write to, and nothing outside of it."""

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
"""The folder below FOLDER with the studio's runs; only its owner may look into it."""


class OutsideError(RefusedError):
    """A path leads out of the folder that the studio was started for."""

    def __init__(self) -> None:
        super().__init__(
            "the path leads out of the folder that the studio was started for",
            do="Choose something inside of it, or start the studio for another folder.",
        )


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A folder, by its real path; every name that comes from a browser goes through ``inside``."""

    root: Path

    @classmethod
    def at(cls, place: Path) -> Folder:
        """Return the folder ``place``, which must be there."""
        if not place.is_dir():
            raise InputError("there is no such folder", where=str(place), do="Make it first.")
        return cls(root=place.resolve())

    def inside(self, name: str) -> Path:
        """Return where ``name`` lies, or refuse it: absolute, hidden, upwards, or by a link.

        Links are followed and must end inside; what is not there yet is judged by its folder.
        """
        if not self.is_plain(name):
            raise OutsideError
        path = self.root.joinpath(*PurePosixPath(name).parts)
        if not self.holds(path):
            raise OutsideError
        return path

    def is_plain(self, name: str) -> bool:
        """Whether a name goes down only, and past nothing that is hidden."""
        parts = PurePosixPath(name).parts
        odd = not parts or "\0" in name or "\\" in name or len(name) > LONGEST or ":" in parts[0]
        return not (odd or name.startswith("/") or any(part.startswith(".") for part in parts))

    def holds(self, path: Path) -> bool:
        """Whether a path, with all links followed, is inside."""
        return Path(os.path.realpath(path)).is_relative_to(self.root)

    def name_of(self, path: Path) -> str:
        """Return how a path inside is called in addresses and forms."""
        return path.relative_to(self.root).as_posix()

    def files(self, *suffixes: str) -> list[str]:
        """Return the names of the files with these suffixes, a few folders deep, in order."""
        found = [
            self.name_of(path)
            for path in self._walk()
            if path.name.lower().endswith(suffixes) and _is_file(path)
        ]
        return sorted(found, key=lambda name: (name.count("/"), name.casefold()))

    def folders_with(self, file: str) -> list[str]:
        """Return the names of the folders that hold a file of that name, in order."""
        found = [self.name_of(path.parent) for path in self._walk() if path.name == file]
        return sorted(found, key=str.casefold)

    def state(self) -> Path:
        """Return the studio's own folder, made so that only its owner may look into it."""
        path = self.root / STATE
        path.mkdir(mode=0o700, exist_ok=True)
        if path.is_symlink() or not path.is_dir():
            raise OutsideError
        return path

    def _walk(self) -> Iterator[Path]:
        """Yield what lies in the folder, never by a link, hidden things left out."""
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
