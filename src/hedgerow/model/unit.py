"""The privacy unit of a release: what its guarantee protects, in plain words.

The plan states it and nobody can check it, so words that rest on it name the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from hedgerow.model.people import noun_of
from hedgerow.taxonomy.labels import displayed

PrivacyUnit = Literal["person", "one record per person", "records"]
"""What the guarantee protects: a person with all their records, the one record of a person, or
each record."""

NEIGHBOURS: Final[Mapping[PrivacyUnit, str]] = {
    "person": "add or remove one person with all their records",
    "one record per person": "add or remove one person, who has at most one record, as the plan"
    " states",
    "records": "add or remove one record",
}
"""How two neighbouring tables differ."""

_LONGEST = 80


def stated_once(records: str = "records") -> str:
    """Return on whose word nobody has two of the ``records``.

    >>> stated_once("baskets")
    'The plan states that nobody has more than one basket.'
    """
    return f"The plan states that nobody has more than one {records.removesuffix('s')}."


def several_cost(records: str = "records", *, pure: bool = True) -> str:
    """Return what a guarantee for each record means for a person with ten (group privacy).

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
    """Return what a guarantee protects, in one or two sentences.

    ``columns`` identify a person where the unit is ``person``; ``records`` is what records are
    called; ``pure`` says that delta is 0.

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
    """Return what a person is called, and the columns that identify one.

    >>> person_words(("clinic", "nr"))
    'person (columns clinic, nr)'
    """
    kind, text = "column" if len(columns) == 1 else "columns", ", ".join(columns)
    shown = text if text.isprintable() and len(text) <= _LONGEST else displayed(text)
    return f"{noun_of(columns)} ({kind} {shown})"
