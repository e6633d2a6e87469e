"""Every method that protects people, in each of its ways to do so."""

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
from hedgerow.pipeline.prepare import Prepared
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings

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
        if ready.has_items
        else person_pairs_over(ready.schema, seed=seed, most=rule.most)
    )
    return PeopleSubject(
        name=name,
        claim=Claim(epsilon=ready.epsilon),
        method=ready.method,
        rule=rule,
        auto=ready.auto,
        over=over,
    )
