"""A plan made ready to run: everything that can be refused is refused here.

Nothing confidential is read before `opened` is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hedgerow.count.settings import EngineSettings
from hedgerow.errors import InternalError, PlanError
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import AnyMethod, Approximate, Outline, PlainMethod, Sized
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.pipeline.kinds.items import BasketKind
from hedgerow.pipeline.kinds.kind import DataKind, Held
from hedgerow.pipeline.kinds.table import TableKind
from hedgerow.pipeline.open import kind_of
from hedgerow.pipeline.own_utility import check_own_utility, with_own_utility
from hedgerow.pipeline.people import PeopleShares, people_notes
from hedgerow.pipeline.place import DataPlace, Opening
from hedgerow.pipeline.run import RunResult, run_private
from hedgerow.plan.defaults import USUAL_BOUND
from hedgerow.plan.load import load_plan, plan_digest, plan_of
from hedgerow.plan.model import Plan
from hedgerow.plan.override import override
from hedgerow.plan.settings import MethodSettings, PrivateSettings
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress
from hedgerow.release.domains import describe, fingerprint_of
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    from hedgerow.encode.sums import ColumnSums
    from hedgerow.methods.diffmulti.own_utility import OwnUtility

PlanLike = Plan | Mapping[str, object] | str | Path


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A plan with its domains loaded and its method built; nothing has been read yet.

    ``kind`` is the kind of the data with its public domains. ``method`` is a
    :class:`~hedgerow.model.method.PrivateMethod` for them, or a
    :class:`~hedgerow.model.method.PlainMethod`, which has no epsilon.
    """

    plan: Plan
    settings: MethodSettings
    kind: DataKind
    method: AnyMethod | PlainMethod
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
    def private_method(self) -> AnyMethod:
        """The method, of a plan with a guarantee."""
        if not self.private:
            raise InternalError("A method without a guarantee was asked for its outline.")
        return cast("AnyMethod", self.method)

    @property
    def plain_method(self) -> PlainMethod:
        """The method, of a plan without a guarantee."""
        if self.private:
            raise InternalError("A method with a guarantee was run without its budget.")
        return cast("PlainMethod", self.method)

    @property
    def _may_count_people(self) -> bool:
        """True if the method can count people (``count: people``)."""
        settings = self.settings
        return isinstance(settings, PrivateSettings) and self.kind.refuses_people(settings) is None

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
        return None if self.private else self.plain_method.statement

    @property
    def domain(self) -> Schema | Universe:
        """The schema of a table or the universe of baskets, which are public."""
        return self.kind.domain

    @property
    def schema(self) -> Schema:
        """The schema of a table."""
        if not isinstance(self.kind, TableKind):
            raise InternalError("Baskets have no schema.")
        return self.kind.schema

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy of the items of baskets."""
        if not isinstance(self.kind, BasketKind):
            raise InternalError("A table has no universe of items.")
        return self.kind.taxonomy

    def outline(self, n_records: int | None = None) -> Outline:
        """Return what a run will spend, without any data; ``n_records`` is public, if known."""
        method = self.private_method
        planned = (
            method.outline_of(self.kind.public, self.forecast_rate, n_records)
            if n_records is not None and isinstance(method, Sized)
            else method.outline(self.kind.public, self.forecast_rate)
        )
        added: tuple[str, ...] = ()
        if self.people is not None:
            added = people_notes(
                self.people,
                auto=self.auto,
                records=self.kind.called,
                may_count=self._may_count_people,
            )
        why = self.plan.why_method() if isinstance(self.kind, TableKind) else None
        added = (*((why,) if why else ()), *added, *self.kind.cover_notes(self.plan))
        return replace(planned, notes=(*planned.notes, *added)) if added else planned

    @contextmanager
    def opened(
        self,
        data: object,
        settings: EngineSettings,
        progress: Progress,
        *,
        sums: ColumnSums | None = None,
        key: SampleKey | None = None,
    ) -> Iterator[Held]:
        """Yield an engine that holds the confidential data as codes; it is closed afterwards.

        ``sums`` get what the data is recognised by; ``key`` samples each person's records.
        """
        keyed = None
        if self.people is not None:
            if key is None:
                raise InternalError("People were to be bounded without a key.")
            keyed = KeyedRule(rule=self.people, key=key)
        opening = Opening(
            place=DataPlace.of(self.plan, data),
            settings=settings,
            progress=progress,
            sums=sums,
            people=keyed,
        )
        with closing(self.kind.open(opening)) as engine:
            yield engine

    def run(self, engine: Held, *, source: RandomSource, progress: Progress) -> RunResult:
        """Return what the method publishes of the data that the engine holds, and what it spent."""
        if not self.private:  # no guarantee, nothing to spend
            held = cast("Engine", engine)
            published = self.plain_method.publish(held, source=source, progress=progress)
            return RunResult(published=published, path=None, people=None)
        return run_private(
            self.private_method,
            engine,
            shares=self.shares,
            people=self.people,
            source=source,
            progress=progress,
        )

    def tried(self, engine: Engine, *, rate: Fraction, source: RandomSource) -> Groups:
        """Return the groups that the method gives at a rate, of records that are no secret."""
        published = self.private_method.publish(Run.start(engine, epsilon=rate, source=source))
        if not isinstance(published, Groups):
            raise InternalError("A table was published as baskets.")
        return published

    def fingerprint(self) -> str:
        """Return the SHA-256 of all settings of the plan and the content of its taxonomies.

        `hedgerow check` shows it, and `publish` can be set to accept no other.
        """
        digests = [describe(domain).digest() for domain in self.kind.domains]
        return fingerprint_of(plan_digest(self.plan), digests)


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
    kind = kind_of(checked)
    method = publish.build(has_class=kind.has_class)
    if utility is not None and isinstance(kind, TableKind):
        method = with_own_utility(method, utility, kind.schema)
    rule = checked.people_rule()
    ready = Prepared(plan=checked, settings=publish, kind=kind, method=method, people=rule)
    _check_people(ready)
    if ready.private:
        ready.private_method.validate(kind.public, ready.rate)
    else:
        ready.plain_method.validate(ready.schema)
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
            do=f"Give a method of pure epsilon, such as {ready.kind.default_method}.",
        )
    refused = ready.kind.refuses_people(settings)
    if ready.people.counted == "people" and refused is not None:
        raise PlanError(
            f"The method {settings.method!r} cannot count people here: {refused}.",
            where="count",
            do=ready.kind.count_people,
        )
