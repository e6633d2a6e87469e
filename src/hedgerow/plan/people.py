"""The privacy unit in a plan: a person with all their records, or a record."""

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
    """Return whether the name of a column is like that of one that identifies a person.

    >>> [names_people(name) for name in ("patient_nbr", "CustomerID", "visit_id", "row")]
    [True, True, False, False]
    """
    words = re.sub(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])", "_", column)
    return _NAMES_PEOPLE.search(words) is not None


def is_person_key(column: str) -> bool:
    """Return whether a column's name consists of a person and a key: nothing about the person.

    >>> [is_person_key(name) for name in ("N_PATIENT", "CustomerID", "household_income")]
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
"""The column that identifies the person of a record, or several that do so together."""


def _as_bound(value: object) -> object:
    if value == "auto":
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise mistake("This is not a whole number.", "Give a number such as 4, or auto.")
    if not 1 <= value <= MOST_RECORDS:
        raise mistake(
            f"The number is not from 1 to {MOST_RECORDS:,}.",
            "Give the largest number of records of one person that count, such as 4, or auto.",
        )
    return value


RecordsPerPerson = Annotated[int | Literal["auto"], BeforeValidator(_as_bound)]


@dataclass(frozen=True, kw_only=True)
class PeopleSettings:
    """The settings of a plan on people."""

    person: tuple[str, ...] | None
    records_per_person: int | Literal["auto"] | None
    count: Literal["records", "people"] | None
    one_record_per_person: bool | None
    join: Join | None = None
    protects: Literal["records"] | None = None


def check_person(people: PeopleSettings, released: Collection[str]) -> None:
    """Refuse invalid settings on people; ``released`` are the columns that are released."""
    _check_one_unit(people)
    if people.person is None:
        alone = {
            "records-per-person": people.records_per_person is not None,
            "count": people.count is not None,
            "join": people.join is not None,
        }
        for key, there in alone.items():
            if there:
                raise mistake(
                    "This setting needs 'person'.",
                    "Name the column that identifies the person of a record: 'person: COLUMN'.",
                    key=(key,),
                )
        return
    if people.records_per_person is None and people.join is None:
        raise mistake(
            "This setting is missing.",
            "Give the largest number of records of one person that count, such as 4, or auto.",
            key=("records-per-person",),
        )
    if people.records_per_person == "auto" and people.count == "people":
        raise mistake(
            "With 'count: people' there is no bound to choose.",
            "Give a number: with 'count: people' more records of a person cost nothing; 8 is a"
            " good one.",
            key=("records-per-person",),
        )
    _check_columns(people.person, released)


def _check_one_unit(people: PeopleSettings) -> None:
    """Refuse a plan that states two privacy units."""
    if people.person is not None and people.one_record_per_person:
        raise mistake(
            "A person is named as well.",
            "Remove it: with 'person' people may have any number of records.",
            key=("one-record-per-person",),
        )
    other = "person" if people.person is not None else "one-record-per-person"
    if people.protects is not None and (people.person is not None or people.one_record_per_person):
        raise mistake(
            f"{other!r} is set as well.",
            f"Keep one of the two: {other!r} protects people, 'protects: records' each record.",
            key=("protects",),
        )


def _check_columns(columns: tuple[str, ...], released: Collection[str]) -> None:
    for place, column in enumerate(columns):
        key = ("person", place) if len(columns) > 1 else ("person",)
        if column in columns[:place]:
            raise mistake(f"{shown(column)} occurs twice.", "Name it once.", key=key)
        if column in released:
            raise mistake(
                f"{shown(column)} is an attribute that would be released.",
                "Give that attribute 'role: identifier', or name another column: the identity"
                " of a person is never released.",
                key=key,
            )


def people_rule(people: PeopleSettings) -> PeopleRule | None:
    """Return the rule of the plan; with ``auto`` the largest bound that may be chosen."""
    if people.person is None:
        return None
    if people.join is not None:
        return PeopleRule(columns=people.person, most=1, join=people.join)
    bound = people.records_per_person
    if bound is None:
        return None
    most = CANDIDATES[-1] if bound == "auto" else bound
    return PeopleRule(columns=people.person, most=most, counted=people.count or "records")
