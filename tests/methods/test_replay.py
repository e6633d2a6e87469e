"""Every registered method at real shapes: the same answers, forced on a neighbour.

30,000 records, hundreds of cells, compiled loops, paths of 40 steps. What the mechanisms answer
on one data set is forced on it with one record, or one person, more (`support.replay`): all
questions and the release must be the same, and what the true inputs of the questions moved by,
times the rates of their noise, is the exact cost of the pair, at most epsilon. Methods come from
the registry, each with every value of the settings that change how it works.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from pydantic import ValidationError

from hedgerow.auditing.cases import fits
from hedgerow.auditing.people_cases import PERSON
from hedgerow.methods.chain.budget import ChainBudget
from hedgerow.model import run as model_run
from hedgerow.model.people import CANDIDATES, PeopleRule
from hedgerow.model.run import Run
from hedgerow.pipeline.people import PeopleShares
from hedgerow.pipeline.run import run_private
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings
from hedgerow.privacy import mechanisms
from hedgerow.privacy.path_tests import PathTests
from support import replay_worlds as worlds
from support.exact_transcripts import Leak
from support.replay import Replayed, replayed

EPSILON = Fraction(1)
SAMPLING = ("truthful", "sample")
"""Publish records that are drawn, with a delta; only what they ask mechanisms is replayed."""

NEEDED: dict[str, dict[str, Any]] = {
    "truthful": {"delta": "0.001"},
    "sample": {"faithful": True, "least_records": 1000},
    "rps": {"height": 6},
    "diffgen": {"h": 12},
}
"""Settings that have no default, or whose default takes few questions."""

VARIED = ("score", "faithful")
SINGLE = ("purpose", "distribution", "leaf_table")
"""Settings of which all combinations are replayed, and those of which each value is, by itself."""

FURTHER: dict[str, list[dict[str, Any]]] = {
    "diffgen": [{"h": "all"}, {"h": "auto"}],
    "diffmulti": [{"purpose": "clustering", "clusters": 5}],
    "coterie": [{"frequent": 30}],
    "diffpart": [{"max_length": 4}],
}
UNIVERSES = {"coterie": (12, 60, 150), "diffpart": (12, 60), "basic": (14,)}
"""Numbers of items: coterie and DiffPart count up to 18 all at once."""

FELT = 0.4
"""Part of epsilon that some replay of every variant must reach, or it would notice little."""


@dataclass(frozen=True)
class Variant:
    """The settings of a method, and what they are called."""

    name: str
    settings: PrivateSettings


def private_methods() -> list[str]:
    return [name for name, model in METHODS.items() if issubclass(model, PrivateSettings)]


def choices(model: type, field: str) -> tuple[Any, ...]:
    """Return the values that a setting may have: those of its literal type, or both truths."""
    annotation = model.model_fields[field].annotation
    for part in (annotation, *get_args(annotation)):
        if get_origin(part) is Literal:
            return get_args(part)
    return (False, True)


def variants_of(name: str) -> Iterator[Variant]:
    """Yield every variant of a method, the one with its own defaults first."""
    model = METHODS[name]
    varied = [field for field in VARIED if field in model.model_fields]
    single = [field for field in SINGLE if field in model.model_fields]
    every: list[dict[str, Any]] = [{}]
    every += [
        dict(zip(varied, given, strict=True))
        for given in product(*(choices(model, field) for field in varied))
        if varied
    ]
    every += [{field: value} for field in single for value in choices(model, field)]
    for given in [*every, *FURTHER.get(name, [])]:
        # By the names that plans use: 'for' is an alias.
        aliased = {model.model_fields[key].alias or key: value for key, value in given.items()}
        asked = {"method": name, "epsilon": EPSILON, **NEEDED.get(name, {}), **aliased}
        try:
            settings = model.model_validate(asked)
        except ValidationError:  # the variant does not have this score
            continue
        words = ", ".join(f"{key} {value}" for key, value in aliased.items())
        yield Variant(f"{name} ({words})" if words else name, settings)


def variants(kind: str) -> list[Variant]:
    return [
        each
        for name in private_methods()
        if METHODS[name].publishes == kind
        for each in variants_of(name)
    ]


def named(listed: list[Variant]) -> list[Any]:
    return [pytest.param(each.settings, id=each.name) for each in listed]


@dataclass(frozen=True)
class Publishing:
    """A method as it publishes, with its bookings."""

    method: Any
    rule: PeopleRule | None = None
    auto: bool = False

    def __call__(self, engine, source):
        shares = PeopleShares(epsilon=EPSILON, auto=self.auto)
        made = run_private(self.method, engine, shares=shares, people=self.rule, source=source)
        spent = [made.path.bookings, made.path.worst_path(), made.people]
        return made.published, spent


def check(found: list[Replayed], *, felt: float = FELT) -> None:
    for each in found:
        assert each.kinds
        assert each.within(EPSILON), each
    assert max(each.cost for each in found) > felt * float(EPSILON)


def table_pairs(schema, *, both: bool) -> list[tuple[Any, Any]]:
    """Return a pair whose record is alone in its cells, and one whose record is like many.

    The second is the other way round: answers on the larger table are forced on the smaller.
    """
    alone = worlds.table_pair(schema, tuple(worlds.extreme(schema).tolist()))
    common = worlds.table_pair(schema, tuple(worlds.rows_of(schema)[0].tolist()))
    return [alone, common[::-1]] if both else [common[::-1]]


@pytest.mark.parametrize("settings", named(variants("table")))
def test_a_table_with_one_record_more_asks_the_same_and_costs_at_most_epsilon(settings):
    name = settings.method
    schema = worlds.CLASSLESS if name == "sample" else worlds.MIXED
    method = settings.build(has_class=schema.class_attribute is not None)
    assert fits(method, schema, EPSILON)
    is_slow = name == "weave" or getattr(settings, "purpose", "") == "clustering"
    found = [
        replayed(Publishing(method), pair, seed=seed, same_release=name not in SAMPLING)
        for seed, pair in enumerate(table_pairs(schema, both=not is_slow))
    ]
    if name == "sample":  # asks no mechanism
        assert all(not each.kinds for each in found)
    else:
        check(found, felt=0.3 if name in SAMPLING else FELT)


CLASSLESS = [
    next(variants_of(name))
    for name in private_methods()
    if METHODS[name].publishes == "table" and name not in SAMPLING
]


@pytest.mark.parametrize(
    "settings", named([each for each in CLASSLESS if not each.settings.class_needed()])
)
def test_a_table_without_a_class_costs_at_most_epsilon(settings):
    method = settings.build(has_class=False)
    pair = table_pairs(worlds.CLASSLESS, both=False)[0]
    check([replayed(Publishing(method), pair)])


def test_weave_with_many_attributes_costs_at_most_epsilon():
    method = next(variants_of("weave")).settings.build(has_class=True)
    found = replayed(Publishing(method), table_pairs(worlds.WIDE, both=False)[0])
    assert found.kinds["choice"] >= 20
    check([found], felt=0.9)


def universes(settings: PrivateSettings) -> tuple[int, ...]:
    """Return the numbers of items that a method is replayed with."""
    if getattr(settings, "frequent", None) is not None:  # the way of large universes, in a small
        return (12,)
    return UNIVERSES.get(settings.method, (14,))


BASKETS = [
    pytest.param(each.settings, n_items, id=f"{each.name}, {n_items} items")
    for each in variants("baskets")
    for n_items in universes(each.settings)
]


@pytest.mark.parametrize(("settings", "n_items"), BASKETS)
def test_baskets_with_one_more_ask_the_same_and_cost_at_most_epsilon(settings, n_items):
    method = settings.build(has_class=False)
    some = worlds.basket_pair(n_items, (0, 1, 2, 3, 5))
    whole = worlds.basket_pair(n_items, tuple(range(n_items)))
    check([replayed(Publishing(method), pair) for pair in (some, whole[::-1])], felt=0.8)


def alike() -> dict[str, int]:
    """Numbers of equal long sequences: at the border of the tests of several depths."""
    budget = ChainBudget(epsilon=EPSILON)
    return {
        "at the threshold": budget.first_threshold,
        "at the threshold of what follows": budget.further_threshold,
        "far above": 2000,
    }


@pytest.mark.parametrize("n_alike", alike().values(), ids=alike())
@pytest.mark.parametrize("settings", named(variants("sequences")))
def test_paths_of_forty_steps_ask_the_same_and_cost_at_most_epsilon(settings, n_alike):
    """Tests are steered, so that the long path passes all of them, the rarest answer there is."""
    method, own = settings.build(has_class=False), worlds.common_sequence()
    found = [
        replayed(Publishing(method), worlds.sequence_pair(n_alike, own), steer=steer)
        for steer in (None, lambda counts: counts >= n_alike // 2)
    ]
    assert found[1].kinds["tests"] >= 40
    check(found, felt=0.75)


# One person more.

BOUNDS = (9, 11)
"""People's weights are rounded down, as 840 units are no multiple of these numbers."""


