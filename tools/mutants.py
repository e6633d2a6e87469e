"""Plant small faults, one at a time, and see whether the tests notice.

``python tools/mutants.py`` runs the faults that ``tests/mutants.toml`` lists, each on the tests
of its room and for at most 20 s of CPU, in a copy of the source. What has been run is kept in
``bench-results/mutants.jsonl`` and not run again as long as the module is the same and a test
noticed it, or the tests are the same, so that a campaign can be stopped and resumed. ``--list``
finds the faults anew and writes the list, ``--table`` writes ``tests/mutants.md``; names, or the
beginnings of names, run only those.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from mutant_trials import CheapestFirst, Copy, load_others
from mutations import PRIVATE, Mutant, chosen, mutants_of, planted, without_docstrings

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "hedgerow"
LIST = ROOT / "tests" / "mutants.toml"
TABLE = ROOT / "tests" / "mutants.md"
RESULTS = ROOT / "bench-results" / "mutants.jsonl"
NOTICED = ("killed", "hung")

Result = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Room:
    """A module, the tests that should notice faults in it, and how many faults it gets."""

    file: str
    tests: tuple[str, ...]
    only: str
    most: int
    by_hand: tuple[tuple[str, str, str], ...]

    def mutants(self) -> list[Mutant]:
        """Return the faults that are planted in the module."""
        text = (SOURCE / self.file).read_text(encoding="utf-8")
        found = chosen(list(mutants_of(text, file=self.file)), self.most)
        return [*found, *(planted(text, *each) for each in self.by_hand)]

    def arguments(self) -> list[str]:
        """Return what pytest is called with: tests that take long are left out."""
        return [*self.tests, *(["-k", self.only] if self.only else [])]


def rooms() -> list[Room]:
    """Return the rooms of the list."""
    told = tomllib.loads(LIST.read_text(encoding="utf-8"))
    sets = told["tests"]
    return [
        Room(
            file=file,
            tests=tuple(sets[each["tests"]]["files"]),
            only=sets[each["tests"]].get("only", ""),
            most=each["most"],
            by_hand=tuple(
                (name, fault["before"], fault["after"])
                for name, fault in told.get("planted", {}).items()
                if name.split(" ")[0] == file
            ),
        )
        for file, each in told["rooms"].items()
    ]


def key_of(room: Room, mutant: Mutant) -> str:
    """Return a digest of a module with a fault; docstrings do not count."""
    text = json.dumps([room.file, without_docstrings(mutant.source)])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@functools.cache
def tests_digest(room: Room) -> str:
    """Return a digest of what stands in the tests of a room, and of which are chosen."""
    digest = hashlib.sha256(room.only.encode())
    for line in room.tests:
        path = ROOT / line.split("::")[0]
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def is_settled(room: Room, entry: Result | None) -> bool:
    """Say whether a fault need not be run: who survived other tests is tried again."""
    if entry is None or entry["outcome"] not in (*NOTICED, "survived"):
        return False
    return entry["outcome"] in NOTICED or entry["tests"] == tests_digest(room)


def known() -> dict[str, Result]:
    """Return what has been run, by key: the last result of each."""
    if not RESULTS.exists():
        return {}
    lines = RESULTS.read_text(encoding="utf-8").splitlines()
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def note(entry: Result) -> None:
    """Keep a result."""
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


class Campaign:
    """Faults that are run one after another on one copy of the source."""

    def __init__(self, folder: Path) -> None:
        load_others()
        self.copy = Copy(ROOT, folder, [room.file for room in rooms()])
        self.done = known()
        self.orders: dict[tuple[tuple[str, ...], str], CheapestFirst | None] = {}

    def outcome(self, room: Room, mutant: Mutant) -> str:
        """Return what becomes, or became, of a fault."""
        entry = self.done.get(key_of(room, mutant))
        if entry is not None and is_settled(room, entry):
            return entry["outcome"]
        order = self._order(room)
        return "not run" if order is None else self._tried(room, mutant, order)

    def _order(self, room: Room) -> CheapestFirst | None:
        """Return the order of a room's tests, or None if they cannot judge a fault."""
        told = room.tests, room.only
        if told not in self.orders:
            order = CheapestFirst()
            trial = self.copy.tried(room.arguments(), order, sound=True)
            sound = trial.outcome == "survived"
            words = "run" if sound else f"CANNOT JUDGE ({trial.outcome} {trial.by})"
            tests = f"{len(order.that_fit())} of {len(order.seconds)} tests"
            print(f"{room.file}: {tests} {words}; all take {trial.cpu:.1f} s of CPU", flush=True)
            self.orders[told] = order if sound else None
        return self.orders[told]

    def _tried(self, room: Room, mutant: Mutant, order: CheapestFirst) -> str:
        self.copy.plant(room.file, mutant.source)
        trial = self.copy.tried(room.arguments(), order)
        self.copy.restore(room.file)
        entry: Result = {
            "key": key_of(room, mutant),
            "tests": tests_digest(room),
            "name": mutant.name,
            "change": mutant.change,
            "outcome": trial.outcome,
            "by": trial.by,
            "seconds": f"{trial.seconds:.1f}",
            "cpu": f"{trial.cpu:.1f}",
        }
        note(entry)
        return trial.outcome


