"""From a plan to the public schema of its table: taxonomies are loaded, domains laid out."""

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

    With ``missing: value`` every predictor gets one more code, for missing values. In a
    taxonomy that is the leaf whose label the plan lists as missing, if there is one, and
    otherwise a new leaf under the root.
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
    """Return which records count; a column that is read for this alone has no missing code."""
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
    given = plan.attributes[name]
    keeps_missing = keeps_missing and plan.missing == "value"
    if given.numeric is not None:
        low, high = given.numeric
        domain: Domain = NumericDomain.even(
            low=low, high=high, step=given.step, missing=keeps_missing
        )
    elif given.edges is not None:
        domain = NumericDomain.from_edges(given.edges, missing=keeps_missing)
    elif given.date is not None:
        dates = given.date
        domain = DateDomain.between(dates.from_, dates.to, step=dates.step, missing=keeps_missing)
    else:
        taxonomy = _taxonomy(plan, name)
        texts = {*plan.missing_values, *(given.missing_values or ())}
        listed = (label for label in taxonomy.leaf_labels if label in texts)
        missing = next(listed, MISSING) if keeps_missing else None
        reads = ready_name(given.taxonomy)
        domain = CategoricalDomain.over(taxonomy, other=given.other, missing=missing, reads=reads)
    return Attribute(
        name=name,
        domain=domain,
        missing_values=frozenset(text.strip() for text in given.missing_values or ()),
        unreadable=given.unreadable or "refuse",
        letters=given.letters,
        derivation=_derivation(plan, name),
    )


def _derivation(plan: Plan, name: str) -> Derivation | None:
    given = plan.attributes[name]
    if given.date is not None:
        return Derivation(what="date", start=DateColumn(name=name, format=given.date.read_by))
    if given.from_ is None:
        return None
    start = _date_column(plan, given.from_)
    if given.part is not None:
        return Derivation(what=given.part, start=start)
    if given.years_at is not None:
        return Derivation(what="years", start=start, at=day_number(given.years_at))
    if given.years_until is not None:
        return Derivation(what="years", start=start, until=_date_column(plan, given.years_until))
    if given.days_until is None:
        raise InternalError("an attribute does not say what follows from its dates")
    return Derivation(what="days", start=start, until=_date_column(plan, given.days_until))


def _date_column(plan: Plan, given: DateColumnPlan) -> DateColumn:
    """Return a column with the format that the plan gives it somewhere, or ISO."""
    known = column_formats(plan.attributes)
    return DateColumn(name=given.column, format=known.get(given.column, "iso"))


def _taxonomy(plan: Plan, name: str) -> Taxonomy:
    given = plan.attributes[name]
    if given.values is not None:
        return Taxonomy.flat(given.values)
    where = f"attributes > {name} > taxonomy"
    return taxonomy_of(given.taxonomy, base=plan.base, where=where)
