"""The page of the ledger: accounts, caps with a reason, verification, export."""

from __future__ import annotations

import html

import pytest

from hedgerow.ledger.ledger import Ledger
from hedgerow.studio.pages.ledger import shown_accounts
from support.studio import answered_here

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def booked(folder):
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.open_dataset("visits-2026", "2", "agreed")
    ledger.book_outside("visits-2026", "1/2", note=EVIL)
    return ledger


@pytest.fixture
def at_once(monkeypatch):
    """Commands without processes."""
    monkeypatch.setattr("hedgerow.studio.pages.ledger.command_answer", answered_here)


def test_accounts_are_shown_with_their_entries(browser, booked):
    text = browser.show("/ledger?plan=plan.yaml")
    assert 'hx-get="/ledger/accounts?plan=plan.yaml"' in text
    assert "visits-2026" not in text  # comes with the accounts, so that the page is there at once
    text = browser.show("/ledger/accounts?plan=plan.yaml")
    assert "visits-2026" in text
    assert ">3/2</b>" in text
    assert EVIL not in text
    assert EVIL in html.unescape(text)
    assert "--ledger ledger.sqlite" in text


def test_a_cap_is_changed_with_a_reason_and_told_as_a_command(browser, booked, at_once):
    browser.show("/ledger?plan=plan.yaml")
    sent = {"dataset": "visits-2026", "epsilon": "4", "reason": "the board said so"}
    answer = browser.send("/ledger/cap?plan=plan.yaml", sent)
    assert answer.status_code == 200, answer.text
    assert "hedgerow ledger cap visits-2026 4" in html.unescape(answer.text)
    assert booked.account("visits-2026").cap == 4
    for change in (
        {"reason": " "},
        {"epsilon": "-1"},
        {"epsilon": "--new"},
        {"dataset": "--ledger=/tmp/x"},
        {"epsilon": "lots"},
    ):
        refused = browser.send("/ledger/cap?plan=plan.yaml", {**sent, **change})
        assert refused.status_code == 422, change
    assert booked.account("visits-2026").cap == 4


def test_a_data_set_can_be_added(browser, booked, at_once):
    browser.show("/ledger?plan=plan.yaml")
    sent = {"dataset": "other-2027", "epsilon": "1", "reason": "planned", "new": "yes"}
    assert browser.send("/ledger/cap?plan=plan.yaml", sent).status_code == 200
    assert booked.account("other-2027").cap == 1


def test_the_chain_is_verified_and_taken_home(browser, booked, at_once):
    browser.show("/ledger?plan=plan.yaml")
    answer = browser.send("/ledger/verify?plan=plan.yaml")
    assert booked.verify()[1] in answer.text
    taken = browser.client.get("/ledger/export.json?plan=plan.yaml")
    assert taken.json() == booked.export()
    assert "attachment" in taken.headers["content-disposition"]


def test_a_ledger_that_is_not_there_is_told_and_not_made(browser, folder, at_once):
    browser.show("/ledger?plan=plan.yaml")
    browser.show("/ledger/accounts?plan=plan.yaml")
    assert not (folder / "ledger.sqlite").exists()


def test_accounts_of_another_kind_are_shown_with_all_they_say():
    told = {
        "datasets": [{"dataset": "d", "cap": "1", "spent": "3/2", "left": "0", "entries": []}],
        "people": [{"people": "patients", "cap": "4", "spent": "1", "covers": ["d", "e"]}],
        "note": "more",
    }
    one, other = shown_accounts(told)
    assert one["over"]
    assert (other["kind"], other["name"], other["percent"]) == ("people", "patients", 25.0)
    assert other["more"] == {"covers": '["d", "e"]'}
    assert shown_accounts({"datasets": [{"dataset": "d", "cap": None, "entries": [1]}]})
