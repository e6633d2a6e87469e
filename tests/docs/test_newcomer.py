"""A newcomer's way with the wheel itself, typed as docs/install.md says.

The tutorial's lines are typed by test_tutorial.py; `tools/newcomer.py` types both, in an empty
environment with libraries from a package index.
"""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def newcomer(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "tools"))
    import newcomer

    return newcomer


@pytest.fixture
def wheel(root, tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (made,) = tmp_path.glob("*.whl")
    return made


def test_the_installed_wheel_does_what_the_page_says(newcomer, wheel, tmp_path):
    programs = newcomer.environment(tmp_path, wheel, borrow=True)
    steps = newcomer.typed(*newcomer.INSTALL)
    where = ("console", "python -c 'import hedgerow; print(hedgerow.__file__)'")
    docs = ("console", "hedgerow docs tutorial --path")
    said = newcomer.walk([where, *steps, docs], tmp_path, programs)
    assert "hedgerow-env" in said.splitlines()[0], "the wheel's own package is used"
    assert "first-look/release" in said
    assert said.strip().endswith("docs/tutorial.html")
    assert (tmp_path / "first-look" / "release" / "report.html").is_file()


def test_a_step_that_fails_ends_the_way(newcomer, tmp_path):
    with pytest.raises(SystemExit, match="it ended with 7"):
        newcomer.walk([("console", "echo first\nexit 7\necho last")], tmp_path, tmp_path)


def test_both_pages_have_something_to_type(newcomer):
    for page in (newcomer.INSTALL, newcomer.TUTORIAL):
        steps = newcomer.typed(*page)
        assert any("hedgerow " in block for _, block in steps)
