"""A ledger of many entries, of odd fractions, and on odd file systems."""

from __future__ import annotations

import errno
import hashlib
import json
import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from hedgerow.cli.ledger import app
from hedgerow.errors import LedgerError
from hedgerow.ledger import sqlite as ledger_sqlite
from hedgerow.ledger import store as ledger_store
from hedgerow.ledger.ledger import Ledger
from hedgerow.ledger.state import FINEST, State, added
from support.old_ledgers import booked, dataset, write_old


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def book(ledger, epsilon="1/1000", name="adult"):
    return ledger.book(name, epsilon, cap=50, method="m", plan_digest="p")


def fill(ledger, n_entries):
    """Add releases in one transaction, which is as good and much faster."""
    book(ledger)
    with ledger._store.writing() as draft:
        for _ in range(n_entries - 1):
            said = {"epsilon": "1/1000", "delta": "0", "method": "m", "plan": "p"}
            event = draft.append("booked", dataset="adult", **said)
            draft.append("released", entry=str(event.seq), release="r")


def work_of(ledger, monkeypatch):
    """Return how many steps SQLite takes, and events it reads, for one release."""
    steps, read = [0], [0]
    connected = ledger_sqlite._connected

    def counting(path, patience):
        connection = connected(path, patience)
        connection.set_progress_handler(lambda: steps.__setitem__(0, steps[0] + 1) or 0, 10)
        return connection

    loads = json.loads

    def counted(text):
        read[0] += 1
        return loads(text)

    with monkeypatch.context() as patch:
        patch.setattr(ledger_sqlite, "_connected", counting)
        patch.setattr("hedgerow.ledger.store.json.loads", counted)
        again = Ledger(ledger.path)
        again.check("adult", "1/1000", cap=50)
        again.released(book(again).id, "r")
    return steps[0], read[0]


