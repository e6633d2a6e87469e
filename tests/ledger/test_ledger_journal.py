"""What lies beside the ledger after a kill may be damaged: no booking is forgotten unseen.

A ledger has a rollback journal only while something is written; one that was killed half-way
leaves it. Ledgers of earlier versions left a write-ahead log. Both are flipped and cut here,
and what opens after that must hold every booking that was confirmed.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import struct
from contextlib import closing
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hedgerow.errors import LedgerError
from hedgerow.ledger import store as ledger_store
from hedgerow.ledger.ledger import Ledger
from hedgerow.ledger.store import LedgerStore
from support.old_ledgers import booked, dataset, write_old

FLIPS, CUTS = 300, 100
CONFIRMED = 30
TENTH = Fraction(1, 10)
MAGIC = bytes.fromhex("d9d505f920a163d7")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX forks")


def book(ledger):
    return ledger.book("adult", TENTH, cap=50, method="m", plan_digest="p")


def checksum(page, nonce=0):
    """Return SQLite's checksum of a page in a journal."""
    return (nonce + sum(page[at] for at in range(len(page) - 200, 0, -200))) & 0xFFFFFFFF


def hot(journal, n_pages, size):
    """Return a journal whose header was wiped at its commit as it was before that."""
    record = 8 + size
    first = journal[512 : 512 + record]
    nonce = (struct.unpack(">I", first[-4:])[0] - checksum(first[4:-4])) & 0xFFFFFFFF
    n_records = (len(journal) - 512) // record
    return MAGIC + struct.pack(">5I", n_records, nonce, n_pages, 512, size) + journal[28:]


