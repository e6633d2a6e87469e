"""Releases of parts of a table cost the most that is on any record: against brute force."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from contextlib import closing
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.errors import CapError, DeltaCapError, LedgerError
from hedgerow.ledger.covers import CoverSums, added, codes_text, ranges_in, ranges_of
from hedgerow.ledger.ledger import Cover, Ledger, ReleaseTerms
from hedgerow.ledger.state import AccountBalance, State

SIZES = {"month": 5, "ward": 3}
"""The codes of two public columns."""

AMOUNTS = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(2, 7)])
PARTS = st.one_of(
    st.none(),
    st.sampled_from(list(SIZES)).flatmap(
        lambda column: st.tuples(
            st.just(column), st.sets(st.integers(0, SIZES[column] - 1), min_size=1)
        )
    ),
)
RELEASES = st.lists(st.tuples(AMOUNTS, AMOUNTS.map(lambda x: x / 10**6), PARTS), max_size=12)


def brute_force(releases):
    """Return the most epsilon and delta that a record of any codes can have been in."""
    epsilons, deltas = [Fraction(0)], [Fraction(0)]
    for codes in product(*(range(size) for size in SIZES.values())):
        record = dict(zip(SIZES, codes, strict=True))
        held = [
            (epsilon, delta)
            for epsilon, delta, part in releases
            if part is None or record[part[0]] in part[1]
        ]
        epsilons.append(sum((epsilon for epsilon, _ in held), Fraction(0)))
        deltas.append(sum((delta for _, delta in held), Fraction(0)))
    return max(epsilons), max(deltas)


def cover(part, **more):
    if part is None:
        return None
    column, codes = part
    return Cover(
        column=column, key=f"rule of {column}", codes=ranges_of(codes), values="some", **more
    )


def charged(balance, release):
    epsilon, delta, part = release
    if part is None:
        return balance.charged(epsilon, delta)
    column, codes = part
    return balance.charged(
        epsilon, delta, column=column, key=f"rule of {column}", codes=ranges_of(codes)
    )


@given(RELEASES)
def test_an_account_has_spent_the_most_that_any_record_was_in(releases):
    balance = AccountBalance(name="a", cap=Fraction(50))
    for at, release in enumerate(releases, start=1):
        balance = charged(balance, release)
        assert (balance.spent, balance.delta_spent) == brute_force(releases[:at])


@given(RELEASES, RELEASES)
def test_joined_accounts_have_spent_what_their_releases_have_on_one(ours, theirs):
    one = two = AccountBalance(name="a", cap=Fraction(50))
    for release in ours:
        one = charged(one, release)
    for release in theirs:
        two = charged(two, release)
    joined = one.joined(two)
    assert (joined.spent, joined.delta_spent) == brute_force([*ours, *theirs])


@given(st.sets(st.integers(0, 60), min_size=1))
def test_codes_are_the_same_as_ranges_and_as_text(codes):
    ranges = ranges_of(codes)
    assert {code for first, stop in ranges for code in range(first, stop)} == codes
    assert ranges_in(codes_text(ranges)) == ranges


@pytest.mark.parametrize("text", ["", "3", "4-3", "1-2 3-4", "5-6 1-2", "1-2  4-5", "a-b", "-1-2"])
def test_other_texts_of_codes_make_no_sense(text):
    with pytest.raises(ValueError, match="codes"):
        ranges_in(text)


def test_twenty_four_months_at_one_epsilon_are_one_run():
    sums = CoverSums(column="month")
    for code in range(24):
        sums = sums.charged(((code, code + 1),), Fraction(1), Fraction(0))
    assert len(sums.runs) == 1
    assert sums.epsilon == 1


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RELEASES, st.sampled_from([1, 2, 3]))
def test_the_ledger_takes_what_fits_and_no_more(tmp_path_factory, releases, cap):
    ledger = Ledger(tmp_path_factory.mktemp("covers") / "ledger.sqlite")
    taken = []
    for epsilon, delta, part in releases:
        given_ = {"cap": cap, "delta": delta, "delta_cap": "1/400000"}
        terms = ReleaseTerms(cover=cover(part))
        spent, deltas = brute_force([*taken, (epsilon, delta, part)])
        if spent > cap or deltas > Fraction(1, 400000):
            with pytest.raises((CapError, DeltaCapError)) as refused:
                ledger.book("a", epsilon, **given_, method="m", plan_digest="p", terms=terms)
            if isinstance(refused.value, CapError):
                assert refused.value.spent + epsilon == spent
            continue
        ledger.check("a", epsilon, **given_, terms=terms)
        ledger.book("a", epsilon, **given_, method="m", plan_digest="p", terms=terms)
        taken.append((epsilon, delta, part))
        balance = Ledger(ledger.path).balance("a")
        assert (balance.spent, balance.delta_spent) == brute_force(taken)
    ledger.verify()
    if taken:
        entries = ledger.entries("a")
        assert [entry.parallel for entry in entries] == [part is not None for *_, part in taken]


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def book(ledger, *months, epsilon=1, cap=1, name="visits", neighbours="record", **more):
    part = ("month", set(months)) if months else None
    terms = ReleaseTerms(neighbours=neighbours, cover=cover(part, **more))
    return ledger.book(name, epsilon, cap=cap, method="m", plan_digest="p", terms=terms)


def test_disjoint_months_may_each_have_the_whole_cap(ledger):
    for month in range(3):
        book(ledger, month)
    assert ledger.spent("visits") == 1
    for months in ((1,), (2, 3), ()):
        with pytest.raises(CapError) as refused:
            book(ledger, *months)
        assert refused.value.left == 0
    book(ledger, 3, 4)
    assert len(ledger.entries("visits")) == 4
    assert ledger.export()["datasets"][0]["covers"][0]["most-spent"] == "1"


def test_what_covers_everything_is_added_to_every_month(ledger):
    book(ledger, 0, cap=3)
    book(ledger, cap=3)
    book(ledger, 1, epsilon=2, cap=3)
    assert ledger.spent("visits") == 3
    book(ledger, 0, cap=3)
    with pytest.raises(CapError):
        book(ledger, 0, cap=3)


def test_another_domain_of_the_column_adds_up_and_the_refusal_says_why(ledger):
    book(ledger, 0)
    other = Cover(column="month", key="a longer calendar", codes=((1, 2),), values="2026-02")
    with pytest.raises(CapError) as refused:
        ledger.book(
            "visits", 1, cap=1, method="m", plan_digest="p", terms=ReleaseTerms(cover=other)
        )
    assert any("with another domain" in note for note in refused.value.__notes__)


@pytest.mark.parametrize("neighbours", ["person", "both"])
def test_people_add_up_unless_somebody_says_why_not(ledger, neighbours):
    book(ledger, 0, cap=2, neighbours=neighbours)
    book(ledger, 1, cap=2, neighbours=neighbours)
    assert ledger.spent("visits") == 2
    assert not any(entry.parallel for entry in ledger.entries("visits"))
    with pytest.raises(CapError) as refused:
        book(ledger, 2, cap=2, neighbours=neighbours)
    assert any("people-disjoint" in note for note in refused.value.__notes__)


def test_people_who_are_in_one_part_each_do_not_add_up(ledger):
    for month in range(3):
        book(ledger, month, neighbours="person", disjoint="each card is of one month")
    assert ledger.spent("visits") == 1
    assert "each card is of one month" in json.dumps(ledger.export())
    with pytest.raises(CapError):
        book(ledger, 4, neighbours="person")  # this one may hold anybody


def test_one_record_per_person_is_in_parallel_on_an_account_of_records_alone(ledger):
    book(ledger, 0)  # per record
    book(ledger, 1, neighbours="both")
    assert ledger.spent("visits") == 1


def test_what_was_spent_outside_covers_everything(ledger):
    book(ledger, 0, cap=2)
    ledger.book_outside("visits", 1, note="counts given away")
    assert ledger.spent("visits") == 2
    book(ledger, 1, cap=2)
    with pytest.raises(CapError):
        book(ledger, 1, cap=2)


def test_a_cap_below_what_is_on_one_month_closes_the_others_too(ledger):
    book(ledger, 0, epsilon=2, cap=2)
    ledger.set_cap("visits", 1, "too much")
    with pytest.raises(CapError) as refused:
        book(ledger, 1, epsilon="1/2", cap=1)
    assert refused.value.spent == 2


def test_covers_go_along_when_accounts_are_joined_and_renamed(ledger):
    book(ledger, 0, cap=3, name="a-table")
    book(ledger, 0, 1, cap=3, name="b-table")
    ledger.same_people("a-table", "b-table")
    assert ledger.spent("a-table") == 2
    ledger.rename("a-table", "records-2026")
    book(ledger, 1, 2, cap=3, name="b-table")
    assert ledger.spent("records-2026") == 2
    ledger.verify()


def test_the_state_with_covers_is_the_same_played_or_kept(ledger):
    book(ledger, 0, 3)
    book(ledger, 1)
    with ledger._store.reading() as draft:
        kept = draft.state
        again = State()
        for event in draft.check_all():
            again.play(event.fields)
        assert again.rows == kept.rows
        assert State(kept.rows).find("visits") == kept.find("visits")


def test_codes_that_were_changed_in_the_sums_are_noticed(ledger):
    book(ledger, 0)
    with closing(sqlite3.connect(ledger.path)) as database:
        database.execute("UPDATE state SET value = replace(value, '[[0, 1,', '[[7, 8,')")
        database.commit()
    with pytest.raises(LedgerError, match="its sums are not those"):
        book(ledger, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is killed")
def test_bookings_with_covers_of_killed_processes_are_there_or_not(ledger):
    book(ledger, 0, cap=50)
    for month in range(1, 6):
        child = os.fork()
        if not child:
            signal.setitimer(signal.ITIMER_REAL, 0.004 * month)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process wherever it is
            while True:
                book(Ledger(ledger.path), month, cap=50)
        os.waitpid(child, 0)
    n_events, _ = ledger.verify()
    entries = ledger.entries("visits")
    assert n_events == 1 + len(entries)
    by_month = {}
    for event in ledger.export()["events"]:
        told = json.loads(event["body"])
        if told["kind"] == "booked":
            by_month[told["cover_codes"]] = by_month.get(told["cover_codes"], 0) + 1
    assert ledger.spent("visits") == max(by_month.values())


def test_sums_are_exact_up_to_sixty_digits_and_rounded_up_beyond():
    finest = Fraction(1, 10**60)
    assert added(finest, Fraction(0)) == finest
    finer = Fraction(1, 10**60 + 1)
    assert added(finer, Fraction(0)) == finest
    third = Fraction(1, 3 * 10**60)
    assert added(Fraction(1), third) == 1 + finest
    assert added(Fraction(1, 3), Fraction(1, 7)) == Fraction(10, 21)
