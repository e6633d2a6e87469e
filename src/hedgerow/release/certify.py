"""The certificate of a run: what was promised, bought and assumed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from hedgerow.errors import InternalError
from hedgerow.model import certificate as paper
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.groups import Groups
from hedgerow.model.method import BasketMethod, Method, PlainMethod
from hedgerow.model.precision import within
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.plan.load import plan_digest
from hedgerow.plan.model import Plan
from hedgerow.plan.publishing import PublishPlan
from hedgerow.privacy.budget import PathLedger
from hedgerow.release.certificate_parts import (
    assumed_settings,
    assumed_table,
    described,
    randomness,
    versions,
)
from hedgerow.release.domains import describe
from hedgerow.taxonomy.domain import CategoricalDomain


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What is publishable about a run, beyond its plan and its groups.

    ``epsilon`` is ``None`` where the method gives no guarantee. ``caveat`` is what must be
    said about its ``delta``.
    """

    epsilon: Fraction | None
    dataset: str
    engine: str
    reproducible: bool
    ledger: paper.LedgerEntry | None
    delta: Fraction = Fraction(0)
    caveat: str | None = None


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
    return _certificate(
        plan=plan,
        publish=publish,
        method=method,
        budget=_budget(path),
        guarantee=_promised(facts),
        facts=facts,
        counts=_count_noise(groups),
        assumed=_assumed(plan, publish, schema),
        data=_data(schema, groups, facts),
    )


def certify_baskets(
    *,
    plan: Plan,
    publish: PublishPlan,
    method: BasketMethod,
    universe: Universe,
    baskets: NoisyBaskets,
    path: PathLedger,
    facts: RunFacts,
) -> paper.Certificate:
    """Return the certificate of a run on set-valued data whose budget is settled."""
    return _certificate(
        plan=plan,
        publish=publish,
        method=method,
        budget=_budget(path),
        guarantee=_promised(facts),
        facts=facts,
        counts=_basket_noise(baskets, faithful=method.faithful),
        assumed=_assumed_items(publish, universe),
        data=_basket_data(universe, baskets, facts),
    )


def certify_plain(
    *,
    plan: Plan,
    publish: PublishPlan,
    method: PlainMethod,
    schema: Schema,
    groups: Groups,
    facts: RunFacts,
) -> paper.Certificate:
    """Return the certificate of a run of a method that gives no guarantee."""
    return _certificate(
        plan=plan,
        publish=publish,
        method=method,
        budget=paper.Budget(spends=(), total=Fraction(0)),
        guarantee=paper.Guarantee.none(method.statement),
        facts=facts,
        counts=None,
        assumed=_assumed(plan, publish, schema),
        data=_data(schema, groups, facts),
    )


def _promised(facts: RunFacts) -> paper.Guarantee:
    if facts.epsilon is None:
        raise InternalError("a private method ran without an epsilon")
    return paper.Guarantee.differential_privacy(
        facts.epsilon,
        reproducible=facts.reproducible,
        delta=facts.delta,
        caveat=facts.caveat,
    )


def _certificate(
    *,
    plan: Plan,
    publish: PublishPlan,
    method: Method | BasketMethod | PlainMethod,
    budget: paper.Budget,
    guarantee: paper.Guarantee,
    facts: RunFacts,
    counts: paper.CountNoise | None,
    assumed: tuple[paper.Assumed, ...],
    data: paper.Data,
) -> paper.Certificate:
    return paper.Certificate(
        created=datetime.now(UTC).date(),
        guarantee=guarantee,
        method=paper.Method(
            name=method.name,
            faithful=method.faithful,
            settings={**publish.applying(), **method.chosen},
            details=dict(method.details),
        ),
        counts=counts,
        budget=budget,
        departures=tuple(
            paper.Departure(paper=each.paper, what=each.what, why=each.why)
            for each in method.departures
        ),
        assumed_public=assumed,
        randomness=randomness(seeded=facts.reproducible),
        data=data,
        ledger=facts.ledger,
        engine=facts.engine,
        versions=versions(),
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


def _basket_noise(baskets: NoisyBaskets, *, faithful: bool) -> paper.CountNoise | None:
    made = baskets.made
    if made is None:
        return None
    return paper.CountNoise(
        share=made.share,
        within_95=within(made.share),
        threshold=made.threshold,
        adjustment="left out below a public threshold"
        if faithful
        else "made non-negative; baskets too rare to be told apart are drawn, not counted",
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
    return (
        *assumed_table(schema, settings=_names(publish), missing=plan.missing),
        paper.Assumed(what="each person has at most one record"),
    )


def _names(publish: PublishPlan) -> str:
    return ", ".join(sorted(publish.applying()))


def _assumed_items(publish: PublishPlan, universe: Universe) -> tuple[paper.Assumed, ...]:
    digest = describe(CategoricalDomain(taxonomy=universe.taxonomy)).digest()
    return (
        paper.Assumed(
            what=f"the universe of {universe.n_items} items and its taxonomy", sha256=digest
        ),
        assumed_settings(_names(publish)),
        paper.Assumed(
            what="how records are read: as sets; items outside the universe are dropped, records"
            " without an item left out"
        ),
        paper.Assumed(what="each person has at most one record"),
    )


def _data(schema: Schema, groups: Groups, facts: RunFacts) -> paper.Data:
    total = int(groups.counts.sum())
    return paper.Data(name=facts.dataset, attributes=described(schema), noisy_total=total)


def _basket_data(universe: Universe, baskets: NoisyBaskets, facts: RunFacts) -> paper.Data:
    return paper.Data(
        name=facts.dataset,
        attributes=(),
        items=paper.DescribedItems(
            size=universe.n_items,
            height=int(universe.taxonomy.height[0]),
        ),
        noisy_total=int(baskets.counts.sum()),
    )
