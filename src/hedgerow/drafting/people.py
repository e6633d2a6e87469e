"""Numbers of records of people, and the lines of a plan that protect people with all of these.

Privacy: confidential. The draft states the column and a bound, marked as from the data; the numbers
of records of people are a note for the owner alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.drafting.profile import Profile
from hedgerow.model.people import CANDIDATES, Join
from hedgerow.read.source import Source, places_of
from hedgerow.read.text import as_text

RecordsOf: TypeAlias = Literal["records", "baskets", "sequences", "rows"]

_MOST_PEOPLE = 0.95
"""Least share of the people all of whose records are within the proposed bound."""

RECORDS_UP_TO = 2
"""Largest bound at which records are proposed to be counted, if people may be counted."""

WHOLE = 8
"""Least number of records of a person that count, if people are counted: more cost nothing."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PeopleFound:
    """The columns that identify the person of a record, and the numbers of records of people.

    ``sizes`` are those of all people, or of a sample of many. ``may_count`` is whether the method
    can count people, ``join`` the way to join all baskets of a person.
    """

    columns: tuple[str, ...]
    sizes: NDArray[np.int64]
    n_people: int
    records: RecordsOf = "records"
    may_count: bool = False
    join: Join | None = None

    @property
    def repeats(self) -> bool:
        """Return whether anybody has more than one record."""
        return bool((self.sizes > 1).any())

    @property
    def bound(self) -> int:
        """Smallest power of two that keeps all records of most people."""
        wanted = int(np.quantile(self.sizes, _MOST_PEOPLE, method="higher"))
        return next((bound for bound in CANDIDATES if bound >= wanted), CANDIDATES[-1])

    @property
    def counts(self) -> bool:
        """Return whether to count people: the noise of counts of records would be too large."""
        return self.repeats and self.may_count and self.bound > RECORDS_UP_TO

    def lines(
        self, quoted: Sequence[str], *, bound: int | Literal["auto"] | None, asks: bool
    ) -> Iterable[str]:
        """Yield the lines of a plan, without the mark; ``quoted`` are the columns as YAML.

        ``bound`` is the caller's; ``asks`` is whether the lines are a proposal.
        """
        if asks:
            yield (
                "# Protects people with all their records. If nobody can have two, write instead"
            )
            yield "# 'one-record-per-person: true'; to protect each record, 'protects: records'."
        if self.counts and bound is None:
            yield "# Each person weighs one: counts are of people. To count records, whose noise"
            yield "# grows with the bound, write 'count: records' and"
            yield f"# 'records-per-person: {RECORDS_UP_TO}'."
        if self.join is not None and bound is None and self.records != "rows":
            yield "# All items of a person are one basket. To publish baskets as they are, write"
            yield f"# 'records-per-person: {self.bound}' in place of join; noise grows with it."
        yield f"person: {person_value(quoted)}"
        if self.join is not None and bound is None:
            yield f"join: {self.join}"
        elif bound is not None:
            yield f"records-per-person: {bound}"
        elif self.counts:
            yield f"records-per-person: {max(self.bound, WHOLE)}"
            yield "count: people"
        else:
            yield f"records-per-person: {self.bound}"

    def reason(self) -> str:
        """Return the reason in the comment on the lines."""
        if self.repeats:
            return f"a person can have several {self.records}, which are protected together"
        return "the column that may identify the person"

    def note(self) -> str | None:
        """Return a note for the owner that no plan contains."""
        if not self.repeats:
            return None
        most, several = int(self.sizes.max()), float((self.sizes > 1).mean())
        named = " and ".join(map(repr, self.columns))
        return (
            f"{named} may identify the person: about {self.n_people:,} people, {several:.0%}"
            f" of them with several {self.records}, the most {most:,}; see docs/people.md."
        )


def person_value(quoted: Sequence[str]) -> str:
    """Return the value of ``person`` for columns that are quoted for YAML.

    >>> person_value(["hh", "pno"])
    '[hh, pno]'
    """
    return quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"


def people_in(
    source: Source, columns: Sequence[str], *, may_count: bool = False
) -> PeopleFound | None:
    """Return the number of records of each person, identified by columns together, from one pass.

    ``None`` if no record has a value in all of them.
    """
    places_of(list(columns), source)
    joined = Profile(" and ".join(columns))
    for batch in source.batches(columns, text=set(columns)):
        texts = [_plain_text(column, source) for column in batch.columns]
        key = reduce(lambda left, right: pc.binary_join_element_wise(left, right, "\x1f"), texts)
        joined.update(key, where=source.name)
    distinct = joined.distinct
    if not len(distinct.counts):
        return None
    return PeopleFound(
        columns=tuple(columns),
        sizes=distinct.counts,
        n_people=distinct.n_values,
        may_count=may_count,
    )


def _plain_text(column: pa.Array, source: Source) -> pa.Array:
    texts = as_text(column, where=source.name)
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    return texts.cast(pa.string())
