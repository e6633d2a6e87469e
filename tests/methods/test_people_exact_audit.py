"""Exact audits with people: neighbours differ in all records of one person.

Every method that protects people runs in every way that it does, the bound, the sample and the
choice of the bound included, with its mechanisms answering from a script (`exact_transcripts`).
For each question the worst answer counts, not only the one that was given: the sum over all
questions of how far any answer's chance moves is what scores and counts move by, and it stays
within epsilon. A method that is registered is here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.auditing.cases import Unclaimed
from hedgerow.auditing.people import PersonBasketPair, PersonPair
from hedgerow.auditing.people_cases import PeopleSubject, people_subjects
from hedgerow.encode import owned_baskets, people
from hedgerow.methods.hedge import budget as hedge_budget
from hedgerow.methods.hedge import hedge
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.pipeline import people as pipeline_people
from hedgerow.pipeline.people import PeopleShares
from hedgerow.pipeline.run import run_private
from hedgerow.plan.registry import METHODS
from support.exact_transcripts import Chosen, Leak, Passing, World, content, drawn, replayed, wild

SLACK = 1e-9
EPSILON = Fraction(3, 2)
SUBJECTS = {
    subject.name: subject
    for subject in people_subjects([], epsilon=EPSILON, seed=1)
    if not isinstance(subject, Unclaimed)
}
PAIRS = ("P0", "P1", "R1")
"""Small enough for all laws to be computed; more people than one in the last."""


@dataclass(frozen=True)
class ForPeople:
    """A method as it runs for people; what it books is its own."""

    subject: PeopleSubject

    def publish(self, run):
        return run_private(
            self.subject.method,
            run.engine,
            shares=PeopleShares(epsilon=run.epsilon, auto=self.subject.auto),
            people=self.subject.rule,
            source=run.source,
        ).published


def world(subject: PeopleSubject, pair: PersonPair | PersonBasketPair, key: int) -> World:
    keyed = KeyedRule(rule=subject.rule, key=SampleKey(words=(key, 7)))
    return World(
        method=ForPeople(subject),
        epsilon=EPSILON,
        engines=(
            lambda: pair.engine(keyed, has_person=True),
            lambda: pair.engine(keyed, has_person=False),
        ),
        content=content,
    )


def worst_answer(one, other) -> float:
    """How far the chance of any answer to one question is apart on the two tables, at most."""
    if isinstance(one, Chosen):
        logs = ((np.log(a), np.log(b)) for a, b in zip(one.chances, other.chances, strict=True))
        return sum(float(np.abs(a - b).max()) for a, b in logs)
    return float((one.epsilon * np.abs(one.counts - other.counts)).sum())


def worst_of(here: World, pick, *, seed: int, first: int) -> float:
    """How far any answers to the questions of one transcript can be apart."""
    one, released = here.play(first, pick, seed=seed)
    other, again = here.play(1 - first, replayed(one), seed=seed)
    if len(other.answers) != len(one.answers) or str(released) != str(again):
        raise Leak("the same answers led elsewhere")
    laws = list(zip(one.laws, other.laws, one.answers, strict=True))
    # Tests along a path are paid for together: what is felt in one is not felt in others.
    tests = sum(
        a.log_probability(answer) - b.log_probability(answer)
        for a, b, answer in laws
        if isinstance(a, Passing)
    )
    rest = sum(worst_answer(a, b) for a, b, _ in laws if not isinstance(a, Passing))
    return abs(tests) + rest


def worst_over(subject: PeopleSubject, names=PAIRS, runs: int = 2) -> float:
    rng, worst = np.random.default_rng(3), 0.0
    for pair in (each for each in subject.over if each.name in names):
        for run in range(runs):
            pick = wild(rng) if run % 2 else drawn(rng)
            here = world(subject, pair, key=run)
            worst = max(worst, worst_of(here, pick, seed=run, first=run // 2 % 2))
    return worst


@pytest.fixture(autouse=True)
def shallow(monkeypatch):
    """Let `hedge`, whose public rules are made for large tables, grow a tree of depth 2."""
    shape = hedge_budget.HedgeShape(shared=1, own=1, most_boxes=50)
    monkeypatch.setattr(hedge.HedgeShape, "of", classmethod(lambda *_: shape))
    monkeypatch.setattr(hedge, "STOP_BELOW", 0.05)


@pytest.fixture(autouse=True)
def cheap_bounds(monkeypatch):
    """Let every bound have a chance that a float can tell from none, whatever the table."""
    monkeypatch.setattr(pipeline_people, "PRICE", 1)


@pytest.mark.parametrize("name", SUBJECTS)
def test_one_person_moves_scores_and_counts_by_no_more_than_epsilon(name):
    worst = worst_over(SUBJECTS[name])
    assert worst <= float(EPSILON) * (1 + SLACK)
    assert worst > 0.5 * float(EPSILON)  # a person with as many records as count is felt


@pytest.mark.audit
@pytest.mark.parametrize("name", SUBJECTS)
def test_no_transcript_of_many_shows_a_person_by_more_than_epsilon(name):
    worst = worst_over(SUBJECTS[name], names=(*PAIRS, "P2", "P3"), runs=16)
    assert worst <= float(EPSILON) * (1 + SLACK)


def test_every_method_of_pure_epsilon_is_here():
    refused = {"truthful", "sample", "mondrian", "tds", "full-domain"}  # by their own words
    assert {name.split(",")[0] for name in SUBJECTS} == set(METHODS) - refused


# Broken twins. Each takes one sound method out of every way to count.

TWINS = ["basic-table, 3 records a person", "basic-table, people", "basic, 3 records a person"]


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_does_not_enforce_the_bound_exceeds_epsilon(name, monkeypatch):
    def all_of_them(persons, priorities, most):
        sizes = np.bincount(persons)
        return None, np.minimum(sizes, most)[persons]

    monkeypatch.setattr(people, "kept_records", all_of_them)
    monkeypatch.setattr(owned_baskets, "kept_records", all_of_them)
    assert worst_over(SUBJECTS[name], names=("P0",)) > 1.5 * float(EPSILON)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_whose_hash_depends_on_other_people_exceeds_epsilon(name, monkeypatch):
    hashed = people.hashed_persons

    def of_everybody(persons, key):
        return people.mixed(hashed(persons, key), np.full(1, len(persons[0]), dtype=np.uint64))

    monkeypatch.setattr("hedgerow.auditing.people.hashed_persons", of_everybody)
    assert worst_over(SUBJECTS[name], names=("P3",)) > 2 * float(EPSILON)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_whose_noise_is_not_scaled_exceeds_epsilon(name, monkeypatch):
    monkeypatch.setattr(PeopleRule, "cost", 1)
    assert worst_over(SUBJECTS[name], names=("P0",)) > 2 * float(EPSILON)


def test_a_twin_that_chooses_its_bound_at_too_small_a_sensitivity_exceeds_epsilon(monkeypatch):
    scores = pipeline_people.bound_scores
    monkeypatch.setattr(
        pipeline_people, "bound_scores", lambda sizes, epsilon: 20 * scores(sizes, epsilon)
    )
    assert worst_over(SUBJECTS["basic-table, records chosen"], names=("P2",)) > float(EPSILON)
