"""What was promised: the certificate that goes with every release.

A certificate holds publishable facts only. It never states how many records there are,
only the noisy total of what was published.
"""

from __future__ import annotations

import json
import math
import re
from datetime import date
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from hedgerow.errors import ReleaseError
from hedgerow.model.card import card
from hedgerow.model.people import Join, PeopleRule, noun_of
from hedgerow.taxonomy.labels import displayed

NEIGHBOURS = "add or remove one record; one record per person"
PERSON_NEIGHBOURS = "add or remove one person with all their records"
NOT_PRIVATE = "reproducible, not private"

LONGEST_APPROVER = 200
LONGEST_REASON = 500
"""Characters of who signed for a release, and of why."""

_PURE = Fraction(0)
_LONGEST_PATH = 100
_MOST_VALUES = 12
_FRACTION = re.compile(r"\d+(/[1-9]\d*)?", re.ASCII)


def _fraction(value: object) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        return Fraction(value)
    raise ValueError("not an exact fraction such as 1 or 1/10")


ExactFraction = Annotated[
    Fraction,
    BeforeValidator(_fraction),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]+(/[1-9][0-9]*)?$"}),
]
"""A budget as exact text, ``"1"`` or ``"1/10"``."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.replace("_", "-"),
        populate_by_name=True,
        allow_inf_nan=False,
    )


class CertifiedPerson(_Part):
    """Whose records are protected together, and how many of them count."""

    columns: tuple[str, ...] = Field(description="what names a person; never released")
    records: int = Field(ge=1, description="the most records of one person that count")
    counted: Literal["records", "people"] = Field(
        description="what counts count: records, or people, whose records share one weight"
    )
    join: Join | None = Field(
        default=None,
        description="union: a person's baskets are one, with all of their items; null: they are"
        " not joined",
    )

    @property
    def noun(self) -> str:
        """What one of those who are protected is called, from the column's name."""
        return noun_of(self.columns)

    @property
    def counts_people(self) -> bool:
        """Whether counts are of people, and not of records."""
        return self.counted == "people" or self.join is not None

    @classmethod
    def of(cls, people: PeopleRule) -> CertifiedPerson:
        """Return what a certificate says of a rule."""
        return cls(
            columns=people.columns,
            records=people.most,
            counted=people.counted,
            join=people.join,
        )


class Guarantee(_Part):
    """The promise, exactly and in one plain sentence."""

    kind: Literal["differential privacy", "none"]
    epsilon: ExactFraction | None = Field(description="exact, as text; null without a guarantee")
    epsilon_decimal: float | None = Field(description="the same, rounded, for reading")
    delta: ExactFraction | None
    neighbours: str | None = Field(description="the two tables nobody can tell apart")
    person: CertifiedPerson | None = Field(
        default=None, description="who is protected with all their records; null: a record each"
    )
    private: bool = Field(description="false for seeded runs and methods without a guarantee")
    statement: str

    @classmethod
    def differential_privacy(
        cls,
        epsilon: Fraction,
        *,
        reproducible: bool,
        delta: Fraction = _PURE,
        caveat: str | None = None,
        people: PeopleRule | None = None,
        called: str = "records",
        rests_on: str | None = None,
    ) -> Guarantee:
        """Return the promise of ``epsilon`` and ``delta``; a reproducible run keeps none.

        With ``people`` it is made to a person with all their records, which are ``called`` so.
        ``rests_on`` says what somebody else answers for.
        """
        kept = (
            _statement(epsilon, people, called)
            if delta == 0
            else _loose_statement(epsilon, delta, caveat)
        )
        kept = kept if rests_on is None else f"{kept} {rests_on}"
        return cls(
            kind="differential privacy",
            epsilon=epsilon,
            epsilon_decimal=float(epsilon),
            delta=delta,
            neighbours=NEIGHBOURS if people is None else PERSON_NEIGHBOURS,
            person=None if people is None else CertifiedPerson.of(people),
            private=not reproducible,
            statement=_seeded_statement(epsilon) if reproducible else kept,
        )

    @classmethod
    def none(cls, statement: str) -> Guarantee:
        """Return the certificate of a method that is not differentially private."""
        return cls(
            kind="none",
            epsilon=None,
            epsilon_decimal=None,
            delta=None,
            neighbours=None,
            person=None,
            private=False,
            statement=statement,
        )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        promised = self.kind == "differential privacy"
        if promised != (self.epsilon is not None) or (self.private and not promised):
            raise ValueError("epsilon belongs to differential privacy, and only to it")
        return self


