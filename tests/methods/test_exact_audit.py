"""Exact audits of micro-worlds: no statistics, every probability is computed.

Tables of at most three records over two binary attributes, depth at most 2. Every method
with every score runs on them as it is, its mechanisms answering from a script; see
`exact_transcripts`. Transcripts are drawn from the law under one table (and so come from
either of them), and for cheap methods all of them are enumerated.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.auditing.cases import Unclaimed
from hedgerow.auditing.neighbours import BasketPair, TablePair, line, schema_over, values
from hedgerow.auditing.sequences import SequencePair
from hedgerow.methods.diffgen import specialise
from hedgerow.methods.diffmulti import splits
from hedgerow.methods.hedge import budget as hedge_budget
from hedgerow.methods.hedge import hedge
from hedgerow.privacy.choice import choose
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.tree import Taxonomy
from support.audited import audited_subjects
from support.exact_transcripts import Leak, World, chances, content, drawn, wild

SLACK = 1e-9
BINARY = schema_over(values(2), line(2))

TABLES = {
    "one or none": ((), (1, 1, 1)),
    "two or one": (((0, 1, 0),), (1, 1, 1)),
    "twice the same": (((1, 1, 1),), (1, 1, 1)),
    "three or two": (((0, 0, 0), (1, 0, 1)), (1, 1, 0)),
}
BASKETS = {
    "one or none": ((), {0, 1}),
    "two or one": (({0},), {1}),
    "three or two": (({0}, {1}), {0, 1}),
}
SEQUENCES = {
    "one or none": ((), (0, 1)),
    "two or one": (((0,),), (1, 0, 1)),
    "three or two": (((0, 1), (1,)), (0, 1)),
}
SAMPLING = ("truthful", "sample")
"""They draw records, not only noise; their law is tested in tests/disclosure/private."""


def numeric_pair(rest, record):
    """A pair with several split positions, so that blocks follow the data."""
    schema = schema_over(line(8), values(2), line(4))
    return TablePair(name="", about="", schema=schema, rest=rest, record=record)


NUMBERS = {
    "a block is cut in two": (((1, 0, 0, 0), (6, 1, 0, 1)), (4, 1, 1, 0)),
    "one or none": ((), (5, 0, 2, 1)),
    "at the end": (((2, 0, 3, 1), (2, 1, 0, 1), (5, 1, 0, 0)), (7, 0, 3, 1)),
}


def pair_of(name, *, baskets=False, sequences=False):
    if sequences:
        rest, record = SEQUENCES[name]
        flat = Taxonomy.flat(["i0", "i1"])
        return SequencePair(name=name, about="", taxonomy=flat, rest=rest, record=record)
    if baskets:
        rest, record = BASKETS[name]
        return BasketPair(
            name=name,
            about="",
            taxonomy=context_free(["i0", "i1"], fan_out=2),
            rest=tuple(frozenset(each) for each in rest),
            record=frozenset(record),
        )
    rest, record = TABLES[name]
    return TablePair(name=name, about="", schema=BINARY, rest=rest, record=record)


def world(method, epsilon, pair):
    return World(
        method=method,
        epsilon=epsilon,
        engines=(lambda: pair.engine(has_record=True), lambda: pair.engine(has_record=False)),
        content=content,
    )


def audited():
    for subject in audited_subjects(Fraction(2)):
        if isinstance(subject, Unclaimed) or not hasattr(subject, "over"):
            continue
        if subject.name.split(",")[0] in SAMPLING:
            continue
        kind = KINDS[type(subject.over[0])]
        yield pytest.param(subject.method, kind, id=subject.name)


KINDS = {
    TablePair: (TABLES, {}),
    BasketPair: (BASKETS, {"baskets": True}),
    SequencePair: (SEQUENCES, {"sequences": True}),
}
"""The micro-worlds of each kind of data, and how a pair is asked for."""


@pytest.fixture
def shallow(monkeypatch):
    """Let `hedge`, whose public rules are made for large tables, grow a tree of depth 2."""
    shape = hedge_budget.HedgeShape(shared=1, own=1, most_boxes=50)
    monkeypatch.setattr(hedge.HedgeShape, "of", classmethod(lambda *_: shape))
    monkeypatch.setattr(hedge, "STOP_BELOW", 0.05)


@pytest.mark.parametrize(("method", "kind"), list(audited()))
def test_no_transcript_tells_two_tables_apart_by_more_than_epsilon(shallow, method, kind):
    epsilon = Fraction(3, 2)
    rng = np.random.default_rng(5)
    worst = 0.0
    worlds, given = kind
    for name in worlds:
        here = world(method, epsilon, pair_of(name, **given))
        for run in range(4):
            pick = wild(rng) if run > 1 else drawn(rng)
            ratio, play = here.log_ratio(pick, seed=run, first=run % 2)
            assert play.answers
            worst = max(worst, abs(ratio))
    assert 0 < worst <= float(epsilon) * (1 + SLACK)


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(each.values[0], id=each.id)
        for each in audited()
        if each.values[1] is KINDS[TablePair]
    ],
)
def test_the_base_measure_of_positions_is_the_same_on_neighbours(shallow, method):
    """Questions hold the weight of every position, so that one which follows the data is told."""
    epsilon, worst = Fraction(3, 2), 0.0
    rng = np.random.default_rng(8)
    for rest, record in NUMBERS.values():
        here = world(method, epsilon, numeric_pair(rest, record))
        for run in range(2):
            pick = wild(rng) if run else drawn(rng)
            ratio, _ = here.log_ratio(pick, seed=run, first=run % 2)
            worst = max(worst, abs(ratio))
    assert 0 < worst <= float(epsilon) * (1 + SLACK)


@pytest.mark.audit
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)], ids=["half", "four"])
@pytest.mark.parametrize(("method", "kind"), list(audited()))
def test_no_transcript_of_many_exceeds_epsilon(shallow, method, kind, epsilon):
    rng = np.random.default_rng(6)
    worlds, given = kind
    for name in worlds:
        here = world(method, epsilon, pair_of(name, **given))
        for run in range(30):
            pick = wild(rng) if run % 3 else drawn(rng)
            ratio, _ = here.log_ratio(pick, seed=run, first=run % 2)
            assert abs(ratio) <= float(epsilon) * (1 + SLACK)


CHEAP = {
    "diffgen, max, improved": range(-6, 9),
    "diffgen, gini, improved": range(-6, 9),
    "diffgen, max, faithful": range(-6, 9),
    "diffgen, infogain, faithful": range(-6, 9),
    "diffpart, improved": range(-3, 6),
    "diffpart, faithful": range(-3, 6),
    "basic": range(-3, 6),
    "basic-table": range(-2, 4),
}


@pytest.mark.audit
@pytest.mark.parametrize("name", CHEAP)
def test_the_whole_law_of_a_transcript_is_within_epsilon(name):
    """Every transcript but those with a count outside the support, whose mass is told."""
    epsilon, support = Fraction(4), CHEAP[name]
    subject = next(each for each in audited_subjects(epsilon) if each.name == name)
    method = subject.method
    if name.startswith("diffgen"):
        method = type(method)(specialisations=1, score=method.score, faithful=method.faithful)
    if isinstance(subject.over[0], BasketPair):
        pair = pair_of("three or two", baskets=True)
    else:
        schema = schema_over(values(2), line(2), classes=1)
        pair = TablePair(name="", about="", schema=schema, rest=((0, 1, 0),), record=(1, 1, 0))
    mass, worst, tail = 0.0, 0.0, 0.0
    for ratio, play in world(method, epsilon, pair).enumerated(support, seed=1, most=50_000):
        mass += math.exp(play.log_probability)
        worst = max(worst, abs(ratio))
        tail = max(tail, sum(law.tail(support) for law in play.laws))
    assert worst <= float(epsilon) * (1 + SLACK)
    assert worst > 0.4 * float(epsilon)
    assert tail < 0.02
    assert 1 - tail - SLACK <= mass <= 1 + SLACK


@pytest.mark.parametrize("rule", ["exponential", "permute-and-flip"])
def test_the_oracle_of_a_choice_has_the_law_of_the_mechanism(rule):
    scores, weights = np.array([3, 0, 2]), np.array([1.0, 4.0, 2.5])
    n = 20_000
    chosen = choose(
        np.tile(scores, n),
        rate=Fraction(1, 2),
        rule=rule,
        weights=np.tile(weights, n),
        starts=3 * np.arange(n),
        source=SeededSource(3),
    )
    exact = chances(scores, weights, 0.5, rule)
    assert exact.sum() == pytest.approx(1, abs=1e-9)
    seen = np.bincount(chosen % 3, minlength=3) / n
    assert np.abs(seen - exact).max() < 5 * math.sqrt(0.25 / n)


@pytest.mark.parametrize("score", ["gini", "ncp", "skew"])
def test_hedge_chooses_at_the_sensitivity_of_its_score_and_by_range(shallow, score):
    method = method_named(f"hedge, {score}").method
    here = world(method, Fraction(1), numeric_pair(*NUMBERS["at the end"]))
    play, _ = here.play(0, drawn(np.random.default_rng(2)), seed=1)
    asked = [question for question in play.questions if question[0] == "choice"]
    assert [question[1].split()[0] for question in asked] == ["shared", "own"]
    for _, _, _, _, _, monotone, sensitivity, _, measures in asked:
        assert monotone == method.score.monotone
        assert sensitivity == method.score.sensitivity
        assert len(set(measures)) > 1


class WithholdsNothing:
    """A twin that publishes only where there are records."""

    def __init__(self, method):
        self.method = method

    def publish(self, run):
        released = self.method.publish(run)
        keys = np.arange(len(released) if len(run.engine.table) else 0)
        return replace(
            released,
            index=tuple(column[keys] for column in released.index),
            classes=released.classes[keys],
            counts=released.counts[keys],
        )


def method_named(name):
    return next(each for each in audited_subjects(Fraction(1)) if each.name == name)


def test_a_twin_that_looks_at_the_table_itself_leaks():
    twin = WithholdsNothing(method_named("basic-table").method)
    here = world(twin, Fraction(1), pair_of("one or none", baskets=False))
    with pytest.raises(Leak, match="another release"):
        here.log_ratio(wild(np.random.default_rng(1)), seed=1)


class AsksMore:
    """A twin that buys a second count where the table is large, and so tells that it is."""

    def __init__(self, method):
        self.method = method

    def publish(self, run):
        if len(run.engine.table) > 1:
            run.noisy(np.zeros(1, dtype=np.int64), share=run.epsilon / 2, on="extra")
        return self.method.publish(run)


def test_a_twin_whose_questions_follow_the_data_leaks():
    twin = AsksMore(method_named("diffgen, h all").method)
    here = world(twin, Fraction(1), pair_of("two or one", baskets=False))
    with pytest.raises(Leak, match="another question"):
        here.log_ratio(drawn(np.random.default_rng(1)), seed=1)


@pytest.mark.parametrize("name", ["diffgen, gini, improved", "diffmulti, infogain, improved"])
def test_a_twin_whose_base_measure_follows_the_number_of_blocks_leaks(monkeypatch, name):
    make, blocks_of = specialise.ChoiceMaker.make, splits._Blocks.of

    def by_blocks(self, blocks, *, weights, **asked):
        weights = [each.lengths / len(each.lengths) * 8 for each in blocks]
        return make(self, blocks, weights=weights, **asked)

    def counted(offers):
        made = blocks_of(offers)
        return replace(made, n_splits=np.bincount(made.box)[made.box])

    monkeypatch.setattr(specialise.ChoiceMaker, "make", by_blocks)
    monkeypatch.setattr(splits._Blocks, "of", staticmethod(counted))
    method, pick = method_named(name).method, drawn(np.random.default_rng(1))
    worlds = [world(method, Fraction(1), numeric_pair(*each)) for each in NUMBERS.values()]
    with pytest.raises(Leak, match="another question"):
        [here.log_ratio(pick, seed=1) for here in worlds]


def test_a_twin_that_understates_its_sensitivity_exceeds_epsilon():
    sound = method_named("diffgen, max, improved").method
    understated = replace(sound.score, sensitivity=sound.score.sensitivity / 8)
    twin = replace(sound, specialisations=1, score=understated)
    pair = TablePair(
        name="", about="", schema=BINARY, rest=((0, 0, 0), (1, 0, 1)), record=(0, 1, 1)
    )
    worst = 0.0
    for run in range(20):
        pick = drawn(np.random.default_rng(run))
        worst = max(worst, abs(world(twin, Fraction(1), pair).log_ratio(pick, seed=run)[0]))
    assert worst > 1
