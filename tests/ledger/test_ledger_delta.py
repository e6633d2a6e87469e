"""The ledger keeps delta as it keeps epsilon: exactly, under a cap, and none unless allowed."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from hedgerow.cli.ledger import app
from hedgerow.errors import CapError, DeltaCapError, LedgerError, SettingError
from hedgerow.ledger.ledger import Ledger
from hedgerow.plan.load import plan_digest, plan_of
from hedgerow.privacy.budget import parse_delta
from support.old_ledgers import booked, dataset, write_old

MILLIONTH = Fraction(1, 10**6)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def book(ledger, *, epsilon=1, delta=MILLIONTH, delta_cap=2 * MILLIONTH, **more):
    return ledger.book(
        "adult",
        epsilon,
        cap=4,
        method="truthful",
        plan_digest="p1",
        delta=delta,
        delta_cap=delta_cap,
        **more,
    )


def test_deltas_add_up_and_stop_at_their_cap(ledger):
    book(ledger)
    book(ledger)
    account = ledger.account("adult")
    assert (account.delta_spent, account.delta_left) == (2 * MILLIONTH, 0)
    with pytest.raises(DeltaCapError, match="Delta 1e-06 is more than the 0 left") as refused:
        book(ledger)
    assert refused.value.exit_code == 3
    assert (refused.value.needed, refused.value.left) == (MILLIONTH, 0)
    book(ledger, delta=0)  # pure epsilon costs no delta
    assert ledger.spent("adult") == 3


def test_no_delta_is_booked_where_none_was_agreed_on(ledger):
    with pytest.raises(DeltaCapError, match="delta-cap 0"):
        book(ledger, delta_cap=0)
    assert ledger.accounts() == ()
    assert ledger.verify() == (0, "")


def test_epsilon_is_still_capped(ledger):
    with pytest.raises(CapError):
        book(ledger, epsilon=5)


def test_a_check_refuses_the_delta_that_a_booking_would(ledger):
    with pytest.raises(DeltaCapError):
        ledger.check("adult", 1, cap=4, delta=MILLIONTH)
    assert ledger.check("adult", 1, cap=4, delta=MILLIONTH, delta_cap=MILLIONTH).delta_left


def test_a_plan_with_another_delta_cap_is_refused_and_told_how_to_change_it(ledger):
    book(ledger)
    with pytest.raises(LedgerError, match="ledger cap adult 4 --delta 1/100 --reason"):
        book(ledger, delta_cap="1/100")


def test_the_delta_cap_changes_with_a_reason_and_stays_if_not_named(ledger):
    book(ledger)
    assert ledger.set_cap("adult", 6, "more").delta_cap == 2 * MILLIONTH
    assert ledger.set_cap("adult", 6, "less", delta_cap=0).delta_left == 0
    with pytest.raises(DeltaCapError):
        ledger.book(
            "adult", 1, cap=6, method="truthful", plan_digest="p", delta=MILLIONTH, delta_cap=0
        )


def test_what_was_spent_elsewhere_counts_with_its_delta(ledger):
    ledger.open_dataset("adult", 4, "agreed", delta_cap="1e-6")
    entry = ledger.book_outside("adult", 1, note="for the ministry", delta="1e-5")
    assert entry.delta == Fraction(1, 10**5)
    assert ledger.account("adult").delta_left == 0


@settings(max_examples=10)
@given(deltas=st.lists(st.fractions(0, Fraction(1, 50)), min_size=1, max_size=5))
def test_sums_of_delta_are_exact(tmp_path_factory, deltas):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "l.sqlite")
    for delta in deltas:
        book(ledger, epsilon="1/10", delta=delta, delta_cap="1/2")
    assert ledger.account("adult").delta_spent == sum(deltas)


def as_format_1(path):
    """Write a ledger as an earlier hedgerow did: without a word about delta."""
    silent = {"delta_cap", "delta"}
    events = [dataset("adult", "4"), booked("adult", "1/2")]
    told = [(kind, {k: v for k, v in said.items() if k not in silent}) for kind, said in events]
    write_old(path, told, version=1)


def version_of(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


def test_a_ledger_from_before_delta_is_read_and_moves_on_with_its_next_event(tmp_path):
    path = tmp_path / "old.sqlite"
    as_format_1(path)
    old = Ledger(path)
    account = old.account("adult")
    assert (account.spent, account.delta_cap, account.delta_spent) == (Fraction(1, 2), 0, 0)
    assert version_of(path) == 1  # reading changes nothing
    with pytest.raises(DeltaCapError):
        book(old, delta_cap=0)
    assert version_of(path) == 1
    old.set_cap("adult", 4, "truthful releases agreed on", delta_cap=2 * MILLIONTH)
    assert version_of(path) == 4  # from here on no hedgerow that ignores delta may write
    book(old)
    assert Ledger(path).account("adult").delta_spent == MILLIONTH
    assert Ledger(path).verify()[0] == 5  # one says that the format has changed


def call(*arguments):
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_command_line_shows_and_sets_delta(ledger, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(ledger.path))
    monkeypatch.setenv("COLUMNS", "140")
    call("cap", "adult", "4", "--new", "--delta", "2e-6", "--reason", "agreed")
    book(ledger)
    call("spend", "adult", "1/2", "--delta", "5e-7", "--note", "ministry")
    shown = call("show", "adult")
    assert "delta: cap 2e-06, spent 1.5e-06, left 5e-07" in shown
    assert "5e-07" in shown
    assert "delta spent" in call("show")
    one = json.loads(call("show", "adult", "--json"))
    assert (one["delta-cap"], one["delta-spent"]) == ("1/500000", "3/2000000")
    exported = json.loads(call("export"))
    assert exported["datasets"][0]["entries"][0]["delta"] == "1/1000000"


def test_a_ledger_without_delta_is_shown_as_before(ledger, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(ledger.path))
    book(ledger, delta=0, delta_cap=0)
    assert "delta" not in call("show", "--quiet")
    assert "delta" not in call("show", "adult")


@pytest.mark.parametrize("given_delta", [1, "3/2", -1, "1e-50", "little", True])
def test_what_cannot_be_a_delta_is_refused(given_delta):
    with pytest.raises(SettingError, match="delta"):
        parse_delta(given_delta)


def test_a_plan_may_allow_delta_and_its_digest_stays_if_it_does_not():
    plan = {"attributes": {"age": {"numeric": [0, 9]}}, "ledger": {"dataset": "a", "cap": 1}}
    silent = plan_of(plan)
    assert silent.ledger.delta_cap is None
    # As it was before plans knew delta.
    assert "delta-cap" not in json.dumps(silent.ledger.model_dump(exclude_none=True, by_alias=True))
    allowed = plan_of({**plan, "ledger": {"dataset": "a", "cap": 1, "delta-cap": "1e-6"}})
    assert allowed.ledger.delta_cap == MILLIONTH
    assert plan_digest(allowed) != plan_digest(silent)
