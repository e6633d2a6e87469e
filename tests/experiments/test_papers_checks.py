"""Checks of statements: what holds, what does not, and what is said of it."""

from __future__ import annotations

import pytest

from experiments import checks, trends
from experiments.curves import Curves


def curves(**lines):
    """One panel 'p', places 1, 2, ... for the values given."""
    return Curves.of(
        ("p", name, x + 1, y) for name, values in lines.items() for x, y in enumerate(values)
    )


RISING, FALLING, HILL = [1, 2, 3], [3, 2, 1], [1, 3, 1]

HOLDS_AND_NOT = [
    (checks.near("p", "a", 2, 10, within=1), {"a": [0, 10.5]}, {"a": [0, 12]}),
    (
        checks.difference_near("p", "a", "b", 1, 3, within=0.5),
        {"a": [9], "b": [6]},
        {"a": [9], "b": [5]},
    ),
    (
        checks.difference_between("p", "a", "b", 1, 2),
        {"a": [5, 6], "b": [4, 4]},
        {"a": [5, 8], "b": [4, 4]},
    ),
    (checks.most_near("p", "a", 78, within=1), {"a": [70, 78.5]}, {"a": [70, 80]}),
    (checks.stays_above("p", "a", 2), {"a": [2, 3]}, {"a": [1.9, 3]}),
    (checks.stays_below("p", ["a", "b"], 2), {"a": [1], "b": [2]}, {"a": [1], "b": [3]}),
    (checks.stays_below("p", "a", 2, at=2), {"a": [9, 1]}, {"a": [1, 9]}),
    (trends.rises("p", "a"), {"a": RISING}, {"a": FALLING}),
    (trends.rises("p", "a", slack=0.5), {"a": [1, 0.6, 3]}, {"a": [1, 0.4, 3]}),
    (trends.falls("p", "a"), {"a": FALLING}, {"a": HILL}),
    (trends.ordered("p", "a", "b"), {"a": [1, 2], "b": [2, 2]}, {"a": [2, 3], "b": [2, 2]}),
    (trends.ordered("p", "a", "b", at=2), {"a": [9, 1], "b": [0, 2]}, {"a": [0, 2], "b": [9, 1]}),
    (trends.above("p", "a", "b"), {"a": [2, 2], "b": [1, 2]}, {"a": [2, 2], "b": [1, 3]}),
    (trends.above("p", "a", "b", until=1), {"a": [2, 0], "b": [1, 1]}, {"a": [0, 2], "b": [1, 1]}),
    (trends.lies_apart("p", "a", "b"), {"a": [2, 2], "b": [1, 1]}, {"a": [2, 2], "b": [1, 2]}),
    (trends.any_above("p", "a", "b"), {"a": [0, 2], "b": [1, 1]}, {"a": [0, 1], "b": [1, 1]}),
    (
        checks.share_of("p", "a", "b", least=0.8),
        {"a": [8, 9], "b": [10, 10]},
        {"a": [7, 9], "b": [10, 10]},
    ),
    (
        checks.times_larger("p", "a", "b", 10),
        {"a": [10, 20], "b": [1]},
        {"a": [10, 20], "b": [1, 2]},
    ),
    (trends.rises_then_falls("p", "a"), {"a": HILL}, {"a": RISING}),
    (trends.linear("p", "a"), {"a": [1, 2, 3.1]}, {"a": [1, 9, 1]}),
    (trends.steady("p", "a", ratio=2), {"a": [1, 2]}, {"a": [1, 2.1]}),
    (trends.range_ordered("p", "a", "b"), {"a": [1, 2], "b": [1, 3]}, {"a": [1, 4], "b": [1, 3]}),
    (
        trends.range_ordered("p", "a", "b", absolute=True),
        {"a": [1, 3], "b": [10, 15]},
        {"a": [1, 9], "b": [10, 15]},
    ),
]


@pytest.mark.parametrize(("check", "good", "bad"), HOLDS_AND_NOT)
def test_a_check_holds_for_the_one_and_fails_for_the_other(check, good, bad):
    assert check(curves(**good)).agrees is True
    wrong = check(curves(**bad))
    assert wrong.agrees is False
    assert wrong.found.endswith(")")  # what was found, and by how much it is off


@pytest.mark.parametrize("check", [row[0] for row in HOLDS_AND_NOT])
def test_what_was_not_measured_is_neither_right_nor_wrong(check):
    told = check(curves(other=[1]))
    assert told.agrees is None
    assert told.found.startswith("not measured (p: ")


def test_a_trend_needs_two_places_and_a_curve_three():
    short = curves(a=[1, 2])
    assert trends.rises_then_falls("p", "a")(short).agrees is None
    assert trends.linear("p", "a")(short).agrees is None
    assert trends.rises("p", "a")(curves(a=[1])).agrees is None


def test_all_of_tells_only_what_fails_and_counts_what_was_not_measured():
    rising, falling = trends.rises("p", "a"), trends.falls("p", "a")
    absent = trends.rises("p", "z")
    assert checks.all_of(rising, rising)(curves(a=RISING)).agrees is True
    told = checks.all_of(rising, falling, absent)(curves(a=RISING))
    assert told.agrees is False
    assert told.found == "a: 1 to 3 (a ends 2 higher) (1 of 3 parts not measured)"
    assert checks.all_of(absent)(curves(a=RISING)).agrees is None


def test_all_of_names_the_panels_where_there_are_several():
    told = Curves.of([("p", "a", 1, 1.0), ("q", "a", 1, 2.0)])
    both = checks.all_of(checks.stays_above("p", "a", 1), checks.stays_above("q", "a", 1))
    assert both(told).found == "p: a 1, at least 1; q: a 2, at least 1"


def test_numbers_are_told_with_three_digits():
    assert [checks.short(x) for x in (0, 0.01234, 82.74, 1234.56, 2.5e-7)] == [
        "0",
        "0.0123",
        "82.7",
        "1,234.6",
        "2.5e-07",
    ]
