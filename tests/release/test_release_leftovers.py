"""What killed runs left beside a destination goes; what living runs write stays."""

from __future__ import annotations

import os
import stat

import pytest

from hedgerow.errors import ReleaseError
from hedgerow.release import leftovers
from hedgerow.release.leftovers import claimed, sweep
from hedgerow.release.write import CERTIFICATE, release_folder, write_text

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs locks on folders")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def left(folder, name):
    (folder / name).mkdir()
    write_text(folder / name / "half.csv", "half")


def test_what_a_dead_run_left_is_removed(tmp_path):
    left(tmp_path, ".release.partial-0123abcd")
    sweep(tmp_path / "release")
    assert names(tmp_path) == []


def test_what_a_living_run_writes_stays(tmp_path):
    with claimed(tmp_path / "release") as living:
        write_text(living.path / "half.csv", "half")
        sweep(tmp_path / "release")
        assert names(living.path) == ["half.csv"]
    sweep(tmp_path / "release")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "name",
    [
        ".release.partial-0123abc",
        ".release.partial-0123abcz",
        ".release.partial-0123abcd0",
        "release.partial-0123abcd",
        ".other.partial-0123abcd",
        ".releaseXpartial-0123abcd",
        ".release.unfinished-0123abcd",
    ],
)
def test_other_names_are_left_alone(tmp_path, name):
    left(tmp_path, name)
    sweep(tmp_path / "release")
    assert names(tmp_path) == [name]


def test_files_and_links_of_that_name_are_left_alone(tmp_path):
    left(tmp_path, "mine")
    write_text(tmp_path / ".release.partial-0123abcd", "a file")
    (tmp_path / ".release.partial-0123abce").symlink_to(tmp_path / "mine")
    sweep(tmp_path / "release")
    assert len(names(tmp_path)) == 3
    assert names(tmp_path / "mine") == ["half.csv"]


def test_a_release_that_was_replaced_goes_once_its_successor_is_there(tmp_path):
    left(tmp_path, ".release.replaced-0123abcd")
    left(tmp_path, ".release.partial-0123abcd")
    sweep(tmp_path / "release")
    assert len(names(tmp_path)) == 2, "killed between two renames: somebody must look"
    left(tmp_path, "release")
    sweep(tmp_path / "release")
    assert names(tmp_path) == ["release"]


def test_a_release_that_was_replaced_stays_while_a_run_is_at_work(tmp_path):
    left(tmp_path, ".release.replaced-0123abcd")
    left(tmp_path, "release")
    with claimed(tmp_path / "release"):
        sweep(tmp_path / "release")
        assert ".release.replaced-0123abcd" in names(tmp_path)


def test_a_folder_that_was_swept_before_it_was_locked_is_made_anew(tmp_path, monkeypatch):
    locked, swept = leftovers._locked, []

    def late(path, *, wait):
        descriptor = locked(path, wait=wait)
        if not swept:
            swept.append(path)
            path.rmdir()
        return descriptor

    monkeypatch.setattr(leftovers, "_locked", late)
    with claimed(tmp_path / "release") as living:
        assert living.path.is_dir()
        assert living.path != swept[0]


def test_nobody_else_may_look_before_it_is_complete(tmp_path):
    with release_folder(tmp_path / "release") as partial:
        assert stat.S_IMODE(partial.stat().st_mode) == 0o700
        write_text(partial / CERTIFICATE, "new")
    (tmp_path / "usual").mkdir()
    usual = stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    assert stat.S_IMODE((tmp_path / "release").stat().st_mode) == usual


def test_a_folder_above_that_cannot_be_read_is_the_usual_error(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", refused)
    with pytest.raises(ReleaseError, match="permission denied"), release_folder(tmp_path / "r"):
        pytest.fail("the block must not run")
