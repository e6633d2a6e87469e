"""A plan made ready to run: everything that can be refused is refused here.

Nothing confidential is read before `opened` is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.count.settings import EngineSettings
from hedgerow.encode.schema import schema_of
from hedgerow.encode.universe import universe_of
from hedgerow.errors import InternalError, PlanError
from hedgerow.model.groups import Groups
from hedgerow.model.method import Approximate, Outline, Sized
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.pipeline.covers import cover_notes
from hedgerow.pipeline.open import DataPlace, open_engine
from hedgerow.pipeline.own_utility import check_own_utility, with_own_utility
from hedgerow.pipeline.people import PeopleShares, people_notes
from hedgerow.pipeline.run import RunResult, run_private
from hedgerow.plan.defaults import DEFAULT_BASKET_METHOD, DEFAULT_METHOD, USUAL_BOUND
from hedgerow.plan.load import load_plan, plan_digest, plan_of
from hedgerow.plan.model import Plan
from hedgerow.plan.override import override
from hedgerow.plan.settings import MethodSettings, PrivateSettings
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress
from hedgerow.release.domains import describe, fingerprint_of
from hedgerow.taxonomy.domain import CategoricalDomain, Domain
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    from hedgerow.encode.sums import ColumnSums
    from hedgerow.methods.diffmulti.own_utility import OwnUtility

PlanLike = Plan | Mapping[str, Any] | str | Path


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A plan with its domains loaded and its method built; nothing has been read yet.

    ``domain`` is what is public of the data: the schema of a table or the universe of
    baskets. ``method`` is a :class:`~hedgerow.model.method.PrivateMethod` for it, or a
    :class:`~hedgerow.model.method.PlainMethod`, which has no epsilon.
    """

    plan: Plan
    settings: MethodSettings
    domain: Schema | Universe
    method: Any
    people: PeopleRule | None = None

    @property
    def private(self) -> bool:
        """True if the method is differentially private."""
        return isinstance(self.settings, PrivateSettings)

    @property
    def epsilon(self) -> Fraction:
        """The budget of the release, for whoever is protected; some methods have none."""
        if not isinstance(self.settings, PrivateSettings):
            raise InternalError("A method without a guarantee was asked for its epsilon.")
        return self.settings.epsilon

    @property
    def auto(self) -> bool:
        """True if the bound on a person's records is chosen from the data."""
        return self.plan.records_per_person == "auto"

    @property
    def shares(self) -> PeopleShares:
        """Division of epsilon between the choice of the bound and the method."""
        return PeopleShares(epsilon=self.epsilon, auto=self.auto)

    @property
    def rate(self) -> Fraction:
        """Epsilon of the method per counted unit: epsilon itself unless there are people.

        With ``auto`` it is the one for the largest bound that may be chosen.
        """
        return self.shares.method / (1 if self.people is None else self.people.cost)

    @property
    def forecast_rate(self) -> Fraction:
        """Expected epsilon of one published count.

        Counts of people use epsilon itself; a bound that is not chosen yet is assumed to be
        `USUAL_BOUND`.
        """
        if self.people is None:
            return self.rate
        bound = USUAL_BOUND if self.auto else self.people.cost // self.people.unit
        return self.shares.method / bound

    @property
    def _may_count_people(self) -> bool:
        """True if the method can count people (``count: people``)."""
        if self.has_items or not isinstance(self.settings, PrivateSettings):
            return False
        has_class = self.schema.class_attribute is not None
        return self.settings.refuses_people(has_class=has_class) is None

    @property
    def delta(self) -> Fraction:
        """The delta of the release, 0 for methods of pure epsilon."""
        if not isinstance(self.method, Approximate):
            return Fraction(0)
        return self.method.delta(self.schema, self.epsilon)

    @property
    def caveat(self) -> str | None:
        """Caveat about the delta."""
        if not isinstance(self.method, Approximate):
            return None
        return self.method.caveat(self.schema, self.epsilon)

    @property
    def statement(self) -> str | None:
        """Statement of a method without a differential privacy guarantee."""
        return None if self.private else str(self.method.statement)

    @property
    def schema(self) -> Schema:
        """The schema of a table."""
        if not isinstance(self.domain, Schema):
            raise InternalError("Baskets have no schema.")
        return self.domain

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy of the items of baskets."""
        if not isinstance(self.domain, Universe):
            raise InternalError("A table has no universe of items.")
        return self.domain.taxonomy

    @property
    def has_items(self) -> bool:
        """True if the data are baskets."""
        return isinstance(self.domain, Universe)

    @property
    def is_ordered(self) -> bool:
        """True if the data are sequences."""
        return isinstance(self.domain, Universe) and self.domain.place.ordered

    def outline(self, n_records: int | None = None) -> Outline:
        """Return what a run will spend, without any data; ``n_records`` is public, if known."""
        domain = self.taxonomy if self.has_items else self.schema
        planned: Outline
        if n_records is not None and isinstance(self.method, Sized):
            planned = self.method.outline_of(domain, self.forecast_rate, n_records)
        else:
            planned = self.method.outline(domain, self.forecast_rate)
        added: tuple[str, ...] = ()
        if self.people is not None:
            called = "sequences" if self.is_ordered else "baskets" if self.has_items else "records"
            may_count = self._may_count_people
            added = people_notes(self.people, auto=self.auto, records=called, may_count=may_count)
        if isinstance(self.domain, Schema):
            why = self.plan.why_method()
            added = (*((why,) if why else ()), *added, *cover_notes(self.plan, self.domain))
        return replace(planned, notes=(*planned.notes, *added)) if added else planned

    @contextmanager
    def opened(
        self,
        data: Any,
        settings: EngineSettings,
        progress: Progress,
        *,
        sums: ColumnSums | None = None,
        key: SampleKey | None = None,
    ) -> Iterator[Any]:
        """Yield an engine that holds the confidential data as codes; it is closed afterwards.

        ``sums`` get what the data is recognised by; ``key`` samples each person's records.
        """
        place = DataPlace.of(self.plan, data)
        keyed = None
        if self.people is not None:
            if key is None:
                raise InternalError("People were to be bounded without a key.")
            keyed = KeyedRule(rule=self.people, key=key)
        engine = open_engine(
            self.domain,
            place,
            settings=settings,
            progress=progress,
            sums=sums,
            people=keyed,
        )
        with closing(engine):
            yield engine

    def run(self, engine: Any, *, source: RandomSource, progress: Progress) -> RunResult:
        """Return what the method publishes of the data that the engine holds, and what it spent."""
        if not self.private:  # no guarantee, nothing to spend
            published = self.method.publish(engine, source=source, progress=progress)
            return RunResult(published=published, path=None, people=None)
        return run_private(
            self.method,
            engine,
            shares=self.shares,
            people=self.people,
            source=source,
            progress=progress,
        )

    def tried(self, engine: Any, *, rate: Fraction, source: RandomSource) -> Groups:
        """Return the groups that the method gives at a rate, of records that are no secret."""
        published = self.method.publish(Run.start(engine, epsilon=rate, source=source))
        if not isinstance(published, Groups):
            raise InternalError("A table was published as baskets.")
        return published

    def fingerprint(self) -> str:
        """Return the SHA-256 of all settings of the plan and the content of its taxonomies.

        `hedgerow check` shows it, and `publish` can be set to accept no other.
        """
        domains: list[Domain] = (
            [CategoricalDomain(taxonomy=self.taxonomy)]
            if self.has_items
            else [attribute.domain for attribute in self.schema.read()]
        )
        return fingerprint_of(
            plan_digest(self.plan), [describe(domain).digest() for domain in domains]
        )


def as_plan(plan: PlanLike) -> Plan:
    """Return a plan from a plan, a mapping with a plan file's keys, or a file."""
    if isinstance(plan, Plan):
        return plan
    return plan_of(plan) if isinstance(plan, Mapping) else load_plan(plan)


