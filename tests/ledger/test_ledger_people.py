"""The same records under a second name are refused until a person says why."""

from __future__ import annotations

import json
import os
import stat
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from hedgerow.cli.ledger import app
from hedgerow.errors import CapError, LedgerError, SameRecordsError
from hedgerow.ledger.key import key_path, read_key
from hedgerow.ledger.ledger import ColumnDigests, Ledger

TABLE = {"age": 17, "ward": 4, "sick": 99}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def columns(ledger, sums, *, named=True):
    key = read_key(ledger.path)
    return ColumnDigests(key=key.name, digests=key.finished(sums), named=named)


def book(ledger, name, sums=None, *, cap=4, epsilon=1, named=True):
    seen = None if sums is None else columns(ledger, sums, named=named)
    return ledger.book(name, epsilon, cap=cap, method="m", plan_digest="p", columns=seen)


def refused(ledger, name, sums, **more):
    before = ledger.verify()
    with pytest.raises(SameRecordsError) as error:
        book(ledger, name, sums, **more)
    assert ledger.verify() == before  # nothing was booked, nothing added
    assert error.value.exit_code == 3
    return error.value


def test_the_same_records_under_a_second_name_are_refused(ledger):
    book(ledger, "visits", TABLE)
    book(ledger, "visits", TABLE)
    error = refused(ledger, "copy", TABLE)
    assert "as data set 'visits'" in error.what
    assert "hedgerow ledger same-people visits copy" in error.do
    assert "hedgerow ledger different visits copy --reason" in error.do


@pytest.mark.parametrize(
    ("sums", "same"),
    [
        ({"age": 17, "ward": 4}, True),  # fewer columns
        ({"age": 17, "ward": 4, "sick": 99, "town": 1}, True),  # more columns
        ({"age": 17, "ward": 4, "sick": 98}, False),  # one differs
        ({"age": 17, "town": 4}, False),  # one shared column is not enough
        ({"town": 17, "street": 4}, False),
        ({"age": 4, "ward": 17}, False),
        ({}, False),
    ],
)
def test_two_or_more_shared_columns_must_all_agree(ledger, sums, same):
    book(ledger, "visits", TABLE)
    if same:
        refused(ledger, "copy", sums)
    else:
        assert book(ledger, "copy", sums).dataset == "copy"


def test_tables_of_one_account_are_all_remembered(ledger):
    book(ledger, "visits", {"age": 1, "ward": 1})
    book(ledger, "visits", {"age": 2, "ward": 2})  # the next month's table of the same people
    refused(ledger, "copy", {"age": 1, "ward": 1})
    refused(ledger, "copy", {"age": 2, "ward": 2})
    book(ledger, "others", {"age": 1, "ward": 2})


def test_same_people_are_one_account_for_good(ledger):
    book(ledger, "visits", TABLE, cap=4, epsilon=1)
    book(ledger, "copy", cap=3, epsilon=2)  # before tables were recognised
    joined = ledger.same_people("visits", "copy")
    assert (joined.name, joined.cap, joined.spent) == ("visits", 3, 3)
    assert [entry.dataset for entry in ledger.entries("copy")] == ["visits", "visits"]
    for name in ("visits", "copy"):
        with pytest.raises(CapError):
            book(ledger, name, TABLE, cap=3)
    with pytest.raises(LedgerError, match="one account already"):
        ledger.same_people("copy", "visits")
    with pytest.raises(LedgerError, match="cannot be undone"):
        ledger.different("visits", "copy", "I have changed my mind")
    assert ledger.account("visits").as_dict()["also"] == ["copy"]


def test_a_name_that_is_not_there_yet_can_be_joined(ledger):
    book(ledger, "visits", TABLE)
    refused(ledger, "copy", TABLE)
    ledger.same_people("visits", "copy")
    assert book(ledger, "copy", TABLE).dataset == "visits"
    assert ledger.spent("visits") == 2


def test_joined_accounts_bring_their_tables_along(ledger):
    book(ledger, "a-table", {"age": 1, "ward": 1})
    book(ledger, "b-table", {"age": 2, "ward": 2})
    ledger.same_people("a-table", "b-table")
    assert "'a-table'" in refused(ledger, "third", {"age": 2, "ward": 2}).what
    ledger.rename("a-table", "people")
    assert "'people'" in refused(ledger, "third", {"age": 2, "ward": 2}).what
    assert book(ledger, "b-table", {"age": 2, "ward": 2}).dataset == "people"


def test_the_smaller_delta_cap_holds_too(ledger):
    ledger.open_dataset("one", 4, delta_cap="1e-6")
    ledger.open_dataset("two", 5, delta_cap="1e-9")
    assert ledger.same_people("one", "two").delta_cap == Fraction(1, 10**9)


