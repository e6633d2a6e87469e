"""A folder that appears whole or not at all.

Files go to a hidden folder beside the destination (``.NAME.partial-XXXX``), are flushed
to the disk and take the destination's name in one rename. Whatever goes wrong before
that leaves the destination as it was; what a killed run left behind, the next one for the
same destination removes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hedgerow.errors import ReleaseError
from hedgerow.release.leftovers import REPLACED, beside, claimed, sweep

CERTIFICATE = "certificate.json"
"""The file that tells a release from any other folder."""

OWNER = "owner"
"""The folder of what is not for others: nobody else may enter it."""

FILE_MODE = 0o644

LONGEST_NAME = 230
"""Bytes of a destination's name: file systems take 255, and the hidden names are longer."""


def check_destination(folder: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the absolute path of a folder that a release may be written to, or refuse.

    Call it before any budget is spent. An existing folder may be taken when it is empty,
    or, with ``force``, when it holds an earlier release; a link is never followed and no
    other folder is ever replaced.
    """
    path = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link
    try:
        _refuse_unfit(path, force=force)
    except OSError as error:
        raise _failure(path, error) from error
    return path


def _refuse_unfit(path: Path, *, force: bool) -> None:
    shown = str(path)
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise ReleaseError(
            f"the name is longer than {LONGEST_NAME} bytes", where=shown, do="Give a shorter one."
        )
    if path.is_symlink():
        raise ReleaseError("is a symbolic link", where=shown, do="Give the folder it leads to.")
    if path.exists() and not path.is_dir():
        raise ReleaseError("is not a folder", where=shown, do="Give a new folder's name.")
    if path.is_dir():
        if os.path.ismount(path):
            raise ReleaseError(
                "is a mount point and cannot be replaced in one step",
                where=shown,
                do="Give a folder inside it.",
            )
        if any(path.iterdir()):
            _refuse_occupied(path, force=force)
    parent = next(above for above in path.parents if above.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ReleaseError(
            "cannot be created: the folder above it is not writable",
            where=shown,
            do="Give a folder in a place you may write to.",
        )


def _refuse_occupied(path: Path, *, force: bool) -> None:
    if not force:
        raise ReleaseError(
            "the folder exists and is not empty",
            where=str(path),
            do="Give another folder, or replace an earlier release with --force.",
        )
    if not (path / CERTIFICATE).is_file():
        raise ReleaseError(
            "the folder holds something other than a release, and is left alone",
            where=str(path),
            do="Give another folder; --force replaces an earlier release only.",
        )


@contextmanager
def release_folder(folder: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Yield an empty folder that becomes ``folder`` when the block ends well.

    When the block fails, the folder is removed and the destination is as it was; what
    the operating system refused (no space, read only) becomes a `ReleaseError`.
    """
    destination = check_destination(folder, force=force)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        sweep(destination)
        with claimed(destination) as claim, _removed_on_failure(claim.path):
            yield claim.path
            _flush(claim.path)
            claim.path.chmod(claim.mode)
            _move_into_place(claim.path, destination, force=force)
    except OSError as error:
        raise _failure(destination, error) from error


@contextmanager
def _removed_on_failure(partial: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file with Unix line ends on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")


def _flush(folder: Path) -> None:
    """Give every file its mode and push files and folder to the disk."""
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
    # Some libraries put a text of their own where the system's belongs.
    told = os.strerror(error.errno) if error.errno else str(error) or type(error).__name__
    reason = told.partition(" (os error")[0].lower()
    return ReleaseError(
        f"the release cannot be written: {reason}",
        where=str(destination),
        do="The folder is as it was. Give one with room that you may write to.",
    )
