"""Budgets are exact, and no path of a path ledger is ever overdrawn."""

from __future__ import annotations

import math
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hedgerow.errors import InternalError, OverdraftError, SettingError
from hedgerow.privacy.budget import (
    MAX_EPSILON,
    MIN_EPSILON,
    Booking,
    PathLedger,
    epsilon_text,
    parse_delta,
    parse_epsilon,
    round_down,
    upward_text,
)

HALF, THIRD, TENTH = Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (1, Fraction(1)),
        (0.1, TENTH),
        (0.3, Fraction(3, 10)),
        (1e-9, MIN_EPSILON),
        (50, MAX_EPSILON),
        ("0.1", TENTH),
        (" 1/2 ", HALF),
        ("1 / 3", THIRD),
        ("1e-3", Fraction(1, 1000)),
        ("+2.", Fraction(2)),
        (".5", HALF),
        (Decimal("0.10"), TENTH),
        (THIRD, THIRD),
        (np.float64(0.1), TENTH),
        (np.int64(3), Fraction(3)),
    ],
)
def test_epsilon_is_the_fraction_that_its_writer_meant(value, exact):
    parsed = parse_epsilon(value)
    assert parsed == exact
    assert type(parsed) is Fraction


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1, 0.0, -0.5, "0", "-1/2", "0/5", 1e-10, "1/10000000000", Decimal("1e-12")),
        *(math.nan, math.inf, -math.inf, "nan", "inf", Decimal("NaN"), Decimal("Infinity")),
        *("1/0", "", "one", "1,5", "1_0", "１", "0x1", "1/2/3", "1e5000", "1e999999999", "1\n2"),
        *(True, False, None, [1], {"a": 1}, 1j, b"1"),
        *(51, 50.000001, "1e9", 10**9, Decimal("1e999999"), Fraction(501, 10)),
        *("0." + "1" * 50, Fraction(1, 10**31 + 1) + 1, "1" * 200),
    ],
)
def test_an_unusable_epsilon_is_refused_in_one_message(value):
    with pytest.raises(SettingError) as refused:
        parse_epsilon(value, where="publish: epsilon")
    assert str(refused.value).startswith("publish: epsilon: ")
    assert "Give " in str(refused.value)
    assert len(str(refused.value)) < 250


def test_an_epsilon_above_fifty_is_refused_for_protecting_nothing():
    with pytest.raises(SettingError, match="nothing is protected"):
        parse_epsilon(51)
    with pytest.raises(SettingError, match="thousands of digits"):
        parse_epsilon(10**5000)


@given(st.fractions(MIN_EPSILON, MAX_EPSILON, max_denominator=10**12))
@settings(max_examples=100, deadline=None)
def test_epsilon_survives_its_own_text(value):
    assert parse_epsilon(str(value)) == value
    assert Fraction(epsilon_text(value).split(" ")[0]) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(4), "4"),
        (Fraction(1, 20), "1/20 (0.05)"),
        (THIRD, "1/3 (about 0.3333)"),
        (Fraction(1, 2**40), f"1/{2**40} (about 9.095e-13)"),
    ],
)
def test_epsilon_is_shown_as_a_fraction_with_a_decimal_beside_it(value, text):
    assert epsilon_text(value) == text


@given(st.fractions(0, 50))
@settings(max_examples=100, deadline=None)
def test_rounding_down_gives_the_largest_float_not_above_the_share(share):
    rounded = round_down(share)
    assert Fraction(rounded) <= share
    assert Fraction(math.nextafter(rounded, math.inf)) > share


def test_rounding_down_differs_from_rounding_to_nearest_where_that_goes_up():
    assert round_down(TENTH) < 0.1  # the double 0.1 is a little above one tenth
    assert round_down(HALF) == 0.5


def test_shares_of_one_path_add_up_and_the_rest_settles_it():
    ledger = PathLedger(Fraction(1))
    assert ledger.spend(TENTH, on="specialisation 1") == TENTH
    assert ledger.spend(TENTH, on="specialisation 2") == TENTH
    assert ledger.left() == Fraction(4, 5)
    assert not ledger.settled()
    assert ledger.spend_rest(on="counts") == Fraction(4, 5)
    assert ledger.settled()
    assert ledger.worst_path() == 1
    assert ledger.bookings == (
        Booking(on="specialisation 1", share=TENTH, level=0, times=1),
        Booking(on="specialisation 2", share=TENTH, level=0, times=1),
        Booking(on="counts", share=Fraction(4, 5), level=0, times=1),
    )


