"""The certificate of a release: its guarantee and how it was made.

A certificate holds publishable facts only. It never states the number of records, only the noisy
total of the published counts.
"""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from hedgerow.errors import LaterFormatError, ReleaseError
from hedgerow.model.card import card
from hedgerow.model.guarantee import (
    NOT_PRIVATE,
    PURE,
    CertificatePart,
    CertifiedPerson,
    Digest,
    ExactFraction,
    Guarantee,
    factor_text,
    inverse_factor_text,
    listed,
)
from hedgerow.model.sealed import SEAL, SealError, facts_in, sealed, unsealed
from hedgerow.model.signatures import signature_words
from hedgerow.privacy.budget import delta_text
from hedgerow.taxonomy.labels import displayed

__all__ = [
    "NOT_PRIVATE",
    "Approved",
    "Assumed",
    "Budget",
    "Certificate",
    "CertifiedCover",
    "CertifiedDeparture",
    "CertifiedMethod",
    "CertifiedPerson",
    "Confirmed",
    "CountNoise",
    "Data",
    "DescribedAttribute",
    "DescribedItems",
    "DisclosedRisk",
    "Guarantee",
    "LedgerEntry",
    "Randomness",
    "ReleasedFile",
    "Spend",
    "certificate_schema",
    "certificate_schema_text",
    "delta_text",
    "factor_text",
    "inverse_factor_text",
    "listed",
]

CERTIFICATE_FORMAT: Final = 2
"""Format written now. Earlier ones are read: format 1 did not end in its own digest."""

LONGEST_APPROVER = 200
LONGEST_REASON = 500
"""Largest number of characters of a signer's name and of a reason."""

_LONGEST_PATH = 100


class CertifiedMethod(CertificatePart):
    """Method of the release, with every setting, defaults included."""

    name: str
    faithful: bool = Field(description="true: as the paper prints it, as far as that is private")
    settings: dict[str, JsonValue]
    details: dict[str, JsonValue] = Field(
        default={}, description="score, sensitivity, rates and other details of the method"
    )


class CountNoise(CertificatePart):
    """The noise on each published count and what it means."""

    share: ExactFraction = Field(description="the part of epsilon with which one count was drawn")
    noise: str = "discrete Laplace"
    within_95: int = Field(ge=0, description="95 of 100 draws are at most this far from 0")
    threshold: int | None = Field(
        default=None, description="groups with a noisy count below this are not listed"
    )
    adjustment: str | None = Field(
        default=None, description="how the noisy counts were adjusted afterwards"
    )
    lowered_by: float | None = Field(
        default=None, description="the amount by which the adjustment reduced each listed count"
    )


class Spend(CertificatePart):
    """One line of the budget."""

    on: str
    share: ExactFraction = Field(description="the share of one spend")
    times: int = Field(default=1, ge=1, description="the number of spends of this share")
    level: int = Field(
        default=0,
        ge=0,
        description=(
            "0: every spend was for the whole table; otherwise the depth of the boxes that spent"
            " it, each of them once"
        ),
    )
    of_epsilon: ExactFraction = Field(
        description="the cost of the line to one path that spends it, as a part of the total"
    )
    note: str | None = Field(default=None, description="such as: disjoint boxes, booked once")


