"""What happens in the rows of test_faults.py: to the disk, the ledger, the plan, the process."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hedgerow import Release
from hedgerow.cli.main import main
from hedgerow.errors import LedgerError, ReleaseError
from hedgerow.ledger import store as ledger_store
from hedgerow.ledger.key import read_key
from hedgerow.ledger.ledger import Ledger
from hedgerow.ledger.store import BookingDraft
from hedgerow.pipeline.recover import recover
from hedgerow.release import write

SECRET = "SECRET77"
PLAN = """\
data: data.csv
attributes:
  age: {numeric: [-9, 99]}
  ward: {taxonomy: ward.csv}
  name: {role: identifier}
  sick: {role: class, values: ["no", "yes"]}
protects: records
confirmed: true
publish: {method: diffgen, epsilon: 1, h: 3}
ledger: {dataset: wards, cap: 2, file: ledger.sqlite}
"""
WARD = "A;surgery;*\nB;surgery;*\nC;other;*\n"
DATA = "age,ward,name,sick\n" + f"34,A,{SECRET},no\n-6,B,{SECRET},yes\n47,C,{SECRET},no\n" * 10


@dataclass(frozen=True)
class Case:
    """A folder with a plan, its taxonomy and its data; everything a row may change."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def put(self, name: str, content: str | bytes) -> None:
        """Write a file."""
        given = content.encode() if isinstance(content, str) else content
        (self.folder / name).write_bytes(given)

    def change(self, old: str, new: str) -> None:
        """Write the plan with one thing changed."""
        assert old in PLAN
        self.put("plan.yaml", PLAN.replace(old, new))

    @property
    def out(self) -> Path:
        """Where the release goes."""
        return self.folder / "release"

    @property
    def ledger(self) -> Path:
        """The file of the ledger."""
        return self.folder / "ledger.sqlite"

    def states(self) -> list[str]:
        """What became of each booking, oldest first; the sum is checked on the way."""
        if not self.ledger.exists():
            return []
        accounts = Ledger(self.ledger).accounts()
        entries = accounts[0].entries if accounts else ()
        assert all(entry.epsilon == 1 for entry in entries)
        assert sum(account.spent for account in accounts) == Fraction(len(entries))
        return [entry.state for entry in entries]

    def hidden(self) -> list[str]:
        """What stands beside the destination under a hidden name, by kind."""
        return sorted(re.split(r"[.-]", path.name)[2] for path in self.folder.glob(".release.*"))

    def holding(self, kind: str) -> Path:
        """The one hidden folder of a kind."""
        (path,) = self.folder.glob(f".release.{kind}-*")
        return path


def nothing(_case: Case) -> None:
    pass


def printed(case: Case, *arguments: str) -> str:
    """Run a command in this process and return what it prints."""
    written: list[str] = []
    with case.monkeypatch.context() as patch:
        patch.chdir(case.folder)
        patch.setattr(sys, "argv", ["hedgerow", *arguments])
        patch.setattr(sys.stdout, "write", lambda text: written.append(text) or len(text))
        with pytest.raises(SystemExit) as end:
            main()
    assert not end.value.code
    return "".join(written)


# --- the disk and the folder


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def disk_full_for_the_release(case: Case) -> None:
    case.monkeypatch.setattr(write, "write_text", no_space)
    case.monkeypatch.setattr("hedgerow.release.release.write_text", no_space)


