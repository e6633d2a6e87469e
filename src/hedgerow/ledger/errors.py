"""What SQLite or the system says of a ledger, as one message of what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hedgerow.errors import LedgerError
from hedgerow.ledger.file import RECOVER, file_beside


def broken(path: Path, how: str) -> LedgerError:
    """Return the error of a ledger whose events do not fit together."""
    return LedgerError(f"the ledger cannot be trusted: {how}", where=str(path), do=RECOVER)


def rolled_back(path: Path, how: str) -> LedgerError:
    """Return the error of a ledger that is older than its key file, or another one."""
    return LedgerError(
        f"an older copy was put in the ledger's place, or an old journal beside it: {how}",
        where=str(path),
        do="Put the latest copy in its place. If that is lost and this is the latest backup, say so"
        " with 'hedgerow ledger restored --reason TEXT', then book what was spent since with"
        " 'hedgerow ledger spend'; 'hedgerow ledger verify --releases FOLDER' finds such releases.",
    )


def damaged_key(path: Path) -> LedgerError:
    """Return the error of a ledger whose key file was cut off."""
    return LedgerError(
        "the ledger's key file is damaged: it does not hold the highest event that it has seen",
        where=str(file_beside(path, ".key")),
        do="Put a backup of the key in its place. Where there is none, check the ledger against"
        " its releases and go on with: hedgerow ledger restored --reason TEXT",
    )


def foreign(path: Path, what: str) -> LedgerError:
    """Return the error of a file that is no ledger, or none any more."""
    return LedgerError(
        what,
        where=str(path),
        do="Name the ledger with --ledger or HEDGEROW_LEDGER. If this file was the"
        f" ledger: {RECOVER[0].lower()}{RECOVER[1:]}",
    )


def no_locks(path: Path) -> LedgerError:
    """Return the error of a file system on which no file can be locked."""
    return LedgerError(
        "files cannot be locked here: the lock service of this file system is missing",
        where=str(path),
        do="Put the ledger on a local disk, or have the service started; without locks, two"
        " releases at the same time could pass the cap.",
    )


@contextmanager
def explained(path: Path, timeout: float) -> Iterator[None]:
    """Turn what SQLite or the system says into one message of what to do."""
    try:
        yield
    except OSError as error:
        raise LedgerError(
            f"the ledger cannot be opened: {error.strerror or 'input or output failed'}",
            where=str(path),
            do="Give a folder that you may write to, with --ledger or HEDGEROW_LEDGER.",
        ) from error
    except UnicodeDecodeError as error:  # SQLite quotes a damaged file's own words
        raise foreign(path, "this file is damaged or not a ledger") from error
    except sqlite3.Error as error:
        raise _explanation(path, error, timeout) from error


def _explanation(path: Path, error: sqlite3.Error, timeout: float) -> LedgerError:
    code = _code(error)
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return foreign(path, "this file is damaged or not a ledger")
    if code == sqlite3.SQLITE_ERROR:
        return broken(path, "a part of it is missing")
    what, do = {
        sqlite3.SQLITE_BUSY: (
            f"another process has kept the ledger locked for {timeout:g} seconds",
            "Wait for it to end, or end it, and try again.",
        ),
        sqlite3.SQLITE_FULL: (
            "the disk is full, nothing was booked",
            "Make room and try again.",
        ),
        sqlite3.SQLITE_READONLY: (
            "the ledger or its folder cannot be written",
            "Ask for write permission on the file and its folder.",
        ),
    }.get(
        code,
        (
            "the ledger cannot be read or written",
            "See that the disk has room and that you may write to the file and its"
            " folder; a ledger belongs on a local disk.",
        ),
    )
    return LedgerError(what, where=str(path), do=do)


def _code(error: BaseException) -> int:
    # The low byte is the kind of error, the others say where in SQLite it arose.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def is_busy(error: BaseException) -> bool:
    """Return whether SQLite said that the file is locked."""
    return isinstance(error, sqlite3.Error) and _code(error) == sqlite3.SQLITE_BUSY
