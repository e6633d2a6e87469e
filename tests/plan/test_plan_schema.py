"""The JSON schema and the reference page: both follow the models, and plans follow both."""

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import yaml

from hedgerow.disclosure.private.weighing import PersonalFactors
from hedgerow.plan.attribute import AttributePlan
from hedgerow.plan.covers import CoversPlan, PeopleDisjointPlan
from hedgerow.plan.disclose import DISCLOSE_FAMILIES
from hedgerow.plan.disclose_parts import RiskPlan, UtilityPlan
from hedgerow.plan.fields import PlanModel
from hedgerow.plan.items import ItemsPlan
from hedgerow.plan.load import plan_of
from hedgerow.plan.mistakes import keys_of
from hedgerow.plan.model import LedgerPlan, Plan
from hedgerow.plan.reading import ReadingPlan
from hedgerow.plan.registry import METHODS
from hedgerow.plan.schema import plan_json_schema, plan_schema_text

DOCS = Path(__file__).parents[2] / "docs"

MODELS = {
    "Plan": Plan,
    "attributes": AttributePlan,
    "items": ItemsPlan,
    "reading": ReadingPlan,
    "ledger": LedgerPlan,
    "covers": CoversPlan,
    "people-disjoint": PeopleDisjointPlan,
    **METHODS,
    **DISCLOSE_FAMILIES,
    "utility": UtilityPlan,
    "risk": RiskPlan,
    "personal": PersonalFactors,
}


def shown_default(field):
    if field.is_required():
        return "required"
    if field.default is None:
        return "none"
    value = field.default
    if isinstance(value, Fraction):
        value = str(value)
    if isinstance(value, PlanModel):
        value = {}
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def page_examples():
    text = (DOCS / "plan.md").read_text(encoding="utf-8")
    blocks = text.split("```yaml\n")[1:]
    return [block.split("```")[0] for block in blocks]


def test_the_published_schema_is_that_of_the_models():
    # To write it again: print(schema_text(), end="").
    assert (DOCS / "plan.schema.json").read_text(encoding="utf-8") == plan_schema_text()


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(plan_json_schema())


@pytest.mark.parametrize("text", page_examples())
def test_the_examples_of_the_reference_are_plans_and_fit_the_schema(text):
    # PyYAML makes dates of what the plan's own reader, by YAML 1.2, leaves as text.
    mapping = json.loads(json.dumps(yaml.safe_load(text), default=str))
    jsonschema.validate(mapping, plan_json_schema())
    plan = plan_of(mapping)
    assert plan.attributes or plan.items


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"attributes": {}},
        {"attributes": {"a": {"role": "x"}}},
        {"attributes": {"a": {"numeric": [1, 2, 3]}}},
        {"attributes": {"a": {"numeric": ["low", 3]}}},
        {"attributes": {"a": {"numeric": [1, 2]}}, "colour": 1},
        {"attributes": {"a": {"numeric": [1, 2]}}, "publish": {"method": "x", "epsilon": 1}},
        {"attributes": {"a": {"numeric": [1, 2]}}, "publish": {"epsilon": 1, "h": -1}},
        {"attributes": {"a": {"numeric": [1, 2]}}, "items": {"universe": [1, 2]}},
        {"items": {"universe": []}},
        {"items": {"universe": [1, 2]}, "ledger": {"cap": 1}},
        {"items": {"universe": [1, 2]}, "ledger": {"cap": 1, "dataset": "a", "people": "b"}},
        {"attributes": {"a": {"numeric": [1, 2]}}, "covers": {"column": "a"}},
        {"items": {"universe": [1, 2]}, "reading": {"encoding": "utf-16"}},
        {"items": {"universe": [1, 2]}, "reading": {"header": -1}},
        {"items": {"universe": [1, 2]}, "reading": {"seconds": 0}},
        {"items": {"universe": [1, 2], "fan-out": 1}},
    ],
)
def test_the_schema_refuses_what_plans_refuse(wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, plan_json_schema())


@pytest.mark.parametrize("section", MODELS)
def test_the_reference_has_a_row_for_every_key_with_its_default(section):
    text = (DOCS / "plan.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    model = MODELS[section]
    for field, key in zip(model.model_fields.values(), keys_of(model), strict=True):
        assert any(
            row.startswith(f"| `{key}` |") and f"| {shown_default(field)} |" in row for row in rows
        ), key


def test_the_schema_knows_every_key():
    text = json.dumps(plan_json_schema())
    for model in MODELS.values():
        for key in keys_of(model):
            assert f'"{key}": {{' in text
