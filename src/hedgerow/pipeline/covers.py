"""The part of a table that a release reads, as the ledger, the certificate and `check` tell it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hedgerow.model.certificate import CertifiedCover, listed
from hedgerow.model.derive import DateColumn, Derivation
from hedgerow.model.schema import Attribute, CoverRule, Schema
from hedgerow.plan.model import Plan
from hedgerow.privacy.ledger_covers import Cover, ranges_of
from hedgerow.release.domains import describe


def booked_cover(plan: Plan, schema: Schema) -> Cover | None:
    """Return what the ledger is told of the part that is read; ``None`` if that is the whole."""
    rule = schema.cover
    if rule is None:
        return None
    return Cover(
        column=rule.attribute.name,
        key=rule_digest(plan, schema, rule),
        codes=ranges_of(rule.codes),
        values=rule.words,
        disjoint=rule.disjoint,
    )


def certified_cover(plan: Plan, schema: Schema) -> CertifiedCover | None:
    """Return what the certificate says of the part that is read."""
    rule = schema.cover
    if rule is None:
        return None
    return CertifiedCover(
        column=rule.attribute.name,
        values=rule.values,
        rule_sha256=rule_digest(plan, schema, rule),
        people_disjoint=rule.disjoint,
    )


def rule_digest(plan: Plan, schema: Schema, rule: CoverRule) -> str:
    """Return the SHA-256 of all that gives a record its code: two plans with the same agree.

    Privacy: disjoint codes mean disjoint records only if one record has one code. Another
    calendar, format, list of missing values or decimal mark may give it another.
    """
    facts = {
        "attribute": rule.attribute.name,
        "domain": describe(rule.attribute.domain).facts(),
        **_read_by(rule.attribute),
        "missing": sorted(schema.missing_values | rule.attribute.missing_values),
        "marks": _marks(plan, rule.attribute),
    }
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read_by(attribute: Attribute) -> dict[str, Any]:
    return {
        "unreadable": attribute.unreadable,
        "letters": attribute.letters,
        "derivation": _derived(attribute.derivation),
    }


def _derived(derivation: Derivation | None) -> list[Any] | None:
    if derivation is None:
        return None
    start, until = _column(derivation.start), None
    if derivation.until is not None:
        until = _column(derivation.until)
    return [derivation.what, start, until, derivation.at]


def _column(column: DateColumn) -> list[str]:
    return [column.name, column.format]


def _marks(plan: Plan, attribute: Attribute) -> list[str] | None:
    """Return how texts of the column write numbers; other columns have no such marks."""
    if attribute.derivation is not None or attribute.domain.kind != "numeric":
        return None
    marks = plan.attributes[attribute.name].marks(plan.how_to_read())
    return [marks.decimal, marks.thousands]


def cover_notes(plan: Plan, schema: Schema) -> tuple[str, ...]:
    """Return what `check` says of the part that is read."""
    rule = schema.cover
    if rule is None:
        return ()
    what = (
        f"Only records whose {rule.attribute.name!r} is {listed(rule.values)} count: publish leaves"
        " all others out, record by record, before anything is computed."
    )
    if plan.protects_people and rule.disjoint is None:
        return (
            f"{what} For the people in it releases of several parts add up all the same, as"
            " somebody may have records in each.",
        )
    return (f"{what} On the ledger it adds up only with releases that have some of them too.",)
