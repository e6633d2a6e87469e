"""The privacy unit of a table, as far as its columns suggest one.

Privacy: confidential, except for the names of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from hedgerow.drafting.columns import ROW_NUMBER
from hedgerow.drafting.key_names import key_name
from hedgerow.drafting.people import PeopleFound, people_in
from hedgerow.drafting.profile import Profile
from hedgerow.drafting.propose import Context, Proposal
from hedgerow.drafting.unit import StatedUnit, UnitFound, named_candidate
from hedgerow.errors import DataError
from hedgerow.read.source import Source

_NEARLY_UNIQUE = 0.9
"""Values per record from which a column's values hardly repeat."""


def table_unit(
    opened: Callable[[], AbstractContextManager[Source]],
    stated: StatedUnit,
    proposed: Sequence[Proposal],
    context: Context,
    profiles: Mapping[str, Profile],
    *,
    may_count: bool,
) -> UnitFound:
    """Return the draft's lines and questions on the privacy unit of a table.

    ``may_count`` is whether the method can count people.
    """
    return UnitFound(
        stated=stated,
        candidates=tuple(context.candidates.values()),
        unique=_unique(proposed, context, profiles),
        people=_people(opened, stated, proposed, context, may_count=may_count),
    )


def _unique(
    proposed: Sequence[Proposal], context: Context, profiles: Mapping[str, Profile]
) -> list[str]:
    """Return the identifiers whose values hardly repeat, without row numbers."""
    found = []
    for one in proposed:
        counts = profiles[one.name].distinct.counts
        is_key = one.role == "identifier" and one.name not in context.candidates
        is_row = one.reason == ROW_NUMBER and key_name(one.name) != "sure"
        if is_key and not is_row and len(counts) > _NEARLY_UNIQUE * counts.sum():
            found.append(one.name)
    return found


def _check_released(stated: StatedUnit, proposed: Sequence[Proposal]) -> None:
    """Refuse a person's column that the table lacks, or that is the class."""
    roles = {one.name: one.role for one in proposed}
    for column in stated.person:
        if column not in roles:
            raise DataError(
                f"The table has no column {column!r} that a plan can name.",
                where="person",
                do="Name a column of the table; names are case-sensitive.",
            )
        if roles[column] == "class":
            raise DataError(
                f"The column {column!r} is also the class.",
                where="person",
                do="Name another class: the identity of a person is never released.",
            )


def _people(
    opened: Callable[[], AbstractContextManager[Source]],
    stated: StatedUnit,
    proposed: Sequence[Proposal],
    context: Context,
    *,
    may_count: bool,
) -> PeopleFound | None:
    """Return the records of people, by the named column or one with a name for people."""
    if stated.person:
        _check_released(stated, proposed)
        with opened() as source:
            found = people_in(source, stated.person, may_count=may_count)
        if found is None:
            raise DataError(
                "No record has a value in every column of the person.",
                where="person",
                do="Name the columns that identify the person of a record.",
            )
        return found
    named = named_candidate(list(context.candidates.values()))
    if stated.is_stated or named is None:
        return None
    return PeopleFound(
        columns=(named.column,), sizes=named.sizes, n_people=named.n_values, may_count=may_count
    )
