"""The certificate of a run: its guarantee, the budget spent and the assumptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction

from pydantic import JsonValue

from hedgerow.errors import InternalError
from hedgerow.model import certificate as paper
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.groups import Groups
from hedgerow.model.method import About
from hedgerow.model.people import PeopleRule
from hedgerow.model.precision import within
from hedgerow.model.schema import Schema
from hedgerow.model.sequences import NoisySequences
from hedgerow.model.unit import PrivacyUnit
from hedgerow.model.universe import Universe
from hedgerow.plan.approval import ConfirmedPlan
from hedgerow.plan.load import plan_digest
from hedgerow.plan.model import Plan
from hedgerow.plan.settings import MethodSettings
from hedgerow.plan.signature import ITEMS
from hedgerow.privacy.budget import PathLedger
from hedgerow.release.certificate_parts import (
    assumed_cover,
    assumed_form,
    assumed_settings,
    assumed_table,
    described,
    randomness,
    source_words,
    versions,
)
from hedgerow.release.domains import describe
from hedgerow.taxonomy.domain import CategoricalDomain

NOTHING_SPENT = paper.Budget(spends=(), total=Fraction(0))


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Publishable facts of a run that neither its plan nor its published data contain.

    ``epsilon`` is ``None`` for a method without a guarantee; ``statement`` is then what it
    promises instead. ``caveat`` is the qualification that its ``delta`` needs. ``people`` says
    whose records are protected together, and how many of them count; ``covers`` is the part of
    the table that was read.
    """

    epsilon: Fraction | None
    dataset: str
    engine: str
    reproducible: bool
    ledger: paper.LedgerEntry | None
    delta: Fraction = Fraction(0)
    caveat: str | None = None
    statement: str | None = None
    people: PeopleRule | None = None
    covers: paper.CertifiedCover | None = None


def certify(
    *,
    plan: Plan,
    settings: MethodSettings,
    about: About,
    domain: Schema | Universe,
    published: Groups | NoisyBaskets,
    spent: paper.Budget | None,
    facts: RunFacts,
) -> paper.Certificate:
    """Return the certificate of a run; ``spent`` is its budget, where it has one."""
    course = published.course if isinstance(published, Groups) else {}
    rest = {} if about.rests_on is None else {"rests-on": about.rests_on}
    why = plan.why_method()
    reason = {} if why is None else {"reason": why}
    about = replace(about, details={**about.details, **course, **rest, **reason})
    return certificate_of(
        plan=plan,
        about=about,
        settings={**settings.applying(), **about.chosen},
        budget=NOTHING_SPENT if spent is None else spent,
        guarantee=_promised(
            facts, unit=plan.privacy_unit, called=_called(domain), rests_on=about.rests_on
        ),
        facts=facts,
        counts=None if spent is None else _count_noise(published, faithful=about.faithful),
        assumed=_assumed(plan, settings, domain, facts.people),
        data=_data(plan, domain, published, facts),
    )


def certificate_of(
    *,
    plan: Plan,
    about: About,
    settings: dict[str, JsonValue],
    budget: paper.Budget,
    guarantee: paper.Guarantee,
    facts: RunFacts,
    counts: paper.CountNoise | None,
    assumed: tuple[paper.Assumed, ...],
    data: paper.Data,
) -> paper.Certificate:
    """Return the certificate of a release or a disclosure."""
    return paper.Certificate(
        created=datetime.now(UTC).date(),
        guarantee=guarantee,
        method=paper.CertifiedMethod(
            name=about.name,
            faithful=about.faithful,
            settings=settings,
            details=dict(about.details),
        ),
        counts=counts,
        budget=budget,
        departures=tuple(
            paper.CertifiedDeparture(paper=each.paper, what=each.what, why=each.why)
            for each in about.departures
        ),
        assumed_public=assumed,
        randomness=randomness(seeded=facts.reproducible),
        data=data,
        ledger=facts.ledger,
        engine=facts.engine,
        versions=versions(),
        plan_sha256=plan_digest(plan),
        confirmed=_confirmed(plan),
        approved=_approved(plan),
        covers=facts.covers,
    )


def _approved(plan: Plan) -> paper.Approved | None:
    signed = plan.approved
    if signed is None:
        return None
    return paper.Approved(by=signed.by, on=signed.on, why=signed.why, plan_sha256=signed.plan)


def _confirmed(plan: Plan) -> paper.Confirmed | None:
    signed = plan.confirmed
    if isinstance(signed, ConfirmedPlan):
        return paper.Confirmed(
            by=signed.by, on=signed.on, plan_sha256=signed.plan, public=signed.public
        )
    return paper.Confirmed() if signed else None


def _called(domain: Schema | Universe) -> str:
    """Return the noun for one kind of records."""
    if not isinstance(domain, Universe):
        return "records"
    return "sequences" if domain.place.ordered else "baskets"


