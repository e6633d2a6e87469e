"""Commands as separate processes, which outlive the page and the server that started them.

A run is a folder in the studio's state: the command, its progress stream (see
`hedgerow.cli.console.progress`) and its answer. Nothing is kept in memory, so a reopened page or a
restarted server finds every run again. The process holds a lock as long as it runs.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hedgerow.errors import HedgerowError, InputError
from hedgerow.studio.folder import Folder

KEPT = 40
"""Number of runs that are kept."""

LONGEST = 60.0
"""Maximum duration of a short command in seconds."""

_NEW_GROUP, _NO_CONSOLE = 0x00000200, 0x08000000
"""CREATE_NEW_PROCESS_GROUP and CREATE_NO_WINDOW of Windows."""

RunState = Literal["running", "done", "refused", "stopped"]
_NAME = re.compile(r"[0-9]{10}-[0-9a-f]{8}")


@dataclass(frozen=True, kw_only=True)
class CommandRun:
    """One command, running or ended."""

    id: str
    kind: str
    command: tuple[str, ...]
    about: dict[str, str]
    state: RunState
    step: str | None
    fraction: float | None
    answer: dict[str, Any] = field(repr=False)
    stderr: str = field(repr=False)

    @property
    def is_running(self) -> bool:
        """True if the process is running."""
        return self.state == "running"

    @property
    def error(self) -> dict[str, Any] | None:
        """The error of the command, if it was refused."""
        found = self.answer.get("error")
        return found if isinstance(found, dict) else None


class Runs:
    """The runs of a folder."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, kind: str, words: Sequence[str], *, about: dict[str, str]) -> CommandRun:
        """Start ``hedgerow WORDS --json`` in the folder as a detached process."""
        self._forget_old()
        name = f"{int(time.time()):010d}-{secrets.token_hex(4)}"
        place = self._place(name)
        place.mkdir(parents=True, mode=0o700)
        facts = {"kind": kind, "command": ["hedgerow", *words], "about": about}
        (place / "run.json").write_text(json.dumps(facts), encoding="utf-8")
        (place / "progress").touch(mode=0o600)
        with (
            (place / "lock").open("wb") as lock,
            (place / "out").open("wb") as out,
            (place / "err").open("wb") as err,
        ):
            held = _hold(lock.fileno())
            try:
                process = subprocess.Popen(
                    called(words),
                    cwd=self.folder.root,
                    env={**os.environ, "HEDGEROW_PROGRESS": str(place / "progress")},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    **detached(held),
                )
            except OSError as error:
                raise not_started(error) from None
        (place / "pid").write_text(str(process.pid), encoding="ascii")
        self._started[name] = process
        return self.get(name)

    def get(self, name: str) -> CommandRun:
        """Return a run by its name."""
        if not _NAME.fullmatch(name) or not (place := self._place(name)).is_dir():
            raise InputError(
                "The run is no longer available.", where="run", do="Start the command again."
            )
        facts = json.loads((place / "run.json").read_text(encoding="utf-8"))
        alive = self._is_alive(name)
        answer = _answer(place / "out")
        state: RunState = "running" if alive else "stopped"
        if not alive and answer:
            state = "refused" if "error" in answer else "done"
        step, fraction = _last_step(place / "progress")
        return CommandRun(
            id=name,
            kind=facts["kind"],
            command=tuple(facts["command"]),
            about=facts["about"],
            state=state,
            step=step,
            fraction=fraction,
            answer=answer,
            stderr=_tail(place / "err"),
        )

    def all(self, kind: str | None = None, **about: str) -> list[CommandRun]:
        """Return the runs of a kind with matching entries of ``about``, the newest first."""
        base = self.folder.state() / "runs"
        names = sorted(path.name for path in base.glob("*") if _NAME.fullmatch(path.name))
        runs = []
        for name in reversed(names):
            with suppress(OSError, ValueError, KeyError, InputError):
                run = self.get(name)
                if kind in (None, run.kind) and about.items() <= run.about.items():
                    runs.append(run)
        return runs

    def cancel(self, name: str) -> None:
        """Interrupt a run, as Ctrl-C does in a terminal; incomplete results are removed."""
        run = self.get(name)
        if run.is_running:
            pid = int((self._place(name) / "pid").read_text(encoding="ascii"))
            with suppress(ProcessLookupError):
                end_process(pid)

    def _place(self, name: str) -> Path:
        return self.folder.state() / "runs" / name

    def _is_alive(self, name: str) -> bool:
        process = self._started.get(name)
        if process is not None:
            return process.poll() is None
        return _is_held(self._place(name) / "lock")

    def _forget_old(self) -> None:
        for run in self.all()[KEPT:]:
            if not run.is_running:
                shutil.rmtree(self._place(run.id), ignore_errors=True)
                self._started.pop(run.id, None)


