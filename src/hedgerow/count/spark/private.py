"""A private folder for Spark's files on disk: only the user may enter, and none remains.

Spark writes shuffles and spills to its local folder, readable by everybody; they contain exact
counts. A session that is started for a run gets a folder of mode 0700, with encryption on. The
next run removes what a killed run left there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

from hedgerow.errors import ScratchError

_LOCK = "running"


class PrivateFolder:
    """A folder of mode 0700, locked as long as this process runs, and removed when closed."""

    def __init__(self, parent: Path | None = None) -> None:
        where = parent or Path(tempfile.gettempdir())
        try:
            sweep_killed(where)
            self.path = Path(tempfile.mkdtemp(prefix=_prefix(), dir=where))
            # Spark's own processes do not inherit the lock: it ends with this process.
            self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise ScratchError(
                "No private folder can be created:"
                f" {(error.strerror or 'unknown reason').lower()}.",
                where=str(where),
                do="Set TMPDIR to a folder with free space that you can write to.",
            ) from error

    def __repr__(self) -> str:
        return "PrivateFolder()"

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep_killed(where: Path) -> None:
    """Remove the folders of killed runs: those of this user that no process has locked."""
    for folder in where.glob(f"{_prefix()}*"):
        with contextlib.suppress(OSError):
            if _is_ours(folder) and not _is_held(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)


def _prefix() -> str:
    return f"hedgerow-spark-{os.getuid()}-"


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is not a link, belongs to this user and is closed to others."""
    facts = folder.lstat()
    is_private = stat.S_IMODE(facts.st_mode) == 0o700
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and is_private


def _is_held(lock: Path) -> bool:
    try:
        opened = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:  # it may be in the making
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(opened)
    return False