def disk_full_at_the_flush(case: Case) -> None:
    read_key(case.ledger)  # not the first run with this ledger
    synced = os.fsync

    def full(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            no_space()
        synced(descriptor)

    case.monkeypatch.setattr(os, "fsync", full)


def disk_full_for_the_ledger(case: Case) -> None:
    Ledger(case.ledger).open_dataset("wards", 2)

    def full(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    case.monkeypatch.setattr(BookingDraft, "append", full)


def disk_full_for_the_last_word(case: Case) -> None:
    append = BookingDraft.append

    def full(draft: BookingDraft, kind: str, **fields: Any) -> object:
        if kind == "released":
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return append(draft, kind, **fields)

    case.monkeypatch.setattr(BookingDraft, "append", full)


def read_only_folder(case: Case) -> None:
    may = os.access
    case.monkeypatch.setattr(
        os, "access", lambda path, mode, **given: not mode & os.W_OK and may(path, mode, **given)
    )


def read_only_meanwhile(case: Case) -> None:
    made = Path.mkdir

    def refused(self: Path, *given: Any, **settings: Any) -> None:
        if ".partial-" in self.name:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        made(self, *given, **settings)

    case.monkeypatch.setattr(Path, "mkdir", refused)


def linked_folder(case: Case) -> None:
    (case.folder / "elsewhere").mkdir()
    case.out.symlink_to(case.folder / "elsewhere")


def linked_meanwhile(case: Case) -> None:
    flush = write._flush

    def linked(folder: Path) -> None:
        flush(folder)
        linked_folder(case)

    case.monkeypatch.setattr(write, "_flush", linked)


def link_leads_nowhere(case: Case) -> None:
    assert case.out.is_symlink()
    assert not any((case.folder / "elsewhere").iterdir())


# --- kills, and runs at the same time


def earlier_release(case: Case) -> None:
    case.out.mkdir()
    case.put("release/certificate.json", "old")


def only_the_owner_may_look(case: Case) -> None:
    assert stat.S_IMODE(case.holding("partial").stat().st_mode) == 0o700


def old_and_new_are_both_there(case: Case) -> None:
    assert not case.out.exists()
    assert (case.holding("replaced") / "certificate.json").read_text() == "old"
    assert Release.load(case.holding("partial")).n_rows > 0


def next_run_sweeps(case: Case) -> None:
    printed(case, "publish", "plan.yaml", "-q")
    assert case.hidden() == []
    assert case.states() == ["released"]


def recovered_once(case: Case) -> None:
    hidden = case.holding("partial")
    shutil.copytree(hidden, case.folder / ".release.partial-0000beef")
    (case.folder / ".release.partial-0000beef").chmod(0o700)
    printed(case, "recover", str(hidden), "--ledger", "ledger.sqlite", "-q")
    Release.load(case.out)
    assert case.states() == ["released"]
    with pytest.raises(LedgerError, match="released already"):
        recover(
            case.folder / ".release.partial-0000beef",
            out=case.folder / "second",
            ledger=case.ledger,
        )
    assert not (case.folder / "second").exists()


def recovered_elsewhere(case: Case) -> None:
    hidden = case.holding("partial")
    with pytest.raises(ReleaseError, match="not empty"):
        recover(hidden, ledger=case.ledger)
    recover(hidden, out=case.folder / "second", ledger=case.ledger)
    Release.load(case.folder / "second")
    assert case.states() == ["released", "released"]


def leftovers_of_a_killed_run(case: Case) -> None:
    for name in ("partial-00c0ffee", "replaced-00c0ffee"):
        (case.folder / f".release.{name}").mkdir()
    earlier_release(case)


def strangers_with_similar_names(case: Case) -> None:
    for name in (
        ".release.partial-notours",
        ".release.partial-00c0ffee",
        ".other.partial-00c0ffee",
    ):
        (case.folder / name).touch()


def strangers_are_still_there(case: Case) -> None:
    assert len(list(case.folder.glob(".*.partial-*"))) == 3


# --- the clock and the ledger


def clock_goes_backwards(case: Case) -> None:
    Ledger(case.ledger).book("wards", 1, cap=2, method="diffgen", plan_digest="0" * 64)

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(1999, 12, 31, tzinfo=tz or UTC)

    case.monkeypatch.setattr(ledger_store, "datetime", Earlier)


def order_is_kept(case: Case) -> None:
    entries = Ledger(case.ledger).entries("wards")
    assert [entry.id for entry in entries] == sorted(entry.id for entry in entries)
    assert entries[0].booked_at > entries[1].booked_at
    assert Ledger(case.ledger).left("wards") == 0


def published_under_another_name(case: Case) -> None:
    case.put("first.yaml", PLAN.replace("dataset: wards", "dataset: first"))
    printed(case, "publish", "first.yaml", "--out", "first", "-q")


def spent_once(case: Case) -> None:
    Ledger(case.ledger).book("wards", 1, cap=2, method="diffgen", plan_digest="0" * 64)


def ledger_with(change: Callable[[Path], None]) -> Callable[[Case], None]:
    def arrange(case: Case) -> None:
        spent_once(case)
        change(case.ledger)
        shutil.copy(case.ledger, case.folder / "damaged")

    return arrange


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def edited(statement: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            database.execute("DROP TRIGGER events_are_never_changed")
            database.execute("DROP TRIGGER events_are_never_deleted")
            database.execute(statement)
            database.commit()

    return edit


def damage_is_kept(case: Case) -> None:
    assert case.ledger.read_bytes() == (case.folder / "damaged").read_bytes()


# --- a plan that changes


def checked_and_then(change: Callable[[Case], None]) -> Callable[[Case], None]:
    def arrange(case: Case) -> None:
        told = printed(case, "check", "plan.yaml", "--json")
        assert told.startswith("{")
        case.put("fingerprint", json.loads(told)["fingerprint"])
        change(case)

    return arrange


def plan_changed_while_publishing(case: Case) -> None:
    check = write.check_destination

    def changed(*given: Any, **settings: Any) -> Path:
        case.change("epsilon: 1", "epsilon: 2")
        return check(*given, **settings)

    case.monkeypatch.setattr("hedgerow.pipeline.publish.check_destination", changed)


def first_plan_counts(case: Case) -> None:
    assert json.loads((case.out / "certificate.json").read_text())["guarantee"]["epsilon"] == "1"
    assert "epsilon: 2" in (case.folder / "plan.yaml").read_text()


def old_release_stands(case: Case) -> None:
    assert (case.out / "certificate.json").read_text() == "old"


def one_of_two(case: Case) -> None:
    written = [folder for folder in (case.out, case.folder / "other") if folder.exists()]
    assert len(written) == 1
    Release.load(written[0])
    assert Ledger(case.ledger).left("wards") == 0
