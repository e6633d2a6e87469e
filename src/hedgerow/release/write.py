"""Write a folder completely or not at all.

Files are written to a hidden folder beside the destination (``.NAME.partial-XXXX``), flushed to the
disk and renamed to the destination in one step. A failure before that leaves the destination
unchanged; what a killed run leaves behind is removed by the next run for the same destination. A
complete and booked release whose last step failed is kept, for `hedgerow recover`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hedgerow.errors import KeptReleaseError, ReleaseError
from hedgerow.release.leftovers import (
    CERTIFICATE,
    REPLACED,
    beside,
    claimed,
    names_booking,
    rehearsed,
    sweep,
)

__all__ = [
    "CERTIFICATE",
    "check_destination",
    "place_folder",
    "rehearsal_folder",
    "release_folder",
    "write_text",
]

OWNER = "owner"
"""Folder of files that are not for others: only its owner may enter it."""

FILE_MODE = 0o644

LONGEST_NAME = 230
"""Maximum length of a name in bytes: file systems allow 255, and the hidden names are longer."""


def check_destination(folder: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the absolute path of a folder that a release can be written to, or refuse it.

    Call it before any budget is spent. An existing folder may be used if it is empty or,
    with ``force``, if it holds an earlier release; links are never followed, and no other
    folder is ever replaced.
    """
    path = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link
    try:
        _refuse_unfit(path, force=force)
    except OSError as error:
        raise _failure(path, error) from error
    return path


def _refuse_unfit(path: Path, *, force: bool) -> None:
    shown = str(path)
    if not _is_text(shown):
        raise ReleaseError(
            "The name cannot be encoded as UTF-8 or in this locale.",
            where=repr(shown),
            do="Give a name of plain letters, or set a UTF-8 locale (LANG=C.UTF-8).",
        )
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise ReleaseError(
            f"The name is longer than {LONGEST_NAME} bytes.", where=shown, do="Give a shorter one."
        )
    if path.is_symlink():
        raise ReleaseError(
            "The folder is a symbolic link.", where=shown, do="Give the folder it points to."
        )
    if path.exists() and not path.is_dir():
        raise ReleaseError("This is not a folder.", where=shown, do="Give a new folder's name.")
    if path.is_dir():
        if os.path.ismount(path):
            raise ReleaseError(
                "The folder is a mount point and cannot be replaced in one step.",
                where=shown,
                do="Give a folder inside it.",
            )
        if any(path.iterdir()):
            _refuse_occupied(path, force=force)
    parent = next(above for above in path.parents if above.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ReleaseError(
            "The folder cannot be created: the parent folder is not writable.",
            where=shown,
            do="Give a folder in a place that you can write to.",
        )


def _is_text(name: str) -> bool:
    """Return whether the locale could decode all bytes of a name."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_occupied(path: Path, *, force: bool) -> None:
    if not force:
        raise ReleaseError(
            "The folder exists and is not empty.",
            where=str(path),
            do="Give another folder, or replace an earlier release with --force.",
        )
    if not (path / CERTIFICATE).is_file():
        raise ReleaseError(
            "The folder holds something other than a release and was not changed.",
            where=str(path),
            do="Give another folder; --force replaces only an earlier release.",
        )


@contextmanager
def release_folder(folder: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Yield an empty folder that is renamed to ``folder`` when the block succeeds.

    When the block fails, the folder is removed and the destination is unchanged; errors of the
    operating system (no space, read only) become a `ReleaseError`. When the last step fails, a
    complete and booked release is kept: a `KeptReleaseError` says where.
    """
    destination = check_destination(folder, force=force)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        sweep(destination)
        with claimed(destination) as claim:
            with _removed_on_failure(claim.path):
                yield claim.path
                _flush(claim.path)
            with _kept_on_failure(claim.path, destination):
                _move_into_place(claim.path, destination, force=force)
                destination.chmod(claim.mode)
    except OSError as error:
        raise _failure(destination, error) from error


def place_folder(partial: Path, destination: Path, *, force: bool = False) -> None:
    """Rename a complete hidden folder to its destination, as the run that wrote it would have."""
    mask = os.umask(0o077)
    os.umask(mask)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        _flush(partial)
        with _kept_on_failure(partial, destination):
            _move_into_place(partial, destination, force=force)
            destination.chmod(0o777 & ~mask)
    except OSError as error:
        raise _failure(destination, error) from error


@contextmanager
def rehearsal_folder(destination: Path) -> Iterator[Path]:
    """Yield a destination of the same name in a hidden folder beside the real one.

    The hidden folder is removed when the block ends; parent folders, only if the block fails.
    """
    created = [above for above in destination.parents if not above.exists()]
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with rehearsed(destination) as hidden:
            yield hidden / destination.name
    except BaseException as error:
        for above in created:
            with suppress(OSError):
                above.rmdir()
        if isinstance(error, OSError):
            raise _failure(destination, error) from error
        raise


@contextmanager
def _removed_on_failure(partial: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def _kept_on_failure(partial: Path, destination: Path) -> Iterator[None]:
    """Keep a complete and booked release when its last step fails; remove any other folder.

    A failure after the folder has been renamed does not undo the release.
    """
    own = _identity(partial)
    try:
        yield
    except BaseException as error:
        if _identity(destination) == own:
            return
        if not names_booking(partial):
            shutil.rmtree(partial, ignore_errors=True)
            raise
        if isinstance(error, OSError):
            error = _failure(destination, error)
        if isinstance(error, ReleaseError):
            raise KeptReleaseError(error.what, where=error.where, kept=str(partial)) from error
        error.add_note(KeptReleaseError.how(str(partial)))
        vars(error)["kept"] = str(partial)  # an interrupt remains an interrupt
        raise


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file with Unix line ends on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")


def _flush(folder: Path) -> None:
    """Set the mode of every file and flush files and folder to the disk."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            path.chmod(0o600 if path.parent.name == OWNER else FILE_MODE)
            with path.open("rb+") as file:
                os.fsync(file.fileno())
        else:
            if path.name == OWNER:
                path.chmod(0o700)
            _sync_folder(path)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    # Some systems cannot open or flush a folder; the rename is atomic there all the same.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _move_into_place(partial: Path, destination: Path, *, force: bool) -> None:
    check_destination(destination, force=force)
    if not destination.exists():
        partial.rename(destination)
        _sync_folder(destination.parent)
        return
    aside = beside(destination, REPLACED)
    destination.rename(aside)
    try:
        partial.rename(destination)
    except BaseException:
        aside.rename(destination)
        raise
    _sync_folder(destination.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _failure(destination: Path, error: OSError) -> ReleaseError:
    # Some libraries put a text of their own in place of the system's.
    reason = os.strerror(error.errno) if error.errno else str(error) or type(error).__name__
    reason = reason.partition(" (os error")[0].lower()
    return ReleaseError(
        f"The release cannot be written: {reason}.",
        where=str(destination),
        do="The folder is unchanged. Give one with enough space that you can write to.",
    )
