"""Hidden folders that releases are written to, and what killed runs left of them.

A run works in ``.NAME.partial-XXXX`` beside its destination and locks that folder as long as it
runs; the system releases the lock when the process ends. The next run for the same destination can
therefore distinguish a folder in use from one that a killed run left behind, and removes the
latter, unless it holds a complete and booked release, which `hedgerow recover` can still finish.
Rehearsals use names of their own.
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
"""The file that marks a folder as a release; it is written last."""

PARTIAL = "partial"
REPLACED = "replaced"
REHEARSAL = "rehearsal"


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """An empty folder of this run; ``mode`` is its file mode after completion."""

    path: Path
    mode: int
    lock: int | None


def beside(destination: Path, state: str) -> Path:
    """Return a new hidden name beside the destination."""
    return destination.with_name(f".{destination.name}.{state}-{secrets.token_hex(4)}")


@contextmanager
def claimed(destination: Path) -> Iterator[Claimed]:
    """Yield a folder beside the destination that no other run touches.

    Other users cannot read it while it is written. The caller removes or renames it.
    """
    with _claimed(destination, PARTIAL) as claim:
        yield claim


@contextmanager
def rehearsed(destination: Path) -> Iterator[Path]:
    """Yield a hidden folder for a rehearsal beside the destination, and remove it afterwards."""
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
    mode = path.stat().st_mode & 0o777  # as limited by the user's umask
    path.chmod(0o700)
    lock = _locked(path, wait=True)
    if lock is not None and not path.exists():
        # Another run removed it as a leftover before it was locked.
        os.close(lock)
        return None
    return Claimed(path=path, mode=mode, lock=lock)


def sweep(destination: Path) -> None:
    """Remove what killed runs for this destination left beside it, and nothing else.

    Locked folders stay, as does anything under such a name that is not a folder of this user, and
    a complete release that can still be recovered. An earlier release that was moved aside is
    removed only when its successor is in place and no run is active; if there is none in place, a
    run was killed between two renames, and everything is kept for inspection.
    """
    with suppress(OSError):
        asides = _left(destination, REPLACED)  # first: a run that moves one has a locked folder
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
    """Return folders of killed runs for this destination whose release is complete."""
    found = []
    with suppress(OSError):
        for path in _left(destination, PARTIAL):
            with only_user(path) as free:
                if free and names_booking(path):
                    found.append(path)
    return found


def names_booking(folder: Path) -> bool:
    """Return whether a private folder of this user has a certificate with a ledger entry."""
    try:
        if not _is_own_folder(folder) or folder.stat().st_mode & 0o077:
            return False
        facts = json.loads((folder / CERTIFICATE).read_bytes())
        return isinstance(facts["ledger"]["entry"], int)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def destination_of(folder: Path) -> Path | None:
    """Return the destination of a hidden folder's release, or ``None`` for any other folder.

    >>> destination_of(Path("/a/.release.partial-00c0ffee")).name
    'release'
    """
    found = re.fullmatch(rf"\.(.+)\.{PARTIAL}-[0-9a-f]{{8}}", folder.name, re.DOTALL)
    return None if found is None else folder.with_name(found[1])


@contextmanager
def only_user(folder: Path) -> Iterator[bool]:
    """Lock a folder that no running process uses; yields whether it could be locked."""
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
    """Remove a folder unless a run uses it; return whether it is gone."""
    lock = _locked(path, wait=False)
    if lock is None:
        return False
    try:
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
    return True


def _locked(path: Path, *, wait: bool) -> int | None:
    """Return a descriptor that keeps the folder locked, or ``None`` if that failed."""
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