def prepare(plan: PlanLike, *, utility: OwnUtility | None = None, **settings: Any) -> Prepared:
    """Return the plan with its taxonomies loaded and its method built and validated.

    ``settings`` override the plan's ``publish`` section; ``None`` leaves it as it is. A
    ``utility`` of the custodian's own takes the place of the score of `diffmulti`.
    """
    checked = override(as_plan(plan), **settings)
    publish = checked.publish
    if publish is None:
        raise PlanError(
            "The plan does not say how to publish.",
            where="publish",
            do="Add a section such as 'publish: {method: hedge, epsilon: 1}'.",
        )
    if utility is not None:
        check_own_utility(checked, utility)
    if checked.items is not None:
        universe = universe_of(checked)
        method = publish.build(has_class=False)
        rule = checked.people_rule()
        ready = Prepared(
            plan=checked, settings=publish, domain=universe, method=method, people=rule
        )
        _check_people(ready)
        method.validate(universe.taxonomy, ready.rate)
        return ready
    schema = schema_of(checked)
    method = publish.build(has_class=schema.class_attribute is not None)
    rule = checked.people_rule()
    if utility is not None:
        method = with_own_utility(method, utility, schema)
    ready = Prepared(plan=checked, settings=publish, domain=schema, method=method, people=rule)
    _check_people(ready)
    method.validate(schema, *((ready.rate,) if ready.private else ()))
    return ready


def _check_people(ready: Prepared) -> None:
    """Refuse people where a method has no pure epsilon, or does not count them."""
    if ready.people is None:
        return
    settings = ready.settings
    if not isinstance(settings, PrivateSettings) or isinstance(ready.method, Approximate):
        why = (
            "of a person with m records its delta is that of one times"
            " (e^epsilon - 1) / (e^(epsilon / m) - 1)"
            if ready.private
            else "it gives no guarantee to anybody"
        )
        raise PlanError(
            f"The method {settings.method!r} does not protect people with several records: {why}.",
            where="person",
            do="Give a method of pure epsilon, such as"
            f" {DEFAULT_BASKET_METHOD if ready.has_items else DEFAULT_METHOD}.",
        )
    has_class = not ready.has_items and ready.schema.class_attribute is not None
    refused = settings.refuses_people(has_class=has_class)
    if ready.has_items and refused is None:
        refused = "baskets are counted whole"
    if ready.people.counted == "people" and refused is not None:
        raise PlanError(
            f"The method {settings.method!r} cannot count people here: {refused}.",
            where="count",
            do="Give 'count: records', or 'join: union' in place of records-per-person: every"
            " person is then one basket."
            if ready.has_items
            else "Give 'count: records', or a method such as hedge.",
        )
