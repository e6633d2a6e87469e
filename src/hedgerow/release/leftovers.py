"""Folders that a release is written to before it has its name, and those of runs that died.

A run works in ``.NAME.partial-XXXX`` beside its destination and holds a lock on that folder
for as long as it lives; the system lifts the lock when the process ends, however it ends. So
the next run for the same destination can tell a folder that is being written from one that a
killed run left behind, and removes the latter; but not one that holds a whole release with a
booking, which `hedgerow recover` can still put in its place. Rehearsals have names of their own.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CERTIFICATE = "certificate.json"
"""The file that tells a release from any other folder; it is the last to be written."""

PARTIAL = "partial"
REPLACED = "replaced"
REHEARSAL = "rehearsal"


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """An empty folder of this run; ``mode`` is what it is to have once it is complete."""

    path: Path
    mode: int
    lock: int | None


def beside(destination: Path, state: str) -> Path:
    """Return a new hidden name beside the destination."""
    return destination.with_name(f".{destination.name}.{state}-{secrets.token_hex(4)}")


@contextmanager
def claimed(destination: Path) -> Iterator[Claimed]:
    """Yield a folder beside the destination that no other run will touch.

    Nobody else may look into it while it is written. The caller removes or renames it.
    """
    with _claimed(destination, PARTIAL) as claim:
        yield claim


@contextmanager
def rehearsed(destination: Path) -> Iterator[Path]:
    """Yield a hidden folder for a rehearsal, beside the destination; it is gone afterwards."""
    with _claimed(destination, REHEARSAL) as claim:
        try:
            yield claim.path
        finally:
            shutil.rmtree(claim.path, ignore_errors=True)


@contextmanager
def _claimed(destination: Path, state: str) -> Iterator[Claimed]:
    claim = _claim(destination, state)
    while claim is None:
        claim = _claim(destination, state)
    try:
        yield claim
    finally:
        if claim.lock is not None:
            os.close(claim.lock)


def _claim(destination: Path, state: str) -> Claimed | None:
    path = beside(destination, state)
    path.mkdir()
    mode = path.stat().st_mode & 0o777  # what the user's mask leaves of it
    path.chmod(0o700)
    lock = _locked(path, wait=True)
    if lock is not None and not path.exists():
        # Another run took it for a leftover before it was locked.
        os.close(lock)
        return None
    return Claimed(path=path, mode=mode, lock=lock)


def sweep(destination: Path) -> None:
    """Remove what killed runs for this destination left beside it, and nothing else.

    A folder that some run still has locked stays, as does anything that is not a folder of
    this user under such a name, and a whole release that can still be recovered. An earlier
    release that was moved aside goes only when its successor is in place and no run is at
    work; where there is none in place, a run was killed between two renames, and everything
    stays for somebody to look at.
    """
    with suppress(OSError):
        asides = _left(destination, REPLACED)  # first: whoever moves one has a locked folder
        if asides and not destination.exists():
            return
        alive = False
        for path in _left(destination, PARTIAL):
            alive = not (names_booking(path) or _removed(path)) or alive
        for path in _left(destination, REHEARSAL):
            _removed(path)
        if not alive:
            for path in asides:
                shutil.rmtree(path, ignore_errors=True)


def recoverable(destination: Path) -> list[Path]:
    """Return folders of runs for this destination that died with their release complete."""
    found = []
    with suppress(OSError):
        for path in _left(destination, PARTIAL):
            with only_user(path) as free:
                if free and names_booking(path):
                    found.append(path)
    return found


def names_booking(folder: Path) -> bool:
    """Whether a private folder of this user has a certificate that names a ledger's entry."""
    try:
        if not _is_own_folder(folder) or folder.stat().st_mode & 0o077:
            return False
        facts = json.loads((folder / CERTIFICATE).read_bytes())
        return isinstance(facts["ledger"]["entry"], int)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def destination_of(folder: Path) -> Path | None:
    """Return where the release of a hidden folder was to go; ``None`` if it is not one.

    >>> destination_of(Path("/a/.release.partial-00c0ffee")).name
    'release'
    """
    found = re.fullmatch(rf"\.(.+)\.{PARTIAL}-[0-9a-f]{{8}}", folder.name, re.DOTALL)
    return None if found is None else folder.with_name(found[1])


@contextmanager
def only_user(folder: Path) -> Iterator[bool]:
    """Hold a folder that no living run has; yields whether that could be."""
    lock = _locked(folder, wait=False)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


def _left(destination: Path, state: str) -> list[Path]:
    ours = re.compile(rf"\.{re.escape(destination.name)}\.{state}-[0-9a-f]{{8}}")
    here = destination.parent
    if not hasattr(os, "geteuid") or not here.is_dir():
        return []
    found = [path for path in here.iterdir() if ours.fullmatch(path.name)]
    return [path for path in found if _is_own_folder(path)]


def _is_own_folder(path: Path) -> bool:
    with suppress(OSError):
        return path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.geteuid()
    return False


def _removed(path: Path) -> bool:
    """Remove a folder unless a living run has it; whether it is gone."""
    lock = _locked(path, wait=False)
    if lock is None:
        return False
    try:
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
    return True


def _locked(path: Path, *, wait: bool) -> int | None:
    """Return a descriptor that keeps the folder locked; ``None`` where that cannot be."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
