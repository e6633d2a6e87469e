"""Public domains as JSON: all that is needed to encode new values as a release did."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from hedgerow.model.certificate import Certificate
from hedgerow.taxonomy.calendar import CalendarGrid, DateStep, date_text
from hedgerow.taxonomy.domain import CategoricalDomain, DateDomain, Domain, NumericDomain
from hedgerow.taxonomy.grid import EvenGrid
from hedgerow.taxonomy.numbers import written
from hedgerow.taxonomy.tree import Taxonomy

LEAST_EXPECTED = 16
"""Minimum length of a fingerprint's beginning that identifies it."""


def domain_digest(facts: dict[str, object]) -> str:
    """Return the SHA-256 of a description with sorted keys and without spaces."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_of(plan: str, domains: Sequence[str]) -> str:
    """Return the fingerprint of a plan from its digest and those of its domains, in order."""
    return hashlib.sha256("\n".join([plan, *domains]).encode()).hexdigest()


def certified_fingerprint(certificate: Certificate) -> str | None:
    """Return the fingerprint of the plan behind a release, from its certificate."""
    if certificate.plan_sha256 is None:
        return None
    digests = [each.sha256 for each in certificate.assumed_public if each.sha256 is not None]
    return fingerprint_of(certificate.plan_sha256, digests)


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def facts(self) -> dict[str, object]:
        """Return the description as JSON holds it."""
        return self.model_dump(mode="json")

    def digest(self) -> str:
        """Return the SHA-256 of the description: equal domains have equal digests."""
        return domain_digest(self.facts())


class CategoricalDescription(_Described):
    """A taxonomy: its nodes in depth-first order, with the positions of their parents.

    Nodes without children are the leaves; in this order they have the codes 0, 1, 2 and so on.
    ``reads`` is the ready-made taxonomy whose spellings of values are accepted.
    """

    kind: Literal["categorical"] = "categorical"
    labels: tuple[str, ...]
    parents: tuple[Annotated[int, Field(ge=-1, lt=2**31)], ...]
    other: str | None
    missing: str | None
    reads: str | None = None

    def facts(self) -> dict[str, object]:
        """Return the description as stored in JSON; ``reads`` only if it is set."""
        facts = super().facts()
        if self.reads is None:
            del facts["reads"]
        return facts

    def domain(self) -> CategoricalDomain:
        """Return the domain described here."""
        parents = np.array(self.parents, dtype=np.int32)
        taxonomy = Taxonomy(labels=self.labels, parent=parents)
        return CategoricalDomain(
            taxonomy=taxonomy, other=self.other, missing=self.missing, reads=self.reads
        )


class EvenDescription(_Described):
    """A grid of equal cells, with exact numbers as texts. Code 0 may stand for ``missing``."""

    kind: Literal["even grid"] = "even grid"
    low: str
    high: str
    step: str
    missing: bool

    def domain(self) -> NumericDomain:
        """Return the domain described here."""
        return NumericDomain.even(
            low=self.low, high=self.high, step=self.step, missing=self.missing
        )


class EdgesDescription(_Described):
    """Cells between edges, as exact texts. Code 0 may stand for ``missing``."""

    kind: Literal["edges"] = "edges"
    edges: tuple[str, ...]
    missing: bool

    def domain(self) -> NumericDomain:
        """Return the domain described here."""
        return NumericDomain.from_edges(self.edges, missing=self.missing)


class CalendarDescription(_Described):
    """The days, weeks, months, quarters or years from one date to another, both included.

    With ``missing``, code 0 stands for missing values.
    """

    model_config = ConfigDict(serialize_by_alias=True, validate_by_alias=True)

    kind: Literal["calendar"] = "calendar"
    first: datetime.date = Field(alias="from")
    last: datetime.date = Field(alias="to")
    step: DateStep
    missing: bool

    def domain(self) -> DateDomain:
        """Return the domain described here."""
        return DateDomain.between(self.first, self.last, step=self.step, missing=self.missing)


AnyDescription = CategoricalDescription | EvenDescription | EdgesDescription | CalendarDescription
Description = Annotated[AnyDescription, Field(discriminator="kind")]


@lru_cache(maxsize=512)
def describe(domain: Domain) -> AnyDescription:
    """Return the description of a domain, which suffices to restore it; each is made once."""
    if isinstance(domain, CategoricalDomain):
        return CategoricalDescription(
            labels=domain.taxonomy.labels,
            parents=tuple(domain.taxonomy.parent.tolist()),
            other=domain.other,
            missing=domain.missing,
            reads=domain.reads,
        )
    grid = domain.grid
    if isinstance(grid, CalendarGrid):
        facts = {"from": date_text(grid.first), "to": date_text(grid.last), "step": grid.step}
        return CalendarDescription.model_validate({**facts, "missing": domain.missing})
    if isinstance(grid, EvenGrid):
        return EvenDescription(
            low=written(grid.low),
            high=written(grid.high),
            step=written(grid.step),
            missing=domain.missing,
        )
    return EdgesDescription(
        edges=tuple(written(edge) for edge in grid.edges), missing=domain.missing
    )
