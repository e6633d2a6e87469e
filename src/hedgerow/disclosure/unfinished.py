"""Saved answers of an interrupted run, from which it can continue.

They are in a hidden folder beside the destination, ``.NAME.unfinished-PLAN``, which only its owner
may enter. Its name contains the digest of the plan, which is public, and none of the data: with a
digest of the data, somebody who knows all records but one could test guesses of the last. The
digest of the data is inside the folder. A block of answers counts once it is on the disk.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.disclosure.lattice.packed import Found
from hedgerow.errors import ReleaseError

FORMAT = 1
_ANSWERS = "answers.bin"
_STATE = "state.json"
_LOCK = "lock"


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Identity of a run; answers of other runs cannot be used."""

    plan_digest: str
    data_digest: str
    n_problems: int
    n_attributes: int


class Unfinished:
    """The answers of a run so far, in order; confidential."""

    def __init__(self, folder: Path, identity: Identity, *, seed: int) -> None:
        self.folder = folder
        self.identity = identity
        self.seed = seed
        self.n_done = 0
        self.lock: int | None = None
        self.kind = answer_type(identity.n_attributes)

    @classmethod
    def beside(
        cls, destination: Path, identity: Identity, *, seed: int, resume: bool
    ) -> Unfinished:
        """Return the interrupted run of the same plan and data, or a new one in its place."""
        name = f".{destination.name}.unfinished-{identity.plan_digest[:12]}"
        run = cls(destination.with_name(name), identity, seed=seed)
        with _refusals(run.folder):
            run._claim()
            if not (resume and run._take_up()):
                run._begin()
        return run

    def _claim(self) -> None:
        """Create the folder, and refuse if another run is using it."""
        if self.folder.is_symlink():
            self.folder.unlink()
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(self.lock)
        except BlockingIOError:
            os.close(self.lock)
            raise ReleaseError(
                "Another run of the same plan is using it.",
                where=str(self.folder),
                do="Wait until it has ended, or give another destination.",
            ) from None

    def _begin(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.close(os.open(self.folder / _ANSWERS, flags, 0o600))
        self._note()

    def _take_up(self) -> bool:
        """Continue an earlier run of the same plan and data, if it was interrupted."""
        state = self._state()
        if state is None:
            return False
        self.n_done, self.seed = int(state["done"]), int(state["seed"])
        size = self.n_done * self.kind.itemsize
        answers = self.folder / _ANSWERS
        if not answers.is_file() or answers.stat().st_size < size:
            self.n_done = 0
            return False
        os.truncate(answers, size)  # an incomplete block may follow
        return True

    def _state(self) -> dict[str, Any] | None:
        try:
            state = json.loads((self.folder / _STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return state if state.get("identity") == self._named() else None

    def _named(self) -> dict[str, Any]:
        return {"format": FORMAT, **vars(self.identity)}

    def append(self, found: Found) -> None:
        """Save the answers of the next block."""
        block = np.zeros(len(found.risk), dtype=self.kind)
        for name in self.kind.names or ():
            block[name] = getattr(found, name)
        with _refusals(self.folder), (self.folder / _ANSWERS).open("ab") as file:
            file.write(block.tobytes())
            file.flush()
            os.fsync(file.fileno())
        self.n_done += len(block)
        with _refusals(self.folder):
            self._note()

    def _note(self) -> None:
        """Record the number of answers atomically."""
        state = {"identity": self._named(), "done": self.n_done, "seed": self.seed}
        new = self.folder / f"{_STATE}.new"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.folder / _STATE)

    def answers(self) -> Found:
        """Return all answers so far."""
        with _refusals(self.folder):
            block = np.fromfile(self.folder / _ANSWERS, dtype=self.kind, count=self.n_done)
        return Found(*(np.ascontiguousarray(block[name]) for name in self.kind.names or ()))

    def remove(self) -> None:
        """Delete all saved answers."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.release()

    def release(self) -> None:
        """Unlock the folder for another run, and keep its answers."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None


def _lock(descriptor: int) -> None:
    """Lock a file until it is closed, on systems that have such locks."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def answer_type(n_attributes: int) -> np.dtype[np.void]:
    """Return the type of one stored answer; the fields are those of `Found`, in order."""
    return np.dtype(
        [
            ("levels", "u1", (n_attributes,)),
            ("feasible", "?"),
            ("risk", "<f8"),
            ("utility", "<f8"),
            ("n_visited", "<i8"),
        ]
    )


@contextmanager
def _refusals(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ReleaseError(
            f"Answers cannot be saved: {reason}.",
            where=str(folder),
            do="Give a destination with free space, in a folder that you can write to.",
        ) from error
