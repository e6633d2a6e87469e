"""Which codes a covered value names: periods of a calendar that cells make up."""

from __future__ import annotations

import datetime

import pytest

from hedgerow.encode.covers import codes_named
from hedgerow.errors import PlanError
from hedgerow.model.schema import Attribute
from hedgerow.taxonomy.domain import DateDomain


def dates(first, last, *, step, missing=False):
    days = (datetime.date.fromisoformat(day) for day in (first, last))
    return Attribute(name="came", domain=DateDomain.between(*days, step=step, missing=missing))


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("2019", (0,)),
        ("2019-12", (0,)),
        ("2020", tuple(range(1, 13))),
        ("2020-Q3", (7, 8, 9)),
        ("2021-03", (15,)),
        ("2021-Q1", (13, 14, 15)),
        ("2021", (13, 14, 15)),
    ],
)
def test_a_period_is_all_cells_inside_it_also_the_last_of_a_single_day(value, codes):
    column = dates("2019-12-31", "2021-03-01", step="month")
    assert codes_named(column, [value]) == codes


def test_codes_stand_behind_that_of_missing_values():
    column = dates("2020-01-01", "2020-12-31", step="quarter", missing=True)
    assert codes_named(column, ["2020-Q1", "2020-Q4"]) == (1, 4)


@pytest.mark.parametrize("value", ["2020-01", "2020-01-15", "2018", "2020-13", "January"])
def test_a_period_that_lies_across_cells_or_outside_is_refused(value):
    with pytest.raises(PlanError, match="is not a value"):
        codes_named(dates("2020-01-01", "2020-12-31", step="quarter"), [value])