@cache
def interrupted():
    """Return a ledger before a booking and after it, and the journal in between."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        ledger = Ledger(path)
        for _ in range(CONFIRMED):
            book(ledger)
        before = path.read_bytes()
        with pytest.MonkeyPatch.context() as patch:
            begun = LedgerStore._begun

            def keeping(store, begin):
                connection = begun(store, begin)
                connection.execute("COMMIT")
                connection.execute("PRAGMA journal_mode = PERSIST")
                connection.execute(begin)
                return connection

            patch.setattr(LedgerStore, "_begun", keeping)
            book(ledger)
        after = path.read_bytes()
        journal = (path.parent / "ledger.sqlite-journal").read_bytes()
    size = struct.unpack(">H", before[16:18])[0]
    return before, after, hot(journal, len(before) // size, size), size


def half_written(draw):
    """Return the file as a kill may leave it: each of its pages old or new."""
    before, after, _, size = interrupted()
    pages = []
    for start in range(0, len(after), size):
        old, new = before[start : start + size], after[start : start + size]
        pages.append(new if not old or draw.random() < 0.6 else old)
    return b"".join(pages)


def lay_out(folder, content, journal):
    path = folder / "ledger.sqlite"
    path.write_bytes(content)
    path.chmod(0o600)
    (folder / "ledger.sqlite-journal").write_bytes(journal)
    return path


def forgets(path, confirmed):
    """Return whether a booking is lost; ``None`` if the ledger is refused."""
    try:
        ledger = Ledger(path)
        if ledger.spent("adult") < confirmed * TENTH:
            return True
        entries = ledger.entries("adult")
        book(ledger)
        after = ledger.account("adult")
    except LedgerError:
        return None
    whole = after.spent == (len(entries) + 1) * TENTH == sum(e.epsilon for e in after.entries)
    return not (whole and len(entries) >= confirmed)


def flipped(content, draw):
    changed = bytearray(content)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def faults(content, draw):
    for _ in range(FLIPS):
        yield flipped(content, draw)
    for _ in range(CUTS):
        yield content[: draw.randrange(len(content))]


def test_a_whole_journal_takes_back_what_was_not_confirmed(tmp_path):
    before, after, journal, _ = interrupted()
    assert before != after
    path = lay_out(tmp_path, after, journal)
    assert len(Ledger(path).entries("adult")) == CONFIRMED
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["ledger.sqlite"]


def test_no_fault_of_a_journal_forgets_a_booking_unseen(tmp_path):
    journal, draw = interrupted()[2], random.Random(2026)
    found = [
        forgets(lay_out(tmp_path, half_written(draw), fault), CONFIRMED)
        for fault in faults(journal, draw)
    ]
    assert len(found) == FLIPS + CUTS
    assert True not in found
    assert found.count(None) > 20  # or the faults were too gentle to show anything
    assert found.count(False) > 20


@pytest.mark.audit  # ten seconds
def test_no_fault_of_the_file_itself_forgets_a_booking_unseen(tmp_path):
    before, draw = interrupted()[0], random.Random(99)
    found = []
    for fault in faults(before, draw):
        path = lay_out(tmp_path, fault, b"")
        beside(path, "-journal").unlink()
        found.append(forgets(path, CONFIRMED))
    assert True not in found
    assert found.count(None) > 100


def test_a_journal_that_is_gone_forgets_no_booking_unseen(tmp_path):
    draw = random.Random(12)
    for _ in range(60):
        path = lay_out(tmp_path, half_written(draw), b"")
        (tmp_path / "ledger.sqlite-journal").unlink()
        assert forgets(path, CONFIRMED) is not True


def test_sqlite_by_itself_forgets_bookings_of_a_damaged_log(tmp_path, monkeypatch):
    path, draw = tmp_path / "old.sqlite", random.Random(5)
    old_log(path)
    log = beside(path, "-wal").read_bytes()
    kept = {s: beside(path, s).read_bytes() for s in ("", "-shm")}
    monkeypatch.setattr(ledger_store, "check_old_log", lambda _: None)
    verdicts = []
    for fault in (flipped(log, draw) for _ in range(20)):
        restore(path, {**kept, "-wal": fault})
        verdicts.append(forgets(path, 10))
    assert True in verdicts


def beside(path, suffix):
    return path.with_name(path.name + suffix)


def old_log(path, n_bookings=10):
    write_old(path, [dataset("adult", "50")] + [booked("adult", "1/10")] * n_bookings,
              checkpoint=False)  # fmt: skip


def restore(path, contents):
    for suffix in ("", "-wal", "-shm", "-journal"):
        beside(path, suffix).unlink(missing_ok=True)
        if suffix in contents:
            beside(path, suffix).write_bytes(contents[suffix])
    path.chmod(0o600)


@pytest.fixture
def logged(tmp_path):
    """A ledger of an earlier version whose bookings are all in its write-ahead log."""
    path = tmp_path / "old.sqlite"
    old_log(path)
    return path, {suffix: beside(path, suffix).read_bytes() for suffix in ("", "-wal", "-shm")}


def test_a_whole_log_of_an_earlier_version_is_read_and_goes_away(logged):
    path, _ = logged
    ledger = Ledger(path)
    assert ledger.spent("adult") == 1
    book(ledger)
    assert ledger.spent("adult") == Fraction(11, 10)
    assert [each.name for each in path.parent.iterdir()] == ["old.sqlite"]


@pytest.mark.parametrize("with_index", [True, False])
def test_no_fault_of_an_old_log_forgets_a_booking_unseen(logged, with_index):
    path, contents = logged
    kept = {"": contents[""], **({"-shm": contents["-shm"]} if with_index else {})}
    draw = random.Random(300)
    found = []
    for fault in faults(contents["-wal"], draw):
        cut = len(fault) < len(contents["-wal"])
        if cut and not with_index and len(fault) % 4120 == 32:
            continue  # cut between two frames: without the index nobody can tell
        restore(path, {**kept, "-wal": fault})
        found.append(forgets(path, 10))
    assert len(found) >= FLIPS + CUTS - 3
    assert True not in found
    assert found.count(None) > 300


def test_an_old_log_that_is_gone_is_missed_where_its_index_is_there(logged):
    path, contents = logged
    restore(path, {"": contents[""], "-shm": contents["-shm"]})
    with pytest.raises(LedgerError, match="write-ahead log is damaged or was cut off"):
        Ledger(path)


def test_an_old_log_cut_between_two_bookings_is_seen_by_its_index(logged):
    path, contents = logged
    log = contents["-wal"]
    for n_frames in range((len(log) - 32) // 4120):
        restore(path, {**contents, "-wal": log[: 32 + n_frames * 4120]})
        with pytest.raises(LedgerError, match="write-ahead log"):
            Ledger(path)


def test_a_log_beside_a_ledger_that_has_none_is_never_taken_for_its_own(logged, tmp_path):
    _, contents = logged
    new = tmp_path / "new" / "ledger.sqlite"
    ledger = Ledger(new)
    for _ in range(3):
        book(ledger)
    beside(new, "-wal").write_bytes(contents["-wal"])
    before = new.read_bytes()
    with pytest.raises(LedgerError, match="log that is not the ledger's is beside it"):
        Ledger(new)
    assert new.read_bytes() == before
    beside(new, "-wal").unlink()
    assert Ledger(new).spent("adult") == Fraction(3, 10)


def test_an_interrupted_ledger_is_checked_as_a_whole(tmp_path, monkeypatch):
    before, _, _, _ = interrupted()
    path = lay_out(tmp_path, before, b"")
    checked = []
    check = ledger_store.BookingDraft.check_all
    monkeypatch.setattr(
        ledger_store.BookingDraft, "check_all", lambda draft: checked.append(1) or check(draft)
    )
    Ledger(path)
    assert not checked
    shutil.copy(path, tmp_path / "ledger.sqlite-journal")  # anything at all
    Ledger(path)
    assert checked


def test_no_journal_is_left_by_any_use(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    entry = book(ledger)
    ledger.released(entry.id, "r")
    ledger.accounts()
    with pytest.raises(LedgerError):
        ledger.released(entry.id, "again")
    assert list(tmp_path.iterdir()) == [ledger.path]
    with closing(sqlite3.connect(ledger.path)) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)
