"""A release folder appears whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from hedgerow.errors import ReleaseError
from hedgerow.release.write import CERTIFICATE, check_destination, release_folder, write_text


def earlier_release(folder: Path) -> None:
    folder.mkdir()
    write_text(folder / CERTIFICATE, "old")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_takes_its_name_when_the_block_ends_well(tmp_path):
    with release_folder(tmp_path / "new" / "release") as partial:
        assert partial.parent == tmp_path / "new"
        assert partial.name.startswith(".release.partial-")
        write_text(partial / "a.txt", "a\n")
        assert not (tmp_path / "new" / "release").exists()
    assert names(tmp_path / "new") == ["release"]
    assert (tmp_path / "new" / "release" / "a.txt").read_bytes() == b"a\n"


def test_files_are_readable_by_all_and_writable_by_their_owner(tmp_path):
    with release_folder(tmp_path / "release") as partial:
        write_text(partial / "a.txt", "a")
        (partial / "a.txt").chmod(0o600)
    assert stat.S_IMODE((tmp_path / "release" / "a.txt").stat().st_mode) == 0o644


def write_and_fail(folder: Path, failure: BaseException, *, force: bool = False) -> None:
    with release_folder(folder, force=force) as partial:
        write_text(partial / CERTIFICATE, "new")
        raise failure


@pytest.mark.parametrize("failure", [ValueError("no"), KeyboardInterrupt()])
def test_a_failure_midway_leaves_nothing(tmp_path, failure):
    with pytest.raises(type(failure)):
        write_and_fail(tmp_path / "release", failure)
    assert names(tmp_path) == []


def test_a_failure_midway_leaves_an_earlier_release_as_it_was(tmp_path):
    earlier_release(tmp_path / "release")
    with pytest.raises(ValueError, match="no"):
        write_and_fail(tmp_path / "release", ValueError("no"), force=True)
    assert names(tmp_path) == ["release"]
    assert (tmp_path / "release" / CERTIFICATE).read_text() == "old"


def test_an_earlier_release_comes_back_when_the_last_rename_fails(tmp_path, monkeypatch):
    earlier_release(tmp_path / "release")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with (
        pytest.raises(ReleaseError),
        release_folder(tmp_path / "release", force=True) as partial,
    ):
        write_text(partial / CERTIFICATE, "new")
    assert names(tmp_path) == ["release"]
    assert (tmp_path / "release" / CERTIFICATE).read_text() == "old"


def test_force_replaces_an_earlier_release_and_nothing_stays_of_it(tmp_path):
    earlier_release(tmp_path / "release")
    write_text(tmp_path / "release" / "old.txt", "old")
    with release_folder(tmp_path / "release", force=True) as partial:
        write_text(partial / CERTIFICATE, "new")
        assert (tmp_path / "release" / CERTIFICATE).read_text() == "old"
    assert names(tmp_path) == ["release"]
    assert names(tmp_path / "release") == [CERTIFICATE]
    assert (tmp_path / "release" / CERTIFICATE).read_text() == "new"


def test_an_empty_folder_may_be_used(tmp_path):
    (tmp_path / "release").mkdir()
    with release_folder(tmp_path / "release") as partial:
        write_text(partial / "a.txt", "a")
    assert names(tmp_path / "release") == ["a.txt"]
    assert names(tmp_path) == ["release"]


def test_a_folder_that_fills_up_while_writing_is_left_alone(tmp_path):
    with pytest.raises(ReleaseError, match="not empty"), release_folder(tmp_path / "release"):
        somebody_elses(tmp_path / "release")
    assert names(tmp_path) == ["release"]
    assert names(tmp_path / "release") == ["thesis.txt"]


def occupied(path: Path) -> None:
    path.mkdir()
    write_text(path / CERTIFICATE, "old")


def somebody_elses(path: Path) -> None:
    path.mkdir()
    write_text(path / "thesis.txt", "ten years of work")


def linked(path: Path) -> None:
    path.with_name("elsewhere").mkdir()
    path.symlink_to(path.with_name("elsewhere"))


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


@pytest.mark.parametrize(
    ("prepare", "force", "message"),
    [
        (occupied, False, "not empty"),
        (somebody_elses, False, "not empty"),
        (somebody_elses, True, "something other than a release"),
        (linked, True, "symbolic link"),
        (dangling, True, "symbolic link"),
        (lambda path: write_text(path, "a file"), True, "not a folder"),
    ],
)
def test_an_unfit_destination_is_refused_before_anything_is_written(
    tmp_path, prepare, force, message
):
    prepare(tmp_path / "release")
    before = names(tmp_path)
    with pytest.raises(ReleaseError, match=message) as refused:
        check_destination(tmp_path / "release", force=force)
    assert refused.value.where == str(tmp_path / "release")
    assert refused.value.exit_code == 2
    with pytest.raises(ReleaseError), release_folder(tmp_path / "release", force=force):
        pytest.fail("the block must not run")
    assert names(tmp_path) == before


def test_a_mount_point_is_refused(tmp_path, monkeypatch):
    (tmp_path / "release").mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: path == tmp_path / "release")
    with pytest.raises(ReleaseError, match="mount point"):
        check_destination(tmp_path / "release")


def test_a_parent_without_write_permission_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ReleaseError, match="not writable"):
        check_destination(tmp_path / "release")


def test_a_parent_that_is_a_file_is_refused(tmp_path):
    write_text(tmp_path / "file", "a")
    with pytest.raises(ReleaseError):
        check_destination(tmp_path / "file" / "release")


def test_a_good_destination_comes_back_absolute_and_untouched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check_destination("out/release") == tmp_path / "out" / "release"
    assert names(tmp_path) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_what_the_system_refuses_is_one_plain_message(tmp_path, code):
    with pytest.raises(ReleaseError) as failed, release_folder(tmp_path / "release"):
        raise OSError(code, os.strerror(code))
    assert os.strerror(code).lower() in str(failed.value)
    assert "Errno" not in str(failed.value)
    assert names(tmp_path) == []


def test_a_full_disk_while_flushing_leaves_nothing(tmp_path, monkeypatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReleaseError), release_folder(tmp_path / "release") as partial:
        write_text(partial / "a.txt", "a")
    assert names(tmp_path) == []
