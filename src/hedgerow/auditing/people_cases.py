"""Every method that protects people, in every way that it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from hedgerow.auditing.cases import Unclaimed, fits, settings_of
from hedgerow.auditing.people import (
    PeoplePair,
    person_basket_pairs,
    person_baskets_over,
    person_pairs,
    person_pairs_over,
)
from hedgerow.auditing.people_subject import PeopleSubject, least_rate, rules_for
from hedgerow.auditing.subject import Claim
from hedgerow.errors import SettingError
from hedgerow.model.method import Approximate
from hedgerow.model.people import PeopleRule
from hedgerow.pipeline.kinds.items import BasketKind
from hedgerow.pipeline.prepare import Prepared
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings

VARIED = ("score",)
"""Settings of which every combination is audited with people: L3 holds whatever the variant."""


def people_subjects(
    names: Sequence[str], *, epsilon: Fraction, seed: int
) -> Iterator[PeopleSubject | Unclaimed]:
    """Yield what is audited under the names of methods, all of them where none is given.

    A choice of the bound is the same for every score, so it is run with the first alone.
    """
    for name in names or METHODS:
        if name not in METHODS:
            raise SettingError(
                f"{name!r} is not a method",
                where="audit",
                do=f"Give one of: {', '.join(METHODS)}.",
            )
        if not issubclass(METHODS[name], PrivateSettings):
            yield Unclaimed(name=name)
            continue
        made: list[PeopleSubject | Unclaimed] = [
            subject
            for first, (words, publish) in enumerate(
                settings_of(name, epsilon=epsilon, varied=VARIED)
            )
            for subject in _ways(publish, words, with_choice=first == 0, seed=seed)
        ]
        yield from made or [Unclaimed(name=name)]


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
