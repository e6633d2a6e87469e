"""Runs in processes of their own, and the folders they run in; fixtures of several files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.fault_cases import DATA, PLAN, WARD, Case

TESTS = Path(__file__).parents[1]

Publisher = Callable[[Path, tuple[tuple[str, ...], ...]], list[int]]


@pytest.fixture(scope="module")
def publisher() -> Iterator[Publisher]:
    """Runs in processes of their own, from one that has imported everything."""
    if os.name != "posix":
        pytest.skip("needs POSIX processes and signals")
    places = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])
    program = subprocess.Popen(
        [sys.executable, str(TESTS / "support" / "fault_publisher.py")],
        env={**os.environ, "PYTHONPATH": places},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with program:

        def run(folder: Path, runs: tuple[tuple[str, ...], ...]) -> list[int]:
            assert program.stdin
            assert program.stdout
            program.stdin.write(json.dumps({"folder": str(folder), "runs": runs}) + "\n")
            program.stdin.flush()
            codes: list[int] = json.loads(program.stdout.readline())
            return codes

        yield run
        assert program.stdin
        program.stdin.close()


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """A folder with a plan, its taxonomy and its data."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Case(folder, monkeypatch)
    for name, content in (("plan.yaml", PLAN), ("ward.csv", WARD), ("data.csv", DATA)):
        made.put(name, content)
    return made