def test_disjoint_boxes_pay_in_parallel_and_children_inherit():
    ledger = PathLedger(Fraction(1))
    ledger.spend(TENTH, on="choice")
    left, right = ledger.branch(0, 2)
    ledger.spend(HALF, on="choice", nodes=np.array([left, right]))
    assert ledger.worst_path() == HALF + TENTH
    deep = ledger.branch(int(left), 3)
    ledger.spend(THIRD, on="choice", nodes=deep[:1])
    leaves = np.array([right, *deep])
    rest = ledger.spend_rest(on="counts", nodes=leaves)
    assert list(rest) == [Fraction(2, 5), Fraction(1, 15), Fraction(2, 5), Fraction(2, 5)]
    assert list(rest[1:3]) == [rest[1], rest[2]]
    assert {share: list(at) for share, at in rest.groups()} == {
        Fraction(2, 5): [0, 2, 3],
        Fraction(1, 15): [1],
    }
    assert ledger.settled()
    assert Booking(on="counts", share=Fraction(2, 5), level=2, times=2) in ledger.bookings


def test_children_are_numbered_in_the_order_of_their_parents():
    ledger = PathLedger(Fraction(1))
    a, b = ledger.branch(0, 2)
    children = ledger.branch(np.array([b, a]), np.array([1, 2]))
    ledger.spend(HALF, on="choice", nodes=children[:1])  # the only child of b
    assert list(ledger.left(children)) == [HALF, 1, 1]
    assert ledger.n_nodes == 6


def test_an_overdraft_on_one_path_books_nothing_on_any():
    ledger = PathLedger(Fraction(1))
    poor, rich = ledger.branch(0, 2)
    ledger.spend(Fraction(9, 10), on="choice", nodes=int(poor))
    booked = ledger.bookings
    with pytest.raises(OverdraftError, match=r"'counts' needs 1/5.* only 1/10 of 1 left"):
        ledger.spend(Fraction(1, 5), on="counts", nodes=np.array([rich, poor]))
    assert list(ledger.left(np.array([poor, rich]))) == [TENTH, 1]
    assert ledger.bookings == booked


def test_an_exact_fit_is_no_overdraft_where_floats_would_make_it_one():
    ledger = PathLedger(Fraction(3, 10))
    for _ in range(3):
        ledger.spend(TENTH, on="choice")  # 0.1 + 0.1 + 0.1 > 0.3 in doubles
    assert ledger.settled()


def test_a_path_with_nothing_left_has_no_rest_to_spend():
    ledger = PathLedger(Fraction(1))
    ledger.spend_rest(on="counts")
    with pytest.raises(OverdraftError):
        ledger.spend_rest(on="counts again")


def test_a_booking_on_no_box_books_nothing():
    ledger = PathLedger(Fraction(1))
    nobody = np.array([], dtype=np.int64)
    ledger.spend(HALF, on="choice", nodes=nobody)
    assert len(ledger.spend_rest(on="counts", nodes=nobody)) == 0
    assert ledger.branch(nobody, 2).size == 0
    assert ledger.bookings == ()
    assert ledger.worst_path() == 0


MISUSES = {
    "a branched box spends": lambda ledger: ledger.spend(TENTH, on="late", nodes=0),
    "a branched box spends its rest": lambda ledger: ledger.spend_rest(on="late"),
    "a branched box branches": lambda ledger: ledger.branch(0, 2),
    "a box is named twice": lambda ledger: ledger.spend(TENTH, on="x", nodes=np.array([2, 1, 2])),
    "a box is unknown": lambda ledger: ledger.spend(TENTH, on="x", nodes=9),
    "a box is negative": lambda ledger: ledger.spend(TENTH, on="x", nodes=-1),
    "a mask names boxes": lambda ledger: ledger.spend(TENTH, on="x", nodes=np.ones(2, dtype=bool)),
    "boxes form a table": lambda ledger: ledger.left(np.array([[1, 2]])),
    "a share is a float": lambda ledger: ledger.spend(0.1, on="x", nodes=1),
    "a share is zero": lambda ledger: ledger.spend(Fraction(0), on="x", nodes=1),
    "a share is negative": lambda ledger: ledger.spend(-TENTH, on="x", nodes=1),
    "a box gets no child": lambda ledger: ledger.branch(1, 0),
    "a box gets half a child": lambda ledger: ledger.branch(1, np.array([0.5])),
    "a ledger of nothing": lambda _: PathLedger(Fraction(0)),
    "a ledger of a float": lambda _: PathLedger(1.0),
}


