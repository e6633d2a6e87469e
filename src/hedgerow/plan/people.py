"""Who is protected, as a plan says it: a person with all their records, or a record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from hedgerow.model.people import CANDIDATES, MOST_RECORDS, PeopleRule
from hedgerow.plan.fields import Name, mistake, shown

if TYPE_CHECKING:
    from hedgerow.plan.model import Plan

MOST_PERSON_COLUMNS = 8

_PEOPLE = (
    "account|beneficiary|borrower|bürger|buerger|card|citizen|client|customer|donor|driver|employee"
    "|enrolee|enrollee|family|guest|holder|household|insured|inhabitant|kund|member|mitarbeiter"
    "|mrn|nhs|nino|owner|participant|passenger|patient|pensioner|person|pseudonym|pupil|recipient"
    "|resident|respondent|rider|schüler|schueler|ssn|staff|student|subject|subscriber|taxpayer"
    "|tenant|traveller|traveler|user|versicherten|visitor|voter|worker"
)
_NAMES_PEOPLE = re.compile(rf"(?<![a-zäöü])(?:{_PEOPLE})", re.IGNORECASE)


def names_people(column: str) -> bool:
    """Whether a column is called like one that says whose record it is.

    >>> [names_people(name) for name in ("patient_nbr", "CustomerID", "visit_id", "row")]
    [True, True, False, False]
    """
    words = re.sub(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])", "_", column)
    return _NAMES_PEOPLE.search(words) is not None


def _as_columns(value: object) -> object:
    return [value] if isinstance(value, str) else value


Person = Annotated[
    tuple[Name, ...],
    BeforeValidator(_as_columns, json_schema_input_type=str | list[str]),
    Field(min_length=1, max_length=MOST_PERSON_COLUMNS),
]
"""The column that names the person of a record, or several that do so together."""


def _as_bound(value: object) -> object:
    if value == "auto":
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise mistake("is no whole number", "Give a number such as 4, or auto.")
    if not 1 <= value <= MOST_RECORDS:
        raise mistake(
            f"is not from 1 to {MOST_RECORDS:,}",
            "Give the most records of one person that shall count, such as 4, or auto.",
        )
    return value


RecordsPerPerson = Annotated[int | Literal["auto"], BeforeValidator(_as_bound)]


def check_person(plan: Plan) -> None:
    """Refuse what a plan says of people and cannot mean."""
    if plan.person is None:
        given = {
            "records-per-person": plan.records_per_person is not None,
            "count": plan.count != "records",
        }
        for key, there in given.items():
            if there:
                raise mistake(
                    "there is no person",
                    "Name the column that says whose record it is: 'person: COLUMN'.",
                    key=(key,),
                )
        return
    if plan.one_record_per_person:
        raise mistake(
            "a person is named, too",
            "Remove it: with 'person' people may have any number of records.",
            key=("one-record-per-person",),
        )
    if plan.records_per_person is None:
        raise mistake(
            "is missing",
            "Say how many records of one person count at most, such as 4, or auto.",
            key=("records-per-person",),
        )
    if plan.records_per_person == "auto" and plan.count == "people":
        raise mistake(
            "there is nothing to choose where people are counted",
            "Give a number: with 'count: people' more records of a person cost nothing; 8 is a"
            " good one.",
            key=("records-per-person",),
        )
    _check_columns(plan, plan.person)


def _check_columns(plan: Plan, columns: tuple[str, ...]) -> None:
    for place, column in enumerate(columns):
        key = ("person", place) if len(columns) > 1 else ("person",)
        if column in columns[:place]:
            raise mistake(f"{shown(column)} is named twice", "Name it once.", key=key)
        attribute = plan.attributes.get(column)
        if attribute is not None and attribute.is_read:
            raise mistake(
                f"{shown(column)} is an attribute that would be released",
                "Give that attribute 'role: identifier', or name another column: who a person is"
                " is never released.",
                key=key,
            )


def people_rule(plan: Plan) -> PeopleRule | None:
    """Return the rule of a plan; with ``auto`` the largest bound that may be chosen."""
    if plan.person is None or plan.records_per_person is None:
        return None
    bound = plan.records_per_person
    most = CANDIDATES[-1] if bound == "auto" else bound
    return PeopleRule(columns=plan.person, most=most, counted=plan.count)
