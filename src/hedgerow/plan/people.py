"""Who is protected, as a plan says it: a person with all their records, or a record."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from hedgerow.model.people import CANDIDATES, MOST_RECORDS, Join, PeopleRule
from hedgerow.plan.fields import Name, mistake, shown

MOST_PERSON_COLUMNS = 8

_PEOPLE = (
    "account|beneficiary|borrower|bürger|buerger|card|citizen|client|customer|donor|driver|employee"
    "|enrolee|enrollee|family|guest|holder|household|insured|inhabitant|kund|member|mitarbeiter"
    "|mrn|nhs|nino|owner|participant|passenger|patient|pensioner|person|pseudonym|pupil|recipient"
    "|resident|respondent|rider|schüler|schueler|ssn|staff|student|subject|subscriber|taxpayer"
    "|tenant|traveller|traveler|user|versicherten|visitor|voter|worker"
    "|paciente|paziente|patiënt|klant|cliente|usuario|assur[eé]|[eé]l[eè]ve|alumno|empleado|hogar"
    "|asegurado|expediente|nuhsa|adh[eé]rent|assistito|codice fiscale|pesel|bsn"
    "|pacjent|pacient|pasient|klient|asiakas|potilas|borger|ubezpieczon|pracownik|uczestnik|utente"
    "|malade|salarié|b[eé]n[eé]ficiaire|müşteri|musteri"
)
_KEYS = re.compile(
    r"(?:en|s|e)?(?:|id|ids|n|no|nr|nbr|num|number|nummer|numero|numéro|code|key|ref|uid|uuid|pid"
    r"|kennung|pseudonym|hash|the|de|du|der|des)",
    re.IGNORECASE,
)
_NAMES_PEOPLE = re.compile(rf"(?<![a-zäöü])(?:{_PEOPLE})", re.IGNORECASE)


def names_people(column: str) -> bool:
    """Whether a column is called like one that says whose record it is.

    >>> [names_people(name) for name in ("patient_nbr", "CustomerID", "visit_id", "row")]
    [True, True, False, False]
    """
    words = re.sub(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])", "_", column)
    return _NAMES_PEOPLE.search(words) is not None


def tells_people_apart(column: str) -> bool:
    """Whether a column is called by a person and a key alone: nothing about the person.

    >>> [tells_people_apart(name) for name in ("N_PATIENT", "CustomerID", "household_income")]
    [True, True, False]
    """
    words = re.sub(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])", "_", column)
    left = [_NAMES_PEOPLE.sub("", word) for word in re.split(r"[\W_]+", words)]
    return names_people(column) and all(_KEYS.fullmatch(word) for word in left)


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


@dataclass(frozen=True, kw_only=True)
class SaidOfPeople:
    """What a plan says of people."""

    person: tuple[str, ...] | None
    records_per_person: int | Literal["auto"] | None
    count: Literal["records", "people"] | None
    one_record_per_person: bool | None
    join: Join | None = None
    protects: Literal["records"] | None = None


def check_person(given: SaidOfPeople, released: Collection[str]) -> None:
    """Refuse what cannot be meant; ``released`` are the columns that are released."""
    _check_one_unit(given)
    if given.person is None:
        alone = {
            "records-per-person": given.records_per_person is not None,
            "count": given.count is not None,
            "join": given.join is not None,
        }
        for key, there in alone.items():
            if there:
                raise mistake(
                    "there is no person",
                    "Name the column that says whose record it is: 'person: COLUMN'.",
                    key=(key,),
                )
        return
    if given.records_per_person is None and given.join is None:
        raise mistake(
            "is missing",
            "Say how many records of one person count at most, such as 4, or auto.",
            key=("records-per-person",),
        )
    if given.records_per_person == "auto" and given.count == "people":
        raise mistake(
            "there is nothing to choose where people are counted",
            "Give a number: with 'count: people' more records of a person cost nothing; 8 is a"
            " good one.",
            key=("records-per-person",),
        )
    _check_columns(given.person, released)


def _check_one_unit(given: SaidOfPeople) -> None:
    """Refuse a plan that states two privacy units."""
    if given.person is not None and given.one_record_per_person:
        raise mistake(
            "a person is named, too",
            "Remove it: with 'person' people may have any number of records.",
            key=("one-record-per-person",),
        )
    other = "person" if given.person is not None else "one-record-per-person"
    if given.protects is not None and (given.person is not None or given.one_record_per_person):
        raise mistake(
            f"{other!r} is given, too",
            f"Keep one of the two: {other!r} protects people, 'protects: records' each record.",
            key=("protects",),
        )


def _check_columns(columns: tuple[str, ...], released: Collection[str]) -> None:
    for place, column in enumerate(columns):
        key = ("person", place) if len(columns) > 1 else ("person",)
        if column in columns[:place]:
            raise mistake(f"{shown(column)} is named twice", "Name it once.", key=key)
        if column in released:
            raise mistake(
                f"{shown(column)} is an attribute that would be released",
                "Give that attribute 'role: identifier', or name another column: who a person is"
                " is never released.",
                key=key,
            )


def people_rule(given: SaidOfPeople) -> PeopleRule | None:
    """Return the rule of the plan; with ``auto`` the largest bound that may be chosen."""
    if given.person is None:
        return None
    if given.join is not None:
        return PeopleRule(columns=given.person, most=1, join=given.join)
    bound = given.records_per_person
    if bound is None:
        return None
    most = CANDIDATES[-1] if bound == "auto" else bound
    return PeopleRule(columns=given.person, most=most, counted=given.count or "records")