class Budget(CertificatePart):
    """Every share of epsilon, and the spending of the most expensive path from root to leaf.

    Lines of level 0 are spent by every path, all their times. Boxes of a deeper level hold no
    record in common: a path spends one of its lines once or, if it ended before or was split
    otherwise, not at all, so the sum of all lines may exceed the total.
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
            raise ValueError("The shares do not add up to the total.")
        if every + max(deeper, default=Fraction(0)) > self.total:
            raise ValueError("A path spends more than the total.")
        return self


class CertifiedDeparture(CertificatePart):
    """One step that differs from the printed paper."""

    paper: str
    what: str
    why: str


class Assumed(CertificatePart):
    """An input taken as public knowledge, not read from the data."""

    what: str
    sha256: Digest | None = None


class Randomness(CertificatePart):
    """Source of the random bits."""

    source: Literal["operating system", "seeded"]
    reproducible: bool
    stamp: Literal["reproducible, not private"] | None = None


class DescribedAttribute(CertificatePart):
    """One attribute of the published table."""

    name: str
    role: Literal["predictor", "class"]
    kind: Literal["categorical", "numeric", "date"]
    size: int = Field(ge=1, description="the number of values in its public domain")
    unit: str | None = Field(None, description="the unit of its values, if the plan names one")
    meaning: str | None = Field(
        None, description="description of the attribute, in the plan's words"
    )
    source: str | None = Field(
        None,
        description=(
            "source of the domain, in the plan's words; data: proposed from the data; omitted: not"
            " stated in the plan"
        ),
        exclude_if=lambda source: source is None,
    )


class DescribedItems(CertificatePart):
    """The public universe of set-valued data."""

    size: int = Field(ge=1, description="the number of items in the universe")
    height: int = Field(ge=1, description="the levels of its taxonomy")
    ordered: bool = Field(
        default=False, description="whether records are sequences: order and repeats are kept"
    )
    source: str | None = Field(
        None,
        description=(
            "source of the universe, in the plan's words; data: proposed from the data; omitted:"
            " not stated in the plan"
        ),
        exclude_if=lambda source: source is None,
    )


class Data(CertificatePart):
    """The published data; the noisy total is the only statement on its size."""

    name: str
    attributes: tuple[DescribedAttribute, ...] = Field(description="none for set-valued data")
    items: DescribedItems | None = Field(None, description="null for a table")
    noisy_total: int | None = Field(ge=0, description="the sum of the published counts")


class DisclosedTo(CertificatePart):
    """Recipient of single records, and the earlier disclosures to them."""

    name: str = Field(description="the recipient")
    earlier: tuple[str, ...] = Field(
        description="the days of all earlier disclosures to them, which count towards the risk"
    )
    recognised_by: Literal["key", "values"] = Field(
        description="how records were matched: by a key, or by their values"
    )


class DisclosedRisk(CertificatePart):
    """Change of risk by the disclosure of single records, in steps too coarse to reveal one.

    Parts are of the risk of the original records, before any was generalised. Rows and cells are
    counted in the disclosed table itself.
    """

    threshold: ExactFraction = Field(
        description="the largest mean risk that may remain, unless a higher one was accepted"
    )
    lowered: bool = Field(
        description="whether the mean risk fell to the threshold, or was below it before"
    )
    accepted: bool = Field(description="whether the owner accepted any remaining risk")
    mean_left: ExactFraction | None = Field(
        description="the remaining mean risk is at most this part; null: it grew"
    )
    largest_left: ExactFraction | None = Field(
        description="the remaining largest risk is at most this part; null: it grew"
    )
    unique_rows: int = Field(
        ge=0, description="disclosed rows that are unique in the disclosed table"
    )
    verbatim: float = Field(
        ge=0, le=1, description="the part of cells that show the recorded value itself"
    )
    recipient: DisclosedTo | None = Field(
        default=None,
        description="the recipient whose earlier disclosures count as well; omitted: no recipient",
        exclude_if=lambda recipient: recipient is None,
    )


class LedgerEntry(CertificatePart):
    """The booking of this release on the data set's ledger."""

    dataset: str
    cap: ExactFraction | None
    delta_cap: ExactFraction = Field(
        default=PURE, description="the largest delta of all releases of the data set together"
    )
    entry: int | str
    people: bool = Field(
        default=False,
        description="whether that is the account of people, for all tables with records of them",
        exclude_if=lambda people: not people,
    )
    chain: Digest | None = Field(
        default=None,
        description=(
            "a keyed digest of the ledger's chain at the booking, by which the ledger's owner"
            " recognises it (hedgerow ledger verify --releases); omitted in earlier versions"
        ),
        exclude_if=lambda chain: chain is None,
    )


class CertifiedCover(CertificatePart):
    """The part of the table that was read; all other records were left out, one by one."""

    column: str = Field(description="the attribute by which records were selected")
    values: tuple[str, ...] = Field(description="the values of the selected records")
    rule_sha256: Digest = Field(
        description=(
            "identifies the column, its public domain and how its values are read: covers of the"
            " same rule can be compared"
        )
    )
    people_disjoint: str | None = Field(
        default=None,
        description=(
            "why nobody with records in this part has any outside of it, in the plan's words;"
            " null: not stated"
        ),
    )

    @property
    def statement(self) -> str:
        """Return the meaning as a plain sentence."""
        return (
            f"Only records whose {displayed(self.column)} is"
            f" {listed(self.values)} were counted; all others were left out, record by record,"
            " before anything was computed."
        )


