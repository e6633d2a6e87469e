"""The ledger under races, kills, full disks and tampering.

Workers are separate interpreters, because what is shared between processes, and what a
kill leaves behind, is the file alone.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from hedgerow.errors import LedgerError
from hedgerow.ledger import sqlite as ledger_sqlite
from hedgerow.ledger.ledger import Ledger

EPSILON = Fraction(3, 10)
CAP = Fraction(4)
SOURCES = Path(__file__).parents[2] / "src"

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals, forks or limits")


def start(script, *arguments):
    """Start ``script`` in a fresh interpreter that can import hedgerow."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run(script, *arguments, patience=60):
    output, _ = start(script, *arguments).communicate(timeout=patience)
    return output.split()


@cache
def three_bookings():
    """Return the bytes of a ledger with three bookings of one tenth."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        for _ in range(3):
            ledger.book("adult", "1/10", cap=4, method="diffgen", plan_digest="p1")
        return ledger.path.read_bytes()


def filled(folder):
    path = folder / "ledger.sqlite"
    path.write_bytes(three_bookings())
    return Ledger(path)


RACER = """
import sys
from hedgerow.errors import CapError
from hedgerow.ledger.ledger import Ledger
print("ready", flush=True)
sys.stdin.readline()
ledger, n = Ledger(sys.argv[1]), 0
try:
    while True:
        ledger.book("adult", "3/10", cap=4, method="diffgen", plan_digest="p1")
        n += 1
except CapError:
    print(n)
"""


def test_eight_processes_racing_for_a_cap_never_pass_it(tmp_path):
    path = tmp_path / "ledger.sqlite"  # does not exist yet: they race to make it, too
    racers = [start(RACER, path) for _ in range(8)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won = [int(racer.communicate(timeout=60)[0]) for racer in racers]
    assert all(racer.returncode == 0 for racer in racers)
    assert sum(won) == CAP // EPSILON
    assert Ledger(path).spent("adult") == sum(won) * EPSILON
    assert list(tmp_path.iterdir()) == [path]


# One interpreter forks a publisher, kills it after a random moment, and looks at what is
# left; forking keeps a round at a few milliseconds. A publisher books, "publishes" by making
# a file, and marks the booking as released, over and over. A cheating one publishes first.
# The moment is up to ``reach`` times as long as one such publication takes here.
KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from hedgerow.ledger.ledger import Ledger

folder, rounds, reach = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
cheat, afresh = "cheat" in sys.argv, "afresh" in sys.argv

def publish(ledger, n):
    marker = folder / f"release-{os.getpid()}-{n}"
    if cheat:
        marker.touch()
        time.sleep(0.02)
    entry = ledger.book("adult", "1/1000", cap=50, method="diffgen", plan_digest=marker.name)
    marker.touch()
    ledger.released(entry.id, marker.name)

def publish_forever():
    ledger = Ledger(folder / "ledger.sqlite")
    for n in range(10**6):
        publish(ledger, n)

began = time.monotonic()
for n in range(3):
    publish(Ledger(folder / "ledger.sqlite"), n)
longest = reach * (time.monotonic() - began) / 3

for _ in range(rounds):
    if afresh:
        for old in folder.iterdir():
            old.unlink()
    child = os.fork()
    if not child:
        publish_forever()
    time.sleep(random.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the publisher ended by itself"
    out = {path.name for path in folder.glob("release-*")}
    accounts = Ledger(folder / "ledger.sqlite").accounts()
    entries = accounts[0].entries if accounts else ()
    covered = out <= {entry.plan_digest for entry in entries}
    marked = {entry.release_digest for entry in entries if entry.state == "released"} <= out
    paid = not out or accounts[0].spent * 1000 >= len(out)
    print(f"{covered and marked and paid}:{len(entries)}:{len(out)}")
"""


@posix
def test_no_kill_leaves_a_release_without_a_booking(tmp_path):
    rounds = [line.split(":") for line in run(KILLER, tmp_path, 30, 3)]
    assert len(rounds) == 30
    assert all(verdict == "True" for verdict, _, _ in rounds)
    bookings = [int(n) for _, n, _ in rounds]
    assert bookings == sorted(bookings)  # none was ever lost
    assert bookings[-1] >= 10  # or the kills came too early to show anything


