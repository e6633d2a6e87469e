"""The ledger's file from outside: creation, permissions, and journals beside it.

SQLite's rollback journal exists only while something is being written. One that is found before the
file is opened was left by a run that was killed; a write-ahead log is from an earlier version of
hedgerow. SQLite takes a damaged one for its end.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from hedgerow.errors import LedgerError

RECOVER = (
    "Put a backup in its place, declare it with 'hedgerow ledger restored --reason TEXT', then"
    " book what was spent since with 'hedgerow ledger spend'. Publish nothing from its data"
    " sets before that."
)
"""Advice for a ledger that cannot be trusted."""

_STRANGERS = stat.S_IWOTH
_HEADER, _FRAME = 32, 24
_MAGIC = 0x377F0682
_WITH_LOG = b"\x02\x02"  # bytes of a database's header that mark a write-ahead log


def check_private(path: Path) -> None:
    """Refuse a ledger that every user may change or replace."""
    if os.name != "posix":
        return
    if path.stat().st_mode & _STRANGERS:
        raise LedgerError(
            "Every user of this computer may change the ledger.",
            where=str(path),
            do="Check that it is intact with 'hedgerow ledger verify' after: chmod o-w FILE",
        )
    folder = path.absolute().parent.stat()
    if folder.st_mode & _STRANGERS and not folder.st_mode & stat.S_ISVTX:
        raise LedgerError(
            "Every user of this computer may replace the ledger.",
            where=str(path.absolute().parent),
            do="Remove that right with: chmod o-w FOLDER",
        )
    journal = file_beside(path, "-journal")
    with suppress(FileNotFoundError):
        owner = journal.stat().st_uid
        if folder.st_mode & _STRANGERS and owner not in {path.stat().st_uid, os.geteuid(), 0}:
            raise LedgerError(
                "A journal of another user is beside the ledger.",
                where=str(journal),
                do=(
                    "Find out who created it; a ledger belongs in a folder that only its users can"
                    " write."
                ),
            )


def file_beside(path: Path, suffix: str) -> Path:
    """Return the path of a file that belongs to the ledger."""
    return path.with_name(path.name + suffix)


def interrupted(path: Path) -> bool:
    """Return whether a journal is beside the ledger: a process is writing, or was killed."""
    return any(_size(file_beside(path, suffix)) for suffix in ("-journal", "-wal", "-shm"))


def check_old_log(path: Path) -> None:
    """Refuse an incomplete write-ahead log of an earlier version.

    SQLite reads such a log up to the first frame whose checksum is wrong, and silently forgets the
    rest. Here as many frames must be right as the index beside the log declares committed; without
    an index, all. A log that was cut between two bookings cannot be detected then.
    """
    log, index = _content(file_beside(path, "-wal")), _content(file_beside(path, "-shm"))
    if not log and not index:
        return
    with path.open("rb") as file:
        if log and file.read(20)[18:] != _WITH_LOG:
            raise LedgerError(
                "A write-ahead log that is not the ledger's is beside it.",
                where=str(file_beside(path, "-wal")),
                do="Find out whose it is and move it away: it would be written into the ledger.",
            )
    whole, committed, n_frames = _frames(log)
    promised = _promised(index)
    if promised is None and not (whole and committed == n_frames):
        raise _broken(path, "its write-ahead log is damaged")
    if promised is not None and committed < promised:
        raise _broken(path, "its write-ahead log is damaged or was cut off")


def _broken(path: Path, how: str) -> LedgerError:
    return LedgerError(f"The ledger cannot be trusted: {how}.", where=str(path), do=RECOVER)


def _frames(log: bytes) -> tuple[bool, int, int]:
    """Return whether all frames are right, and how many are: up to the last commit, and all."""
    if len(log) < _HEADER:
        return not log, 0, 0
    magic, _, page = struct.unpack(">III", log[:12])
    order = ">" if magic & 1 else "<"
    sums = _checksum(log[:24], order, (0, 0))
    if magic & ~1 != _MAGIC or sums != struct.unpack(">II", log[24:32]):
        return False, 0, 0
    size = _FRAME + page
    n_frames, rest = divmod(len(log) - _HEADER, size)
    last = 0
    for number in range(n_frames):
        start = _HEADER + number * size
        head, content = log[start : start + _FRAME], log[start + _FRAME : start + size]
        sums = _checksum(content, order, _checksum(head[:8], order, sums))
        if head[8:16] != log[16:24] or sums != struct.unpack(">II", head[16:24]):
            return False, last, number
        if any(head[4:8]):
            last = number + 1
    return not rest, last, n_frames


def _checksum(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """Return the running checksum of a write-ahead log [SQLite file format, section 4.2]."""
    one, two = sums
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def _promised(index: bytes) -> int | None:
    """Return how many frames in the log alone the index declares committed, if it does."""
    if len(index) < 136 or index[:48] != index[48:96] or not index[12]:
        return None
    committed, copied = struct.unpack("=I", index[16:20])[0], struct.unpack("=I", index[96:100])[0]
    return 0 if copied >= committed else int(committed)


def locks_work(folder: Path) -> bool:
    """Return whether files of this folder can be locked.

    Another file is used: closing any handle of the ledger's file would drop its locks.
    """
    try:
        import fcntl
    except ImportError:  # systems without it lock by other means
        return True
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
    return True


def create(path: Path, script: str) -> None:
    """Create a ledger without events; it appears under its name complete or not at all."""
    import sqlite3

    make_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    os.close(handle)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.executescript(f"BEGIN; {script} COMMIT;")
        place(Path(name), path)
    finally:
        Path(name).unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Create a folder, and its parents, that only their owner may enter."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def place(new: Path, path: Path) -> None:
    """Give the file ``new`` the name ``path``, unless another process was faster."""
    try:
        path.hardlink_to(new)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        _copy(new, path)
    _sync_folder(path.parent)


def _copy(new: Path, path: Path) -> None:
    """Copy ``new`` to ``path`` unless that exists; not safe from a crash half-way."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new.read_bytes())
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, if folders can be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