def _statement(epsilon: Fraction, people: PeopleRule | None, records: str) -> str:
    whose = "any one person's record as without it"
    if people is not None:
        told = displayed(", ".join(people.columns))
        noun = people.noun
        whose = f"any one {noun} (told by {told}), with all their {records}, as without them"
    return (
        f"Differentially private with epsilon = {epsilon} and delta = 0: whatever anyone"
        " concludes from this release is at most"
        f" {factor_text(epsilon)} times as likely with {whose}."
    )


def _loose_statement(epsilon: Fraction, delta: Fraction, caveat: str | None) -> str:
    told = (
        f"Differentially private with epsilon = {epsilon} and delta = {float(delta):.3g}: but for"
        " a chance of delta that may go wrong for any one person, whatever anyone concludes from"
        f" this release is at most {factor_text(epsilon)} times as likely with that person's"
        " record as without it."
    )
    return told if caveat is None else f"{told} {caveat}"


def _seeded_statement(epsilon: Fraction) -> str:
    return (
        "Reproducible, not private: the random numbers came from a seed, so whoever knows or"
        f" guesses it can take the noise away; the guarantee of epsilon = {epsilon} does not"
        " hold."
    )


def listed(values: tuple[str, ...]) -> str:
    """Return values as one reads them, at most twelve of them.

    >>> listed(("2026-10", "2026-11"))
    "'2026-10' or '2026-11'"
    """
    shown = [displayed(value) for value in values[:_MOST_VALUES]]
    if len(values) > _MOST_VALUES:
        shown.append(f"one of {len(values) - _MOST_VALUES:,} more")
    return " or ".join(shown)


def factor_text(epsilon: Fraction) -> str:
    """Return e to the ``epsilon`` as people read it.

    >>> factor_text(Fraction(1)), factor_text(Fraction(1, 10)), factor_text(Fraction(100))
    ('2.72', '1.11', '2.7e+43')
    """
    if epsilon > 700:
        return "more than 10^304"
    factor = math.exp(epsilon)
    return f"{factor:.2g}" if factor >= 1e6 else f"{factor:,.2f}"


class CertifiedMethod(_Part):
    """How the release was made, with every setting, defaults included."""

    name: str
    faithful: bool = Field(description="true: as the paper prints it, wherever that is private")
    settings: dict[str, JsonValue]
    details: dict[str, JsonValue] = Field(
        default={}, description="score, sensitivity, rates: whatever the method adds"
    )


class CountNoise(_Part):
    """The noise on each published count and what it means."""

    share: ExactFraction = Field(description="the part of epsilon that one count was drawn with")
    noise: str = "discrete Laplace"
    within_95: int = Field(ge=0, description="95 of 100 draws are at most this far from 0")
    threshold: int | None = Field(
        default=None, description="groups with a noisy count below this are not listed"
    )
    adjustment: str | None = Field(
        default=None, description="what was done to the noisy counts afterwards"
    )
    lowered_by: float | None = Field(
        default=None, description="how much the adjustment took off each listed count"
    )


class Spend(_Part):
    """One line of the budget."""

    on: str
    share: ExactFraction = Field(description="what one spend took")
    times: int = Field(default=1, ge=1, description="how many spends of this share there were")
    level: int = Field(
        default=0,
        ge=0,
        description="0: every spend was for the whole table; else the depth of the boxes that"
        " spent it, each of them once",
    )
    of_epsilon: ExactFraction = Field(
        description="what the line cost one path that spends it, as a part of the total"
    )
    note: str | None = Field(default=None, description="such as: disjoint boxes, booked once")


