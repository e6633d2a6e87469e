"""Dates and derived attributes in plans: what is allowed, and what to write instead."""

from __future__ import annotations

import datetime as dt
from typing import Any

import jsonschema
import pytest

from hedgerow.encode.schema import schema_of
from hedgerow.errors import PlanError
from hedgerow.plan.load import load_plan, plan_of
from hedgerow.plan.schema import plan_json_schema

BOUNDS = {"from": "2010-01-01", "to": "2030-12-31"}
AGE = {"from": "birth", "years-at": "2026-01-01", "numeric": [0, 110]}

MISTAKES: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "no last date": (
        {"d": {"date": {"from": "2010-01-01"}}},
        "attributes.d.date.to",
        ["is missing", "{from: 2010-01-01, to: 2030-12-31}"],
    ),
    "no bounds at all": (
        {"d": {"date": True}},
        "attributes.d.date",
        ["{from: 2010-01-01, to: 2030-12-31, step: month}"],
    ),
    "no day of the calendar": (
        {"d": {"date": {**BOUNDS, "from": "2010-02-30"}}},
        "attributes.d.date.from",
        ["'2010-02-30'", "2020-01-31"],
    ),
    "the wrong way round": (
        {"d": {"date": {"from": "2030-01-01", "to": "2010-01-01"}}},
        "attributes.d.date.to",
        ["not before"],
    ),
    "an unknown step": (
        {"d": {"date": {**BOUNDS, "step": "moth"}}},
        "attributes.d.date.step",
        ["Did you mean 'month'?"],
    ),
    "an unknown format": (
        {"d": {"date": {**BOUNDS, "format": "dd.mm.yy"}}},
        "attributes.d.date.format",
        ["dd.mm.yyyy", "mm/dd/yyyy"],
    ),
    "an unknown key": (
        {"d": {"date": {**BOUNDS, "steps": "day"}}},
        "attributes.d.date.steps",
        ["Did you mean 'step'?"],
    ),
    "a step beside": (
        {"d": {"date": BOUNDS, "step": 7}},
        "attributes.d.step",
        ["inside 'date'"],
    ),
    "other": ({"d": {"date": BOUNDS, "other": "x"}}, "attributes.d.other", ["Dates outside"]),
    "a class": (
        {"d": {"date": BOUNDS, "role": "class"}, "x": {"numeric": [0, 1]}},
        "attributes.d.date",
        ["cannot be a date"],
    ),
    "nothing follows": (
        {"age": {"from": "birth", "numeric": [0, 110]}},
        "attributes.age.from",
        ["years-at, years-until, days-until, part"],
    ),
    "two things follow": ({"age": {**AGE, "part": "year"}}, "attributes.age.from", ["both"]),
    "nothing to follow from": (
        {"age": {"part": "year", "numeric": [0, 110]}},
        "attributes.age.part",
        ["needs 'from'"],
    ),
    "a date follows": (
        {"age": {"from": "birth", "part": "year", "date": BOUNDS}},
        "attributes.age.date",
        ["gives a number"],
    ),
    "no domain": ({"age": {"from": "birth", "part": "year"}}, "attributes.age", ["no domain"]),
    "a dropped one": (
        {"age": {"from": "birth", "role": "drop"}, "x": {"numeric": [0, 1]}},
        "attributes.age.from",
        ["needs no domain"],
    ),
    "from an identifier": (
        {"birth": {"role": "identifier"}, "age": AGE},
        "attributes.age.from",
        ["never read", "role: drop"],
    ),
    "from a number": (
        {"birth": {"numeric": [0, 1]}, "age": AGE},
        "attributes.age.from",
        ["holds numbers"],
    ),
    "from what follows itself": (
        {"age": AGE, "x": {**AGE, "from": "age"}},
        "attributes.x.from",
        ["column of the table"],
    ),
    "in two formats": (
        {
            "birth": {"date": {**BOUNDS, "format": "dd.mm.yyyy"}},
            "age": {**AGE, "from": {"column": "birth", "format": "iso"}},
        },
        "attributes.age.from.format",
        ["have the format dd.mm.yyyy elsewhere"],
    ),
}


@pytest.mark.parametrize(("attributes", "path", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_says_what_to_write(attributes, path, words):
    with pytest.raises(PlanError) as raised:
        plan_of({"attributes": attributes})
    assert raised.value.paths == (path,)
    for word in words:
        assert word in str(raised.value)


GOOD: dict[str, Any] = {
    "birth": {"role": "drop"},
    "admitted": {"date": {**BOUNDS, "step": "week", "format": "mm/dd/yyyy"}},
    "age": {**AGE, "from": {"column": "birth", "format": "dd.mm.yyyy"}},
    "then": {"from": "birth", "years-until": "admitted", "numeric": [0, 110]},
    "stay": {"from": "admitted", "days-until": {"column": "left"}, "edges": [0, 1, 10]},
    "month": {"from": "admitted", "part": "month", "values": [1, 2, 3]},
}


def test_a_plan_with_dates_survives_being_written_and_read():
    plan = plan_of({"attributes": GOOD})
    told = plan.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert plan_of(told) == plan
    known = jsonschema.Draft202012Validator(plan_json_schema())
    assert known.is_valid({"attributes": GOOD})
    assert known.is_valid(told)
    assert not known.is_valid({"attributes": {"d": {"date": {"to": "2020-01-01"}}}})


def test_a_column_has_the_format_that_is_given_anywhere():
    schema = schema_of(plan_of({"attributes": GOOD}))
    formats = {
        column.name: column.format
        for attribute in schema.used()
        for column in (attribute.derivation.columns if attribute.derivation else ())
    }
    assert formats == {"admitted": "mm/dd/yyyy", "birth": "dd.mm.yyyy", "left": "iso"}


def test_dates_of_python_and_toml_are_dates_too(tmp_path):
    given = {"date": {"from": dt.date(2010, 1, 1), "to": dt.datetime(2030, 12, 31, 12)}}
    plan = plan_of({"attributes": {"d": given}})
    assert plan == plan_of({"attributes": {"d": {"date": BOUNDS}}})
    path = tmp_path / "plan.toml"
    path.write_text("[attributes.d]\ndate = {from = 2010-01-01, to = 2030-12-31}\n", "utf-8")
    assert load_plan(path).attributes == plan.attributes


def test_an_attribute_may_take_the_place_of_its_own_column():
    year = {"from": "admitted", "part": "year", "numeric": [2010, 2030]}
    schema = schema_of(plan_of({"attributes": {"admitted": year, "again": year}}))
    assert schema.columns() == ["admitted"]
