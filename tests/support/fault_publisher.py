"""Runs `hedgerow publish` in processes that are killed, stopped or made to wait half-way.

A helper of test_faults.py, started once: it imports hedgerow and forks for every run, because
what a kill leaves behind shows only when a whole process dies. It reads one JSON object per
line, ``{"folder": DIR, "runs": [[STAGE, ARGUMENT, ...], ...]}``, starts all of these runs at
the same time inside the folder, and answers with the list of their exit codes; minus the
number of the signal where one ended the run. What a run says goes to ``said-N.txt``.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from hedgerow.cli.main import main
from hedgerow.ledger.ledger import Ledger
from hedgerow.ledger.store import BookingDraft
from hedgerow.release import write
from support.spending_faults import SPENDING_FAULTS

ON_THE_WAY = (
    "hedgerow.cli.settings",
    "hedgerow.encode.table",
    "hedgerow.methods.diffgen.diffgen",
    "hedgerow.pipeline.publish",
    "hedgerow.read.delimited",
    "jinja2.loaders",
    "pyarrow.csv",
)
"""What a run loads, and is loaded once here, before all forks."""

PATIENCE = 30.0
ROOM = 10_000


def die(*_: Any, **__: Any) -> None:
    """Be killed as by ``kill -9``."""
    os.kill(os.getpid(), signal.SIGKILL)


def be_told(number: int) -> Callable[..., None]:
    """Return how to be asked to end, by ``kill``, by Ctrl-C or when the system shuts down."""

    def told(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), number)
        time.sleep(PATIENCE)

    return told


def wait_for(path: Path) -> None:
    """Wait until another run has made the file."""
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > end:
            raise TimeoutError(path.name)
        time.sleep(0.005)


def then(work: Callable[..., Any], event: Callable[[], None]) -> Callable[..., Any]:
    """Return the work with something that happens after it."""

    def both(*given: Any, **settings: Any) -> Any:
        result = work(*given, **settings)
        event()
        return result

    return both


def after(event: Callable[[], None], work: Callable[..., Any]) -> Callable[..., Any]:
    """Return the work with something that happens before it."""

    def both(*given: Any, **settings: Any) -> Any:
        event()
        return work(*given, **settings)

    return both


def lose_room() -> None:
    """Have a disk from here on that takes no larger file, neither of the ledger nor a report."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, resource.RLIM_INFINITY))


def meet() -> None:
    """Go on only when two runs have come so far."""
    Path(f"here-{os.getpid()}").touch()
    end = time.monotonic() + PATIENCE
    while len(list(Path().glob("here-*"))) < 2 and time.monotonic() < end:
        time.sleep(0.005)


def let_another_publish() -> None:
    """Wait, with the folder half written, until another run has ended."""
    Path("half-written").touch()
    wait_for(Path("other-ended"))


def killed_between_renames() -> None:
    rename = Path.rename

    def renamed(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            die()
        return rename(self, target)

    Path.rename = renamed


def told_while_placing(number: int) -> None:
    told, rename = be_told(number), Path.rename

    def renamed(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            told()
        return rename(self, target)

    Path.rename = renamed


def prepare(stage: str) -> None:
    """Change what a run does, by the name of the stage at which something happens to it."""
    if stage == "killed before booking":
        Ledger.book = die
    elif stage == "killed while booking":
        BookingDraft.append = then(BookingDraft.append, die)
    elif stage == "killed after booking":
        Ledger.book = then(Ledger.book, die)
    elif stage == "killed while rehearsing":
        write._flush = die
    elif stage == "killed while writing":
        Ledger.book = then(Ledger.book, lambda: setattr(write, "_flush", die))
    elif stage == "has little room":
        Ledger.book = then(Ledger.book, lose_room)
    elif stage == "killed between renames":
        Ledger.book = then(Ledger.book, killed_between_renames)
    elif stage == "stopped while placing":
        Ledger.book = then(Ledger.book, lambda: told_while_placing(signal.SIGTERM))
    elif stage == "stopped when placed":
        Ledger.released = be_told(signal.SIGTERM)
    elif stage == "killed before noting":
        Ledger.released = die
    elif stage == "stopped while rehearsing":
        write._flush = be_told(signal.SIGTERM)
    elif stage == "stopped while writing":
        told = be_told(signal.SIGTERM)
        Ledger.book = then(Ledger.book, lambda: setattr(write, "_flush", told))
    elif stage == "interrupted while writing":
        told = be_told(signal.SIGINT)
        Ledger.book = then(Ledger.book, lambda: setattr(write, "_flush", told))
    elif stage == "meets another":
        Ledger.book = after(meet, Ledger.book)
    elif stage == "waits while writing":
        waits = then(write._flush, let_another_publish)
        Ledger.book = then(Ledger.book, lambda: setattr(write, "_flush", waits))
    elif stage == "publishes meanwhile":
        wait_for(Path("half-written"))
    elif stage in SPENDING_FAULTS:
        SPENDING_FAULTS[stage]()
    elif stage != "left alone":
        raise ValueError(stage)


def run(place: int, stage: str, arguments: list[str]) -> None:
    """Run the command line in this process, which ends with it."""
    said = os.open(f"said-{place}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(said, 1)
    os.dup2(said, 2)
    sys.argv = ["hedgerow", *arguments]
    code = 0
    try:
        prepare(stage)
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        code = 99
    if stage == "publishes meanwhile":
        Path("other-ended").touch()
    try:  # as Python does when it ends: what cannot be flushed then is an error of its own
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = 120
    os._exit(code)


def run_all(folder: str, runs: list[list[str]]) -> list[int]:
    """Run all at the same time and return how each ended."""
    children = []
    for place, (stage, *arguments) in enumerate(runs):
        child = os.fork()
        if not child:
            os.chdir(folder)
            run(place, stage, arguments)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    return [os.waitstatus_to_exitcode(status) for status in statuses]


if __name__ == "__main__":
    for name in ON_THE_WAY:
        import_module(name)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_all(**json.loads(line))) + "\n")
        sys.stdout.flush()
