"""The privacy unit of a release: what its guarantee protects.

The plan states it and nobody can check it, so sentences that rest on it name the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from hedgerow.model.people import noun_of
from hedgerow.taxonomy.labels import displayed

PrivacyUnit = Literal["person", "one record per person", "records"]
"""The privacy unit: a person with all their records, the one record of a person, or each record."""

NEIGHBOURS: Final[Mapping[PrivacyUnit, str]] = {
    "person": "add or remove one person with all their records",
    "one record per person": "add or remove one person, who has at most one record, as the plan"
    " states",
    "records": "add or remove one record",
}
"""Texts of the difference between two neighbouring tables."""

_LONGEST = 80


def stated_once(records: str = "records") -> str:
    """Return the sentence that nobody has two of the ``records``, with its source.

    >>> stated_once("baskets")
    'The plan states that nobody has more than one basket.'
    """
    return f"The plan states that nobody has more than one {records.removesuffix('s')}."


def several_cost(records: str = "records", *, pure: bool = True) -> str:
    """Return the meaning of a guarantee for each record for a person with ten (group privacy).

    >>> several_cost()
    'A person with ten records has ten times the privacy loss.'
    """
    loss = "privacy loss" if pure else "epsilon, and more than ten times the delta"
    return f"A person with ten {records} has ten times the {loss}."


def protection(
    unit: PrivacyUnit,
    columns: tuple[str, ...] = (),
    *,
    records: str = "records",
    pure: bool = True,
) -> str:
    """Return the protection by a guarantee, in one or two sentences.

    ``columns`` identify a person if the unit is ``person``; ``records`` is the name of the records;
    ``pure`` is whether delta is 0.

    >>> protection("person", ("patient_id",))
    'Protects each patient (column patient_id) with all their records.'
    >>> protection("records", records="baskets")
    'Protects each basket. A person with ten baskets has ten times the privacy loss.'
    """
    if unit == "person":
        return f"Protects each {person_words(columns)} with all their {records}."
    if unit == "one record per person":
        return f"Protects each person. {stated_once(records)}"
    return f"Protects each {records.removesuffix('s')}. {several_cost(records, pure=pure)}"


def person_words(columns: tuple[str, ...]) -> str:
    """Return the noun for a person, and the columns that identify one.

    >>> person_words(("clinic", "nr"))
    'person (columns clinic, nr)'
    """
    kind, text = "column" if len(columns) == 1 else "columns", ", ".join(columns)
    shown = text if text.isprintable() and len(text) <= _LONGEST else displayed(text)
    return f"{noun_of(columns)} ({kind} {shown})"
