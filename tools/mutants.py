"""Plant small faults, one at a time, and see whether the tests notice.

``python tools/mutants.py`` runs the faults that ``tests/mutants.toml`` lists, each on the tests
of its room and for at most 20 s of CPU, in a copy of the source. What has been run is kept in
``bench-results/mutants.jsonl`` and not run again as long as fault and tests are the same, so that
a campaign can be stopped and resumed. ``--list`` finds the faults anew and writes the list,
``--table`` writes ``tests/mutants.md``; names, or the beginnings of names, run only those.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from mutations import PRIVATE, Mutant, chosen, mutants_of

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "hedgerow"
LIST = ROOT / "tests" / "mutants.toml"
TABLE = ROOT / "tests" / "mutants.md"
RESULTS = ROOT / "bench-results" / "mutants.jsonl"
REWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"
MOST_CPU = 20
MOST_WALL = 60
NOTICED = ("killed", "hung")
OUTCOMES = {0: "survived", 1: "killed", 2: "killed"}
"""By pytest's exit code: 2 is a module that cannot be imported any more."""


Result = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Room:
    """A module, the tests that should notice faults in it, and how many faults it gets."""

    file: str
    tests: tuple[str, ...]
    only: str
    most: int

    def mutants(self) -> list[Mutant]:
        """Return the faults that are planted in the module."""
        text = (SOURCE / self.file).read_text(encoding="utf-8")
        return chosen(list(mutants_of(text, file=self.file)), self.most)

    def arguments(self) -> list[str]:
        """Return what pytest is called with: tests that take long are left out."""
        return [*self.tests, *(["-k", self.only] if self.only else [])]


def rooms() -> list[Room]:
    """Return the rooms of the list."""
    told = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [
        Room(file=file, tests=tuple(each["tests"]), only=each.get("only", ""), most=each["most"])
        for file, each in told["rooms"].items()
    ]


def key_of(room: Room, mutant: Mutant) -> str:
    """Return a digest of a fault, and of which tests it is run on."""
    text = json.dumps([room.tests, room.only, mutant.source])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@functools.cache
def tests_digest(tests: tuple[str, ...]) -> str:
    """Return a digest of what stands in the files of tests."""
    digest = hashlib.sha256()
    for line in tests:
        path = ROOT / line
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def result_of(room: Room, mutant: Mutant, done: dict[str, Result]) -> Result | None:
    """Return what is known of a fault: who survived other tests is tried again."""
    entry = done.get(key_of(room, mutant))
    if entry is None or entry["outcome"] in NOTICED:
        return entry
    return entry if entry["tests"] == tests_digest(room.tests) else None