@posix
@pytest.mark.audit
def test_none_of_three_hundred_kills_leaves_a_release_without_a_booking(tmp_path):
    rounds = [line.split(":") for line in run(KILLER, tmp_path, 300, 3, patience=600)]
    assert len(rounds) == 300
    assert all(verdict == "True" for verdict, _, _ in rounds)
    bookings = [int(n) for _, n, _ in rounds]
    assert bookings == sorted(bookings)  # none was ever lost
    assert bookings[-1] >= 100


@posix
def test_the_kill_test_notices_a_publisher_that_books_too_late(tmp_path):
    rounds = run(KILLER, tmp_path, 15, 2, "cheat")
    assert any(line.startswith("False") for line in rounds)


@posix
def test_a_kill_while_the_ledger_is_made_leaves_one_that_works(tmp_path):
    rounds = run(KILLER, tmp_path, 15, 2, "afresh")
    assert len(rounds) == 15
    assert all(line.startswith("True") for line in rounds)


LIMITED = """
import resource, sys
from hedgerow.errors import LedgerError
from hedgerow.ledger.ledger import Ledger
ledger = Ledger(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    ledger.book("adult", "1/10", cap=4, method="diffgen", plan_digest="p1")
except LedgerError as error:
    print("refused" if error.do and error.where else "no help")
"""


@posix
@pytest.mark.parametrize("room", [0, 1000, 5000])
def test_a_disk_without_room_books_nothing_and_says_so(tmp_path, room):
    ledger = filled(tmp_path)
    assert run(LIMITED, ledger.path, room) == ["refused"]
    assert len(Ledger(ledger.path).entries("adult")) == 3


def test_a_full_disk_is_named_as_such(tmp_path, monkeypatch):
    ledger = filled(tmp_path)
    connected = ledger_sqlite._connected

    def small(path, patience):
        connection = connected(path, patience)
        connection.execute("PRAGMA max_page_count = 1")  # no less than what it has already
        return connection

    def fill():
        for _ in range(50):
            ledger.set_cap("adult", 4, "x" * 500)

    monkeypatch.setattr(ledger_sqlite, "_connected", small)
    with pytest.raises(LedgerError, match="The disk is full"):
        fill()
    monkeypatch.undo()
    assert Ledger(ledger.path).spent("adult") == Fraction(3, 10)


