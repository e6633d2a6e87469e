"""An account adds up what releases cost a record, or a person; never both."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from hedgerow.cli.ledger import app
from hedgerow.errors import CapError, LedgerError
from hedgerow.ledger.ledger import Ledger, ReleaseTerms
from hedgerow.ledger.state import State
from support.old_ledgers import booked, dataset, write_format_3, write_old


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("COLUMNS", "160")
    return Ledger()


def book(ledger, name="visits", neighbours="record", *, epsilon=1, cap=4, people=False, table=None):
    terms = ReleaseTerms(neighbours=neighbours, people=people, table=table)
    return ledger.book(name, epsilon, cap=cap, method="m", plan_digest="p", terms=terms)


def refused(ledger, *given, **more):
    before = ledger.verify()
    with pytest.raises(LedgerError) as error:
        book(ledger, *given, **more)
    terms = ReleaseTerms(neighbours=given[1], people=more.get("people", False))
    with pytest.raises(LedgerError) as checked:
        ledger.check(given[0], 1, cap=4, terms=terms)
    assert str(checked.value) == str(error.value)
    assert ledger.verify() == before  # nothing was booked, nothing added
    return error.value


@pytest.mark.parametrize(
    ("first", "then", "fits"),
    [
        ("record", "record", True),
        ("record", "both", True),
        ("record", "person", False),
        ("person", "person", True),
        ("person", "both", True),
        ("person", "record", False),
        ("both", "record", True),
        ("both", "person", True),
        ("both", "both", True),
    ],
)
def test_the_first_booking_fixes_what_an_account_adds_up(ledger, first, then, fits):
    book(ledger, "visits", first)
    if fits:
        assert book(ledger, "visits", then).neighbours == then
    else:
        assert f"per {then}" in refused(ledger, "visits", then).what


def test_both_kinds_end_where_one_is_chosen(ledger):
    book(ledger, "visits", "both")
    book(ledger, "visits", "person")
    refused(ledger, "visits", "record")


def test_an_account_of_people_takes_their_tables_and_nothing_per_record(ledger):
    book(ledger, "hospital-2026", "person", people=True, table="visits.csv")
    book(ledger, "hospital-2026", "both", people=True, table="patients.csv")
    book(ledger, "hospital-2026", "person", people=True, table="visits.csv")
    error = refused(ledger, "hospital-2026", "record", people=True)
    assert "several times larger per person" in error.what
    assert "'person: COLUMN'" in error.do
    refused(ledger, "hospital-2026", "record")  # by its name as a data set, either
    account = ledger.account("hospital-2026")
    assert account.people
    assert account.tables() == [
        {"table": "patients.csv", "releases": 1, "epsilon": "1"},
        {"table": "visits.csv", "releases": 2, "epsilon": "2"},
    ]
    book(ledger, "hospital-2026", "both", people=True)
    with pytest.raises(CapError):
        book(ledger, "hospital-2026", "person", people=True)


def test_a_new_account_of_people_takes_nothing_per_record(ledger):
    refused(ledger, "hospital-2026", "record", people=True)
    assert ledger.accounts() == ()


def test_an_account_of_persons_becomes_one_of_people_and_one_of_records_does_not(ledger):
    book(ledger, "visits", "person")
    book(ledger, "visits", "person", people=True)
    assert ledger.balance("visits").people
    book(ledger, "wards", "record")
    assert "cannot be the account of people" in refused(ledger, "wards", "both", people=True).what


def test_two_accounts_of_persons_become_one_of_people(ledger):
    book(ledger, "patients", "both", cap=4)
    book(ledger, "visits", "person", cap=3)
    joined = ledger.same_people("patients", "visits")
    assert (joined.people, joined.neighbours, joined.cap, joined.spent) == (True, "person", 3, 2)
    assert [entry.table for entry in ledger.entries("visits")] == [None, "visits"]
    refused(ledger, "patients", "record", cap=3)


def test_one_record_in_each_of_two_tables_is_two_for_a_person(ledger):
    book(ledger, "one", "both")
    book(ledger, "two", "both")
    assert ledger.same_people("one", "two").neighbours == "person"


def test_a_name_that_is_not_there_yet_joins_a_group(ledger):
    book(ledger, "patients", "person")
    assert ledger.same_people("patients", "visits").people
    assert book(ledger, "visits", "person").dataset == "patients"


def test_accounts_of_different_neighbours_are_not_joined(ledger):
    book(ledger, "wards", "record")
    book(ledger, "patients", "person")
    for pair in (("wards", "patients"), ("patients", "wards")):
        before = ledger.verify()
        with pytest.raises(LedgerError, match="several times larger per person") as error:
            ledger.same_people(*pair)
        assert "'wards' per record" in error.value.do
        assert ledger.verify() == before
    assert ledger.same_people("wards", "copy").neighbours == "record"


def old(path, *, version):
    events = [
        dataset("visits", "4"),
        booked("visits", "1/2"),
        dataset("empty", "4"),
        dataset("copy", "3"),
        booked("copy", "1"),
        ("same-people", {"dataset": "visits", "other": "copy"}),
        ("released", {"entry": "2", "release": "r1"}),
    ]
    if version == 3:
        write_format_3(path, events)
    else:
        write_old(path, events, version=version)
    return Ledger(path)


@pytest.mark.parametrize("version", [2, 3])
def test_an_account_of_an_earlier_version_goes_on_per_record(tmp_path, version):
    path = tmp_path / "old.sqlite"
    ledger = old(path, version=version)
    before = ledger.export()
    assert ledger.balance("visits").is_unrecorded
    assert ledger.spent("visits") == Fraction(3, 2)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (version,)  # only read so far
    entry = book(ledger, "visits", "record", cap=3)
    assert entry.neighbours == "record"
    after = Ledger(path).export()
    assert after["events"][:7] == before["events"]  # the chain goes on
    assert json.loads(after["events"][7]["body"])["kind"] == "format"
    assert after["format"] == 4
    assert Ledger(path).balance("visits").neighbours == "record"
    assert [each["state"] for each in after["datasets"][1]["entries"]] == [
        "released",
        "booked",
        "booked",
    ]
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (4,)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_persons_on_an_account_of_an_earlier_version_need_a_word(tmp_path, version):
    ledger = old(tmp_path / "old.sqlite", version=version)
    for people in (False, True):
        error = _refused_untold(ledger, people=people)
        assert "earlier versions did not record it" in error.what
        assert "hedgerow ledger neighbours visits person --reason" in error.do
    assert book(ledger, "visits", "both", cap=3, epsilon="1/2").dataset == "visits"
    assert ledger.balance("visits").is_unrecorded  # that release was of both kinds
    ledger.tell_neighbours("visits", "person", "all plans had 'person'")
    book(ledger, "visits", "person", cap=3, epsilon="1/2")
    assert "all plans had 'person'" in json.dumps(ledger.export())
    book(ledger, "empty", "person")  # nothing was spent from it
    ledger.verify()


def _refused_untold(ledger, *, people):
    before = ledger.verify()
    with pytest.raises(LedgerError) as error:
        book(ledger, "visits", "person", cap=3, people=people)
    assert ledger.verify() == before
    return error.value


def test_neighbours_are_told_once_and_only_where_they_are_not_known(ledger):
    book(ledger, "visits", "record")
    with pytest.raises(LedgerError, match="record neighbours already"):
        ledger.tell_neighbours("visits", "person", "I should like that")
    ledger.open_dataset("empty", 4)
    with pytest.raises(LedgerError, match="next release decides"):
        ledger.tell_neighbours("empty", "person", "why not")
    ledger.book_outside("empty", 1, note="counts")
    with pytest.raises(LedgerError, match="reason is empty"):
        ledger.tell_neighbours("empty", "person", " ")
    told = ledger.tell_neighbours("empty", "person", "counts of persons")
    assert told.neighbours == "person"
    refused(ledger, "empty", "record")


def test_a_format_3_ledger_whose_sums_were_changed_is_refused(tmp_path):
    path = tmp_path / "old.sqlite"
    old(path, version=3)
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE state SET value = replace(value, '3/2', '1/2')")
        database.commit()
    with pytest.raises(LedgerError, match="its sums are not those"):
        Ledger(path)


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "people", "dataset": "a"},
        {"kind": "neighbours", "dataset": "a", "neighbours": "person", "why": "w"},
        {"kind": "booked", "dataset": "a", "epsilon": "1", "neighbours": "person"},
        {"kind": "booked", "dataset": "a", "epsilon": "1", "neighbours": "nobody"},
        {"kind": "booked", "dataset": "a", "epsilon": "1", "cover_key": "k"},
    ],
)
def test_events_that_no_ledger_writes_make_no_sense(event):
    state = State()
    state.play({"kind": "dataset", "dataset": "a", "cap": "4"})
    state.play({"kind": "booked", "dataset": "a", "epsilon": "1", "neighbours": "record"})
    with pytest.raises((ValueError, KeyError)):
        state.play(event)


def call(*arguments):
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_show_adds_up_per_group_and_lists_its_tables(ledger):
    book(ledger, "hospital-2026", "person", people=True, table="visits.csv")
    book(ledger, "hospital-2026", "both", people=True, table="patients.csv")
    book(ledger, "wards", "record")
    shown = call("show")
    lines = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip()}
    assert lines["hospital-2026"][1:6] == ["*", "4", "2", "2", "person"]
    assert lines["patients.csv"] == ["patients.csv", "1", "in", "1"]
    assert "record" in lines["wards"]
    assert "* people" in shown
    one = call("show", "hospital-2026")
    assert "visits.csv" in one
    assert "hospital-2026: cap 4, spent 2, left 2" in one
    told = json.loads(call("show", "hospital-2026", "--json"))
    assert (told["people"], told["neighbours"]) == (True, "person")
    assert [each["table"] for each in told["tables"]] == ["patients.csv", "visits.csv"]


def test_the_commands_open_an_account_of_people_and_tell_neighbours(ledger):
    told = json.loads(
        call("cap", "hospital-2026", "4", "--new", "--people", "--reason", "agreed", "--json")
    )
    assert told["people"]
    with pytest.raises(Exception, match="Only a new account"):
        call("cap", "hospital-2026", "5", "--people", "--reason", "more")
    call("cap", "old", "4", "--new", "--reason", "agreed")
    call("spend", "old", "1", "--note", "counts")
    assert "not stated" in call("show")
    assert call("neighbours", "old", "person", "--reason", "counts of persons") == (
        "old: cap 4, spent 1, left 3\nprotects each person with all their records\n"
    )
    assert CliRunner().invoke(app, ["neighbours", "old", "nobody", "--reason", "x"]).exit_code == 2