class Copy:
    """A copy of the source, in which one module at a time is another."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "src"
        shutil.copytree(SOURCE, self.source / "hedgerow")
        for room in rooms():
            self.restore(room.file)

    def plant(self, file: str, text: str) -> None:
        """Put a text in place of a module, and forget what was compiled of it."""
        path = self.source / "hedgerow" / file
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_text(text, encoding="utf-8")

    def restore(self, file: str) -> None:
        """Put a module back, printed as those with a fault are."""
        text = (SOURCE / file).read_text(encoding="utf-8")
        self.plant(file, ast.unparse(ast.parse(text)))

    def tried(self, tests: list[str]) -> tuple[str, float]:
        """Return what became of the tests, and how long they took."""
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            _run_tests(self.source, tests)
        status = _waited(child)
        took = time.monotonic() - began
        if status is None or os.WIFSIGNALED(status):
            return "hung", took
        return OUTCOMES.get(os.WEXITSTATUS(status), "broken"), took


def _load_others() -> None:
    """Load what the tests load besides the package itself, once for all children."""
    for name in ("pytest", "scipy.stats", "polars", "hedgerow.pipeline.publish"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in [each for each in sys.modules if each.split(".")[0] == "hedgerow"]:
        del sys.modules[name]


def _run_tests(source: Path, tests: list[str]) -> None:
    """Run tests in this process, which is a child, and end it."""
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU + 2))
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(ROOT)
        os.environ["PYTHONPATH"] = str(source)
        os.environ["HYPOTHESIS_PROFILE"] = "mutants"
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(source))
        import pytest

        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-W", REWRITTEN, *tests]))
    finally:
        os._exit(code)


def _waited(child: int) -> int | None:
    """Return the status of a child, or None after ending it because it took too long."""
    until = time.monotonic() + MOST_WALL
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def known() -> dict[str, Result]:
    """Return what has been run, by key."""
    if not RESULTS.exists():
        return {}
    lines = RESULTS.read_text(encoding="utf-8").splitlines()
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def note(entry: Result) -> None:
    """Keep a result."""
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def campaign(wanted: list[str]) -> int:
    """Run what has not been run; return how many faults nobody noticed or explained.

    Faults that break privacy come first, those that break arithmetic after them.
    """
    done, unnoticed = known(), 0
    sound: dict[tuple[tuple[str, ...], str], str] = {}
    _load_others()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(Path(folder))
        for private in (True, False):
            for room, mutant in _faults(wanted, private=private):
                entry = result_of(room, mutant, done)
                if entry is None:
                    told = room.tests, room.only
                    if told not in sound:
                        sound[told] = copy.tried(room.arguments())[0]
                    entry = _tried(copy, room, mutant) if sound[told] == "survived" else None
                if entry is None:
                    print(f"{mutant.name}: not run, its tests fail without a fault", flush=True)
                elif entry["outcome"] in NOTICED:
                    continue
                else:
                    print(f"SURVIVED {mutant.name}: {mutant.change}", flush=True)
                unnoticed += 1
    return unnoticed


def _faults(wanted: list[str], *, private: bool) -> Iterator[tuple[Room, Mutant]]:
    explained = equivalents()
    for room in rooms():
        for mutant in room.mutants():
            asked = mutant.name not in explained and _asked_for(mutant.name, wanted)
            if asked and (mutant.operator in PRIVATE) == private:
                yield room, mutant


def _asked_for(name: str, wanted: list[str]) -> bool:
    return not wanted or any(name.startswith(each) for each in wanted)


def _tried(copy: Copy, room: Room, mutant: Mutant) -> Result:
    copy.plant(room.file, mutant.source)
    outcome, took = copy.tried(room.arguments())
    copy.restore(room.file)
    entry: Result = {
        "key": key_of(room, mutant),
        "tests": tests_digest(room.tests),
        "name": mutant.name,
        "change": mutant.change,
        "outcome": outcome,
        "seconds": f"{took:.1f}",
    }
    note(entry)
    return entry


def equivalents() -> dict[str, str]:
    """Return the faults that change nothing which matters, each with the reason."""
    told: dict[str, str] = tomllib.loads(LIST.read_text(encoding="utf-8")).get("equivalent", {})
    return told


def write_list() -> None:
    """Write the names of all faults behind the rooms, which stay as they are."""
    text = LIST.read_text(encoding="utf-8").split("\n[mutants]\n", maxsplit=1)[0].rstrip()
    lines = [
        f"{json.dumps(each.name)} = {json.dumps(each.change)}"
        for room in rooms()
        for each in room.mutants()
    ]
    LIST.write_text("\n".join([text, "", "[mutants]", *lines, ""]), encoding="utf-8")
    print(f"{len(lines)} faults")


def write_table() -> None:
    """Write how many faults of each module were noticed."""
    done, explained = known(), equivalents()
    rows, totals = [], Counter[str]()
    for room in rooms():
        seen = Counter[str]()
        for mutant in room.mutants():
            entry = result_of(room, mutant, done)
            outcome = "not run" if entry is None else entry["outcome"]
            if mutant.name in explained and outcome not in NOTICED:
                outcome = "equivalent"
            seen[outcome] += 1
        totals += seen
        rows.append(f"| `{room.file}` | {_cells(seen)} |")
    head = "| module | faults | noticed | hung | equivalent | survived | not run |"
    lines = [
        "# Planted faults, and whether the tests notice",
        "",
        "Written by `python tools/mutants.py --table`; `make mutants` runs the campaign again.",
        "`tests/mutants.toml` lists the faults and explains those that change nothing.",
        "",
        head,
        "|---|--:|--:|--:|--:|--:|--:|",
        *rows,
        f"| all | {_cells(totals)} |",
        "",
    ]
    TABLE.write_text("\n".join(lines), encoding="utf-8")


def _cells(seen: Counter[str]) -> str:
    parts = ("killed", "hung", "equivalent", "survived", "not run")
    return " | ".join(str(n) for n in (seen.total(), *(seen[part] for part in parts)))


def main() -> int:
    """Run the campaign, or write the list or the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="find the faults anew")
    parser.add_argument("--table", action="store_true", help="write tests/mutants.md")
    parser.add_argument("names", nargs="*", help="beginnings of the names of faults to run")
    options = parser.parse_args()
    if options.list:
        write_list()
        return 0
    if options.table:
        write_table()
        return 0
    return 1 if campaign(options.names) else 0


if __name__ == "__main__":
    sys.exit(main())
