"""The file system of a ledger; network file systems are refused.

Locks of network file systems hold between processes of one machine at best, and two machines could
book the same budget. The type of a file system is read from the system's table of mounts; an
unknown type passes, and must then be able to lock files.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path

from hedgerow.errors import LedgerError

REMOTE = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "smb2", "afpfs", "webdav", "davfs"),
        *("afs", "coda", "ncpfs", "ncp", "ceph", "glusterfs", "lustre", "beegfs", "gpfs"),
    }
)
"""Types of network file systems."""

LOCAL_FUSE = frozenset({"fuseblk", "fuse.fuse-overlayfs"})
"""Local file systems by FUSE: a disk (NTFS, exFAT), and the root of rootless containers.

Others may be network file systems, such as sshfs, rclone and glusterfs.
"""

_FUSE = ("fuse", "macfuse", "osxfuse")
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_DARWIN_TYPE = slice(72, 88)
_REMOTE_DRIVE = 4


def check_disk(ledger: Path) -> None:
    """Refuse a ledger on a network file system; the file need not exist yet."""
    kind = file_system_of(_existing(ledger))
    if kind is not None and is_remote(kind):
        raise LedgerError(
            f"The ledger is on a network file system ({kind}), whose locks are not reliable:"
            " two releases at the same time could exceed the cap.",
            where=str(ledger),
            do="Move the ledger and its .key file to a local disk of the computer that publishes,"
            " and name it with --ledger, HEDGEROW_LEDGER or the plan's 'ledger: file'. Colleagues"
            " publish on that computer.",
        )


def is_remote(kind: str) -> bool:
    """Return whether file systems of a type are, or may be, network file systems.

    >>> [is_remote(kind) for kind in ("nfs4", "fuse.sshfs", "ext4", "overlay", "fuseblk")]
    [True, True, False, False, False]
    """
    kind = kind.lower()
    return kind in REMOTE or (kind.startswith(_FUSE) and kind not in LOCAL_FUSE)


def file_system_of(folder: Path) -> str | None:
    """Return the type of the file system of a folder, or ``None`` if unknown."""
    if sys.platform == "win32":
        return _of_drive(folder)
    if sys.platform == "darwin":
        return _of_darwin(folder)
    with suppress(OSError, UnicodeDecodeError):
        return type_in_mounts(folder, mount_table())
    return None


def mount_table() -> str:
    """Return the table of mounts that Linux shows to this process."""
    return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")


def type_in_mounts(folder: Path, table: str) -> str | None:
    r"""Return the type of the file system of a folder, from a table of mounts.

    The longest mount point above the folder counts, and the last of several mounts there.

    >>> table = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:40 / /home rw - nfs4 host:/home rw"
    >>> type_in_mounts(Path("/home/ann"), table), type_in_mounts(Path("/homes"), table)
    ('nfs4', 'ext4')
    """
    best, found = -1, None
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        fields, kinds = left.split(" "), right.split(" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = Path(_ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4]))
        depth = len(point.parts)
        if depth >= best and (point == folder or point in folder.parents):
            best, found = depth, kinds[0]
    return found


def type_in_statfs(content: bytes) -> str | None:
    """Return the type in macOS's answer to ``statfs``."""
    name = content[_DARWIN_TYPE].partition(b"\0")[0]
    return name.decode("ascii", "replace") or None


def _existing(ledger: Path) -> Path:
    """Return the nearest existing folder above the ledger, without symbolic links."""
    folder = ledger.parent.resolve() if not ledger.is_symlink() else ledger.resolve().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _of_darwin(folder: Path) -> str | None:
    import ctypes.util

    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
        # On Intel the plain name is that of an older structure.
        ask = getattr(library, "statfs$INODE64", None) or library.statfs
        answer = ctypes.create_string_buffer(4096)
        if ask(str(folder).encode(), answer) == 0:
            return type_in_statfs(answer.raw)
    return None


def _of_drive(folder: Path) -> str | None:
    """Return ``smbfs`` for a share or a drive mapped to one, else an empty string."""
    if str(folder).startswith("\\\\"):
        return "smbfs"
    import ctypes

    with suppress(OSError, AttributeError):
        library = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
        if library.GetDriveTypeW(ctypes.c_wchar_p(folder.anchor)) == _REMOTE_DRIVE:
            return "smbfs"
    return None