def ways(settings: PrivateSettings) -> Iterator[tuple[str, PeopleRule, bool]]:
    """Yield how a method protects people: the name of the way, the rule, and who chooses."""
    yield "3 records", PeopleRule(columns=PERSON, most=3), False
    if settings.method in {"basic-table", "basic"}:  # the choice of a bound is the same for all
        yield "auto", PeopleRule(columns=PERSON, most=CANDIDATES[-1]), True
    if settings.publishes == "baskets":
        yield "joined", PeopleRule(columns=PERSON, most=1, join="union"), False
    elif settings.publishes == "table" and settings.refuses_people(has_class=True) is None:
        for most in BOUNDS:
            yield (
                f"people of {most}",
                PeopleRule(columns=PERSON, most=most, counted="people"),
                False,
            )


PEOPLE = [
    pytest.param(each.settings, rule, auto, id=f"{each.name}, {way}")
    for name in private_methods()
    if name not in SAMPLING
    for each in [next(variants_of(name))]
    for way, rule, auto in ways(each.settings)
]


@pytest.mark.parametrize(("settings", "rule", "auto"), PEOPLE)
def test_one_person_more_asks_the_same_and_costs_at_most_epsilon(settings, rule, auto):
    n_own = 70 if auto else 3 if rule.join else rule.most
    if settings.publishes == "table":
        method = settings.build(has_class=True)
        pair = worlds.people_pair(worlds.MIXED, rule, n_own=n_own)
    else:
        n_items = universes(settings)[-1]
        method = settings.build(has_class=False)
        pair = worlds.owned_basket_pair(n_items, rule, n_own=n_own)
    check([replayed(Publishing(method, rule, auto), pair)], felt=0.2)


