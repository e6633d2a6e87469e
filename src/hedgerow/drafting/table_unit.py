"""The privacy unit of a table: what its columns say about whose its records are.

Privacy: confidential, but for the names of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from hedgerow.drafting.columns import ROW_NUMBER
from hedgerow.drafting.key_names import key_name
from hedgerow.drafting.people import PeopleFound, people_in
from hedgerow.drafting.profile import Profile
from hedgerow.drafting.propose import Looked, Proposal
from hedgerow.drafting.unit import GivenUnit, UnitFound, named_candidate
from hedgerow.errors import DataError
from hedgerow.read.source import Source

_NEARLY_UNIQUE = 0.9
"""Values per record from which on a column's values hardly repeat."""


def table_unit(
    opened: Callable[[], AbstractContextManager[Source]],
    given: GivenUnit,
    proposed: Sequence[Proposal],
    looked: Looked,
    profiles: Mapping[str, Profile],
    *,
    may_count: bool,
) -> UnitFound:
    """Return what a draft says about the privacy unit of a table.

    ``may_count`` says that the method counts people, too.
    """
    return UnitFound(
        given=given,
        candidates=tuple(looked.candidates.values()),
        unique=_unique(proposed, looked, profiles),
        people=_people(opened, given, proposed, looked, may_count=may_count),
    )


def _unique(
    proposed: Sequence[Proposal], looked: Looked, profiles: Mapping[str, Profile]
) -> list[str]:
    """Return the identifiers whose values hardly repeat, row numbers left out."""
    found = []
    for one in proposed:
        counts = profiles[one.name].distinct.counts
        is_key = one.role == "identifier" and one.name not in looked.candidates
        is_row = one.reason == ROW_NUMBER and key_name(one.name) != "sure"
        if is_key and not is_row and len(counts) > _NEARLY_UNIQUE * counts.sum():
            found.append(one.name)
    return found


def _check_released(given: GivenUnit, proposed: Sequence[Proposal]) -> None:
    """Refuse a person's column that the table lacks, or that the caller makes the class."""
    roles = {one.name: one.role for one in proposed}
    for column in given.person:
        if column not in roles:
            raise DataError(
                f"there is no column {column!r} that a plan can name",
                where="person",
                do="Name a column of the table; names are case-sensitive.",
            )
        if roles[column] == "class":
            raise DataError(
                f"the column {column!r} is the class, too",
                where="person",
                do="Name another class: who a person is is never released.",
            )


def _people(
    opened: Callable[[], AbstractContextManager[Source]],
    given: GivenUnit,
    proposed: Sequence[Proposal],
    looked: Looked,
    *,
    may_count: bool,
) -> PeopleFound | None:
    """Return how many records people have whom the caller names, or a column called like it."""
    if given.person:
        _check_released(given, proposed)
        with opened() as source:
            found = people_in(source, given.person, may_count=may_count)
        if found is None:
            raise DataError(
                "no record has a value in every column of the person",
                where="person",
                do="Name the columns that say whose a record is.",
            )
        return found
    named = named_candidate(list(looked.candidates.values()))
    if given.is_stated or named is None:
        return None
    return PeopleFound(
        columns=(named.column,), sizes=named.sizes, n_people=named.n_values, may_count=may_count
    )
