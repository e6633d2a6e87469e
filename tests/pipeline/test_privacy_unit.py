"""The privacy unit: required of every private plan, and worded as the plan states it."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.errors import MissingPrivacyUnitError, RefusedError
from hedgerow.ledger.ledger import Ledger
from hedgerow.pipeline.prepare import prepare
from hedgerow.pipeline.unit import blockers, likely_person
from hedgerow.plan.load import plan_of
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings
from support.engine_plans import basket_plan, sequence_plan, table_plan, variants

PLAN: dict[str, Any] = {
    "attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["a", "b"]}},
    "confirmed": True,
    "publish": {"method": "basic-table", "epsilon": 1},
    "ledger": {"dataset": "visits", "cap": 4},
}
UNITS: dict[str, dict[str, Any]] = {
    "person": {"person": "patient_id", "records-per-person": 2},
    "one record per person": {"one-record-per-person": True},
    "records": {"protects": "records"},
}
NEIGHBOURS = {
    "person": "add or remove one person with all their records",
    "one record per person": "add or remove one person, who has at most one record, as the plan"
    " states",
    "records": "add or remove one record",
}
PROTECTS = {
    "person": "Protects each patient (column patient_id) with all their records.",
    "one record per person": "Protects each person. The plan states that nobody has more than one"
    " record.",
    "records": "Protects each record. A person with ten records has ten times the privacy loss.",
}
BOOKED = {"person": "person", "one record per person": "both", "records": "record"}


def visits() -> pl.DataFrame:
    return pl.DataFrame(
        {"patient_id": list(range(300)), "age": [30, 50, 70] * 100, "ward": ["a", "b"] * 150}
    )


KINDS = {"table": table_plan, "baskets": basket_plan, "sequences": sequence_plan}
EVERY = [
    pytest.param(kind, variant, id=f"{kind}-{variant[0]}")
    for kind in KINDS
    for variant in {name: (name, settings) for name, settings in variants(kind)}.values()
    if issubclass(METHODS[variant[0]], PrivateSettings)
]


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize(("kind", "variant"), EVERY)
def test_no_private_method_publishes_without_a_privacy_unit(kind, variant, seed, tmp_path):
    plan = KINDS[kind](variant)
    del plan["protects"]
    with pytest.raises(MissingPrivacyUnitError, match="Add one of these to the plan"):
        hedgerow.publish(plan, data=tmp_path / "never-read", seed=seed)
    assert not Ledger().accounts()


def test_a_method_without_a_guarantee_needs_no_privacy_unit():
    plan = {**PLAN, "publish": {"method": "mondrian", "k": 5}}
    assert hedgerow.publish(plan, data=visits()).certificate.guarantee.unit is None


def test_the_refusal_gives_the_three_lines_and_names_the_likely_column():
    attributes = {
        "row": {"role": "identifier"},
        "patient_id": {"role": "identifier"},
        **PLAN["attributes"],
    }
    with pytest.raises(MissingPrivacyUnitError) as refused:
        hedgerow.publish({**PLAN, "attributes": attributes}, data=visits())
    assert (refused.value.exit_code, isinstance(refused.value, RefusedError)) == (3, True)
    lines = str(refused.value.do).splitlines()
    assert lines[1:] == [
        "'person: patient_id' and 'records-per-person: 4' (or auto). Protects each person with all"
        " their records.",
        "'one-record-per-person: true', if nobody can have more than one record. Protects each"
        " person.",
        "'protects: records'. Protects each record. A person with ten records has ten times the"
        " privacy loss.",
    ]
    unnamed = plan_of({**PLAN, "attributes": {"row": {"role": "identifier"}, **PLAN["attributes"]}})
    assert likely_person(unnamed) is None


@pytest.mark.parametrize("lines", UNITS.values(), ids=UNITS)
def test_each_of_the_three_lines_is_accepted(lines):
    hedgerow.publish({**PLAN, **lines}, data=visits())


def test_a_plan_that_says_that_people_have_several_records_still_needs_a_unit():
    with pytest.raises(MissingPrivacyUnitError):
        hedgerow.publish({**PLAN, "one-record-per-person": False}, data=visits())


@pytest.mark.parametrize("unit", UNITS)
def test_a_certificate_says_of_the_unit_what_the_plan_states_and_no_more(unit, tmp_path):
    plan = {**PLAN, **UNITS[unit]}
    release = hedgerow.publish(plan, data=visits(), out=tmp_path / "out")
    promised = release.certificate.guarantee
    assert (promised.unit, promised.neighbours) == (unit, NEIGHBOURS[unit])
    assert promised.protects() == PROTECTS[unit]
    text = (tmp_path / "out" / "certificate.json").read_text(encoding="utf-8")
    stated = ("person's record", "than one record", "at most one record", "one record per person")
    for words in stated:
        assert (words in text) == (unit == "one record per person"), words
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert PROTECTS[unit] in page
    assert ("person’s record " in page) == (unit == "one record per person")
    for other in set(UNITS) - {unit}:
        assert PROTECTS[other] not in page
        assert NEIGHBOURS[other] + "." not in page
    assert PROTECTS[unit] in release._repr_html_()


@pytest.mark.parametrize("unit", UNITS)
def test_the_ledger_books_the_unit_and_words_it(unit):
    hedgerow.publish({**PLAN, **UNITS[unit]}, data=visits())
    account = Ledger().account("visits")
    assert account.neighbours == BOOKED[unit]
    result = CliRunner().invoke(app, ["ledger", "show", "visits"], catch_exceptions=False)
    assert account.protects in " ".join(result.stdout.split())
    assert account.as_dict()["protects"] == account.protects
    assert ("ten times" in account.protects) == (unit == "records")
    assert ("the plans state" in account.protects) == (unit == "one record per person")


@pytest.mark.parametrize("unit", ["one record per person", "records"])
def test_a_delta_is_worded_for_the_unit_too(unit):
    publish = {"method": "truthful", "epsilon": 1, "delta": "1/100"}
    plan = {**PLAN, **UNITS[unit], "publish": publish, "ledger": None}
    given = {key: value for key, value in plan.items() if value is not None}
    promised = hedgerow.publish(given, data=visits(), seed=1).certificate.guarantee
    assert promised.neighbours == NEIGHBOURS[unit]
    assert ("more than ten times the delta" in promised.protects()) == (unit == "records")


def test_check_reports_a_missing_unit_as_what_blocks_publishing_and_goes_on(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**PLAN, "records": 5000}), encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(path)], catch_exceptions=False)
    shown = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert "publish will refuse it: The plan does not state its privacy unit" in shown
    assert "'one-record-per-person: true', if nobody can have more than one record" in shown
    assert "A published count is within" in shown
    told = json.loads(CliRunner().invoke(app, ["check", str(path), "--json"]).stdout)
    assert told["privacy-unit"] is None
    assert [each["error"] for each in told["blockers"]] == ["MissingPrivacyUnitError"]


@pytest.mark.parametrize("unit", UNITS)
def test_check_words_a_stated_unit(unit, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**PLAN, **UNITS[unit], "records": 5000}), encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(path)], catch_exceptions=False)
    assert PROTECTS[unit] in " ".join(result.stdout.split())
    told = json.loads(CliRunner().invoke(app, ["check", str(path), "--json"]).stdout)
    assert (told["privacy-unit"], told["protects"]) == (unit, PROTECTS[unit])
    assert told["blockers"] == []


def test_what_blocks_a_plan_is_listed_in_the_order_of_publish():
    plan = {**PLAN, "confirmed": False}
    found = [type(each).__name__ for each in blockers(prepare(plan))]
    assert found == ["MissingPrivacyUnitError", "UnconfirmedPlanError"]
    with pytest.raises(MissingPrivacyUnitError):
        hedgerow.publish(plan, data=visits())