@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES.keys())
def test_a_method_that_misuses_the_ledger_is_a_bug(misuse):
    ledger = PathLedger(Fraction(1))
    ledger.branch(0, 2)
    with pytest.raises(InternalError):
        misuse(ledger)
    assert list(ledger.left(np.array([1, 2]))) == [1, 1]
    assert ledger.bookings == ()


def test_results_cannot_be_changed():
    ledger = PathLedger(Fraction(1))
    shares = ledger.left(ledger.branch(0, 2))
    with pytest.raises(ValueError, match="read-only"):
        shares.which[0] = 1


def test_half_a_million_boxes_are_booked_in_a_moment():
    ledger = PathLedger(Fraction(1))
    began = time.process_time()
    nodes = ledger.branch(0, 2)
    for level in range(18):
        ledger.spend(Fraction(1, 40), on=f"level {level}", nodes=nodes)
        nodes = ledger.branch(nodes, 2)
    assert set(ledger.spend_rest(on="counts", nodes=nodes).values) == {Fraction(22, 40)}
    assert time.process_time() - began < 1.5
    assert ledger.settled()


class PathLedgerMachine(RuleBasedStateMachine):
    """The path ledger beside a naive model: every leaf with the list of its payments."""

    def __init__(self):
        super().__init__()
        self.ledger = PathLedger(Fraction(1))
        self.paths = {0: []}

    def some_leaves(self, data):
        return data.draw(st.lists(st.sampled_from(sorted(self.paths)), unique=True, max_size=5))

    @precondition(lambda self: len(self.paths) < 40)
    @rule(data=st.data())
    def branch(self, data):
        parents = self.some_leaves(data)
        counts = data.draw(
            st.lists(st.integers(1, 3), min_size=len(parents), max_size=len(parents))
        )
        children = iter(
            self.ledger.branch(np.array(parents, dtype=np.int64), np.array(counts, int))
        )
        for parent, count in zip(parents, counts, strict=True):
            paid = self.paths.pop(parent)
            for _ in range(count):
                self.paths[int(next(children))] = list(paid)
        assert next(children, None) is None

    @rule(data=st.data(), share=st.fractions(Fraction(1, 100), HALF, max_denominator=100))
    def spend(self, data, share):
        leaves = self.some_leaves(data)
        fits = all(sum(self.paths[leaf]) + share <= 1 for leaf in leaves)
        try:
            self.ledger.spend(share, on="choice", nodes=np.array(leaves, dtype=np.int64))
        except OverdraftError:
            assert not fits
        else:
            assert fits
            for leaf in leaves:
                self.paths[leaf].append(share)

    @rule(data=st.data())
    def spend_rest(self, data):
        leaves = self.some_leaves(data)
        rest = [1 - sum(self.paths[leaf]) for leaf in leaves]
        nodes = np.array(leaves, dtype=np.int64)
        if 0 in rest:
            with pytest.raises(OverdraftError):
                self.ledger.spend_rest(on="counts", nodes=nodes)
            return
        assert list(self.ledger.spend_rest(on="counts", nodes=nodes)) == rest
        for leaf, share in zip(leaves, rest, strict=True):
            self.paths[leaf].append(share)

    @invariant()
    def every_path_agrees_with_the_model(self):
        sums = [sum(paid, Fraction(0)) for paid in self.paths.values()]
        leaves = np.array(list(self.paths), dtype=np.int64)
        assert list(self.ledger.left(leaves)) == [1 - total for total in sums]
        assert self.ledger.worst_path() == max(sums) <= 1
        assert self.ledger.settled() == all(total == 1 for total in sums)


PathLedgerMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=20, deadline=None
)
TestPathLedgerAgreesWithANaiveModel = PathLedgerMachine.TestCase


@pytest.mark.parametrize("value", ["0", "1/2", "1e-9", "0.999"])
def test_a_delta_from_zero_to_below_one_is_taken(value):
    assert parse_delta(value) == Fraction(value)


@pytest.mark.parametrize("value", ["1", "1.5", "-1/1000", 2])
def test_any_other_delta_is_refused(value):
    with pytest.raises(SettingError, match="from 0 to below 1"):
        parse_delta(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 4), "0.25"),
        (Fraction(1, 3), "0.334"),
        (Fraction(2, 3), "0.667"),
        (Fraction(10**9 + 1), "1.01e+09"),
    ],
)
def test_a_bound_is_printed_as_the_next_short_decimal_that_is_not_below_it(value, text):
    assert upward_text(value) == text
    assert Fraction(Decimal(text)) >= value
