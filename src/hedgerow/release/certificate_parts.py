"""Parts that the certificates of releases and of disclosures share."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from hedgerow.model import certificate as paper
from hedgerow.model.derive import Derivation
from hedgerow.model.schema import Attribute, Schema
from hedgerow.plan.approval import ConfirmedPlan
from hedgerow.plan.model import Plan
from hedgerow.plan.reading import ReadingPlan
from hedgerow.plan.signature import FROM_DATA, ITEMS
from hedgerow.release.domains import describe
from hedgerow.taxonomy.calendar import date_text
from hedgerow.taxonomy.domain import CategoricalDomain, DateDomain


def assumed_table(schema: Schema, *, settings: str, plan: Plan) -> tuple[paper.Assumed, ...]:
    """Return what is assumed to be public of a table: domains, settings and reading rules."""
    domains = [
        paper.Assumed(
            what=_domain_words(attribute) + source_words(plan, attribute.name),
            sha256=describe(attribute.domain).digest(),
        )
        for attribute in schema.used()
    ]
    followed = [
        paper.Assumed(what=_derived_words(attribute.name, attribute.derivation))
        for attribute in schema.used()
        if attribute.derivation is not None
    ]
    read = (
        "records with a missing value are left out"
        if plan.missing == "drop"
        else "a missing value is a value of its own"
    )
    return (
        *domains,
        *followed,
        assumed_settings(settings),
        paper.Assumed(what=f"how values are read: {read}; numbers are clamped to their bounds"),
    )


def source_words(plan: Plan, name: str) -> str:
    """Return the origin of a domain, as the end of a sentence; `ITEMS` stands for the universe."""
    section = plan.items if name == ITEMS else plan.attributes.get(name)
    if section is None or section.source is None:
        return ""
    if section.source != FROM_DATA:
        return f"; source: {section.source}"
    signed = plan.confirmed
    is_stated = isinstance(signed, ConfirmedPlan) and name in signed.public
    return "; taken from the data" + (", stated to be public by the signer" if is_stated else "")


def assumed_cover(schema: Schema, plan: Plan) -> tuple[paper.Assumed, ...]:
    """Return the assumptions if the plan covers only a part of the records, else nothing."""
    cover = schema.cover
    if cover is None:
        return ()
    own = () if schema.covering is None else _domain_of(schema.covering, plan)
    same = paper.Assumed(
        what=f"a record has the same {cover.attribute.name} whenever it is published; one whose"
        " value was corrected in between counts in both releases"
    )
    if cover.disjoint is None:
        return (*own, same)
    people = paper.Assumed(
        what="nobody who has records in this part of the table has any outside of it, by the word"
        f" of who confirmed it: {cover.disjoint}"
    )
    return (*own, same, people)


def _domain_of(attribute: Attribute, plan: Plan) -> tuple[paper.Assumed, ...]:
    """Return the public domain of an attribute that is not released, and how it is read."""
    digest = describe(attribute.domain).digest()
    source = source_words(plan, attribute.name)
    words = f"{_domain_words(attribute)}; not released{source}"
    public = paper.Assumed(what=words, sha256=digest)
    if attribute.derivation is None:
        return (public,)
    return (public, paper.Assumed(what=_derived_words(attribute.name, attribute.derivation)))


def assumed_settings(names: str) -> paper.Assumed:
    """Return the assumption that the settings with these names are public."""
    return paper.Assumed(what=f"the settings of the method: {names}")


def assumed_form(form: ReadingPlan) -> paper.Assumed:
    """Return the assumption that the file's format is public, as far as the plan states it."""
    said = form.model_dump(by_alias=True, exclude={"seconds", "megabytes"}, exclude_none=True)
    if isinstance(form.header, tuple):
        said["header"] = f"none, {len(form.header)} columns"
    words = ", ".join(f"{key} {value}" for key, value in said.items())
    return paper.Assumed(what=f"how the file is written: {words}")


def _domain_words(attribute: Attribute) -> str:
    domain = attribute.domain
    if isinstance(domain, CategoricalDomain):
        return f"the taxonomy of {attribute.name}, with {domain.size} values"
    what = "grid"
    if isinstance(domain, DateDomain):
        what = f"calendar (by {domain.grid.step})"
    cells = f"{domain.label(0, domain.size)} in {domain.size} cells"
    return f"the {what} of {attribute.name}, {cells}"


def _derived_words(name: str, derivation: Derivation) -> str:
    start, *until = (f"{each.name} ({each.format})" for each in derivation.columns)
    if derivation.what == "date":
        return f"how the dates of {name} are written: {derivation.start.format}"
    if derivation.what in ("years", "days"):
        end = until[0] if derivation.at is None else date_text(derivation.at)
        return f"how {name} follows from dates: {derivation.what} from {start} to {end}"
    return f"how {name} follows from dates: {derivation.what} of {start}"


def randomness(*, seeded: bool) -> paper.Randomness:
    """Return the source of the random numbers."""
    if seeded:
        return paper.Randomness(source="seeded", reproducible=True, stamp=paper.NOT_PRIVATE)
    return paper.Randomness(source="operating system", reproducible=False)


def described(schema: Schema, plan: Plan | None) -> tuple[paper.DescribedAttribute, ...]:
    """Return the public facts of every attribute, with the plan's units and meanings."""
    planned = {} if plan is None else plan.attributes
    return tuple(
        paper.DescribedAttribute(
            name=attribute.name,
            role="class" if attribute is schema.class_attribute else "predictor",
            kind="date" if isinstance(attribute.domain, DateDomain) else attribute.domain.kind,
            size=attribute.domain.size,
            unit=planned[attribute.name].unit if attribute.name in planned else None,
            meaning=planned[attribute.name].meaning if attribute.name in planned else None,
            source=planned[attribute.name].source if attribute.name in planned else None,
        )
        for attribute in schema.used()
    )


def versions() -> dict[str, str]:
    """Return the versions of the software that made the run."""
    try:
        own = version("hedgerow")
    except PackageNotFoundError:  # run from a source tree that is not installed
        own = "unknown"
    return {"hedgerow": own, "python": platform.python_version(), "numpy": np.__version__}
