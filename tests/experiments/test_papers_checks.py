"""Checks of statements: what holds, what does not, what cannot be told, and what is said of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments import checks, trends
from experiments.curves import Curves
from experiments.rule import (
    CPU_TIME,
    HOLDS,
    LEAST_RUNS,
    NOT,
    OPEN,
    POINTS,
    TIMES,
    UNMEASURED,
    Claim,
    every,
    judged,
    none_against,
    short,
    some,
)

RUNS = 10


def curves(*, noise=0.0, exact=(), **lines):
    """One panel 'p', places 1, 2, ... for the values given, ten runs with that much noise."""
    rng = np.random.default_rng(7)
    return Curves.of_runs(
        (
            (
                run,
                [
                    ("p", name, x + 1, y + noise * rng.normal())
                    for name, values in lines.items()
                    for x, y in enumerate(values)
                ],
            )
            for run in range(RUNS)
        ),
        exact=exact,
    )


RISING, FALLING, HILL = [1, 2, 3], [3, 2, 1], [1, 3, 1]

HOLDS_AND_NOT = [
    (checks.near("p", "a", 2, 10), {"a": [0, 10.5]}, {"a": [0, 12]}),
    (
        checks.difference_near("p", "a", "b", 1, 3),
        {"a": [9], "b": [6]},
        {"a": [9], "b": [4.5]},
    ),
    (
        checks.difference_between("p", "a", "b", 1, 2),
        {"a": [5, 6.5], "b": [4, 4]},
        {"a": [5, 8], "b": [4, 4]},
    ),
    (checks.difference_below("p", "a", "b", 1, 3), {"a": [6], "b": [4]}, {"a": [8], "b": [4]}),
    (checks.most_near("p", "a", 78), {"a": [70, 78.5]}, {"a": [70, 80]}),
    (checks.most_near("p", "a", 78), {"a": [70, 78.5]}, {"a": [70, 72]}),
    (checks.stays_above("p", "a", 2), {"a": [2.5, 3]}, {"a": [1.5, 3]}),
    (checks.stays_above("p", "a", 2, at=2), {"a": [1, 3]}, {"a": [3, 1]}),
    (checks.stays_below("p", ["a", "b"], 2), {"a": [1], "b": [1.5]}, {"a": [1], "b": [3]}),
    (checks.stays_below("p", "a", 2, at=2), {"a": [9, 1]}, {"a": [1, 9]}),
    (checks.above("p", "a", "b"), {"a": [2, 2], "b": [1, 1]}, {"a": [2, 2], "b": [1, 3]}),
    (checks.above("p", "a", "b", until=1), {"a": [2, 0], "b": [1, 1]}, {"a": [0, 2], "b": [1, 1]}),
    (checks.above("p", "a", "b", since=2), {"a": [0, 2], "b": [1, 1]}, {"a": [2, 0], "b": [1, 1]}),
    (
        checks.above("p", "a", "b", by=POINTS),
        {"a": [4, 4], "b": [1, 1]},
        {"a": [1.5, 4], "b": [1, 1]},
    ),
    (checks.above("p", "a", "b", by=TIMES), {"a": [4], "b": [2]}, {"a": [4], "b": [3.9]}),
    (
        checks.mostly_above("p", "a", "b"),
        {"a": [2] * 9 + [0], "b": [1] * 10},
        {"a": [2] * 8 + [0, 0], "b": [1] * 10},
    ),
    (checks.any_above("p", "a", "b"), {"a": [0, 2], "b": [1, 1]}, {"a": [0, 0.5], "b": [1, 1]}),
    (
        checks.comparable("p", "a", "b", by=POINTS),
        {"a": [4, 5.5], "b": [4, 5]},
        {"a": [4, 7], "b": [4, 5]},
    ),
    (checks.comparable("p", "a", "b", by=CPU_TIME), {"a": [3], "b": [2]}, {"a": [5], "b": [2]}),
    (
        checks.share_of("p", "a", "b", least=0.8),
        {"a": [9, 9], "b": [10, 10]},
        {"a": [6, 9], "b": [10, 10]},
    ),
    (
        checks.times_larger("p", "a", "b", 2),
        {"a": [10, 20], "b": [3]},
        {"a": [10, 20], "b": [3, 8]},
    ),
    (trends.rises("p", "a"), {"a": RISING}, {"a": FALLING}),
    (trends.rises("p", "a"), {"a": RISING}, {"a": [1, 3, 2]}),
    (trends.falls("p", "a"), {"a": FALLING}, {"a": HILL}),
    (trends.falls("p", "a", by=TIMES), {"a": FALLING}, {"a": [1.1, 1.05, 1]}),
    (trends.ordered("p", "a", "b"), {"a": [1, 2], "b": [2, 2.5]}, {"a": [2, 3], "b": [2, 2]}),
    (
        trends.ordered("p", "a", "b", "c"),
        {"a": [1], "b": [2], "c": [3]},
        {"a": [1], "b": [3], "c": [2]},
    ),
    (trends.ordered("p", "a", "b", at=2), {"a": [9, 1], "b": [0, 2]}, {"a": [0, 2], "b": [9, 1]}),
    (trends.rises_then_falls("p", "a"), {"a": HILL}, {"a": RISING}),
    (trends.linear("p", "a"), {"a": [1, 2, 3.05]}, {"a": [1, 9, 2]}),
    (trends.steady("p", "a", by=TIMES), {"a": [2, 2.1, 2]}, {"a": [2, 2.1, 4]}),
    (trends.steady("p", "a", by=POINTS), {"a": [80, 80.5]}, {"a": [80, 82]}),
    (trends.changes_less("p", "a", "b"), {"a": [1, 2], "b": [8, 4]}, {"a": [1, 9], "b": [8, 4]}),
]


@pytest.mark.parametrize(("check", "good", "bad"), HOLDS_AND_NOT)
def test_a_check_holds_for_the_one_and_fails_for_the_other(check, good, bad):
    for noise in (0.0, 0.02):
        assert check(curves(noise=noise, **good)).answer == HOLDS
        assert check(curves(noise=noise, **bad)).answer == NOT


@pytest.mark.parametrize(("check", "good"), [row[:2] for row in HOLDS_AND_NOT])
def test_few_runs_tell_nothing(check, good):
    wide = curves(**good)
    assert check(wide).answer == HOLDS
    few = Curves.of_runs(
        (run, [(c.panel, c.line, x, y) for c in wide for x, y in zip(c.x, c.y, strict=True)])
        for run in range(LEAST_RUNS - 1)
    )
    assert check(few).answer == OPEN


def test_a_difference_within_the_noise_cannot_be_told():
    told = checks.above("p", "a", "b")(curves(noise=3.0, a=[80.2], b=[80]))
    assert told.answer == OPEN
    assert "a − b at 1:" in told.found
    assert " to " in told.found  # the interval


@pytest.mark.parametrize("check", [row[0] for row in HOLDS_AND_NOT])
def test_what_was_not_measured_is_neither_right_nor_wrong(check):
    told = check(curves(other=[1]))
    assert told.answer == UNMEASURED
    assert told.found.startswith("(")


def test_differences_are_taken_in_the_same_runs():
    # The lines are 40 apart from run to run, and always 1 apart from each other.
    levels = np.random.default_rng(1).normal(0, 40, RUNS)
    runs = [(i, [("p", "a", 1, v + 1), ("p", "b", 1, v)]) for i, v in enumerate(levels)]
    assert checks.above("p", "a", "b")(Curves.of_runs(runs)).answer == HOLDS
    swapped = [(i, [("p", "a", 1, v + 1)]) for i, v in enumerate(levels)]
    swapped += [(i, [("p", "b", 1, v)]) for i, v in enumerate(levels[::-1])]
    assert checks.above("p", "a", "b")(Curves.of_runs(swapped)).answer == OPEN


def test_of_nothing_beside_nothing_nothing_can_be_told():
    told = trends.steady("p", "a", by=TIMES)(curves(a=[0, 0]))
    assert told.answer == OPEN
    assert told.found == "a, 2 / 1: all are 0"
    assert trends.changes_less("p", "a", "b")(curves(a=[0, 0], b=[0, 0])).answer == OPEN
    assert trends.rises("p", "a")(curves(a=[0, 0])).answer == OPEN
    assert trends.rises("p", "a")(curves(a=[1, 1])).answer == NOT


def test_what_is_exact_stands_beside_every_run():
    told = Curves.of_runs(
        [(0, [("p", "raw", 1, 5.0)]), *((i, [("p", "a", 1, 4 + 0.1 * i)]) for i in range(8))],
        exact=["raw"],
    )
    assert checks.above("p", "raw", "a")(told).answer == HOLDS
    alone = Curves.of([("p", "raw", 1, 5.0)], exact=["raw"])
    assert checks.near("p", "raw", 1, 5.2)(alone).answer == HOLDS


def test_folds_of_one_cross_validation_make_one_value():
    runs = [(i // 5, [("p", "a", 1, float(i % 5))]) for i in range(15)]
    line = Curves.of_runs(runs).line("p", "a")
    assert line.runs.tolist() == [3]
    assert line.y.tolist() == [2.0]
    assert line.spread.tolist() == [0.0]


def test_the_intervals_of_a_statement_hold_together():
    one = Claim(label="a", values=np.array([0.0, 2.0] * 5), low=0.0)  # t = 3
    assert one.answer(0.95) == HOLDS
    assert judged(one)[0] == HOLDS
    many = every(*([one] * 50))
    assert many.answer(0.95) == HOLDS
    assert judged(many)[0] == OPEN  # each of fifty intervals has 99.9 %


def test_the_t_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(11)
    means = [Claim(label="a", values=rng.normal(5, 2, 6)).interval(0.9) for _ in range(2000)]
    covered = np.mean([found.low < 5 < found.high for found in means])
    assert covered == pytest.approx(0.9, abs=0.035)  # five standard errors


def test_claims_are_joined_by_all_some_and_none_against():
    yes, no = (Claim(label=str(y), values=np.array([y]), low=0.0, exact=True) for y in (1.0, -1.0))
    maybe = Claim(label="?", values=np.array([1.0]), low=0.0)
    assert [every(yes, each).answer(0.95) for each in (yes, maybe, no)] == [HOLDS, OPEN, NOT]
    assert [some(no, each).answer(0.95) for each in (yes, maybe, no)] == [HOLDS, OPEN, NOT]
    assert [none_against(yes, each).answer(0.95) for each in (yes, maybe, no)] == [
        HOLDS,
        HOLDS,
        NOT,
    ]
    assert math.isinf(yes.high)


def test_a_trend_needs_two_places_and_a_curve_three():
    two = curves(a=[1, 2])
    assert trends.rises_then_falls("p", "a")(two).answer == UNMEASURED
    assert trends.linear("p", "a")(two).answer == UNMEASURED
    assert trends.rises("p", "a")(curves(a=[1])).answer == UNMEASURED


def test_all_of_tells_what_decides_and_leaves_out_what_was_not_measured():
    rising, falling = trends.rises("p", "a"), trends.falls("p", "a")
    absent = trends.rises("p", "z")
    assert checks.all_of(rising, rising)(curves(a=RISING)).answer == HOLDS
    told = checks.all_of(rising, falling, absent)(curves(a=[1, 3]))
    assert told.answer == NOT
    assert told.found == "a, 1 − 2: -2 [of 2 comparisons]"
    assert checks.all_of(absent)(curves(a=RISING)).answer == UNMEASURED


def test_all_of_names_the_panels_where_there_are_several():
    told = Curves.of_runs([(i, [("p", "a", 1, 1.0), ("q", "a", 1, 2.0)]) for i in range(5)])
    both = checks.all_of(checks.stays_above("p", "a", 0.5), checks.stays_above("q", "a", 1))
    assert both(told).found == "p: a at 1: 1; q: a at 1: 2"


def test_numbers_are_told_with_three_digits():
    assert [short(x) for x in (0, 0.01234, 82.74, 1234.56, 2.5e-7)] == [
        "0",
        "0.0123",
        "82.7",
        "1,234.6",
        "2.5e-07",
    ]