class Confirmed(CertificatePart):
    """The person who confirmed that all domains are public knowledge, and whether for this plan."""

    by: Annotated[str, Field(min_length=1, max_length=LONGEST_APPROVER)] | None = Field(
        None,
        description="who confirmed the plan; null: confirmed by hand, not tied to this plan",
    )
    on: date | None = Field(None, description="the day; null: confirmed by hand")
    plan_sha256: Digest | None = Field(
        None, description="the fingerprint of the plan that was confirmed; null: not tied to a plan"
    )
    public: tuple[str, ...] = Field(
        (),
        description=(
            "the columns whose domains were taken from the data and are public knowledge according"
            " to the signer"
        ),
        exclude_if=lambda public: not public,
    )

    @property
    def statement(self) -> str:
        """Return who confirmed what, as a sentence."""
        bound = self.plan_sha256 is not None
        return signature_words("confirmed", by=self.by, on=self.on, bound=bound)


class Approved(CertificatePart):
    """The person who approved the release, in the plan's own words."""

    by: Annotated[str, Field(min_length=1, max_length=LONGEST_APPROVER)]
    on: date
    why: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)] | None = None
    plan_sha256: Digest | None = Field(
        None,
        description="the fingerprint of the plan that was approved; omitted: not tied to a plan",
        exclude_if=lambda plan: plan is None,
    )

    @property
    def statement(self) -> str:
        """Return who approved what, as a sentence."""
        bound = self.plan_sha256 is not None
        return signature_words("approved", by=self.by, on=self.on, bound=bound)


class ReleasedFile(CertificatePart):
    """One file of the release folder."""

    sha256: Digest
    bytes: int = Field(ge=0)


