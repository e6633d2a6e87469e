"""The part of a table that a release reads: records with some values of a public column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, StrictBool

from hedgerow.plan.approval import Sentence
from hedgerow.plan.attribute import AttributePlan
from hedgerow.plan.fields import Label, Name, PlanModel, mistake, shown

MOST_COVERED = 10_000


def _covered(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise mistake("The list is empty.", "List the values whose records are published.")
    if len(values) > MOST_COVERED:
        raise mistake(
            f"The list has more than {MOST_COVERED:,} values.",
            "Name larger parts, such as whole years.",
        )
    for place, value in enumerate(values):
        if value in values[:place]:
            raise mistake(f"The list has {shown(value)} twice.", "List each value once.")
    return values


class PeopleDisjointPlan(PlanModel):
    """A person's statement that nobody is both in this part and outside of it, for the ledger."""

    confirmed: StrictBool = Field(
        description=(
            "true once a person has confirmed that nobody with records in this part has any"
            " outside of it, in any table of the account"
        )
    )
    why: Sentence = Field(description="the reason, in public words")


class CoversPlan(PlanModel):
    """The records that are published: those with these values of a column with a public domain."""

    column: Name = Field(
        description=(
            "the attribute by which the table is divided: one that is released, or one with 'role:"
            " cover', which is read only for this"
        )
    )
    values: Annotated[tuple[Label, ...], AfterValidator(_covered)] = Field(
        description="the list of its values whose records are published; all others are left out"
    )
    people_disjoint: PeopleDisjointPlan | None = Field(
        None,
        description=(
            "a mapping {confirmed: true, why: ...}: nobody with records in this part has any"
            " outside of it, so that releases of other parts do not add up for people either"
        ),
    )


def check_covers(
    covers: CoversPlan | None,
    attributes: Mapping[str, AttributePlan],
    *,
    for_tables: bool,
    of_people: bool,
) -> None:
    """Refuse invalid covers; ``of_people`` is whether the plan protects people."""
    if covers is None:
        for name, attribute in attributes.items():
            if attribute.role == "cover":
                raise mistake(
                    "The plan does not list the values of this column that it covers.",
                    f"Give 'covers: {{column: {name}, values: [...]}}', or 'role: drop'.",
                    key=("attributes", name, "role"),
                )
        return
    if not for_tables:
        raise mistake(
            "Only releases of tables can cover a part of their records.",
            "Remove it, and select the records before they are published; releases of baskets"
            " and disclosures always add up.",
            key=("covers",),
        )
    _check_column(covers, attributes)
    if covers.people_disjoint is not None:
        _check_disjoint(covers.people_disjoint, of_people=of_people)


def _check_column(covers: CoversPlan, attributes: Mapping[str, AttributePlan]) -> None:
    attribute = attributes.get(covers.column)
    if attribute is None:
        raise mistake(
            f"There is no attribute {shown(covers.column)}.",
            "Give the column a line under attributes with its public domain, and 'role: cover'"
            " if it is not to be released.",
            key=("covers", "column"),
        )
    if not attribute.is_read:
        raise mistake(
            f"The attribute {shown(covers.column)} has no public domain.",
            "Give it one, and 'role: cover' if it is not to be released.",
            key=("covers", "column"),
        )
    for name, attribute in attributes.items():
        if attribute.role == "cover" and name != covers.column:
            raise mistake(
                f"The plan covers values of {shown(covers.column)}.",
                "Give this column 'role: drop': a plan covers by one column.",
                key=("attributes", name, "role"),
            )


def _check_disjoint(statement: PeopleDisjointPlan, *, of_people: bool) -> None:
    if not statement.confirmed:
        raise mistake(
            "Nobody has confirmed it.",
            "Set it to true if nobody has records both in this part and outside of it; else"
            " remove 'people-disjoint'.",
            key=("covers", "people-disjoint", "confirmed"),
        )
    if not of_people:
        raise mistake(
            "This plan protects records, and each is in one part anyway.",
            "Remove it, or name people: 'person: COLUMN'.",
            key=("covers", "people-disjoint"),
        )
