"""The persistent ledger keeps exact sums per data set and refuses to go over a cap."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import CapError, HedgerowError, LedgerError, RefusedError, SettingError
from hedgerow.ledger import ledger as ledger_module
from hedgerow.ledger import store as ledger_store
from hedgerow.ledger.accounts import one_line
from hedgerow.ledger.ledger import Ledger, default_path

HALF, THIRD, TENTH = Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def book(ledger, epsilon=HALF, *, dataset="adult", cap=4, **more):
    return ledger.book(dataset, epsilon, cap=cap, method="diffgen", plan_digest="p1", **more)


def test_a_booking_is_there_for_everyone_who_opens_the_file(ledger):
    entry = book(ledger, THIRD)
    again = Ledger(ledger.path)
    assert again.entries("adult") == (entry,)
    assert entry.state == "booked"
    assert entry.epsilon == THIRD
    assert (entry.method, entry.plan_digest, entry.release_digest) == ("diffgen", "p1", None)
    assert again.spent("adult") == THIRD
    assert again.left("adult") == Fraction(11, 3)


def test_a_release_or_a_failure_ends_a_booking_and_both_stay_spent(ledger):
    first, second = book(ledger), book(ledger)
    assert ledger.released(first.id, "r1").release_digest == "r1"
    failed = ledger.failed(second.id, "the disk was full\nwhile writing")
    assert failed.note == "the disk was full while writing"
    assert [entry.state for entry in ledger.entries("adult")] == ["released", "failed"]
    assert ledger.spent("adult") == 1


@pytest.mark.parametrize("first", ["released", "failed"])
@pytest.mark.parametrize("second", ["released", "failed"])
def test_a_booking_ends_once(ledger, first, second):
    entry = book(ledger)
    getattr(ledger, first)(entry.id, "x")
    with pytest.raises(LedgerError, match=f"{first} already"):
        getattr(ledger, second)(entry.id, "y")
    assert ledger.entries("adult")[0].state == first


def test_an_entry_that_was_never_booked_cannot_end(ledger):
    with pytest.raises(LedgerError, match="does not have this entry"):
        ledger.released(7, "r1")


def test_the_cap_can_be_met_exactly_and_not_passed(ledger):
    for _ in range(10):
        book(ledger, 0.1, cap=1)
    with pytest.raises(CapError) as refused:
        book(ledger, "1e-9", cap=1)
    error = refused.value
    assert (error.dataset, error.cap, error.spent) == ("adult", 1, 1)
    assert (error.needed, error.left) == (Fraction(1, 10**9), 0)
    assert "'adult'" in str(error)
    assert error.exit_code == 3
    assert len(ledger.entries("adult")) == 10


def test_a_refused_first_booking_leaves_no_trace(ledger):
    with pytest.raises(CapError):
        book(ledger, 2, cap=1)
    assert ledger.accounts() == ()
    assert ledger.verify() == (0, "")


def test_a_check_refuses_what_a_booking_would_and_writes_nothing(ledger):
    assert ledger.check("adult", 1, cap=1).left == 1
    assert ledger.accounts() == ()
    book(ledger, 1, cap=1)
    before = ledger.verify()
    with pytest.raises(CapError):
        ledger.check("adult", TENTH, cap=1)
    with pytest.raises(LedgerError, match="ledger has cap 1"):
        ledger.check("adult", TENTH, cap=2)
    with pytest.raises(LedgerError, match="Use the name 'adult'"):
        ledger.check("Adult", TENTH, cap=1)
    assert ledger.verify() == before


def test_data_sets_do_not_pay_for_each_other(ledger):
    book(ledger, 1, dataset="a", cap=1)
    book(ledger, 1, dataset="b", cap=2)
    assert [(a.name, a.spent, a.left) for a in ledger.accounts()] == [("a", 1, 0), ("b", 1, 1)]


def test_a_plan_with_another_cap_is_refused_and_told_how_to_change_it(ledger):
    book(ledger, cap=4)
    with pytest.raises(LedgerError, match="hedgerow ledger cap adult 5 --reason"):
        book(ledger, cap=5)
    with pytest.raises(LedgerError, match="ledger has cap 4"):
        ledger.open_dataset("adult", 3)
    assert ledger.spent("adult") == HALF
    assert ledger.open_dataset("adult", "4").spent == HALF


def test_a_changed_cap_holds_from_then_on_and_keeps_its_reason(ledger):
    book(ledger, 1, cap=1)
    ledger.set_cap("adult", 2, "agreed by the board")
    book(ledger, 1, cap=2)
    assert ledger.set_cap("adult", 1, "no more").left == 0
    with pytest.raises(CapError):
        book(ledger, TENTH, cap=1)
    assert "agreed by the board" in json.dumps(ledger.export())


def test_a_cap_is_not_changed_without_a_reason_or_a_data_set(ledger):
    book(ledger)
    with pytest.raises(LedgerError, match="reason is empty"):
        ledger.set_cap("adult", 2, " \n")
    with pytest.raises(LedgerError, match="It has: 'adult'"):
        ledger.set_cap("adlut", 2, "typo")
    assert ledger.account("adult").cap == 4


def test_a_seeded_run_is_never_booked(ledger):
    with pytest.raises(RefusedError, match="seeded") as refused:
        book(ledger, reproducible=True)
    assert refused.value.exit_code == 3
    assert ledger.accounts() == ()


def test_spending_outside_counts_even_over_the_cap(ledger):
    ledger.open_dataset("adult", 1, "agreed")
    entry = ledger.book_outside("adult", 2, note="counts for the ministry")
    assert (entry.state, entry.method) == ("released", "outside hedgerow")
    account = ledger.account("adult")
    assert (account.spent, account.left) == (2, 0)
    with pytest.raises(CapError):
        book(ledger, TENTH, cap=1)
    with pytest.raises(LedgerError, match="note is empty"):
        ledger.book_outside("adult", 1, note="")


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), "1/0", 10**9, True])
def test_an_unusable_epsilon_or_cap_books_nothing(ledger, epsilon):
    with pytest.raises(SettingError):
        book(ledger, epsilon)
    with pytest.raises(SettingError, match=r"^cap: "):
        book(ledger, cap=epsilon)
    assert ledger.accounts() == ()


@given(
    asked=st.lists(st.fractions(Fraction(1, 50), 1, max_denominator=60), max_size=6),
    cap=st.fractions(Fraction(1, 2), 2, max_denominator=60),
)
@settings(max_examples=15, deadline=None)
def test_the_sum_is_exact_and_greedy_up_to_the_cap(asked, cap, tmp_path_factory):
    ledger = Ledger(tmp_path_factory.mktemp("exact") / "ledger.sqlite")
    ledger.open_dataset("d", cap)
    expected = Fraction(0)
    for epsilon in asked:
        fits = expected + epsilon <= cap
        try:
            book(ledger, epsilon, dataset="d", cap=cap)
        except CapError:
            assert not fits
        else:
            assert fits
            expected += epsilon
    assert ledger.spent("d") == expected
    assert ledger.left("d") == cap - expected


def test_a_clock_that_goes_backwards_changes_no_order(ledger, monkeypatch):
    class Backwards:
        hour = 0

        @classmethod
        def now(cls, zone):
            cls.hour += 1
            return datetime(2026, 1, 1, tzinfo=UTC) - timedelta(hours=cls.hour)

    monkeypatch.setattr(ledger_store, "datetime", Backwards)
    entries = [book(ledger, TENTH) for _ in range(3)]
    ledger.released(entries[0].id, "r1")
    assert [entry.id for entry in ledger.entries("adult")] == [entry.id for entry in entries]
    first, second, _ = ledger.entries("adult")
    assert first.ended_at < first.booked_at
    assert second.booked_at < first.booked_at
    assert Ledger(ledger.path).spent("adult") == Fraction(3, 10)


def test_the_export_is_json_with_the_sums_and_the_chain(ledger):
    entry = book(ledger, THIRD)
    ledger.released(entry.id, "r1")
    exported = json.loads(json.dumps(ledger.export()))
    (dataset,) = exported["datasets"]
    assert (dataset["cap"], dataset["spent"], dataset["left"]) == ("4", "1/3", "11/3")
    assert dataset["entries"][0]["release"] == "r1"
    assert len(exported["events"]) == 3
    assert exported["events"][-1]["digest"] == ledger.verify()[1]


@pytest.mark.skipif(os.name != "posix", reason="file modes are a matter of POSIX")
def test_only_its_owner_can_read_the_ledger(tmp_path):
    ledger = Ledger(tmp_path / "new" / "folder" / "ledger.sqlite")
    book(ledger)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(ledger.path.parent.parent.stat().st_mode) == 0o700
    assert list(ledger.path.parent.iterdir()) == [ledger.path]


def test_the_ledger_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "mine.sqlite"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert default_path() == tmp_path / "mine.sqlite"
    assert Ledger().path == tmp_path / "mine.sqlite"
    monkeypatch.setenv("HEDGEROW_LEDGER", "")
    assert default_path() == tmp_path / "state" / "hedgerow" / "ledger.sqlite"


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", ".local/state"),
        ("darwin", "Library/Application Support"),
        ("win32", "AppData/Local"),
    ],
)
def test_the_ledger_is_where_the_system_keeps_such_things(monkeypatch, tmp_path, platform, folder):
    for name in ("HEDGEROW_LEDGER", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", "relative/paths/do/not/count")
    monkeypatch.setattr(ledger_module.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert default_path() == tmp_path / folder / "hedgerow" / "ledger.sqlite"


def test_without_a_home_folder_the_ledger_asks_for_a_file(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in ("HEDGEROW_LEDGER", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(LedgerError, match="HEDGEROW_LEDGER"):
        default_path()


def test_a_ledger_that_is_only_read_is_not_made(tmp_path):
    with pytest.raises(LedgerError, match="The ledger does not exist"):
        Ledger(tmp_path / "ledger.sqlite", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_path_with_odd_characters_is_a_path(tmp_path):
    ledger = Ledger(tmp_path / "50% of #1 ?mode=ro.sqlite")
    book(ledger)
    assert Ledger(ledger.path, create=False).spent("adult") == HALF
    assert ledger.path.is_file()


def test_a_file_system_without_hard_links_will_do(monkeypatch, tmp_path):
    def refuse(self, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    path = tmp_path / "ledger.sqlite"
    book(Ledger(path))
    assert Ledger(path).spent("adult") == HALF
    assert list(tmp_path.iterdir()) == [path]


def test_every_ledger_error_says_what_where_and_what_to_do(ledger):
    book(ledger)
    for mistake in (
        lambda: book(ledger, cap=5),
        lambda: book(ledger, 4),
        lambda: book(ledger, dataset=""),
        lambda: book(ledger, reproducible=True),
        lambda: ledger.account("nobody"),
        lambda: ledger.set_cap("adult", 4, ""),
        lambda: ledger.released(99, "r"),
        lambda: ledger.rename("adult", "adult"),
        lambda: ledger.same_people("adult", "adult"),
        lambda: ledger.different("adult", "adult", "x"),
    ):
        with pytest.raises(HedgerowError) as raised:
            mistake()
        assert raised.value.where
        assert raised.value.do


def test_entries_are_equal_whatever_digest_of_the_chain_they_carry(ledger):
    entry = ledger.book("d", "1/2", cap=1, method="hedge", plan_digest="p")
    other = replace(entry, head="0" * 64, chain="1" * 64)
    assert entry == other
    assert repr(entry) == repr(other)


def test_a_note_keeps_its_first_500_characters_on_one_line():
    assert one_line("a\n" + "b" * 600) == "a " + "b" * 498
