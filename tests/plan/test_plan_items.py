"""Plans for set-valued data: what they say, and one message for every mistake."""

from __future__ import annotations

from fractions import Fraction

import pytest
import yaml

from hedgerow.errors import PlanError
from hedgerow.plan.load import dump_plan, plan_digest, plan_mapping, plan_of
from hedgerow.plan.override import override

GOOD = {"items": {"universe": [1, 17]}, "publish": {"method": "diffpart", "epsilon": 1}}


def with_items(**keys):
    return {**GOOD, "items": {"universe": [1, 17], **keys}}


def with_publish(**keys):
    return {**GOOD, "publish": {"method": "diffpart", "epsilon": 1, **keys}}


def items_only(**keys):
    return {"items": keys}


# what is given, the path of the mistake, and words that its message must hold
MISTAKES = {
    "no universe": (items_only(), "items.universe", ["missing", "[1, 17]"]),
    "items as a list": ({"items": [1, 2]}, "items", ["mapping"]),
    "both kinds": (
        {**GOOD, "attributes": {"a": {"numeric": [0, 1]}}},
        "items",
        ["Attributes are set as well"],
    ),
    "falling range": (items_only(universe=[5, 1]), "items.universe", ["above the last", "quotes"]),
    "huge range": (items_only(universe=[1, 10**9]), "items.universe", ["2,000,000"]),
    "empty list": (items_only(universe=[]), "items.universe", ["list is empty"]),
    "number as a universe": (items_only(universe=17), "items.universe", ["file, a range"]),
    "empty file name": (items_only(universe=" "), "items.universe", ["empty"]),
    "item twice": (items_only(universe=["a", "b", "a"]), "items.universe[2]", ["twice"]),
    "item with blanks": (items_only(universe=["a", " b"]), "items.universe[1]", ["blanks"]),
    "item of another kind": (items_only(universe=["a", 1.5]), "items.universe[1]", ["quotes"]),
    "item with a tab": (items_only(universe=["a\tb"]), "items.universe", ["control"]),
    "unknown key": (with_items(fanout=3), "items.fanout", ["Did you mean 'fan-out'?"]),
    "key of items on top": ({**GOOD, "universe": 1}, "universe", ["belongs under 'items'"]),
    "small fan-out": (with_items(**{"fan-out": 1}), "items.fan-out", ["from 2 to 20"]),
    "fan-out as a text": (with_items(**{"fan-out": "ten"}), "items.fan-out", ["whole number"]),
    "fan-out of a real taxonomy": (
        items_only(taxonomy="tree.csv", **{"fan-out": 5}),
        "items.fan-out",
        ["taxonomy determines", "Remove"],
    ),
    "record without column": (with_items(record="r"), "items.record", ["'column' beside 'record'"]),
    "record is the column": (
        with_items(record="r", column="r"),
        "items.record",
        ["two different columns"],
    ),
    "separator of a column": (
        with_items(column="c", separator="comma"),
        "items.separator",
        ["basket files"],
    ),
    "sequences in a column": (with_items(**{"column": "c", "as": "sets"}), "items.as", ["basket"]),
    "unknown separator": (with_items(separator="semicolon"), "items.separator", ["space, comma"]),
    "unknown reading": (with_items(**{"as": "sequences"}), "items.as", ["Allowed: sets"]),
    "no length": (with_publish(**{"max-length": 0}), "publish.max-length", ["from 1 to 100,000"]),
    "length of items": (with_items(**{"max-length": 3}), "items.max-length", ["under 'publish'"]),
    "method for tables": (
        {**GOOD, "publish": {"method": "diffgen", "epsilon": 1}},
        "publish.method",
        ["does not publish items", "diffpart", "basic"],
    ),
    "method for items": (
        {**GOOD, "attributes": {"a": {"numeric": [0, 1]}}, "items": None},
        "publish.method",
        ["does not publish attributes", "diffgen"],
    ),
    "printed factor": (with_publish(c1=1), "publish.c1", ["Only the faithful"]),
    "negative factor": (with_publish(c2=-1, faithful=True), "publish.c2", ["0 or a number above"]),
    "target if faithful": (
        with_publish(faithful=True, **{"false-positives": 1}),
        "publish.false-positives",
        ["faithful variant has no such setting"],
    ),
    "no false positives": (
        with_publish(**{"false-positives": 0}),
        "publish.false-positives",
        ["above 0"],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(name):
    mapping, path, words = MISTAKES[name]
    with pytest.raises(PlanError) as caught:
        plan_of(mapping)
    assert path in caught.value.paths
    for word in words:
        assert word in str(caught.value)


def test_the_settings_of_diffpart_have_public_defaults():
    publish = plan_of(GOOD).publish
    assert publish.false_positives == Fraction(1, 20)
    assert publish.max_length is None
    assert not publish.faithful


def test_two_whole_numbers_are_a_range_and_two_texts_a_list():
    assert plan_of(items_only(universe=[1, 5])).items.universe == (1, 5)
    assert plan_of(items_only(universe=["1", "5"])).items.universe == ("1", "5")
    assert plan_of(items_only(universe=[1, 5, 9])).items.universe == ("1", "5", "9")


@pytest.mark.parametrize(
    "items",
    [
        {"universe": [1, 17], "as": "sets"},
        {"universe": ["1", "5"]},
        {"taxonomy": {"Any": {"Fruit": ["apple", "pear"]}}, "column": "c", "record": "r"},
        {"universe": "items.txt", "separator": "tab", "fan-out": 20},
    ],
)
def test_a_plan_written_out_is_the_same_plan(items):
    plan = plan_of({**GOOD, "items": items})
    again = plan_of(yaml.safe_load(dump_plan(plan)))
    assert again == plan
    assert plan_digest(again) == plan_digest(plan)


def test_settings_replace_those_of_the_plan_and_the_default_method_is_coterie():
    plan = override(plan_of(items_only(universe=[1, 17])), epsilon="1/2")
    assert (plan.publish.method, plan.publish.epsilon) == ("coterie", Fraction(1, 2))
    assert override(plan, method="basic").publish.method == "basic"


@pytest.mark.parametrize(
    ("described", "method"),
    [
        ({"items": {"universe": [1, 17]}}, "coterie"),
        ({"items": {"universe": [1, 5000]}}, "coterie"),
        ({"attributes": {"a": {"numeric": [0, 1]}}}, "weave"),
    ],
)
def test_a_plan_that_names_no_method_gets_the_one_for_what_it_describes(described, method):
    plan = plan_of({**described, "publish": {"epsilon": 1}})
    assert plan.publish.method == method
    assert plan_of(plan_mapping(plan)) == plan


def test_the_digest_of_a_plan_for_a_table_is_what_it_was_before_there_were_items():
    plan = plan_of({"attributes": {"age": {"numeric": [0, 100]}}})
    assert plan_digest(plan) == "8b5ae32bc6acea070b95086fc435be65e7d9cf959f1c6a8732358d75f5f64003"
