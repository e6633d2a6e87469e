"""The privacy unit of a plan and its open questions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from hedgerow.errors import PlanError
from hedgerow.plan.load import plan_digest, plan_of

ATTRIBUTES = {"attributes": {"age": {"numeric": [0, 100]}}}
UNITS: dict[str, dict[str, Any]] = {
    "person": {"person": "patient", "records-per-person": 4},
    "one record per person": {"one-record-per-person": True},
    "records": {"protects": "records"},
}


@pytest.mark.parametrize("unit", UNITS)
def test_a_plan_states_its_privacy_unit(unit: str) -> None:
    assert plan_of({**ATTRIBUTES, **UNITS[unit]}).privacy_unit == unit


@pytest.mark.parametrize("keys", [{}, {"one-record-per-person": False}])
def test_a_plan_that_states_no_unit_has_none(keys: dict[str, Any]) -> None:
    assert plan_of({**ATTRIBUTES, **keys}).privacy_unit is None


@pytest.mark.parametrize(("first", "second"), list(combinations(UNITS, 2)))
def test_two_privacy_units_are_refused(first: str, second: str) -> None:
    with pytest.raises(PlanError, match=r"Keep one of the two|Remove it"):
        plan_of({**ATTRIBUTES, **UNITS[first], **UNITS[second]})


def test_an_open_question_blocks_a_confirmed_plan() -> None:
    with pytest.raises(PlanError, match="a question is open"):
        plan_of({**ATTRIBUTES, "confirmed": True, "to-do": ["Whose records are these?"]})


def test_an_open_question_does_not_block_reading_a_plan() -> None:
    plan = plan_of({**ATTRIBUTES, "to-do": ["Whose records are these?"]})
    assert plan.to_do == ("Whose records are these?",)


def test_each_statement_changes_the_digest() -> None:
    plans = [{}, *UNITS.values(), {"to-do": ["Whose records are these?"]}]
    assert len({plan_digest(plan_of({**ATTRIBUTES, **each})) for each in plans}) == len(plans)