class Certificate(CertificatePart):
    """Certificate of a release: what is guaranteed, for whom, by which method and budget.

    Read it from a release (``release.certificate``) or with `from_json`.

    Parameters
    ----------
    format_version : int, default=2
        Version of the format of `certificate.json`.
    tool : str, default="hedgerow"
        Program that made the release.
    created : datetime.date
        Day of the release, in UTC.
    guarantee : Guarantee
        Privacy measure, its value, the privacy unit, and the guarantee as a sentence.
    method : CertifiedMethod
        Name and settings of the method.
    counts : CountNoise or None
        Noise of one published count; ``None`` if no counts are published.
    budget : Budget
        All spendings, as shares of the total.
    departures : tuple of CertifiedDeparture
        Differences between the method and its paper.
    assumed_public : tuple of Assumed
        Facts of the plan that are assumed to be public.
    randomness : Randomness
        Source of the noise; a reproducible one is not private.
    data : Data
        Attributes or items, and the noisy number of records.
    ledger : LedgerEntry or None
        Entry of the ledger that booked the release.
    engine : str
        Engine that counted the records.
    versions : dict of str to str
        Versions of hedgerow and its libraries.
    plan_sha256 : str or None
        Fingerprint of the plan.
    confirmed, approved : Confirmed, Approved, optional
        Who confirmed the domains of the plan, and who approved the release.
    files : dict of str to ReleasedFile
        Digests of the files of the release.
    covers : CertifiedCover, optional
        The part of the table that the release covers.
    disclosure : DisclosedRisk, optional
        Risk of a disclosure of single records.

    Notes
    -----
    Privacy: everything in it may be published.

    Examples
    --------
    >>> import hedgerow
    >>> import pyarrow as pa
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}}, "protects": "records",
    ...         "confirmed": True, "publish": {"method": "hedge", "epsilon": 2}}
    >>> release = hedgerow.publish(plan, data=pa.table({"age": [20, 70] * 500}), seed=1)
    >>> str(release.certificate.guarantee.epsilon), release.certificate.method.name
    ('2', 'hedge')

    """

    format_version: Literal[1, 2] = CERTIFICATE_FORMAT
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
    confirmed: Confirmed | None = Field(
        None,
        description="the person who confirmed the plan; omitted by versions that did not record it",
    )
    approved: Approved | None = Field(
        None, description="the person who approved it, if stated in the plan"
    )
    files: dict[str, ReleasedFile] = Field(default={})
    covers: CertifiedCover | None = Field(
        default=None, description="only if a part of the table was read"
    )
    disclosure: DisclosedRisk | None = Field(
        default=None, description="only if single records were disclosed"
    )

    @model_validator(mode="after")
    def _keeps_its_word(self) -> Self:
        epsilon = self.guarantee.epsilon
        if epsilon is not None and self.budget.total > epsilon:
            raise ValueError("The budget exceeds the guaranteed epsilon.")
        if self.randomness.reproducible and self.guarantee.private:
            raise ValueError("A reproducible release cannot be private.")
        return self

    def with_files(self, files: dict[str, ReleasedFile]) -> Certificate:
        """Return the certificate of the same release with the digests of ``files``."""
        listed = dict(sorted(files.items()))
        return self.model_copy(update={"files": listed, "format_version": CERTIFICATE_FORMAT})

    @property
    def records_word(self) -> str:
        """Return the name of the records: records, baskets or sequences."""
        items = self.data.items
        return "records" if items is None else "sequences" if items.ordered else "baskets"

    @property
    def signatures(self) -> tuple[str, ...]:
        """Return who confirmed and who approved the plan, a sentence each."""
        signatures = (self.confirmed, self.approved)
        return tuple(each.statement for each in signatures if each is not None)

    def card_facts(self) -> list[tuple[str, object]]:
        """Return the most important facts, each under its name."""
        promised, counts = self.guarantee, self.counts
        return [
            ("method", self.method.name),
            ("epsilon", promised.epsilon),
            ("delta", promised.delta or None),
            ("promise", promised.statement),
            ("privacy unit", promised.protects(self.records_word)),
            ("noise of a count, 95 of 100", f"± {counts.within_95:,}" if counts else None),
            ("records, by the counts", self.data.noisy_total),
            ("made on", self.created),
            ("confirmed", self.confirmed.statement if self.confirmed else None),
            ("approved by", self.approved.by if self.approved else None),
        ]

    def _repr_html_(self) -> str:
        warning = "" if self.guarantee.private else "Not differentially private"
        return card(f"Certificate of {self.data.name}", self.card_facts(), warning=warning)

    def to_json(self) -> str:
        """Return the text of `certificate.json`: the same facts give the same bytes."""
        facts = self.model_dump(mode="json", by_alias=True)
        for part in ("confirmed", "covers", "disclosure"):
            if facts[part] is None:
                del facts[part]
        if self.format_version == 1:
            return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
        return sealed(facts)

    @classmethod
    def from_json(cls, text: str, *, where: str = "certificate.json") -> Certificate:
        """Read a certificate back, or report what is wrong with it."""
        try:
            facts = _facts(text)
            _refuse_later(facts, where)
            return cls.model_validate_json(json.dumps(facts))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            path = ".".join(str(step) for step in first["loc"])
            if not path.isprintable() or len(path) > _LONGEST_PATH:
                path = displayed(path)  # the file determines the keys
            raise ReleaseError(
                "This is not a certificate that this version can read:"
                f" {first['msg'].lower().rstrip('.')}.",
                where=f"{where}: {path}" if path else where,
                do="Give a release folder as `hedgerow publish` wrote it.",
            ) from error
        except SealError as error:
            raise ReleaseError(
                f"The certificate was modified after it was written: {error}.",
                where=where,
                do="Get the release again from its publisher.",
            ) from error


def _facts(text: str) -> dict[str, Any]:
    """Return the facts of a certificate; if its format has a digest, the digest must fit."""
    facts = facts_in(text)
    version = facts.get("format-version")
    return facts if type(version) is int and version == 1 else unsealed(text)


def _refuse_later(facts: dict[str, Any], where: str) -> None:
    version = facts.get("format-version")
    if isinstance(version, int) and version > CERTIFICATE_FORMAT:
        raise LaterFormatError("certificate", version, CERTIFICATE_FORMAT, where=where)


def certificate_schema() -> dict[str, Any]:
    """Return the JSON schema of `certificate.json`."""
    schema = Certificate.model_json_schema(by_alias=True, mode="serialization")
    schema["properties"][SEAL] = {
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
        "description": "the last key: the SHA-256 of all lines of the file before this one",
    }
    first = {"properties": {"format-version": {"const": 1}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "hedgerow certificate",
        "description": "The certificate of a release: certificate.json.",
        "if": first,
        "then": {"not": {"required": [SEAL]}},
        "else": {"required": [SEAL]},
    }


def certificate_schema_text() -> str:
    """Return the JSON schema as the text of `docs/certificate.schema.json`."""
    return json.dumps(certificate_schema(), indent=2, ensure_ascii=False) + "\n"
