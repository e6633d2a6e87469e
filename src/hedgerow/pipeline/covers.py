"""The part of a table that a release reads, as the ledger, the certificate and `check` tell it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, fields

from hedgerow.ledger.covers import Cover, ranges_of
from hedgerow.model.certificate import CertifiedCover, listed
from hedgerow.model.database import Database, takes_whole_table
from hedgerow.model.reading import READING_RULES
from hedgerow.model.schema import Attribute, CoverRule, Schema
from hedgerow.plan.model import Plan
from hedgerow.release.domains import describe


def booked_cover(plan: Plan, schema: Schema, data: object = None) -> Cover | None:
    """Return the part of the data that the ledger books; ``None`` if all of it is read.

    ``data`` replaces the plan's own, as in `publish`.
    """
    rule = schema.cover
    if rule is None:
        return None
    return Cover(
        column=rule.attribute.name,
        key=rule_digest(plan, schema, rule, data),
        codes=ranges_of(rule.codes),
        values=rule.words,
        disjoint=rule.disjoint,
    )


def certified_cover(plan: Plan, schema: Schema, data: object = None) -> CertifiedCover | None:
    """Return what the certificate says of the part that is read."""
    rule = schema.cover
    if rule is None:
        return None
    return CertifiedCover(
        column=rule.attribute.name,
        values=rule.values,
        rule_sha256=rule_digest(plan, schema, rule, data),
        people_disjoint=rule.disjoint,
    )


def rule_digest(plan: Plan, schema: Schema, rule: CoverRule, data: object = None) -> str:
    """Return the SHA-256 of all that gives a record its code: two plans with the same agree.

    Privacy: disjoint codes mean disjoint records only if one record has one code. Another
    encoding, calendar, format, list of missing values or decimal mark may give it another, and so
    may another version of the rules. Every field of `Reading`, `Attribute`, `Derivation` and
    `DateColumn` is in the digest, or in `NEVER_CHANGE_A_CODE` with the reason.
    """
    facts = {
        "rules": READING_RULES,
        "attribute": rule.attribute.name,
        "domain": describe(rule.attribute.domain).facts(),
        **_read_by(rule.attribute),
        "missing": sorted(schema.missing_values | rule.attribute.missing_values),
        "marks": _marks(plan, rule.attribute),
        "reading": _reading_facts(plan, data),
        "query": _query(plan, data),
    }
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


NEVER_CHANGE_A_CODE = {
    "seconds": "a limit: a run that exceeds it publishes nothing",
    "megabytes": "a limit: a run that exceeds it publishes nothing",
    "columns": "number marks of other columns; those of this column are the fact 'marks'",
}
"""Fields of `Reading` that are not in the digest, and why none of them can change a code."""


def _reading_facts(plan: Plan, data: object) -> dict[str, object]:
    """Return how the file is read; a new field of `Reading` is included unless listed above."""
    reading, place = plan.how_to_read(), data if data is not None else plan.data
    name = str(place) if isinstance(place, str | os.PathLike) else ""
    facts = {field.name: getattr(reading, field.name) for field in fields(reading)}
    # Where the plan gives no delimiter or format, the name of the file decides.
    facts |= {"delimiter": reading.delimiter_of(name), "format": reading.holds_objects(name)}
    return {key: value for key, value in facts.items() if key not in NEVER_CHANGE_A_CODE}


def _query(plan: Plan, data: object) -> str | None:
    """Return the query that computes the table from a database; a whole table has none."""
    query = plan.table_query if data is None else data.query if isinstance(data, Database) else None
    return None if query is None or takes_whole_table(query) else query


def _read_by(attribute: Attribute) -> dict[str, object]:
    return {
        "unreadable": attribute.unreadable,
        "letters": attribute.letters,
        "derivation": None if attribute.derivation is None else asdict(attribute.derivation),
    }


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
