"""The certificate of a run: what was promised, bought and assumed."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from hedgerow.encode.schema import Attribute, Schema
from hedgerow.partition.groups import Groups
from hedgerow.partition.method import Method
from hedgerow.plan.load import plan_digest
from hedgerow.plan.methods import PublishPlan
from hedgerow.plan.model import Plan
from hedgerow.privacy.budget import PathLedger
from hedgerow.release import certificate as paper
from hedgerow.release.domains import describe
from hedgerow.release.precision import within
from hedgerow.taxonomy.domain import CategoricalDomain


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What is publishable about a run, beyond its plan and its groups."""

    epsilon: Fraction
    dataset: str
    engine: str
    reproducible: bool
    ledger: paper.LedgerEntry | None


def certify(
    *,
    plan: Plan,
    publish: PublishPlan,
    method: Method,
    schema: Schema,
    groups: Groups,
    path: PathLedger,
    facts: RunFacts,
) -> paper.Certificate:
    """Return the certificate of a run whose budget is settled."""
    return paper.Certificate(
        created=datetime.now(UTC).date(),
        guarantee=paper.Guarantee.differential_privacy(
            facts.epsilon, reproducible=facts.reproducible
        ),
        method=paper.Method(
            name=method.name,
            faithful=method.faithful,
            settings={**publish.model_dump(mode="json", by_alias=True), **method.chosen},
            details=dict(method.details),
        ),
        counts=_count_noise(groups),
        budget=_budget(path),
        departures=tuple(
            paper.Departure(paper=each.paper, what=each.what, why=each.why)
            for each in method.departures
        ),
        assumed_public=_assumed(plan, publish, schema),
        randomness=_randomness(facts),
        data=_data(schema, groups, facts),
        ledger=facts.ledger,
        engine=facts.engine,
        versions=_versions(),
        plan_sha256=plan_digest(plan),
    )


def _count_noise(groups: Groups) -> paper.CountNoise | None:
    made = groups.made
    if made is None:
        return None
    adjusted = made.lowered_by is not None
    return paper.CountNoise(
        share=made.share,
        within_95=within(made.share),
        threshold=made.threshold,
        adjustment="shifted together and cut at zero, to add up to a noisy total"
        if adjusted
        else "cut at zero",
        lowered_by=made.lowered_by,
    )


def _budget(path: PathLedger) -> paper.Budget:
    total = path.worst_path()
    return paper.Budget(
        spends=tuple(
            paper.Spend(
                on=line.on,
                share=line.share,
                times=line.times,
                level=line.level,
                of_epsilon=line.share * (line.times if line.level == 0 else 1) / total,
            )
            for line in path.bookings
        ),
        total=total,
    )


def _assumed(plan: Plan, publish: PublishPlan, schema: Schema) -> tuple[paper.Assumed, ...]:
    domains = [
        paper.Assumed(what=_domain_words(attribute), sha256=describe(attribute.domain).digest())
        for attribute in schema.used()
    ]
    settings = ", ".join(sorted(publish.model_dump(by_alias=True)))
    missing = (
        "records with a missing value are left out"
        if plan.missing == "drop"
        else "a missing value is a value of its own"
    )
    return (
        *domains,
        paper.Assumed(what=f"the settings of the method: {settings}"),
        paper.Assumed(what=f"how values are read: {missing}; numbers are clamped to their bounds"),
        paper.Assumed(what="each person has at most one record"),
    )


def _domain_words(attribute: Attribute) -> str:
    domain = attribute.domain
    if isinstance(domain, CategoricalDomain):
        return f"the taxonomy of {attribute.name}, with {domain.size} values"
    return f"the grid of {attribute.name}, {domain.label(0, domain.size)} in {domain.size} cells"


def _randomness(facts: RunFacts) -> paper.Randomness:
    if facts.reproducible:
        return paper.Randomness(source="seeded", reproducible=True, stamp=paper.NOT_PRIVATE)
    return paper.Randomness(source="operating system", reproducible=False)


def _data(schema: Schema, groups: Groups, facts: RunFacts) -> paper.Data:
    described = tuple(
        paper.DescribedAttribute(
            name=attribute.name,
            role="class" if attribute is schema.class_attribute else "predictor",
            kind=attribute.domain.kind,
            size=attribute.domain.size,
        )
        for attribute in schema.used()
    )
    total = int(groups.counts.sum())
    return paper.Data(name=facts.dataset, attributes=described, noisy_total=total)


def _versions() -> dict[str, str]:
    try:
        own = version("hedgerow")
    except PackageNotFoundError:  # run from a source tree that was never installed
        own = "unknown"
    return {"hedgerow": own, "python": platform.python_version(), "numpy": np.__version__}