def detached(held: tuple[int, ...], system: str = os.name) -> dict[str, Any]:
    """Return the options that detach a process from the server and the terminal.

    On POSIX systems the process has its own session and inherits the lock. On Windows it has no
    console and its own process group, to which a break can be sent.
    """
    if system == "nt":
        return {"creationflags": _NEW_GROUP | _NO_CONSOLE, "close_fds": True}
    return {"start_new_session": True, "pass_fds": held}


def end_process(pid: int, system: str = os.name) -> None:
    """Interrupt a process; on Windows, where that may be impossible, terminate it.

    The next run then removes incomplete results of `publish`, as after a power failure.
    """
    if system != "nt":
        os.kill(pid, signal.SIGTERM)
        return
    try:
        os.kill(pid, getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))
    except OSError:  # it shares no console with this server
        os.kill(pid, signal.SIGTERM)


def called(words: Sequence[str]) -> list[str]:
    """Return the command line that runs ``hedgerow WORDS`` with an answer in JSON.

    ``-P`` prevents imports from the working folder, whose files are data.
    """
    at = words.index("--") if "--" in words else len(words)
    return [sys.executable, "-P", "-m", "hedgerow", *words[:at], "--json", *words[at:]]


def not_started(error: OSError) -> InputError:
    """Return the error for a process that the system does not start."""
    reason = (error.strerror or "the system refuses").lower()
    return InputError(
        f"The command could not be started: {reason}.", do="Run it in a terminal as the same user."
    )


class AnsweredError(HedgerowError):
    """The error of a command."""


def command_answer(folder: Folder, words: Sequence[str]) -> dict[str, Any]:
    """Return the answer of a short command in a separate process, or raise its error."""
    try:
        done = subprocess.run(
            called(words),
            cwd=folder.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONGEST,
            check=False,
        )
        answer = json.loads(done.stdout)
    except OSError as error:
        raise not_started(error) from None
    except (subprocess.TimeoutExpired, ValueError):
        raise InputError("The command did not answer.", do="Run it in a terminal.") from None
    refused = answer.get("error")
    if isinstance(refused, dict):
        raise AnsweredError(refused["what"], where=refused.get("where"), do=refused.get("do"))
    return dict(answer)


def _hold(lock: int) -> tuple[int, ...]:
    """Lock a file for the process that inherits it, if the system has such locks."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system
        return ()
    fcntl.flock(lock, fcntl.LOCK_EX)
    return (lock,)


def _is_held(lock: Path) -> bool:
    try:
        import fcntl
    except ImportError:
        return is_there(lock.with_name("pid"))
    try:
        with lock.open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def is_there(pid: Path, system: str = os.name) -> bool:
    """Return true if the process with the number in a file exists, for systems without locks.

    Windows reuses numbers, so a run with an answer has ended in any case.
    """
    if _answer(pid.with_name("out")):
        return False
    try:
        number = int(pid.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return False
    if system != "nt":
        return Path(f"/proc/{number}").exists()
    listed = subprocess.run(
        ["tasklist", "/FI", f"PID eq {number}", "/NH", "/FO", "CSV"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f'"{number}"' in listed.stdout


def _answer(out: Path) -> dict[str, Any]:
    try:
        found = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _last_step(progress: Path) -> tuple[str | None, float | None]:
    """Return step and fraction of the last complete line of a progress stream."""
    for line in reversed(_tail(progress).splitlines()):
        with suppress(ValueError, KeyError, TypeError):
            progressed = json.loads(line)
            return str(progressed["step"]), progressed["fraction"]
    return None, None


def _tail(path: Path, most: int = 4_000) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - most, 0))
            return file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
