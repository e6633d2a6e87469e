"""The privacy unit of a drafted plan: the owner's statement, or one question about it.

No table shows whether a person can have several records, so a draft states a unit only if its
caller did. Otherwise it lists the columns that may identify the person of a record, and asks.

Privacy: confidential, except for the names of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hedgerow.drafting.candidates import UnitCandidate
from hedgerow.drafting.people import PeopleFound, RecordsOf
from hedgerow.errors import PlanError
from hedgerow.model.people import MOST_RECORDS
from hedgerow.plan.fields import MAX_TEXT
from hedgerow.plan.people import MOST_PERSON_COLUMNS, names_people

_MOST_LISTED = 300
"""Largest number of letters of the list of candidate columns in a question."""

_LONGEST_NAME = 80

_HOUSEHOLDS = ("household", "haushalt", "menage", "ménage", "hogar", "hh", "famil")
_PERSON = "if a column identifies the person of a record (a list of columns if several do together)"
_OTHERS = (
    "'one-record-per-person: true' if nobody can have two records",
    "'protects: records' to protect each record and not the person",
)


@dataclass(frozen=True, kw_only=True)
class StatedUnit:
    """The privacy unit that the caller of a draft states."""

    person: tuple[str, ...] = ()
    records_per_person: int | Literal["auto"] | None = None
    one_record_per_person: bool = False
    protects_records: bool = False

    def __post_init__(self) -> None:
        """Refuse two units, and a bound without a person."""
        stated = [bool(self.person), self.one_record_per_person, self.protects_records]
        if sum(stated) > 1:
            raise PlanError(
                "Two privacy units are set.",
                where="person",
                do="Give one of --person, --one-record-per-person and --protects-records.",
            )
        bound = self.records_per_person
        if isinstance(bound, int) and not 1 <= bound <= MOST_RECORDS:
            raise PlanError(
                f"{bound} is not from 1 to {MOST_RECORDS:,}.",
                where="records-per-person",
                do=(
                    "Give the largest number of records of one person that count, such as 4, or"
                    " auto."
                ),
            )
        if len(set(self.person)) < len(self.person) or len(self.person) > MOST_PERSON_COLUMNS:
            raise PlanError(
                f"A column occurs twice, or there are more than {MOST_PERSON_COLUMNS}.",
                where="person",
                do="Name each column that identifies the person of a record once.",
            )
        if self.records_per_person is not None and not self.person:
            raise PlanError(
                "No column names the person.",
                where="records-per-person",
                do="Name it with --person COLUMN, or leave --records-per-person out.",
            )

    @classmethod
    def of(
        cls,
        person: str | Sequence[str] | None,
        records_per_person: int | str | None,
        *,
        one_record_per_person: bool,
        protects_records: bool,
    ) -> StatedUnit:
        """Return the unit in the arguments of a draft."""
        bound = records_per_person
        if isinstance(bound, str) and bound != "auto":
            if not (bound.isascii() and bound.isdigit()):
                raise PlanError(
                    "This is not a number of records.",
                    where="records-per-person",
                    do="Give a number such as 4, or auto.",
                )
            bound = int(bound)
        return cls(
            person=(person,) if isinstance(person, str) else tuple(person or ()),
            records_per_person=bound,  # type: ignore[arg-type]  # 'auto' is the one text left
            one_record_per_person=one_record_per_person,
            protects_records=protects_records,
        )

    @property
    def is_stated(self) -> bool:
        """Return whether the caller stated a unit."""
        return bool(self.person) or self.one_record_per_person or self.protects_records


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnitFound:
    """The draft's lines and questions on the privacy unit.

    ``candidates`` are columns whose values repeat and may identify the person of a record,
    ``unique`` those left out whose values hardly repeat. ``people`` are the numbers of records of
    the person in the plan, stated or proposed. ``may_name`` is whether the data can identify a
    person.
    """

    stated: StatedUnit = field(default_factory=StatedUnit)
    candidates: Sequence[UnitCandidate] = ()
    unique: Sequence[str] = ()
    people: PeopleFound | None = None
    records: RecordsOf = "records"
    may_name: bool = True

    def questions(self) -> list[str]:
        """Return the one question about the privacy unit; none if the caller stated it."""
        if self.stated.is_stated:
            return []
        if self.people is not None:
            named = _listed(self.people.columns)
            begin = f"Does {named} identify the person of each of these {self.records}?"
            if repeating := self._repeating():
                begin += f" Values repeat in {_listed(repeating)}."
            ask = "Keep the line 'person', or state another privacy unit instead"
        elif self.candidates:
            begin = (
                f"Can one person have several {self.records}? Values repeat in"
                f" {_listed(self._repeating())}"
            )
            begin += ", so one person, case, device or household may have several."
            ask = "State the privacy unit"
        else:
            begin = f"Can one person have several {self.records}? No column shows that anybody has,"
            begin += " and no data show that nobody can."
            ask = "State the privacy unit"
        bound = "'join: union'" if self.records == "baskets" else "'records-per-person: 4'"
        answers = [*[f"'person: COLUMN' with {bound} {_PERSON}"] * self.may_name, *_OTHERS]
        end = f"{ask}: {', '.join(answers[:-1])} or {answers[-1]}."
        question = " ".join([begin, *self._remarks(), end])
        return [question if len(question) <= MAX_TEXT else f"{begin} {end}"]

    @property
    def counts_people(self) -> bool:
        """Return whether the plan counts people instead of records."""
        chosen = self.stated.records_per_person is None
        return chosen and self.people is not None and self.people.counts

    @property
    def is_from_data(self) -> bool:
        """Return whether the lines on the person hold something from the data."""
        return self.people is not None and self.stated.records_per_person is None

    def named(self) -> tuple[str, ...]:
        """Return the columns of the person: stated, proposed or the first candidate."""
        if self.people is not None:
            return self.people.columns
        return tuple(self._repeating()[:1])

    def _repeating(self) -> list[str]:
        return [each.column for each in self.candidates if each.within is None]

    def _remarks(self) -> Iterable[str]:
        """Yield remarks that help to answer: households, their members, keys that do not repeat."""
        for each in self.candidates:
            if each.within is not None:
                owner = short_name(each.within)
                yield f"'person: {owner}' protects all with the same value, such as a household;"
                yield f"'person: [{owner}, {short_name(each.column)}]' protects one member of it."
                return
        for each in self.candidates:
            if _is_household(each.column):
                yield f"'person: {short_name(each.column)}' protects whole households."
                return
        if self.unique and not self.candidates:
            yield f"Hardly any value of {_listed(self.unique)} is in two {self.records}."

    def lines(self, quoted: Sequence[str]) -> Iterable[str]:
        """Yield the lines of the plan; ``quoted`` are the columns of the person as YAML."""
        if self.stated.one_record_per_person:
            yield "one-record-per-person: true"
        elif self.stated.protects_records:
            yield "protects: records"
        elif self.people is not None:
            bound = self.stated.records_per_person
            yield from self.people.lines(quoted, bound=bound, asks=not self.stated.is_stated)
        elif not self.stated.is_stated:
            yield from self._choices(quoted)

    def _choices(self, quoted: Sequence[str]) -> Iterable[str]:
        yield "# The privacy unit: uncomment one of these, and remove the question."
        if self.may_name:
            column = quoted[0] if quoted else "COLUMN"
            yield f"# person: {column}"
            yield "# join: union" if self.records == "baskets" else "# records-per-person: 4"
        yield "# one-record-per-person: true"
        yield "# protects: records"

    def notes(self) -> Iterable[str]:
        """Yield notices for the owner that no plan contains."""
        if self.people is not None and (note := self.people.note()):
            yield note
        named = [each.column for each in self.candidates if names_people(each.column)]
        if self.stated.one_record_per_person and named:
            yield (
                f"Values of {_listed(named)} repeat, so a person may have several"
                f" {self.records}; 'one-record-per-person: true' would then promise too much."
            )


def named_candidate(candidates: Sequence[UnitCandidate]) -> UnitCandidate | None:
    """Return the first candidate with a name for people, a household only if it is alone."""
    named = [each for each in candidates if names_people(each.column) and each.within is None]
    households = [each for each in named if _is_household(each.column)]
    members = [each for each in named if each not in households]
    return next(iter([*members, *households]), None)


def _is_household(column: str) -> bool:
    return column.casefold().startswith(_HOUSEHOLDS)


def short_name(name: str) -> str:
    """Return the name of a column, cut if it is long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _listed(names: Sequence[str]) -> str:
    """Return names in quotes, as many as fit in a question.

    >>> _listed(["a", "b", "c"])
    "'a', 'b' and 'c'"
    """
    shown: list[str] = []
    for name in names:
        word = repr(short_name(name))
        if shown and sum(map(len, shown)) + len(word) > _MOST_LISTED:
            return f"{', '.join(shown)} and {len(names) - len(shown)} more columns"
        shown.append(word)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
