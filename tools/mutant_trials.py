"""Run the tests of a room on a copy of the source in which one module has a fault."""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

MOST_CPU = 20
"""Seconds of CPU that the tests of a room may take with a fault."""

SOUND_CPU = 10
"""Tests of a room that are run, the cheapest first, take this long on sound code.

A fault that runs out of time took far longer than sound code does.
"""

SOUND_MOST, MOST_WALL = 120, 300
REWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"
OUTCOMES = {0: "survived", 1: "killed", 2: "killed"}
"""By pytest's exit code: 2 is a module that cannot be imported any more."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What became of the tests: outcome, time, and the test that failed first."""

    outcome: str
    seconds: float
    cpu: float
    by: str


@dataclass(eq=False)
class CheapestFirst:
    """A pytest plug-in: tests that noticed a fault of this room before, then the cheapest."""

    seconds: dict[str, float] = field(default_factory=dict)
    noticed: dict[str, int] = field(default_factory=dict)
    failed: str = ""
    began: float = 0.0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Put the tests in order, and leave out the dearest."""
        fits = self.that_fit()
        items[:] = [each for each in items if not self.seconds or each.nodeid in fits]
        items.sort(key=lambda each: self._rank(each.nodeid))

    def that_fit(self) -> set[str]:
        """Return the cheapest tests, as many as fit into the time."""
        ordered = sorted(self.seconds, key=lambda test: self.seconds[test])
        total = accumulate(self.seconds[test] for test in ordered)
        return {test for test, spent in zip(ordered, total, strict=True) if spent <= SOUND_CPU}

    def _rank(self, test: str) -> tuple[float, float]:
        seconds = self.seconds.get(test, 0.0)
        return (0.0 if self.noticed.get(test) and seconds < 1 else 1.0, seconds)

    def pytest_runtest_logstart(self) -> None:
        """Note when a test begins."""
        self.began = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Note how long a test took."""
        self.seconds[nodeid] = time.process_time() - self.began

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the first test that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def told(self) -> str:
        """Return what a child tells."""
        return json.dumps({"seconds": self.seconds, "failed": self.failed})


class Copy:
    """A copy of the source, in which one module at a time is another."""

    def __init__(self, root: Path, folder: Path, files: list[str]) -> None:
        self.root, self.folder = root, folder
        self.original = root / "src" / "hedgerow"
        self.source = folder / "src"
        shutil.copytree(self.original, self.source / "hedgerow")
        for file in files:
            self.restore(file)

    def plant(self, file: str, text: str) -> None:
        """Put a text in place of a module, and forget what was compiled of it."""
        path = self.source / "hedgerow" / file
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_text(text, encoding="utf-8")

    def restore(self, file: str) -> None:
        """Put a module back, printed as those with a fault are."""
        text = (self.original / file).read_text(encoding="utf-8")
        self.plant(file, ast.unparse(ast.parse(text)))

    def tried(self, tests: list[str], order: CheapestFirst, *, sound: bool = False) -> Trial:
        """Return what became of the tests, which stop at the first that fails."""
        told = self.folder / "told.json"
        told.unlink(missing_ok=True)
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            seconds = {} if sound else order.seconds
            plugin = CheapestFirst(seconds=dict(seconds), noticed=order.noticed)
            most = SOUND_MOST if sound else MOST_CPU
            _run_tests(self.root, self.source, tests, plugin, told, most=most)
        outcome, cpu = _waited(child)
        heard = json.loads(told.read_text(encoding="utf-8")) if told.exists() else {}
        by = heard.get("failed", "")
        if sound:
            order.seconds.update(heard.get("seconds", {}))
        elif by:
            order.noticed[by] = order.noticed.get(by, 0) + 1
        return Trial(outcome=outcome, seconds=time.monotonic() - began, cpu=cpu, by=by)


def load_others() -> None:
    """Load what the tests load besides the package itself, once for all children."""
    for name in ("pytest", "scipy.stats", "polars", "hedgerow.pipeline.publish"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in [each for each in sys.modules if each.split(".")[0] == "hedgerow"]:
        del sys.modules[name]


def _run_tests(
    root: Path, source: Path, tests: list[str], plugin: CheapestFirst, told: Path, *, most: int
) -> None:
    """Run tests in this process, which is a child, and end it."""
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 2))
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(root)
        os.environ["PYTHONPATH"] = str(source)
        os.environ["HYPOTHESIS_PROFILE"] = "mutants"
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(source))
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-W", REWRITTEN]
        code = int(pytest.main([*options, *tests], plugins=[plugin]))
        told.write_text(plugin.told(), encoding="utf-8")
    finally:
        os._exit(code)


def _waited(child: int) -> tuple[str, float]:
    """Return what became of a child, which is ended if it takes too long, and its CPU time."""
    until = time.monotonic() + MOST_WALL
    while time.monotonic() < until:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            cpu = used.ru_utime + used.ru_stime
            if os.WIFSIGNALED(status):
                return ("hung" if cpu >= MOST_CPU - 1 else "killed"), cpu
            return OUTCOMES.get(os.WEXITSTATUS(status), "broken"), cpu
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "stuck", 0.0