class Budget(_Part):
    """Every share of epsilon, and what the dearest path from the root to a leaf spent.

    Lines of level 0 are spent by every path, all their times. Boxes of a deeper level hold no
    record in common: a path spends one of its lines once or, where it ended before or was
    divided otherwise, not at all, so that all lines together may come to more than the total.
    """

    spends: tuple[Spend, ...]
    total: ExactFraction

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        every = sum(
            (line.share * line.times for line in self.spends if not line.level), Fraction(0)
        )
        deeper = [line.share for line in self.spends if line.level]
        if not deeper and every != self.total:
            raise ValueError("the shares do not add up to the total")
        if every + max(deeper, default=Fraction(0)) > self.total:
            raise ValueError("a path spends more than the total")
        return self


class CertifiedDeparture(_Part):
    """One step that is not as the paper prints it."""

    paper: str
    what: str
    why: str


class Assumed(_Part):
    """Something taken as public knowledge, not read from the data."""

    what: str
    sha256: Digest | None = None


class Randomness(_Part):
    """Where the random bits came from."""

    source: Literal["operating system", "seeded"]
    reproducible: bool
    stamp: Literal["reproducible, not private"] | None = None


class DescribedAttribute(_Part):
    """One attribute of the published table."""

    name: str
    role: Literal["predictor", "class"]
    kind: Literal["categorical", "numeric", "date"]
    size: int = Field(ge=1, description="the number of values in its public domain")
    unit: str | None = Field(None, description="the unit of its values, if the plan names one")
    meaning: str | None = Field(None, description="what it is, in the plan's words")


class DescribedItems(_Part):
    """The public universe of set-valued data."""

    size: int = Field(ge=1, description="the number of items in the universe")
    height: int = Field(ge=1, description="the levels of its taxonomy")
    ordered: bool = Field(
        default=False, description="whether records are sequences: order and repeats are kept"
    )


class Data(_Part):
    """The published data; the noisy total is the only word on its size."""

    name: str
    attributes: tuple[DescribedAttribute, ...] = Field(description="none for set-valued data")
    items: DescribedItems | None = Field(None, description="null for a table")
    noisy_total: int | None = Field(ge=0, description="the sum of the published counts")


class DisclosedRisk(_Part):
    """How risk moved where single records were disclosed, in steps that tell nothing of one.

    Parts are of the risk of the records as they are, before any was made coarser. Rows and
    cells are counted in the disclosed table itself.
    """

    threshold: ExactFraction = Field(
        description="the most of the mean risk that may be left, unless that was accepted"
    )
    lowered: bool = Field(
        description="whether the mean risk fell to the threshold, or was low from the beginning"
    )
    accepted: bool = Field(description="whether the owner accepted whatever risk is left")
    mean_left: ExactFraction | None = Field(
        description="the mean risk that is left is at most this part; null: it grew"
    )
    largest_left: ExactFraction | None = Field(
        description="the largest risk that is left is at most this part; null: it grew"
    )
    unique_rows: int = Field(ge=0, description="disclosed rows that no other disclosed row equals")
    verbatim: float = Field(
        ge=0, le=1, description="the part of cells that show the recorded value itself"
    )


class LedgerEntry(_Part):
    """The booking of this release on the data set's ledger."""

    dataset: str
    cap: ExactFraction | None
    delta_cap: ExactFraction = Field(
        default=_PURE, description="the most delta of all releases of the data set together"
    )
    entry: int | str
    people: bool = Field(
        default=False,
        description="whether that is the account of people, for all tables that they are in",
        exclude_if=lambda people: not people,
    )


class CertifiedCover(_Part):
    """The part of the table that was read: all other records were left out, one by one."""

    column: str = Field(description="the attribute by which records were taken or left out")
    values: tuple[str, ...] = Field(description="the values of records that count")
    rule_sha256: Digest = Field(
        description="names the column, its public domain and how its values are read: covers of"
        " the same rule can be compared"
    )
    people_disjoint: str | None = Field(
        default=None,
        description="why nobody who has records in this part has any outside of it, in the plan's"
        " words; null: nobody has said so",
    )

    @property
    def statement(self) -> str:
        """What that means, in plain words."""
        return (
            f"Only records whose {displayed(self.column)} is"
            f" {listed(self.values)} were counted; all others were left out, record by record,"
            " before anything was computed."
        )


