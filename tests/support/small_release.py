"""A small release whose labels are as awkward as labels get."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hedgerow.model import certificate as parts
from hedgerow.model.groups import CountOrigin, Groups, Ranges
from hedgerow.model.precision import within
from hedgerow.model.schema import Attribute, Schema
from hedgerow.release.domains import describe
from hedgerow.release.release import Release
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

JOBS = {
    "Indoor": ["office", "shop, small", '<script>alert("x")</script>'],
    "=Outdoor": ["farm", "-sea", "@home"],
}
COUNTS = Fraction(1, 2)


@pytest.fixture
def golden() -> Callable[[Path, str], None]:
    """Compare a text with its golden file; HEDGEROW_GOLDEN=write regenerates it."""

    def compare(path: Path, text: str) -> None:
        if os.environ.get("HEDGEROW_GOLDEN") == "write":
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8"), (
            f"{path.name} changed: look at it, then run again with HEDGEROW_GOLDEN=write"
        )

    return compare


@pytest.fixture
def schema() -> Schema:
    """Two attributes and a class."""
    job = CategoricalDomain(taxonomy=Taxonomy.from_nested("Any", JOBS))
    income = CategoricalDomain(taxonomy=Taxonomy.flat(["<=50K", ">50K"]))
    return Schema(
        attributes=(
            Attribute(name="age", domain=NumericDomain.even(low=-5, high=90, step=5)),
            Attribute(name="job", domain=job),
        ),
        class_attribute=Attribute(name="income", domain=income),
        missing_values=frozenset({"?"}),
    )


@pytest.fixture
def groups() -> Groups:
    """Noisy groups of the cut {[-5, 0), [0, 90]} x {Indoor's leaves, =Outdoor}."""
    return Groups(
        ranges=(Ranges.of([(0, 1), (1, 20)]), Ranges.of([(0, 1), (1, 2), (2, 3), (3, 6)])),
        index=(np.array([0, 0, 1, 1, 1], np.int32), np.array([0, 3, 1, 2, 3], np.int32)),
        classes=np.array([1, 0, 0, 1, 0], np.int32),
        counts=np.array([3, 1, 40, 2, 7], np.int64),
        is_cut=True,
        origin=CountOrigin(share=COUNTS, threshold=1, lowered_by=0.25),
    )


@pytest.fixture
def make_certificate(schema: Schema, groups: Groups) -> Callable[..., parts.Certificate]:
    """A certificate with fixed date and versions; keywords change parts of it."""

    def make(*, reproducible: bool = False, **changes: Any) -> parts.Certificate:
        facts: dict[str, Any] = {
            "created": date(2026, 1, 31),
            "guarantee": parts.Guarantee.differential_privacy(
                Fraction(1), reproducible=reproducible, unit="one record per person"
            ),
            "method": parts.CertifiedMethod(
                name="diffgen", faithful=False, settings={"epsilon": 1, "h": 2, "score": "max"}
            ),
            "counts": parts.CountNoise(
                share=COUNTS, within_95=within(COUNTS), threshold=1, lowered_by=0.25
            ),
            "budget": budget(),
            "departures": (
                parts.CertifiedDeparture(paper="DiffGen", what="<b>grids</b>", why="exact"),
            ),
            "assumed_public": (
                *(
                    parts.Assumed(
                        what=f"the domain of {each.name}", sha256=describe(each.domain).digest()
                    )
                    for each in schema.used()
                ),
                parts.Assumed(what="each person has at most one record, as the plan states"),
            ),
            "randomness": parts.Randomness(
                source="seeded", reproducible=True, stamp=parts.NOT_PRIVATE
            )
            if reproducible
            else parts.Randomness(source="operating system", reproducible=False),
            "data": parts.Data(
                name="people & <jobs>",
                attributes=tuple(
                    parts.DescribedAttribute(
                        name=each.name,
                        role="class" if each is schema.class_attribute else "predictor",
                        kind=each.domain.kind,
                        size=each.domain.size,
                    )
                    for each in schema.used()
                ),
                noisy_total=int(groups.counts.sum()),
            ),
            "ledger": parts.LedgerEntry(dataset="people", cap=Fraction(4), entry=1),
            "engine": "memory",
            "versions": {"hedgerow": "0", "numpy": "0", "python": "0"},
            "plan_sha256": "b" * 64,
        }
        return parts.Certificate(**(facts | changes))

    return make


def budget() -> parts.Budget:
    """Two choices and the counts."""
    quarter, half = Fraction(1, 4), Fraction(1, 2)
    return parts.Budget(
        spends=(
            parts.Spend(on="specialisation 1", share=quarter, of_epsilon=quarter),
            parts.Spend(on="specialisation 2", share=quarter, of_epsilon=quarter),
            parts.Spend(on="counts", share=half, of_epsilon=half),
        ),
        total=Fraction(1),
    )


@pytest.fixture
def release(
    schema: Schema, groups: Groups, make_certificate: Callable[..., parts.Certificate]
) -> Release:
    """The release of it all."""
    return Release(schema=schema, groups=groups, certificate=make_certificate())