def test_a_reason_lets_both_be_published_and_is_kept(ledger):
    book(ledger, "visits", TABLE)
    refused(ledger, "copy", TABLE)
    with pytest.raises(LedgerError, match="reason is empty"):
        ledger.different("visits", "copy", " ")
    ledger.different("visits", "copy", "both are made up")
    assert book(ledger, "copy", TABLE).dataset == "copy"
    book(ledger, "visits", TABLE)  # nor the other way round
    assert "both are made up" in json.dumps(ledger.export())
    refused(ledger, "third", TABLE)  # the reason was for two names


def test_another_table_of_a_files_name_is_refused(ledger):
    book(ledger, "data.csv", TABLE, named=False)
    book(ledger, "data.csv", TABLE, named=False)
    other = {"age": 18, "ward": 5, "sick": 99}
    error = refused(ledger, "data.csv", other, named=False)
    assert "does not agree" in error.what
    assert "ledger: {dataset: NAME" in error.do
    refused(ledger, "data.csv", {"town": 1, "street": 2}, named=False)  # nothing can be told
    book(ledger, "data.csv", other)  # a person has written the name


def test_an_account_without_tables_takes_the_first(ledger):
    book(ledger, "data.csv")
    book(ledger, "data.csv", TABLE, named=False)


def test_no_digest_and_no_key_is_ever_shown(ledger, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(ledger.path))
    book(ledger, "visits", TABLE)
    seen = columns(ledger, TABLE)
    hidden = [*seen.digests.values(), read_key(ledger.path).secret.hex(), seen.key]
    said = [str(refused(ledger, "copy", TABLE)), repr(seen), repr(read_key(ledger.path))]
    said += [json.dumps(ledger.export()), str(ledger.accounts())]
    for command in (["show"], ["show", "visits"], ["show", "--json"], ["export"], ["verify"]):
        said.append(CliRunner().invoke(app, command).stdout)
    assert all(len(text) > 10 for text in said)
    assert not [text for text in said for secret in hidden if secret in text]


@pytest.mark.skipif(os.name != "posix", reason="file modes are a matter of POSIX")
def test_the_key_is_a_file_of_its_own_that_only_its_owner_can_read(ledger):
    first = read_key(ledger.path)
    path = key_path(ledger.path)
    assert path.name == "ledger.sqlite.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(ledger.path) == first
    path.chmod(0o644)
    with pytest.raises(LedgerError, match="Every user of this computer may read"):
        read_key(ledger.path)
    path.chmod(0o640)  # colleagues who share a ledger share its key
    assert read_key(ledger.path) == first


def test_a_lost_key_is_noticed_and_a_person_says_so(ledger):
    book(ledger, "visits", TABLE)
    key_path(ledger.path).unlink()
    with pytest.raises(LedgerError, match="not the one with which its tables were recognised"):
        book(ledger, "copy", TABLE)
    assert ledger.spent("visits") == 1
    with pytest.raises(LedgerError, match="reason is empty"):
        ledger.new_key("")
    ledger.new_key("the disk broke")
    book(ledger, "visits", TABLE)
    refused(ledger, "copy", TABLE)
    assert "the disk broke" in json.dumps(ledger.export())


def test_a_damaged_key_is_named(ledger):
    read_key(ledger.path)
    key_path(ledger.path).write_bytes(b"short")
    with pytest.raises(LedgerError, match="key is damaged") as error:
        read_key(ledger.path)
    assert "new-key" in error.value.do


def test_a_finished_digest_cannot_be_subtracted(ledger):
    key = read_key(ledger.path)
    one, two, third = (int(key.finished({"age": n})["age"], 16) for n in (1, 2, 3))
    assert two - one != third - two
    assert len({one, two, third, int(key.finished({"ward": 1})["ward"], 16)}) == 4


def test_the_commands_join_part_and_rename(ledger, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(ledger.path))
    monkeypatch.setenv("COLUMNS", "120")
    book(ledger, "one", TABLE)
    book(ledger, "two", cap=2)

    def call(*given):
        result = CliRunner().invoke(app, list(given), catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    assert call("different", "one", "made-up", "--reason", "a test") == (
        "one and made-up have separate accounts.\n"
    )
    assert call("same-people", "one", "two") == "one: cap 2, spent 2, left 0\n"
    assert call("rename", "one", "people-2026") == "people-2026: cap 2, spent 2, left 0\n"
    assert json.loads(call("rename", "people-2026", "one", "--json"))["dataset"] == "one"
    assert "recognised again" in call("new-key", "--reason", "lost")
    assert CliRunner().invoke(app, ["different", "one", "three"]).exit_code == 2
