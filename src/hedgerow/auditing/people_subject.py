"""Methods that protect people, audited on neighbours that differ in one person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.auditing.features import (
    Features,
    basket_features,
    group_of,
    ledger_features,
    table_features,
)
from hedgerow.auditing.people import BOUND, PeoplePair, PersonPair
from hedgerow.auditing.subject import Claim, RunColumns, columns_of
from hedgerow.errors import InternalError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.groups import Groups
from hedgerow.model.method import BasketMethod, TableMethod
from hedgerow.model.people import CANDIDATES, KeyedRule, PeopleRule, SampleKey
from hedgerow.pipeline.people import PeopleShares
from hedgerow.pipeline.run import RunResult, run_private
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
    method: TableMethod | BasketMethod
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
