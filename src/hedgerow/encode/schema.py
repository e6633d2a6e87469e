"""The public description of an encoded table: its attributes, their domains and codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hedgerow.errors import InternalError
from hedgerow.taxonomy.domain import MISSING, CategoricalDomain, Domain, NumericDomain
from hedgerow.taxonomy.load import taxonomy_of
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    from hedgerow.plan.model import Plan


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A column of the table and the finite, public domain its codes number."""

    name: str
    domain: Domain


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The predictors in the plan's order, the class if there is one, and what is missing.

    ``missing`` says what happens to a record that lacks a predictor: ``drop`` leaves the
    record out, ``value`` gives it the code that its domain keeps for missing values. A
    record that lacks its class is left out either way. ``missing_values`` are the texts
    that stand for a missing value; an empty field always does.
    """

    attributes: tuple[Attribute, ...]
    class_attribute: Attribute | None
    missing: Literal["drop", "value"] = "drop"
    missing_values: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.used()]
        if len(set(names)) < len(names):
            raise InternalError("two attributes of a schema have the same name")
        if self.class_attribute and self.class_attribute.domain.kind != "categorical":
            raise InternalError("the class of a schema is numeric")

    def used(self) -> Iterator[Attribute]:
        """Yield every attribute that is read: the predictors, then the class."""
        yield from self.attributes
        if self.class_attribute is not None:
            yield self.class_attribute


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
    else:
        taxonomy = _taxonomy(plan, name)
        listed = (label for label in taxonomy.leaf_labels if label in plan.missing_values)
        missing = next(listed, MISSING) if keeps_missing else None
        domain = CategoricalDomain.over(taxonomy, other=given.other, missing=missing)
    return Attribute(name=name, domain=domain)


def _taxonomy(plan: Plan, name: str) -> Taxonomy:
    given = plan.attributes[name]
    if given.values is not None:
        return Taxonomy.flat(given.values)
    where = f"attributes > {name} > taxonomy"
    return taxonomy_of(given.taxonomy, base=plan.base, where=where)
