"""What each of many releases may cost."""

from __future__ import annotations

import json
from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from hedgerow.cli.ledger import app
from hedgerow.errors import SettingError
from hedgerow.privacy.schedule import STEPS, Schedule

AMOUNTS = st.integers(1, 20)
MONTHS = {"month": 1, "quarter": 3, "year": 12}


def begins(day, step):
    """Whether a step of the calendar begins on a day."""
    if step in MONTHS:
        return day.day == 1 and (day.month - 1) % MONTHS[step] == 0
    return step == "day" or day.weekday() == 0


def after(day, amount, unit):
    """Return the day on which a time is over."""
    if unit not in MONTHS:
        return day + timedelta(days=amount * (7 if unit == "week" else 1))
    months = day.month - 1 + amount * MONTHS[unit]
    return date(day.year + months // 12, months % 12 + 1, min(day.day, 28))


@given(st.sampled_from(STEPS), AMOUNTS, st.sampled_from(STEPS), st.integers(0, 3000))
def test_no_more_releases_fall_in_a_time_than_are_reckoned_with(every, amount, unit, start):
    day = date(1999, 1, 1) + timedelta(days=start)
    while not begins(day, every):  # the first release is made on its day
        day += timedelta(days=1)
    days = (after(day, amount, unit) - day).days
    n_releases = sum(begins(day + timedelta(days=each), every) for each in range(days))
    planned = Schedule.of(every, amount=str(amount), unit=unit, epsilon=1)
    assert n_releases <= planned.n_releases


@given(st.sampled_from(STEPS), AMOUNTS, st.fractions(Fraction(1, 60), 50, max_denominator=60))
def test_all_releases_together_cost_what_was_given_and_decimals_no_more(every, amount, epsilon):
    planned = Schedule.of(every, amount=str(amount), unit="years", epsilon=epsilon)
    assert planned.each * planned.n_releases == epsilon
    assert 0 <= planned.each - Fraction(planned.each_decimal) < Fraction(1, 10**6)
    assert (
        Schedule.of(every, amount=str(amount), unit="years", epsilon=epsilon, disjoint=True).each
        == epsilon
    )


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"every": "fortnight"}, "not a step of the calendar"),
        ({"unit": "decades"}, "not a step of the calendar"),
        ({"unit": "s"}, "not a step of the calendar"),
        ({"amount": "two"}, "not a whole number"),
        ({"amount": "-2"}, "not a whole number"),
        ({"amount": "0"}, "The time is 0"),
        ({"amount": "999999", "every": "day"}, "more than 100,000"),
        ({"epsilon": 0}, "out of range"),
    ],
)
def test_what_cannot_be_meant_is_refused(given_, says):
    usual = {"every": "month", "amount": "2", "unit": "years", "epsilon": 4}
    told = {**usual, **given_}
    with pytest.raises(SettingError, match=says):
        Schedule.of(told.pop("every"), **told)


def test_the_command_reads_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "none" / "ledger.sqlite"))

    def call(*more):
        given_ = ["plan", "--every", "month", "--duration", "2", "years", "--cap", "4", *more]
        result = CliRunner().invoke(app, given_, catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    assert "24 releases: every month, for 2 years" in call()
    assert "1/6 (as a decimal 0.166666)" in call()
    assert json.loads(call("--json")) == {
        "every": "month",
        "for": "2 years",
        "releases": 24,
        "epsilon": "4",
        "disjoint": False,
        "each": "1/6",
        "each-decimal": "0.166666",
    }
    assert json.loads(call("--json", "--disjoint"))["each"] == "4"
    assert "people-disjoint" in call("--disjoint")
    assert call("-q") == "1/6\n"
    assert not list(tmp_path.iterdir())