@pytest.mark.parametrize("n", [2000, pytest.param(10_000, marks=pytest.mark.audit)])
def test_a_release_takes_no_more_work_after_many_than_after_a_tenth(ledger, monkeypatch, n):
    fill(ledger, n // 10)
    few = work_of(ledger, monkeypatch)
    fill(ledger, n - n // 10)
    many = work_of(ledger, monkeypatch)
    assert few[0] > 0
    # A tree of pages grows by a level now and then.
    assert many[0] <= few[0] * 1.3
    assert many[1] <= few[1] * 1.3
    assert ledger.spent("adult") == Fraction(n + 2, 1000)
    assert len(ledger.entries("adult")) == n + 2
    events, _ = ledger.verify()
    assert events == 1 + 2 * (n + 2) - 2  # two were begun and not ended


def test_an_old_event_that_was_changed_is_found_before_long(ledger, monkeypatch):
    fill(ledger, 2000)
    with closing(sqlite3.connect(ledger.path)) as database:
        database.execute("DROP TRIGGER events_are_never_changed")
        database.execute(
            "UPDATE events SET body = replace(body, '1/1000', '1/9000') WHERE seq = 701"
        )
        database.commit()
    for look in (ledger.verify, ledger.accounts, ledger.export):
        with pytest.raises(LedgerError, match="event 701 was modified"):
            look()
    assert ledger.spent("adult") == 2  # what is left to spend was never more
    refused = []
    for part in range(63):  # a booking looks at one of them
        monkeypatch.setattr(ledger_store, "chosen_part", lambda _, n, part=part: part % n)
        try:
            book(ledger, "1/1000000")
        except LedgerError:
            refused.append(part)
    assert refused == [700 // 64]


def test_each_part_of_the_chain_has_its_turn():
    digests = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(2000)]
    assert {ledger_store.chosen_part(digest, 63) for digest in digests} == set(range(63))


TAMPERED = {
    "a sum is lowered": """UPDATE state SET value = replace(value, '"spent": "', '"spent": "-')""",
    "a cap is raised": """UPDATE state SET value = replace(value, '"cap": "50"', '"cap": "60"')""",
    "the sums are gone": "DELETE FROM state",
    "an account is added": """INSERT INTO state VALUES ('["account", "x"]', '{"cap": "1"}')""",
    "the table is gone": "DROP TABLE state",
}


@pytest.mark.parametrize("statement", TAMPERED.values(), ids=TAMPERED.keys())
def test_sums_that_were_edited_are_refused(ledger, statement):
    book(ledger)
    with closing(sqlite3.connect(ledger.path)) as database:
        database.execute(statement)
        database.commit()
    for use in (lambda: Ledger(ledger.path), lambda: book(ledger), ledger.verify):
        with pytest.raises(LedgerError, match="cannot be trusted"):
            use()


def test_an_end_that_was_taken_out_shows_when_the_ledger_is_read(ledger):
    ledger.released(book(ledger).id, "r")
    with closing(sqlite3.connect(ledger.path)) as database:
        database.execute("DELETE FROM ends")
        database.commit()
    with pytest.raises(LedgerError, match="not those of its events"):
        ledger.verify()


@pytest.mark.audit  # ten seconds; the sums themselves are tried below
def test_two_hundred_long_fractions_can_be_shown_and_exported(ledger, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(ledger.path))
    exact = Fraction(0)
    for n in range(200):
        epsilon = Fraction(10**27, 10**28 + 2 * n + 1)
        exact += epsilon
        book(ledger, epsilon)
    spent = ledger.spent("adult")
    assert 0 <= spent - exact <= Fraction(200, FINEST)  # rounded up, if at all
    assert ledger.account("adult").spent == spent
    for command in (["show"], ["show", "adult"], ["show", "--json"], ["export"], ["verify"]):
        result = CliRunner().invoke(app, command, catch_exceptions=False)
        assert result.exit_code == 0
    assert "spent about 20" in CliRunner().invoke(app, ["show", "adult"]).stdout


@given(st.lists(st.fractions(Fraction(1, 10**9), 50, max_denominator=10**30), max_size=8))
def test_a_sum_is_exact_or_a_little_more(amounts):
    total = Fraction(0)
    for amount in amounts:
        total = added(total, amount)
    assert 0 <= total - sum(amounts) <= Fraction(len(amounts), FINEST)
    assert total.denominator <= FINEST


@given(st.lists(st.fractions(Fraction(1, 100), 50, max_denominator=1000), max_size=8))
def test_a_sum_of_everyday_fractions_is_exact(amounts):
    total = Fraction(0)
    for amount in amounts:
        total = added(total, amount)
    assert total == sum(amounts)


def test_a_ledger_of_an_earlier_format_moves_with_all_its_entries(tmp_path):
    path = tmp_path / "old.sqlite"
    ends = [
        ("released", {"entry": "2", "release": "r1"}),
        ("failed", {"entry": "3", "reason": "x"}),
    ]
    write_old(path, [dataset("a", "4"), booked("a", "1/2"), booked("a", "1/3"), *ends])
    old = Ledger(path)
    before = old.export()
    old.set_cap("a", 5, "more")
    after = Ledger(path).export()
    assert after["events"][:5] == before["events"]  # the chain goes on
    assert after["datasets"][0]["entries"] == before["datasets"][0]["entries"]
    assert [path.name for path in tmp_path.iterdir()] == ["old.sqlite"]  # no log beside it
    with pytest.raises(LedgerError, match="released already"):
        old.failed(2, "no")
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_ledger_that_everybody_may_change_is_refused(ledger):
    book(ledger)
    ledger.path.chmod(0o666)
    with pytest.raises(LedgerError, match="Every user of this computer may change") as refused:
        book(ledger)
    assert "chmod o-w" in refused.value.do
    ledger.path.chmod(0o660)  # colleagues may
    book(ledger)


def test_a_folder_that_everybody_may_change_is_refused(ledger):
    folder = ledger.path.parent
    mode = folder.stat().st_mode
    try:
        folder.chmod(0o777)
        with pytest.raises(LedgerError, match="Every user of this computer may replace the ledger"):
            book(ledger)
        folder.chmod(0o1777)  # where nobody can replace what is another's
        book(ledger)
    finally:
        folder.chmod(mode)


def test_a_missing_lock_service_is_named_as_such(ledger, monkeypatch):
    hasty = Ledger(ledger.path, timeout=0.1)

    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError, match="Another process"):
            hasty.open_dataset("a", 1)
        monkeypatch.setattr(fcntl, "lockf", refuse)
        with pytest.raises(LedgerError, match="lock service of this file system is missing"):
            hasty.open_dataset("a", 1)


def test_the_state_is_the_same_played_or_kept():
    state = State()
    state.play({"kind": "dataset", "dataset": "a", "cap": "4"})
    state.play({"kind": "booked", "dataset": "a", "epsilon": "1/3"})
    again = State(state.rows)
    assert again.digest() == state.digest()
    assert again.find("a").spent == Fraction(1, 3)
    with pytest.raises(ValueError, match="unknown kind"):
        state.play({"kind": "gift", "dataset": "a"})
