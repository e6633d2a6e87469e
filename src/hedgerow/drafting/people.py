"""Whose records they are: a column that names people, and how many records they have.

Privacy: what is found is confidential. The draft says which column and a bound, marked as from
the data; how many records people have is a note for the owner alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.model.people import CANDIDATES
from hedgerow.plan.people import names_people
from hedgerow.read.source import Source
from hedgerow.read.text import as_text

if TYPE_CHECKING:
    from hedgerow.drafting.propose import Proposal

RecordsOf: TypeAlias = Literal["records", "baskets", "sequences", "rows"]

_MOST_PEOPLE = 0.95
"""The share of the people all of whose records the proposed bound keeps, at the least."""

RECORDS_UP_TO = 2
"""The largest bound at which records are still proposed to be counted, where people may be."""

_HARDLY_TWICE = 0.9
"""Values to a record, from which on they are taken to be numbers of rows."""

WHOLE = 8
"""Records of a person that count, at the least, where people do: more of them cost nothing."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PeopleFound:
    """The column that says whose a record is, and how many records each person has.

    ``may_count`` says that the method counts people, too.
    """

    column: str
    sizes: NDArray[np.int64]
    records: RecordsOf = "records"
    may_count: bool = False

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

    def lines(self, quoted: str) -> Iterable[str]:
        """Return the lines of a plan, without the mark; ``quoted`` is the column as YAML."""
        if self.counts:
            yield "# People are then protected with all their records, and each weighs one: counts"
            yield "# are of people. To count records, whose noise grows with the bound, say 'count:"
            yield f"# records' and 'records-per-person: {RECORDS_UP_TO}'. If nobody can have more"
            yield "# than one, say 'one-record-per-person: true' instead."
            yield f"person: {quoted}"
            yield f"records-per-person: {max(self.bound, WHOLE)}"
            yield "count: people"
        elif self.repeats:
            yield "# People are then protected with all their records. If nobody can have more than"
            yield "# one, say 'one-record-per-person: true' instead."
            yield f"person: {quoted}"
            yield f"records-per-person: {self.bound}"
        else:
            yield "# If anybody may have several records: person: COLUMN, records-per-person: 4."
            yield "one-record-per-person: true"

    def reason(self) -> str:
        """Return what the mark says of the lines."""
        if self.repeats:
            return f"{self.records} come several to a person, and are protected together"
        return f"nobody has two {self.records}, as {self.column!r} tells people apart"

    def note(self) -> str | None:
        """Return what the owner should know, and no plan says."""
        if not self.repeats:
            return None
        most, several = int(self.sizes.max()), float((self.sizes > 1).mean())
        return (
            f"{self.column!r} seems to say whose record it is: {len(self.sizes):,} people,"
            f" {several:.0%} of them with several {self.records}, the most {most:,}; see"
            " docs/people.md"
        )


def people_column(proposed: Sequence[Proposal]) -> str | None:
    """Return the first column that is left out and called like one that names people."""
    named = (one.name for one in proposed if one.role == "identifier" and names_people(one.name))
    return next(named, None)


def asking_whose(proposal: Proposal, found: PeopleFound | None) -> Proposal:
    """Return the proposal of a column of keys with a question, where its values repeat.

    Row numbers hardly come twice; the numbers of people's files do, whatever language the column
    is called in.
    """
    if found is None or len(found.sizes) > _HARDLY_TWICE * found.sizes.sum():
        return proposal
    return replace(
        proposal,
        ask="its values repeat; if they tell people apart, say 'person:' and 'records-per-person:'",
        note=f"{proposal.name!r} is left out, and its values repeat: if they tell people apart,"
        f" write 'person: {proposal.name}' and 'records-per-person: 4', so that people are"
        " protected with all their records; see docs/people.md",
    )


def people_in(source: Source, column: str, *, may_count: bool = False) -> PeopleFound | None:
    """Return how many records each person has, from one more pass over a column.

    ``may_count`` says that the method counts people, too.
    """
    parts = []
    for batch in source.batches([column], text={column}):
        texts = as_text(batch.column(0), where=f"{source.name}, column {column!r}")
        if pa.types.is_dictionary(texts.type):
            texts = texts.dictionary_decode()
        parts.append(texts.drop_null())
    counted = pa.chunked_array(parts, pa.string()).value_counts()
    if not len(counted):
        return None
    sizes = np.asarray(counted.field("counts"), dtype=np.int64)
    return PeopleFound(column=column, sizes=sizes, may_count=may_count)
