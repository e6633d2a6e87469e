"""Where compiled loops are kept, and that nothing depends on it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numba
import pytest
from numba.core import caching

from hedgerow.model import compiling


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def no_usual_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [caching.UserProvidedCacheLocator])


def doubled(value: int) -> int:
    return 2 * value


@pytest.mark.usefixtures("no_usual_place")
def test_a_private_folder_takes_what_no_other_place_does(tmp_path: Path) -> None:
    before = numba.config.CACHE_DIR
    loop = compiling.compile_loop(doubled)
    assert loop(21) == 42
    (folder,) = tmp_path.iterdir()
    assert folder.name == f"hedgerow-compiled-{os.geteuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.rglob("*.nbi"))
    assert before == numba.config.CACHE_DIR


@pytest.mark.usefixtures("no_usual_place")
@pytest.mark.parametrize("kind", ["open", "file", "link"])
def test_a_folder_that_others_could_have_filled_is_not_used(tmp_path: Path, kind: str) -> None:
    place = tmp_path / f"hedgerow-compiled-{os.geteuid()}"
    if kind == "open":
        place.mkdir()
        place.chmod(0o777)
    elif kind == "file":
        place.touch()
    else:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    assert compiling.private_cache() is None
    assert compiling.compile_loop(doubled)(21) == 42
    assert not list(tmp_path.rglob("*.nbi"))


@pytest.mark.usefixtures("no_usual_place")
def test_a_damaged_cache_is_as_if_empty(tmp_path: Path) -> None:
    assert compiling.compile_loop(doubled)(21) == 42
    for path in tmp_path.rglob("*.nb*"):
        path.write_bytes(b"damaged")
    assert compiling.compile_loop(doubled)(21) == 42
