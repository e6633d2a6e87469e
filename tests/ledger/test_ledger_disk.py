"""A ledger is refused on file systems that are shared over a network, and where nothing locks."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from hedgerow.errors import LedgerError
from hedgerow.ledger import disk as ledger_disk
from hedgerow.ledger import store as ledger_store
from hedgerow.ledger.disk import file_system_of, is_remote, type_in_mounts, type_in_statfs
from hedgerow.ledger.ledger import Ledger

ROOT = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"
REMOTE = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse", "fuse.sshfs", "fuse.rclone", "afs"]
REMOTE += ["fuse.glusterfs", "ceph", "lustre", "macfuse", "webdav", "fuse.vmhgfs-fuse"]
LOCAL = ["ext4", "xfs", "btrfs", "zfs", "apfs", "ntfs", "ntfs3", "vfat", "exfat", "f2fs"]
LOCAL += ["overlay", "tmpfs", "ramfs", "9p", "virtiofs", "fuseblk", "fuse.fuse-overlayfs", "new"]

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a table of Linux")


def mounted(folder: Path, kind: str) -> str:
    point = str(folder).replace(" ", "\\040")
    return f"{ROOT}\n90 22 0:77 / {point} rw,relatime shared:9 - {kind} host:/share rw,vers=4.2\n"


@pytest.mark.parametrize("kind", REMOTE)
def test_network_file_systems_are_known(kind):
    assert is_remote(kind)


@pytest.mark.parametrize("kind", LOCAL)
def test_local_and_unknown_file_systems_pass(kind):
    assert not is_remote(kind)


@linux
@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs"])
@pytest.mark.parametrize("there", [True, False], ids=["old", "new"])
def test_a_ledger_on_a_network_file_system_is_refused(tmp_path, monkeypatch, kind, there):
    path = tmp_path / "a share" / "ledger.sqlite"
    if there:
        Ledger(path).open_dataset("adult", 4)
    monkeypatch.setattr(ledger_disk, "mount_table", lambda: mounted(path.parent, kind))
    path.parent.mkdir(exist_ok=True)
    with pytest.raises(LedgerError, match="is on a network file system") as refused:
        Ledger(path)
    assert kind in refused.value.what
    assert "local disk" in refused.value.do
    assert path.exists() == there


@linux
def test_a_ledger_moved_to_a_local_disk_is_taken(tmp_path, monkeypatch):
    share, path = tmp_path / "share", tmp_path / "local" / "ledger.sqlite"
    Ledger(share / "ledger.sqlite").open_dataset("adult", 4)
    monkeypatch.setattr(ledger_disk, "mount_table", lambda: mounted(share, "nfs4"))
    path.parent.mkdir(mode=0o700)
    (share / "ledger.sqlite").rename(path)
    assert Ledger(path).balance("adult").cap == 4


@linux
def test_a_link_to_a_network_file_system_is_followed(tmp_path, monkeypatch):
    share = tmp_path / "share"
    Ledger(share / "ledger.sqlite")
    (tmp_path / "by folder").symlink_to(share)
    (tmp_path / "by file.sqlite").symlink_to(share / "ledger.sqlite")
    monkeypatch.setattr(ledger_disk, "mount_table", lambda: mounted(share, "nfs"))
    for path in (tmp_path / "by folder" / "ledger.sqlite", tmp_path / "by file.sqlite"):
        with pytest.raises(LedgerError, match="network file system"):
            Ledger(path)


@linux
def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_above(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_disk, "mount_table", lambda: mounted(tmp_path, "nfs"))
    with pytest.raises(LedgerError, match="network file system"):
        Ledger(tmp_path / "a" / "b" / "ledger.sqlite")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/data/x", "nfs4"),
        ("/data", "nfs4"),
        ("/database", "ext4"),
        ("/data/local/y", "xfs"),
        ("/over", "tmpfs"),
        ("/over/z", "tmpfs"),
        ("/", "ext4"),
    ],
)
def test_the_nearest_and_latest_mount_counts(folder, kind):
    rows = [
        ("30", "/data/local", "xfs"),
        ("31", "/data", "nfs4"),
        ("32", "/over", "nfs"),
        ("33", "/over", "tmpfs"),
    ]
    lines = [f"{number} 22 0:1 / {point} rw - {kind} x rw" for number, point, kind in rows]
    assert (
        type_in_mounts(Path(folder), "\n".join([ROOT, *lines, "", "nonsense", "1 2 3 - "])) == kind
    )


def test_a_table_that_cannot_be_read_refuses_nothing(tmp_path, monkeypatch):
    def unreadable() -> str:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(ledger_disk, "mount_table", unreadable)
    Ledger(tmp_path / "ledger.sqlite").open_dataset("adult", 4)
    assert type_in_mounts(Path("/x"), "") is None


@linux
def test_this_computer_says_what_its_root_is():
    assert file_system_of(Path("/proc")) == "proc"


def test_the_answer_of_macos_names_a_type():
    answer = bytes(72) + b"smbfs".ljust(16, b"\0") + b"/Volumes/share" + bytes(2000)
    assert type_in_statfs(answer) == "smbfs"
    assert type_in_statfs(bytes(2000)) is None


def test_a_share_of_windows_is_remote():
    assert ledger_disk._of_drive(Path("\\\\server\\share")) == "smbfs"
    assert ledger_disk._of_drive(Path("/local")) is None or os.name == "nt"


def test_a_new_ledger_without_locks_says_so_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_store, "locks_work", lambda _: False)
    path = tmp_path / "new" / "ledger.sqlite"
    with pytest.raises(LedgerError, match="Files cannot be locked here") as refused:
        Ledger(path)
    assert "local disk" in refused.value.do
    assert not path.exists()