def run(wanted: list[str]) -> int:
    """Run what has not been run; return how many faults nobody noticed or explained.

    Faults that break privacy come first, those that break arithmetic after them.
    """
    unnoticed, explained = 0, equivalents()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        campaign = Campaign(Path(folder))
        for room, mutant in _faults(wanted):
            outcome = campaign.outcome(room, mutant)
            if outcome in NOTICED:
                continue
            told = mutant.name in explained and outcome == "survived"
            word = "explained" if told else outcome.upper()
            print(f"{word} {mutant.name}: {mutant.change}", flush=True)
            unnoticed += not told
    return unnoticed


def _faults(wanted: list[str]) -> list[tuple[Room, Mutant]]:
    faults = [(room, mutant) for room in rooms() for mutant in room.mutants()]
    asked = [
        (room, mutant)
        for room, mutant in faults
        if not wanted or any(mutant.name.startswith(each) for each in wanted)
    ]
    return sorted(asked, key=lambda fault: fault[1].operator not in PRIVATE)


def equivalents() -> dict[str, str]:
    """Return the faults that change nothing which matters, each with the reason."""
    told: dict[str, str] = tomllib.loads(LIST.read_text(encoding="utf-8")).get("equivalent", {})
    return told


def write_list() -> None:
    """Write the names of all faults behind the rooms, which stay as they are."""
    text = LIST.read_text(encoding="utf-8").split("\n[mutants]\n", maxsplit=1)[0].rstrip()
    faults = {each.name: each.change for room in rooms() for each in room.mutants()}
    lines = [f"{json.dumps(name)} = {json.dumps(change)}" for name, change in faults.items()]
    LIST.write_text("\n".join([text, "", "[mutants]", *lines, ""]), encoding="utf-8")
    print(f"{len(lines)} faults")
    for name in sorted(set(equivalents()) - set(faults)):
        print(f"explained, but not in the list: {name}")


def write_table() -> None:
    """Write what became of the faults of each module."""
    done, explained = known(), equivalents()
    rows, totals, seconds = [], Counter[str](), 0.0
    for room in rooms():
        seen = Counter[str]()
        for mutant in room.mutants():
            entry = done.get(key_of(room, mutant))
            seen[_class_of(entry, mutant.name in explained)] += 1
            seen["hung"] += entry is not None and entry["outcome"] == "hung"
            seconds += float(entry["seconds"]) if entry else 0.0
        totals += seen
        rows.append(f"| `{room.file}` | {_cells(seen)} |")
    lines = [
        "# Planted faults, and whether the tests notice",
        "",
        "Written by `python tools/mutants.py --table`; `make mutants` runs the campaign again.",
        "`tests/mutants.toml` lists the faults and explains those that change nothing. A fault",
        "that survived tests which have changed since counts as survived until it is run again.",
        f"The runs took {seconds / 60:.0f} minutes together, one after another, on a machine with",
        f"other work; {totals['hung']} of the faults that were noticed ran out of time.",
        "",
        "| module | faults | noticed | explained | survived | not run |",
        "|---|--:|--:|--:|--:|--:|",
        *rows,
        f"| all | {_cells(totals)} |",
        "",
    ]
    TABLE.write_text("\n".join(lines), encoding="utf-8")


def _class_of(entry: Result | None, is_explained: bool) -> str:
    if entry is None or entry["outcome"] not in (*NOTICED, "survived"):
        return "not run"
    if entry["outcome"] in NOTICED:
        return "noticed"
    return "explained" if is_explained else "survived"


def _cells(seen: Counter[str]) -> str:
    parts = ("noticed", "explained", "survived", "not run")
    numbers = [seen[part] for part in parts]
    return " | ".join(map(str, (sum(numbers), *numbers)))


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
    return 1 if run(options.names) else 0


if __name__ == "__main__":
    sys.exit(main())
