"""Errors of SQLite or the system about a ledger, as messages that say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hedgerow.errors import LedgerError
from hedgerow.ledger.file import RECOVER, file_beside


def broken(path: Path, how: str) -> LedgerError:
    """Return the error of a ledger whose events are inconsistent."""
    return LedgerError(f"The ledger cannot be trusted: {how}.", where=str(path), do=RECOVER)


def rolled_back(path: Path, how: str) -> LedgerError:
    """Return the error of a ledger that is older than its key file, or another ledger."""
    return LedgerError(
        f"The ledger, or its journal, was replaced by an older copy: {how}.",
        where=str(path),
        do=(
            "Put the latest copy in its place. If that is lost and this is the latest backup,"
            " declare it with 'hedgerow ledger restored --reason TEXT', then book what was spent"
            " since with 'hedgerow ledger spend'; 'hedgerow ledger verify --releases FOLDER'"
            " finds such releases."
        ),
    )


def damaged_key(path: Path) -> LedgerError:
    """Return the error of a ledger whose key file was cut off."""
    return LedgerError(
        "The ledger's key file is damaged: it lacks the highest event of the ledger.",
        where=str(file_beside(path, ".key")),
        do=(
            "Put a backup of the key in its place. If there is none, check the ledger against its"
            " releases and go on with: hedgerow ledger restored --reason TEXT"
        ),
    )


def foreign(path: Path, what: str) -> LedgerError:
    """Return the error of a file that is not, or no longer, a ledger."""
    return LedgerError(
        what,
        where=str(path),
        do="Name the ledger with --ledger or HEDGEROW_LEDGER. If this file was the"
        f" ledger: {RECOVER[0].lower()}{RECOVER[1:]}",
    )


def no_locks(path: Path) -> LedgerError:
    """Return the error of a file system on which no file can be locked."""
    return LedgerError(
        "Files cannot be locked here: the lock service of this file system is missing.",
        where=str(path),
        do=(
            "Put the ledger on a local disk, or have the service started; without locks, two"
            " releases at the same time could exceed the cap."
        ),
    )


@contextmanager
def explained(path: Path, timeout: float) -> Iterator[None]:
    """Return an error of SQLite or the system as a message that says what to do."""
    try:
        yield
    except OSError as error:
        raise LedgerError(
            f"The ledger cannot be opened: {error.strerror or 'input or output failed'}.",
            where=str(path),
            do="Give a folder that you may write to, with --ledger or HEDGEROW_LEDGER.",
        ) from error
    except UnicodeDecodeError as error:  # SQLite quotes the content of a damaged file
        raise foreign(path, "This file is damaged or not a ledger.") from error
    except sqlite3.Error as error:
        raise _explanation(path, error, timeout) from error


def _explanation(path: Path, error: sqlite3.Error, timeout: float) -> LedgerError:
    code = _code(error)
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return foreign(path, "This file is damaged or not a ledger.")
    if code == sqlite3.SQLITE_ERROR:
        return broken(path, "a part of it is missing")
    what, do = {
        sqlite3.SQLITE_BUSY: (
            f"Another process has kept the ledger locked for {timeout:g} seconds.",
            "Wait for it to end, or end it, and try again.",
        ),
        sqlite3.SQLITE_FULL: (
            "The disk is full. Nothing was booked.",
            "Make room and try again.",
        ),
        sqlite3.SQLITE_READONLY: (
            "The ledger or its folder cannot be written.",
            "Ask for write permission on the file and its folder.",
        ),
    }.get(
        code,
        (
            "The ledger cannot be read or written.",
            "Check that the disk has room and that you may write to the file and its folder; a"
            " ledger belongs on a local disk.",
        ),
    )
    return LedgerError(what, where=str(path), do=do)


def _code(error: BaseException) -> int:
    # The low byte is the kind of error, the others say where in SQLite it arose.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def is_busy(error: BaseException) -> bool:
    """Return whether SQLite reports that the file is locked."""
    return isinstance(error, sqlite3.Error) and _code(error) == sqlite3.SQLITE_BUSY