def test_every_private_method_is_replayed_for_records_and_for_people():
    replayed_for_records = {
        each.settings.method
        for kind in ("table", "baskets", "sequences")
        for each in variants(kind)
    }
    assert replayed_for_records == set(private_methods())
    assert {each.values[0].method for each in PEOPLE} == set(private_methods()) - set(SAMPLING)


# Broken twins: each fault is noticed at these shapes.


def default_method(name: str):
    settings = next(variants_of(name)).settings
    return settings.build(has_class=settings.publishes == "table")


def test_a_twin_whose_tests_do_not_descend_exceeds_epsilon(monkeypatch):
    biased = PathTests.biased

    def flat(self, counts, *, tested):
        found = biased(self, counts, tested=tested)
        rule = self.rule
        raised = counts[tested] - self.threshold
        return np.maximum(raised, -rule.gamma) if len(found) else found

    monkeypatch.setattr(PathTests, "biased", flat)
    n_alike = ChainBudget(epsilon=EPSILON).first_threshold
    pair = worlds.sequence_pair(n_alike, worlds.common_sequence())
    found = replayed(
        Publishing(default_method("chain")), pair, steer=lambda counts: counts >= n_alike // 2
    )
    assert found.tests > 30 * float(EPSILON) / 10  # 40 steps, each for nearly the share of all


def test_a_twin_of_weave_that_chooses_at_the_monotone_rate_exceeds_epsilon(monkeypatch):
    def claimed(scores, **asked):
        return mechanisms.choose_by_score(scores, **{**asked, "monotone": True})

    monkeypatch.setattr(model_run, "choose_by_score", claimed)
    pair = table_pairs(worlds.MIXED, both=False)[0]
    assert not replayed(Publishing(default_method("weave")), pair).within(EPSILON)


@pytest.mark.parametrize("most", BOUNDS)
def test_a_twin_that_rounds_the_weights_of_people_up_exceeds_epsilon(monkeypatch, most):
    def rounded_up(rule):
        kept = np.arange(1, rule.most + 1)
        return np.concatenate([[0], -(-rule.unit // kept)])

    monkeypatch.setattr(PeopleRule, "weights", rounded_up)
    rule = PeopleRule(columns=PERSON, most=most, counted="people")
    pair = worlds.people_pair(worlds.MIXED, rule, n_own=most)
    assert not replayed(Publishing(default_method("basic-table"), rule), pair).within(EPSILON)


class AsksMore:
    """A twin that asks for a second count where the table is large."""

    def __init__(self, method):
        self.method = method

    def publish(self, run):
        if len(run.engine.table) > worlds.N:
            run.noisy(np.zeros(1, dtype=np.int64), share=run.epsilon / 2, on="extra")
        return self.method.publish(run)


def test_a_twin_whose_questions_follow_the_data_leaks():
    pair = table_pairs(worlds.MIXED, both=False)[0][::-1]
    with pytest.raises(Leak, match="another question"):
        replayed(Publishing(AsksMore(default_method("hedge"))), pair)


def test_a_twin_that_publishes_a_true_number_leaks():
    def publish(engine, source):
        method = default_method("basic-table")
        released = method.publish(Run.start(engine, epsilon=EPSILON, source=source))
        return released, len(engine.table)

    with pytest.raises(Leak, match="another release"):
        replayed(publish, table_pairs(worlds.MIXED, both=False)[0])
