"""What is installed: the package with its data, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

import hedgerow
from hedgerow.handbook.write import files


@pytest.fixture(scope="module")
def names(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        return opened.namelist()


def test_the_wheel_holds_the_package_alone(names):
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"hedgerow"}
    pages = [name for name in names if name.startswith("hedgerow/handbook/pages/")]
    code = set(names) - set(pages)
    assert not [name for name in code if "experiments" in name or "/papers/" in name]


def test_the_documentation_travels_in_the_wheel(names, root):
    pages = {name.removeprefix("hedgerow/handbook/pages/") for name in names}
    wanted = {path.relative_to(root).as_posix() for path in files(root)}
    assert {"docs/index.md", "docs/papers/diffgen.md", "CHANGELOG.md"} <= wanted
    assert wanted - pages == set()


def test_the_wheel_holds_what_the_package_reads(names, root):
    source = root / "src"
    wanted = {
        str(path.relative_to(source).as_posix())
        for path in source.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in (".nbi", ".nbc")
    }
    assert wanted - set(names) == set()
    assert "hedgerow/py.typed" in names
    assert "hedgerow/report/templates/report.html.j2" in names


def test_the_library_lists_its_public_names():
    assert dir(hedgerow) == sorted(hedgerow.__all__)
    for name in dir(hedgerow):
        assert getattr(hedgerow, name) is not None
    assert {"publish", "disclose", "draft", "check", "generalise", "evaluate", "audit"} <= set(
        dir(hedgerow)
    )