class Approved(_Part):
    """Who signed for the release, in the plan's own words."""

    by: Annotated[str, Field(min_length=1, max_length=LONGEST_APPROVER)]
    on: date
    why: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)] | None = None


class ReleasedFile(_Part):
    """One file of the release folder."""

    sha256: Digest
    bytes: int = Field(ge=0)


class Certificate(_Part):
    """The whole certificate, as `certificate.json` holds it."""

    format_version: Literal[1] = 1
    tool: str = "hedgerow"
    created: date = Field(description="the day, in UTC")
    guarantee: Guarantee
    method: CertifiedMethod
    counts: CountNoise | None
    budget: Budget
    departures: tuple[CertifiedDeparture, ...]
    assumed_public: tuple[Assumed, ...]
    randomness: Randomness
    data: Data
    ledger: LedgerEntry | None
    engine: str
    versions: dict[str, str]
    plan_sha256: Digest | None
    approved: Approved | None = Field(None, description="who signed for it, if the plan says so")
    files: dict[str, ReleasedFile] = {}
    covers: CertifiedCover | None = Field(
        default=None, description="only where a part of the table was read"
    )
    disclosure: DisclosedRisk | None = Field(
        default=None, description="only where single records were disclosed"
    )

    @model_validator(mode="after")
    def _keeps_its_word(self) -> Self:
        epsilon = self.guarantee.epsilon
        if epsilon is not None and self.budget.total > epsilon:
            raise ValueError("the budget is over the promised epsilon")
        if self.randomness.reproducible and self.guarantee.private:
            raise ValueError("a reproducible release cannot be private")
        return self

    def with_files(self, files: dict[str, ReleasedFile]) -> Certificate:
        """Return the certificate of the same release that vouches for ``files``."""
        return self.model_copy(update={"files": dict(sorted(files.items()))})

    def card_facts(self) -> list[tuple[str, object]]:
        """Return what matters most in it: names and public words with them."""
        promised, counts = self.guarantee, self.counts
        return [
            ("method", self.method.name),
            ("epsilon", promised.epsilon),
            ("delta", promised.delta or None),
            ("promise", promised.statement),
            ("noise of a count, 95 of 100", f"± {counts.within_95:,}" if counts else None),
            ("records, by the counts", self.data.noisy_total),
            ("made on", self.created),
            ("approved by", self.approved.by if self.approved else None),
        ]

    def _repr_html_(self) -> str:
        warning = "" if self.guarantee.private else "Not differentially private"
        return card(f"Certificate of {self.data.name}", self.card_facts(), warning=warning)

    def to_json(self) -> str:
        """Return the text of `certificate.json`: the same facts give the same bytes."""
        facts = self.model_dump(mode="json", by_alias=True)
        for part in ("covers", "disclosure"):
            if facts[part] is None:
                del facts[part]
        return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, *, where: str = "certificate.json") -> Certificate:
        """Read a certificate back, or say what is wrong with it."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            path = ".".join(str(step) for step in first["loc"])
            if not path.isprintable() or len(path) > _LONGEST_PATH:
                path = displayed(path)  # the keys are whatever the file holds
            raise ReleaseError(
                f"this is not a certificate that this version can read: {first['msg'].lower()}",
                where=f"{where}: {path}" if path else where,
                do="Give a release folder as `hedgerow publish` wrote it.",
            ) from error


def certificate_schema() -> dict[str, Any]:
    """Return the JSON schema of `certificate.json`."""
    schema = Certificate.model_json_schema(by_alias=True, mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "hedgerow certificate",
    }


def certificate_schema_text() -> str:
    """Return the JSON schema as the text of `docs/certificate.schema.json`."""
    return json.dumps(certificate_schema(), indent=2, ensure_ascii=False) + "\n"
