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
from hedgerow.model.method import AnyMethod
from hedgerow.model.people import CANDIDATES, KeyedRule, PeopleRule, SampleKey
from hedgerow.pipeline.people import PeopleShares
from hedgerow.pipeline.run import RunResult, run_private
from hedgerow.privacy.source import SeededSource

PERSON = ("who",)

OFTEN = {"P0": 4}
"""Pairs that are quickly run: how many times as often."""


@dataclass(frozen=True, kw_only=True)
class PeopleSubject:
    """A method under a rule for people, audited through its releases.

    Every run draws a key of its own for the samples of people's records, bounds them, and
    publishes, as `hedgerow publish` does.
    """

    name: str
    claim: Claim
    method: AnyMethod
    rule: PeopleRule
    auto: bool
    over: tuple[PeoplePair, ...]

    @property
    def pairs(self) -> Sequence[str]:
        """The names of the pairs that it is run on."""
        return [pair.name for pair in self.over]

    def times(self, pair: str) -> int:
        """Return more than 1 for pairs on which a release is quickly made."""
        return OFTEN.get(pair, 1)

    def sample(self, pair: str, *, has_record: bool, runs: int, seed: int) -> RunColumns:
        """Return features of that many releases, with the person or without."""
        chosen = next(each for each in self.over if each.name == pair)
        source = SeededSource(seed)
        return columns_of(
            [self._once(chosen, has_person=has_record, source=source) for _ in range(runs)]
        )

    def run(self, pair: PeoplePair, *, has_person: bool, source: SeededSource) -> RunResult:
        """Return one release of a pair's table, and what it spent."""
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
        made = self.run(pair, has_person=has_person, source=source)
        if made.path is None or made.people is None:
            raise InternalError(f"{self.name} protects nobody")
        released = made.published
        shown: Features
        if isinstance(released, Groups) and isinstance(pair, PersonPair):
            shown = table_features(released, pair.shown())
            own = [group_of(released, each) for each in sorted(set(pair.own))]
            shown["the person's groups"] = sum(own)
        elif isinstance(released, NoisyBaskets) and not isinstance(pair, PersonPair):
            shown = basket_features(released, pair.shown())
        else:
            raise InternalError("a method was run on a pair of the other kind")
        bound = {"records of a person that count": float(made.people.most)}
        return shown | bound | ledger_features(made.path)


def rules_for(*, baskets: bool, counts_people: bool) -> Iterator[tuple[str, PeopleRule, bool]]:
    """Yield every way to protect people that a method has: its name, rule, and whether it chooses.

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
    """Return the least that a method may get for one counted unit."""
    return PeopleShares(epsilon=epsilon, auto=auto).method / rule.cost