def test_a_ledger_locked_by_another_process_is_waited_for_and_then_refused(tmp_path):
    patient = filled(tmp_path)
    hasty = Ledger(patient.path, timeout=0.1)
    with closing(sqlite3.connect(patient.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.raises(LedgerError, match=r"locked for 0\.1 seconds"):
            hasty.set_cap("adult", 5, "in a hurry")
        assert 0.1 <= time.monotonic() - began < 5
        assert hasty.spent("adult") == Fraction(3, 10)  # reading goes on meanwhile
    hasty.set_cap("adult", 5, "now it is free")


def tamper(path, *statements):
    """Change the database as someone with an SQLite shell would."""
    with closing(sqlite3.connect(path)) as database:
        for name in ("events_are_never_changed", "events_are_never_deleted"):
            database.execute(f"DROP TRIGGER IF EXISTS {name}")
        for statement in statements:
            database.execute(statement)
        database.commit()


TAMPERING = {
    "an amount is lowered": "UPDATE events SET body = replace(body, '1/10', '1/99') WHERE seq = 3",
    "a digest is changed": "UPDATE events SET digest = 'beef' WHERE seq = 2",
    "the last event is changed": "UPDATE events SET body = '{}' WHERE seq = 4",
    "an event is taken out": "DELETE FROM events WHERE seq = 2",
    "the first event is taken out": "DELETE FROM events WHERE seq = 1",
    "the end is cut off": "DELETE FROM events WHERE seq >= 3",
    "all events are gone": "DELETE FROM events",
    "two events change places": "UPDATE events SET seq = CASE seq WHEN 2 THEN -3 ELSE -2 END"
    " WHERE seq IN (2, 3)",
    "an event is added": "INSERT INTO events VALUES (5, '{}', 'beef')",
    "the body is not text": "UPDATE events SET body = x'00' WHERE seq = 2",
    "the head is gone": "DELETE FROM head",
    "the table is gone": "DROP TABLE events",
    "the table of the head is gone": "DROP TABLE head",
}


@pytest.mark.parametrize("statement", TAMPERING.values(), ids=TAMPERING.keys())
def test_a_ledger_that_was_edited_is_refused(tmp_path, statement):
    ledger = filled(tmp_path)
    tamper(ledger.path, statement)
    for use in (
        lambda: Ledger(ledger.path),
        lambda: ledger.spent("adult"),
        lambda: ledger.book("adult", 1, cap=4, method="diffgen", plan_digest="p1"),
    ):
        with pytest.raises(LedgerError, match="cannot be trusted") as refused:
            use()
        assert "hedgerow ledger spend" in refused.value.do


def test_the_file_itself_refuses_to_forget(tmp_path):
    ledger = filled(tmp_path)
    with closing(sqlite3.connect(ledger.path)) as database:
        for statement in ("DELETE FROM events", "UPDATE events SET body = '{}'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                database.execute(statement)


@pytest.mark.parametrize("kept", [0, 1, 50, 100, 4095, 4096, 5000, 8192, -1])
def test_a_file_that_was_cut_off_is_refused(tmp_path, kept):
    ledger = filled(tmp_path)
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole[:kept])
    with pytest.raises(LedgerError) as refused:
        Ledger(ledger.path)
    assert "hedgerow ledger spend" in refused.value.do
    assert ledger.path.read_bytes() == whole[:kept]


@pytest.mark.parametrize("place", range(100, 12288, 1200))
def test_bytes_that_were_overwritten_never_lower_the_sum(tmp_path, place):
    ledger = filled(tmp_path)
    content = bytearray(ledger.path.read_bytes())
    content[place : place + 400] = b"\xff" * len(content[place : place + 400])
    ledger.path.write_bytes(content)
    with suppress(LedgerError):  # refused, or the bytes were free space
        assert Ledger(ledger.path).spent("adult") == Fraction(3, 10)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"data set,cap\nadult,4\n", b"SQLite format 3\x00", bytes(20_000)]
)
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="Name the ledger with --ledger"):
        Ledger(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE events (seq, body, digest)")
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="not a hedgerow ledger"):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_ledger_of_a_newer_format_is_refused(tmp_path):
    ledger = filled(tmp_path)
    tamper(ledger.path, "PRAGMA user_version = 5")
    with pytest.raises(
        LedgerError, match="has format 5; this version of hedgerow reads formats up to 4"
    ):
        Ledger(ledger.path)


def test_a_folder_is_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match="The path is not a file"):
        Ledger(tmp_path)


def test_a_ledger_below_a_file_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(tmp_path / "file" / "ledger.sqlite")


# Nothing is closed to the administrator, so a test that runs as such becomes nobody first.
NOBODY = """
import os, sys
from pathlib import Path
from hedgerow.errors import LedgerError
from hedgerow.ledger.ledger import Ledger
if os.geteuid() == 0:
    os.setuid(65534)
path = Path(sys.argv[1])
try:
    if path.exists():
        Ledger(path).set_cap("adult", 5, "more")
    else:
        Ledger(path)
except LedgerError as error:
    print(error.what)
"""


@pytest.fixture
def public_folder():
    """A folder that any user can look into, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@posix
def test_a_folder_that_cannot_be_written_is_named(public_folder):
    public_folder.chmod(0o555)
    said = " ".join(run(NOBODY, public_folder / "ledger.sqlite"))
    assert said == "The ledger cannot be opened: Permission denied."


@posix
def test_a_ledger_that_cannot_be_written_is_named(public_folder):
    ledger = filled(public_folder)
    ledger.path.chmod(0o444)
    said = " ".join(run(NOBODY, ledger.path))
    assert said == "The ledger or its folder cannot be written."


def test_a_ledger_that_vanished_is_not_made_again_by_an_open_one(tmp_path):
    ledger = filled(tmp_path)
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="The ledger does not exist"):
        ledger.book("adult", 1, cap=4, method="diffgen", plan_digest="p1")
    assert not ledger.path.exists()


def test_a_copy_of_the_file_alone_holds_all_bookings(tmp_path):
    ledger = filled(tmp_path)
    copy = shutil.copy(ledger.path, tmp_path / "backup.sqlite")
    assert Ledger(copy).export() == ledger.export()
