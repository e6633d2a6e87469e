"""Conversion of a plan to the public schema of its table: taxonomies and domains."""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.encode.covers import codes_named
from hedgerow.errors import InternalError
from hedgerow.model.derive import DateColumn, Derivation
from hedgerow.model.schema import Attribute, CoverRule, Schema
from hedgerow.plan.derive import DateColumnPlan, column_formats
from hedgerow.plan.model import Plan
from hedgerow.taxonomy.calendar import day_number
from hedgerow.taxonomy.domain import MISSING, CategoricalDomain, DateDomain, Domain, NumericDomain
from hedgerow.taxonomy.load import taxonomy_of
from hedgerow.taxonomy.ready.catalogue import ready_name
from hedgerow.taxonomy.tree import Taxonomy


def schema_of(plan: Plan) -> Schema:
    """Return the public schema that a plan describes; its taxonomies are loaded here.

    With ``missing: value`` every predictor gets one more code, for missing values. In a taxonomy
    that is the leaf whose label the plan lists as missing, if there is one, and otherwise a new
    leaf under the root.
    """
    predictors = [_attribute(plan, name, keeps_missing=True) for name in plan.predictors]
    target = None
    if plan.class_name is not None:
        target = _attribute(plan, plan.class_name, keeps_missing=False)
    return Schema(
        attributes=tuple(predictors),
        class_attribute=target,
        missing=plan.missing,
        missing_values=frozenset(text.strip() for text in plan.missing_values),
        cover=_cover(plan, [*predictors, *([] if target is None else [target])]),
    )


def _cover(plan: Plan, released: Sequence[Attribute]) -> CoverRule | None:
    """Return which records count; a column that is read only for this has no missing code."""
    covers = plan.covers
    if covers is None:
        return None
    found = [each for each in released if each.name == covers.column]
    attribute = found[0] if found else _attribute(plan, covers.column, keeps_missing=False)
    disjoint = covers.people_disjoint
    return CoverRule(
        attribute=attribute,
        codes=codes_named(attribute, covers.values),
        values=covers.values,
        disjoint=None if disjoint is None else disjoint.why,
    )


def _attribute(plan: Plan, name: str, *, keeps_missing: bool) -> Attribute:
    attribute = plan.attributes[name]
    keeps_missing = keeps_missing and plan.missing == "value"
    if attribute.numeric is not None:
        low, high = attribute.numeric
        domain: Domain = NumericDomain.even(
            low=low, high=high, step=attribute.step, missing=keeps_missing
        )
    elif attribute.edges is not None:
        domain = NumericDomain.from_edges(attribute.edges, missing=keeps_missing)
    elif attribute.date is not None:
        dates = attribute.date
        domain = DateDomain.between(dates.from_, dates.to, step=dates.step, missing=keeps_missing)
    else:
        taxonomy = _taxonomy(plan, name)
        texts = {*plan.missing_values, *(attribute.missing_values or ())}
        listed = (label for label in taxonomy.leaf_labels if label in texts)
        missing = next(listed, MISSING) if keeps_missing else None
        reads = ready_name(attribute.taxonomy)
        domain = CategoricalDomain.over(
            taxonomy, other=attribute.other, missing=missing, reads=reads
        )
    return Attribute(
        name=name,
        domain=domain,
        missing_values=frozenset(text.strip() for text in attribute.missing_values or ()),
        unreadable=attribute.unreadable or "refuse",
        letters=attribute.letters,
        derivation=_derivation(plan, name),
    )


def _derivation(plan: Plan, name: str) -> Derivation | None:
    attribute = plan.attributes[name]
    if attribute.date is not None:
        return Derivation(what="date", start=DateColumn(name=name, format=attribute.date.read_by))
    if attribute.from_ is None:
        return None
    start = _date_column(plan, attribute.from_)
    if attribute.part is not None:
        return Derivation(what=attribute.part, start=start)
    if attribute.years_at is not None:
        return Derivation(what="years", start=start, at=day_number(attribute.years_at))
    if attribute.years_until is not None:
        return Derivation(
            what="years", start=start, until=_date_column(plan, attribute.years_until)
        )
    if attribute.days_until is None:
        raise InternalError("An attribute does not state what is computed from its dates.")
    return Derivation(what="days", start=start, until=_date_column(plan, attribute.days_until))


def _date_column(plan: Plan, column: DateColumnPlan) -> DateColumn:
    """Return a column with its format in the plan, or ISO."""
    known = column_formats(plan.attributes)
    return DateColumn(name=column.column, format=known.get(column.column, "iso"))


def _taxonomy(plan: Plan, name: str) -> Taxonomy:
    attribute = plan.attributes[name]
    if attribute.values is not None:
        return Taxonomy.flat(attribute.values)
    where = f"attributes > {name} > taxonomy"
    return taxonomy_of(attribute.taxonomy, base=plan.base, where=where)
