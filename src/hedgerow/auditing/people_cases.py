"""Audits of methods that protect people, in each of their ways to do so.

Neighbours differ in all records of one person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.auditing.cases import Unclaimed, fits, settings_of
from hedgerow.auditing.features import (
    Features,
    basket_features,
    group_of,
    ledger_features,
    table_features,
)
from hedgerow.auditing.people import (
    BOUND,
    PeoplePair,
    PersonPair,
    person_basket_pairs,
    person_baskets_over,
    person_pairs,
    person_pairs_over,
)
from hedgerow.auditing.subject import Claim, RunColumns, columns_of
from hedgerow.errors import InternalError, SettingError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.groups import Groups
from hedgerow.model.method import AnyMethod, Approximate
from hedgerow.model.people import CANDIDATES, KeyedRule, PeopleRule, SampleKey
from hedgerow.pipeline.kinds.items import BasketKind
from hedgerow.pipeline.people import PeopleShares
from hedgerow.pipeline.prepare import Prepared
from hedgerow.pipeline.run import RunResult, run_private
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings
from hedgerow.privacy.source import SeededSource

PERSON = ("who",)

OFTEN = {"P0": 4}
"""Factors on the number of runs for pairs that take little time."""


@dataclass(frozen=True, kw_only=True)
class PeopleSubject:
    """A method under a rule for people, audited through its releases.

    Every run draws a new key for the samples of people's records, bounds them, and publishes, in
    the same way as `hedgerow publish`.
    """

    name: str
    claim: Claim
    method: AnyMethod
    rule: PeopleRule
    auto: bool
    over: tuple[PeoplePair, ...]

    @property
    def pairs(self) -> Sequence[str]:
        """Names of the pairs."""
        return [pair.name for pair in self.over]

    def times(self, pair: str) -> int:
        """Return a factor above 1 for pairs whose releases take little time."""
        return OFTEN.get(pair, 1)

    def sample(self, pair: str, *, has_record: bool, runs: int, seed: int) -> RunColumns:
        """Return features of ``runs`` releases, with the person or without."""
        chosen = next(each for each in self.over if each.name == pair)
        source = SeededSource(seed)
        return columns_of(
            [self._once(chosen, has_person=has_record, source=source) for _ in range(runs)]
        )

    def run(self, pair: PeoplePair, *, has_person: bool, source: SeededSource) -> RunResult:
        """Return a release of a pair's table, and its spending."""
        first, second = source.words(2).tolist()
        keyed = KeyedRule(rule=self.rule, key=SampleKey(words=(first, second)))
        return run_private(
            self.method,
            pair.engine(keyed, has_person=has_person),
            shares=PeopleShares(epsilon=self.claim.epsilon, auto=self.auto),
            people=self.rule,
            source=source,
        )

    def _once(self, pair: PeoplePair, *, has_person: bool, source: SeededSource) -> Features:
        result = self.run(pair, has_person=has_person, source=source)
        if result.path is None or result.people is None:
            raise InternalError(f"{self.name} protects nobody.")
        released = result.published
        shown: Features
        if isinstance(released, Groups) and isinstance(pair, PersonPair):
            shown = table_features(released, pair.shown())
            own = [group_of(released, each) for each in sorted(set(pair.own))]
            shown["the person's groups"] = sum(own)
        elif isinstance(released, NoisyBaskets) and not isinstance(pair, PersonPair):
            shown = basket_features(released, pair.shown())
        else:
            raise InternalError("A method was run on a pair of another kind.")
        bound = {"records of a person that count": float(result.people.most)}
        return shown | bound | ledger_features(result.path)


def rules_for(*, baskets: bool, counts_people: bool) -> Iterator[tuple[str, PeopleRule, bool]]:
    """Yield a method's ways to protect people: name, rule, and whether the bound is chosen.

    >>> [name for name, _, _ in rules_for(baskets=True, counts_people=False)]
    ['3 records a person', 'records chosen', 'people joined']
    """
    yield f"{BOUND} records a person", PeopleRule(columns=PERSON, most=BOUND), False
    yield "records chosen", PeopleRule(columns=PERSON, most=CANDIDATES[-1]), True
    if baskets:
        yield "people joined", PeopleRule(columns=PERSON, most=1, join="union"), False
    if counts_people:
        yield "people", PeopleRule(columns=PERSON, most=BOUND, counted="people"), False


def least_rate(rule: PeopleRule, *, epsilon: Fraction, auto: bool) -> Fraction:
    """Return the minimum epsilon of a method for one counted unit."""
    return PeopleShares(epsilon=epsilon, auto=auto).method / rule.cost


VARIED = ("score",)
"""Settings of which every combination is audited with people: L3 holds for all variants."""


def people_subjects(
    names: Sequence[str], *, epsilon: Fraction, seed: int
) -> Iterator[PeopleSubject | Unclaimed]:
    """Yield the subjects of the names of methods, or all subjects if there are no names.

    The bound is chosen in the same way for every score, so that is run with the first score only.
    """
    for name in names or METHODS:
        if name not in METHODS:
            raise SettingError(
                f"{name!r} is not a method.",
                where="audit",
                do=f"Give one of: {', '.join(METHODS)}.",
            )
        if not issubclass(METHODS[name], PrivateSettings):
            yield Unclaimed(name=name)
            continue
        found: list[PeopleSubject | Unclaimed] = [
            subject
            for first, (words, publish) in enumerate(
                settings_of(name, epsilon=epsilon, varied=VARIED)
            )
            for subject in _ways(publish, words, with_choice=first == 0, seed=seed)
        ]
        yield from found or [Unclaimed(name=name)]


def _ways(
    publish: PrivateSettings, words: str, *, with_choice: bool, seed: int
) -> Iterator[PeopleSubject]:
    ordered = publish.publishes == "sequences"  # sets in the order of their codes are sequences
    baskets = ordered or publish.publishes == "baskets"
    method = publish.build(has_class=not baskets)
    if isinstance(method, Approximate):  # refused with people
        return
    counts_people = not baskets and publish.refuses_people(has_class=True) is None
    for way, rule, auto in rules_for(baskets=baskets, counts_people=counts_people):
        if (auto and not with_choice) or (ordered and rule.join is not None):
            continue
        over: tuple[PeoplePair, ...]
        if baskets:
            over = person_basket_pairs(seed=seed)
        else:
            rate = least_rate(rule, epsilon=publish.epsilon, auto=auto)
            pairs = person_pairs(seed=seed)
            over = tuple(pair for pair in pairs if fits(method, pair.schema, rate))
        yield PeopleSubject(
            name=f"{words}, {way}",
            claim=Claim(epsilon=publish.epsilon),
            method=method,
            rule=rule,
            auto=auto,
            over=over,
        )


def planned_people(ready: Prepared, rule: PeopleRule, *, name: str, seed: int) -> PeopleSubject:
    """Return a plan's method with its rule for people, on pairs over its public domains."""
    over: tuple[PeoplePair, ...] = (
        person_baskets_over(ready.taxonomy, seed=seed, most=rule.most)
        if isinstance(ready.kind, BasketKind)
        else person_pairs_over(ready.schema, seed=seed, most=rule.most)
    )
    return PeopleSubject(
        name=name,
        claim=Claim(epsilon=ready.epsilon),
        method=ready.private_method,
        rule=rule,
        auto=ready.auto,
        over=over,
    )
