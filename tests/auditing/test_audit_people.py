"""Audits on neighbours that differ in one person with all their records."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

from hedgerow.auditing.cases import Unclaimed
from hedgerow.auditing.people import (
    person_basket_pairs,
    person_baskets_over,
    person_pairs,
    person_pairs_over,
)
from hedgerow.auditing.people_cases import people_subjects
from hedgerow.auditing.run import audit, audit_subject
from hedgerow.cli.main import app
from hedgerow.encode import owned_baskets, people
from hedgerow.encode.schema import schema_of
from hedgerow.errors import SettingError
from hedgerow.model.people import CANDIDATES, KeyedRule, PeopleRule, SampleKey
from hedgerow.plan.load import plan_of
from hedgerow.plan.registry import METHODS
from hedgerow.taxonomy.builders import context_free

ONE = Fraction(1)
SUBJECTS = {each.name: each for each in people_subjects([], epsilon=ONE, seed=1)}
PROTECTING = {name: each for name, each in SUBJECTS.items() if not isinstance(each, Unclaimed)}
EVERYBODY = PeopleRule(columns=("who",), most=1000)
PLAN = {
    "attributes": {
        "age": {"numeric": [0, 9]},
        "sick": {"role": "class", "values": ["no", "yes"]},
    },
    "person": "patient",
    "records-per-person": 3,
    "publish": {"method": "basic-table", "epsilon": 1},
}


def test_every_method_is_audited_in_every_way_in_which_it_protects_people():
    assert {name.split(",")[0] for name in SUBJECTS} == set(METHODS)
    unclaimed = {name for name, each in SUBJECTS.items() if isinstance(each, Unclaimed)}
    assert unclaimed == {"truthful", "sample", "mondrian", "tds", "full-domain"}
    counts = {name.split(",")[0] for name in SUBJECTS if name.endswith(", people")}
    assert counts == {"hedge", "weave", "diffgen", "diffmulti", "basic-table"}
    for method in {name.split(",")[0] for name in PROTECTING}:
        ways = [name for name in PROTECTING if name.split(",")[0] == method]
        assert any(name.endswith("3 records a person") for name in ways)
        assert any(name.endswith("records chosen") for name in ways)
    joined = {name.split(",")[0] for name in SUBJECTS if name.endswith("people joined")}
    assert joined == {"coterie", "diffpart", "basic"}


@pytest.mark.parametrize("seed", [1, 5])
def test_pairs_differ_in_all_records_of_one_person_and_in_nothing_else(seed):
    keyed = KeyedRule(rule=EVERYBODY, key=SampleKey(words=(3, 4)))
    schema, items = schema_of(plan_of(PLAN)), context_free(["a", "b", "c"], fan_out=2)
    for pair in (*person_pairs(seed=seed), *person_pairs_over(schema, seed=seed, most=4)):
        held = [_rows(pair.engine(keyed, has_person=each)) for each in (True, False)]
        assert held[0] == held[1] + Counter(pair.own)
    baskets = (*person_basket_pairs(seed=seed), *person_baskets_over(items, seed=seed, most=4))
    for pair in baskets:
        held = [_baskets(pair.engine(keyed, has_person=each)) for each in (True, False)]
        assert held[0] == held[1] + Counter(tuple(sorted(basket)) for basket in pair.own)


def _rows(engine) -> Counter[tuple[int, ...]]:
    table = engine.bounded(EVERYBODY).table
    columns = [*table.codes, table.classes]
    return Counter(zip(*(each.tolist() for each in columns), strict=True))


def _baskets(engine) -> Counter[tuple[int, ...]]:
    held = engine.bounded(EVERYBODY).baskets
    return Counter(
        tuple(held.items[start:stop].tolist())
        for start, stop in zip(held.offsets[:-1], held.offsets[1:], strict=True)
    )


def test_every_way_runs_and_spends_the_epsilon_of_a_person():
    for subject in PROTECTING.values():
        for pair in subject.pairs[:2]:
            for has_record in (True, False):
                columns = subject.sample(pair, has_record=has_record, runs=1, seed=2)
                assert columns["records of a person that count"][0] in (1, 3, *CANDIDATES)
                rate = columns["spent"][0]
                assert 0 < rate <= 1


def test_a_plan_with_people_is_audited_on_people():
    for more in ({"records-per-person": "auto"}, {"count": "people"}):
        report = audit(plan={**PLAN, **more}, runs=50, pairs=["P1"], seed=1)
        assert report.verdicts[0].claim.epsilon == 1
        assert report.verdicts[0].findings[0].pair == "P1"
        assert not report.refuted
    baskets = {
        "items": {"universe": ["a", "b", "c"], "column": "product"},
        "person": "customer",
        "join": "union",
        "publish": {"method": "basic", "epsilon": 2},
    }
    assert not audit(plan=baskets, runs=50, pairs=["P1"], seed=1).refuted


def test_people_and_what_has_none_are_told_apart():
    with pytest.raises(SettingError, match="exclude each other"):
        audit(plan=PLAN, people=True)
    with pytest.raises(SettingError, match="is not a method"):
        audit(["noise"], people=True)
    done = CliRunner().invoke(
        app, ["audit", "--per-person", "truthful", "--runs", "50", "--jobs", "1", "--json"]
    )
    assert json.loads(done.stdout)["verdicts"][0]["outcome"] == "claims nothing"


# Broken twins, by statistics alone; tests/methods/test_people_exact_audit.py has them exactly.

TWINS = ["basic-table, 3 records a person", "basic-table, people", "basic, 3 records a person"]


def outcome(name: str, pair: str, runs: int = 300, times: int = 1) -> str:
    """What an audit on a pair says, with that many times as many others."""
    subject = PROTECTING[name]
    over = tuple(
        replace(each, others=each.others * times) for each in subject.over if each.name == pair
    )
    return audit_subject(replace(subject, over=over), runs=runs, seed=11).outcome


@pytest.mark.audit
@pytest.mark.parametrize("pair", ["P0", "P3"])
@pytest.mark.parametrize("name", TWINS)
def test_sound_ones_are_not_refuted(name, pair):
    assert outcome(name, pair) == "not refuted"


@pytest.mark.audit
@pytest.mark.parametrize("name", TWINS)
def test_a_twin_that_does_not_enforce_the_bound_is_refuted(name, monkeypatch):
    def all_of_them(persons, priorities, most):
        return None, np.minimum(np.bincount(persons), most)[persons]

    for module in (people, owned_baskets):
        monkeypatch.setattr(module, "kept_records", all_of_them)
    pair = "P2"  # seventy records
    assert outcome(name, pair) == "refuted"


@pytest.mark.audit
@pytest.mark.parametrize("name", TWINS)
def test_a_twin_whose_hash_depends_on_other_people_is_refuted(name, monkeypatch):
    """Its key is a digest of the table, so that one more person draws everybody's lots anew."""

    def of_everybody(persons, key):
        table = SampleKey(words=(len(persons[0]), 1))
        return people_hash(persons, table)

    people_hash = people.hashed_persons
    monkeypatch.setattr("hedgerow.auditing.people.hashed_persons", of_everybody)
    assert outcome(name, "P3", times=12) == "refuted"


@pytest.mark.audit
@pytest.mark.parametrize("name", TWINS)
def test_a_twin_whose_noise_is_not_scaled_is_refuted(name, monkeypatch):
    monkeypatch.setattr(PeopleRule, "cost", 1)
    assert outcome(name, "P0") == "refuted"


@pytest.mark.audit
@pytest.mark.parametrize("name", PROTECTING)
def test_no_event_refutes_what_is_claimed_for_people(name):
    subject = PROTECTING[name]
    verdict = audit_subject(subject, runs=100, seed=17)
    assert verdict.certified <= 1
