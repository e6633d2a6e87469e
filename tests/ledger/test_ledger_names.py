"""Names of data sets are plain, and an account keeps what it spent whatever it is called."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import CapError, LedgerError
from hedgerow.ledger.ledger import Ledger
from hedgerow.ledger.names import is_plain, nearest_plain, plain_name
from support.old_ledgers import booked, dataset, write_old

HALF = Fraction(1, 2)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def book(ledger, name, epsilon=HALF, cap=4):
    return ledger.book(name, epsilon, cap=cap, method="diffgen", plan_digest="p1")


@pytest.mark.parametrize("name", ["a", "7", "a" * 100, "adult-demo", "visits-2026", "patients.csv"])
def test_a_plain_name_will_do(ledger, name):
    assert book(ledger, name).dataset == name
    assert ledger.spent(name) == HALF


ODD = {
    "": "visits-2026",
    " ": "visits-2026",
    "a" * 101: "a" * 100,
    "a\nb": "ab",
    "tab\t": "tab",
    " adult": "adult",
    "Adult": "adult",
    "ADULT-2026": "adult-2026",
    "adult_2026": "adult-2026",
    "Haushalte [2026] %s": "haushalte-2026-s",
    "été": "ete",
    "\uff41dult": "adult",
    "\u0430dult": "adult",  # a Cyrillic letter
    "adult\u20102026": "adult-2026",
    "ad\u034fult": "adult",
    "\u202eadult": "adult",
    "adult\u200b": "adult",
    "-adult": "adult",
    "adult.": "adult",
    "'; DROP TABLE--": "drop-table",
}


@pytest.mark.parametrize(("name", "instead"), ODD.items(), ids=map(ascii, ODD))
def test_any_other_name_is_refused_with_the_one_to_use(ledger, name, instead):
    with pytest.raises(LedgerError, match="lower-case letters") as refused:
        book(ledger, name)
    assert f"Use the name {instead!r}" in refused.value.do
    assert str(refused.value).isascii()  # what is invisible in it is shown escaped
    assert ledger.accounts() == ()
    assert is_plain(instead)


@given(st.text(max_size=120))
def test_the_name_that_is_proposed_is_plain(text):
    assert is_plain(plain_name(text))
    assert plain_name(plain_name(text)) == plain_name(text)


def test_letters_that_no_plain_name_has_are_noticed():
    assert nearest_plain("Patients 2026.csv") == ("patients-2026.csv", False)
    assert nearest_plain("\u6570\u636e.csv")[1]


@pytest.mark.parametrize("twin", ["adult.2026", "adult2026", "adult--2026", "a-dult-2026"])
def test_a_plain_name_that_nearly_is_another_is_not_a_second_budget(ledger, twin):
    book(ledger, "adult-2026")
    with pytest.raises(LedgerError, match="nearly the same name, 'adult-2026'"):
        book(ledger, twin)


@pytest.fixture
def old(tmp_path):
    """A ledger from before names were plain."""
    path = tmp_path / "old.sqlite"
    name = "Visits \u00e9t\u00e9 2026"
    write_old(path, [dataset(name, "4"), booked(name, "1/2"), booked(name, "1/3")])
    return Ledger(path), name


def test_an_account_with_another_name_stays_usable(old):
    ledger, name = old
    assert ledger.spent(name) == Fraction(5, 6)
    assert ledger.spent("Visits e\u0301te\u0301 2026") == Fraction(5, 6)  # composed otherwise
    book(ledger, name)
    assert ledger.spent(name) == Fraction(4, 3)
    with pytest.raises(LedgerError, match="nearly the same name") as refused:
        book(ledger, "visits-ete-2026")
    assert "hedgerow ledger rename" in refused.value.do


def test_a_renamed_account_keeps_all_and_its_old_name_leads_to_it(old):
    ledger, name = old
    moved = ledger.rename(name, "visits-2026")
    assert (moved.name, moved.cap, moved.spent) == ("visits-2026", 4, Fraction(5, 6))
    assert [entry.dataset for entry in ledger.entries("visits-2026")] == ["visits-2026"] * 2
    assert book(ledger, name).dataset == "visits-2026"  # plans with the old name find it
    assert [account.name for account in ledger.accounts()] == ["visits-2026"]
    assert ledger.account("visits-2026").names == (name,)
    assert ledger.verify()[0] == 6


def test_a_name_that_was_given_up_is_never_a_second_budget(ledger):
    book(ledger, "a-first", 4)
    ledger.rename("a-first", "b-second")
    with pytest.raises(CapError):
        book(ledger, "a-first")
    with pytest.raises(LedgerError, match="nearly the same name"):
        book(ledger, "afirst")
    assert ledger.rename("b-second", "a-first").spent == 4  # and back
    assert ledger.spent("b-second") == 4
    ledger.verify()


def test_a_name_of_another_account_cannot_be_taken(ledger):
    book(ledger, "one")
    book(ledger, "two")
    with pytest.raises(LedgerError, match="nearly the same name, 'two'"):
        ledger.rename("one", "two")
    with pytest.raises(LedgerError, match="lower-case letters"):
        ledger.rename("one", "ONE")
    with pytest.raises(LedgerError, match="does not have this data set"):
        ledger.rename("three", "four")