def _promised(
    facts: RunFacts, *, unit: PrivacyUnit | None, called: str, rests_on: str | None
) -> paper.Guarantee:
    if facts.statement is not None:
        return paper.Guarantee.none(facts.statement)
    if facts.epsilon is None or unit is None:
        raise InternalError("A private method ran without an epsilon or a privacy unit.")
    return paper.Guarantee.differential_privacy(
        facts.epsilon,
        reproducible=facts.reproducible,
        delta=facts.delta,
        caveat=facts.caveat,
        unit=unit,
        people=facts.people,
        called=called,
        rests_on=rests_on,
    )


def _count_noise(published: Groups | NoisyBaskets, *, faithful: bool) -> paper.CountNoise | None:
    origin = published.origin
    if origin is None:
        return None
    if isinstance(published, Groups):
        adjustment = (
            "cut at zero"
            if origin.lowered_by is None
            else "shifted together and cut at zero, to add up to a noisy total"
        )
    elif isinstance(published, NoisySequences):
        adjustment = (
            "made non-negative and to add up; what follows counted prefixes is drawn, not counted"
        )
    else:
        adjustment = (
            "left out below a public threshold"
            if faithful
            else "made non-negative; baskets too rare to be told apart are drawn, not counted"
        )
    return paper.CountNoise(
        share=origin.share,
        within_95=within(origin.share),
        threshold=origin.threshold,
        adjustment=adjustment,
        lowered_by=origin.lowered_by,
    )


def spent_by(
    path: PathLedger | None,
    *,
    people: PeopleRule | None = None,
    choosing: PathLedger | None = None,
) -> paper.Budget | None:
    """Return the budget that a run spent per protected unit; ``None`` if it spends nothing.

    The method's ``path`` is for one counted unit, of which a person has at most as many as the
    rule states; ``choosing`` is already for a person.
    """
    if path is None:
        return None
    times = 1 if people is None else people.cost
    before = Fraction(0) if choosing is None else choosing.worst_path()
    total = path.worst_path() * times + before
    chosen = [] if choosing is None else [(line, 1) for line in choosing.bookings]
    lines = [*chosen, *((line, times) for line in path.bookings)]
    return paper.Budget(
        spends=tuple(
            paper.Spend(
                on=line.on,
                share=line.share * cost,
                times=line.times,
                level=line.level,
                of_epsilon=line.share * cost * (line.times if line.level == 0 else 1) / total,
            )
            for line, cost in lines
        ),
        total=total,
    )


def _assumed(
    plan: Plan,
    settings: MethodSettings,
    domain: Schema | Universe,
    people: PeopleRule | None,
) -> tuple[paper.Assumed, ...]:
    names = ", ".join(sorted(settings.applying()))
    public = (
        assumed_table(domain, settings=names, plan=plan)
        if isinstance(domain, Schema)
        else _assumed_items(domain, settings=names, source=source_words(plan, ITEMS))
    )
    form = () if plan.reading is None else (assumed_form(plan.reading),)
    part = assumed_cover(domain, plan) if isinstance(domain, Schema) else ()
    return (*public, *part, *form, *_assumed_unit(plan, people))


def _assumed_unit(plan: Plan, people: PeopleRule | None) -> tuple[paper.Assumed, ...]:
    """Return what the privacy unit assumes about people; a unit of records assumes nothing."""
    if people is not None:
        return (_assumed_people(people),)
    if plan.privacy_unit == "one record per person":
        return (paper.Assumed(what="each person has at most one record, as the plan states"),)
    return ()


def _assumed_people(people: PeopleRule) -> paper.Assumed:
    named = " and ".join(people.columns)
    if people.join is not None:
        return paper.Assumed(
            what=f"baskets with the same {named} are those of one person; they are joined to one,"
            " which holds all of their items"
        )
    counted = (
        "they share the weight of one person"
        if people.counted == "people"
        else "each counts as one"
    )
    return paper.Assumed(
        what=f"records with the same {named} are those of one person; at most {people.most} of"
        f" them count, drawn by lot, and {counted}"
    )


def _assumed_items(universe: Universe, *, settings: str, source: str) -> tuple[paper.Assumed, ...]:
    digest = describe(CategoricalDomain(taxonomy=universe.taxonomy)).digest()
    how = "in order, repeats kept" if universe.place.ordered else "as sets"
    return (
        paper.Assumed(
            what=f"the universe of {universe.n_items} items and its taxonomy{source}",
            sha256=digest,
        ),
        assumed_settings(settings),
        paper.Assumed(
            what=f"how records are read: {how}; items outside the universe are dropped,"
            " records without an item left out"
        ),
    )


def _data(
    plan: Plan, domain: Schema | Universe, published: Groups | NoisyBaskets, facts: RunFacts
) -> paper.Data:
    items = None
    if isinstance(domain, Universe):
        height = int(domain.taxonomy.height[0])
        items = paper.DescribedItems(
            size=domain.n_items,
            height=height,
            ordered=domain.place.ordered,
            source=None if plan.items is None else plan.items.source,
        )
    return paper.Data(
        name=facts.dataset,
        attributes=described(domain, plan) if isinstance(domain, Schema) else (),
        items=items,
        noisy_total=int(published.counts.sum()),
    )
