"""How many records people have, and the lines of a plan that protect them with all of these.

Privacy: what is found is confidential. The draft says which column and a bound, marked as from
the data; how many records people have is a note for the owner alone.
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
"""The share of the people all of whose records the proposed bound keeps, at the least."""

RECORDS_UP_TO = 2
"""The largest bound at which records are still proposed to be counted, where people may be."""

WHOLE = 8
"""Records of a person that count, at the least, where people do: more of them cost nothing."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PeopleFound:
    """The columns that say whose a record is, and how many records people have.

    ``sizes`` are those of all people, or of a sample of them where there are many. ``may_count``
    says that the method counts people, too, ``join`` how all baskets of a person become one.
    """

    columns: tuple[str, ...]
    sizes: NDArray[np.int64]
    n_people: int
    records: RecordsOf = "records"
    may_count: bool = False
    join: Join | None = None

    @property
    def repeats(self) -> bool:
        """Whether anybody has more than one record."""
        return bool((self.sizes > 1).any())

    @property
    def bound(self) -> int:
        """The smallest power of two that keeps all records of most people."""
        wanted = int(np.quantile(self.sizes, _MOST_PEOPLE, method="higher"))
        return next((bound for bound in CANDIDATES if bound >= wanted), CANDIDATES[-1])

    @property
    def counts(self) -> bool:
        """Whether people are better counted than records: their noise would be too large."""
        return self.repeats and self.may_count and self.bound > RECORDS_UP_TO

    def lines(
        self, quoted: Sequence[str], *, bound: int | Literal["auto"] | None, asks: bool
    ) -> Iterable[str]:
        """Yield the lines of a plan, without the mark; ``quoted`` are the columns as YAML.

        ``bound`` is the caller's; ``asks`` says that the lines are a proposal.
        """
        if asks:
            yield "# Protects people with all their records. If nobody can have two, write instead"
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
        """Return what the mark says of the lines."""
        if self.repeats:
            return f"{self.records} come several to a person, and are protected together"
        return "the column that may say whose they are"

    def note(self) -> str | None:
        """Return what the owner should know, and no plan says."""
        if not self.repeats:
            return None
        most, several = int(self.sizes.max()), float((self.sizes > 1).mean())
        named = " and ".join(map(repr, self.columns))
        return (
            f"{named} may say whose record it is: about {self.n_people:,} people,"
            f" {several:.0%} of them with several {self.records}, the most {most:,}; see"
            " docs/people.md"
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
    """Return how many records each person has whom columns name together, from one pass.

    ``None`` where no record has all of them.
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
