"""The JSON schema of plan files, for editors and other programs."""

from __future__ import annotations

import json
from typing import Any

from hedgerow.plan.model import MAX_ATTRIBUTES, Plan

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def plan_json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a plan file.

    It has every key and its kind. A few rules cannot be expressed (low below high, one domain per
    attribute, one class); ``load_plan`` checks those.
    """
    schema = Plan.model_json_schema(by_alias=True, mode="validation")
    schema["properties"]["attributes"] |= {"minProperties": 1, "maxProperties": MAX_ATTRIBUTES}
    schema["$defs"]["AttributePlan"]["properties"]["step"]["default"] = 1
    schema["$defs"]["LedgerPlan"]["oneOf"] = [{"required": ["dataset"]}, {"required": ["people"]}]
    schema["oneOf"] = [{"required": ["attributes"]}, {"required": ["items"]}]
    # Without a method, settings may fit several methods; the plan determines which one it is.
    published = schema["properties"]["publish"]["anyOf"][0]
    published["anyOf"] = published.pop("oneOf")
    schema["title"] = "hedgerow plan"
    schema["description"] = (
        "The content of the data, its public domains, and the settings of a release."
    )
    return {"$schema": _DIALECT, **_without_titles(schema)}


def plan_schema_text() -> str:
    """Return the schema as the text of ``docs/plan.schema.json``."""
    return json.dumps(plan_json_schema(), indent=2, ensure_ascii=False) + "\n"


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop titles that only repeat a key's name; the schema's own title stays."""
    for part in [schema, *schema.get("$defs", {}).values()]:
        for field in part.get("properties", {}).values():
            field.pop("title", None)
    return schema
