"""The part of a table that a release was made from, so that it is compared with that part."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hedgerow.encode.covers import codes_named
from hedgerow.encode.schema import schema_of
from hedgerow.errors import SettingError
from hedgerow.model.certificate import CertifiedCover, listed
from hedgerow.model.schema import CoverRule, Schema
from hedgerow.plan.model import Plan


def covered(
    schema: Schema, cover: CertifiedCover | None, plan: Plan | None, columns: Collection[str]
) -> Schema:
    """Return the schema that reads only what the release covers of data with these columns.

    The plan says how the column is read; without one the release must have it as an attribute.
    Data without the column are taken to be the part itself.
    """
    if cover is None or schema.cover is not None:
        return schema
    if plan is not None and plan.covers is not None:
        return replace(schema, cover=_planned(cover, plan))
    for attribute in schema.used():
        if attribute.name == cover.column:
            codes = codes_named(attribute, cover.values)
            rule = CoverRule(attribute=attribute, codes=codes, values=cover.values)
            return replace(schema, cover=rule)
    if cover.column not in columns:
        return schema
    raise SettingError(
        f"the release covers only records whose {cover.column!r} is {listed(cover.values)}, and"
        " does not say how that column is read",
        where="evaluation",
        do="Give the plan of the release with --plan, or data that hold that part alone, without"
        " the column.",
    )


def _planned(cover: CertifiedCover, plan: Plan) -> CoverRule:
    rule = schema_of(plan).cover
    if rule is None or (rule.attribute.name, rule.values) != (cover.column, cover.values):
        raise SettingError(
            f"the plan covers another part than the release, whose {cover.column!r} is"
            f" {listed(cover.values)}",
            where="plan: covers",
            do="Give the plan that the release was made by.",
        )
    return rule
