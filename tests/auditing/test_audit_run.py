"""Audits of mechanisms, methods and plans, with few runs: what is found and how it is told."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.auditing.cases import PairsOf, Unclaimed, known_names, subjects
from hedgerow.auditing.neighbours import (
    BasketPair,
    TablePair,
    basket_pairs,
    baskets_over,
    pairs_over,
    table_pairs,
)
from hedgerow.auditing.run import audit, audit_subject
from hedgerow.auditing.subject import Claim
from hedgerow.cli.main import app
from hedgerow.encode.schema import schema_of
from hedgerow.errors import SettingError
from hedgerow.methods.diffmulti.scores import multi_score
from hedgerow.plan.load import plan_of
from hedgerow.plan.registry import METHODS
from hedgerow.taxonomy.builders import context_free
from hedgerow.trees.box_scores import BOX_SCORES
from hedgerow.trees.scores import SCORES

ONE = Fraction(1)
CLAIM = Claim(epsilon=ONE)


@dataclass(frozen=True, kw_only=True)
class Coin:
    """Says yes with one chance on one table and with another on its neighbour."""

    chances: tuple[float, float]
    claim: Claim = CLAIM
    name: str = "coin"
    pairs: tuple[str, ...] = ("A",)

    def times(self, pair):
        return 1

    def sample(self, pair, *, has_record, runs, seed):
        rng = np.random.default_rng(seed)
        return {"yes": (rng.random(runs) < self.chances[0 if has_record else 1]).astype(float)}


def test_a_coin_that_keeps_its_claim_is_not_refuted():
    verdict = audit_subject(Coin(chances=(0.73, 0.27)), runs=3000, seed=1)
    assert verdict.outcome == "not refuted"
    assert 0.7 < verdict.certified < 1


@pytest.mark.parametrize("seed", range(12))
def test_a_coin_that_spends_its_whole_claim_is_not_refuted_by_chance(seed):
    tight = 1 / (1 + math.exp(-1))
    assert audit_subject(Coin(chances=(tight, 1 - tight)), runs=2000, seed=seed).certified <= 1


@pytest.mark.parametrize("chances", [(0.9, 0.1), (0.1, 0.9), (0.05, 0.0)], ids=str)
def test_a_coin_that_breaks_its_claim_is_refuted_either_way(chances):
    verdict = audit_subject(Coin(chances=chances), runs=3000, seed=1)
    assert verdict.outcome == "refuted"
    assert verdict.worst.pair == "A"


def test_what_delta_allows_is_not_held_against_a_claim():
    rare = {"chances": (0.05, 0.0)}
    allowed = Claim(epsilon=ONE, delta=Fraction(1, 10))
    verdict = audit_subject(Coin(**rare, claim=allowed), runs=3000, seed=1)
    assert verdict.outcome == "not refuted"
    assert verdict.certified == 0


def test_fresh_runs_count_and_not_those_that_looked_for_the_event():
    verdict = audit_subject(Coin(chances=(0.5, 0.5)), runs=500, seed=1)
    assert verdict.certified < 0.2
    assert verdict.runs == 2 * 100 + 2 * 500
    assert all(found.runs == 500 for found in verdict.findings)


def test_the_bare_noise_is_nearly_certified_at_its_epsilon():
    verdict = audit(["noise"], runs=1500, seed=3).verdicts[0]
    assert verdict.certified >= 0.8
    assert verdict.outcome == "not refuted"


UNGUARDED = """
import hedgerow
told = [
    hedgerow.audit(["basic-table"], runs=60, pairs=["T1"], seed=7, jobs=jobs).as_dict()
    for jobs in (1, 2)
]
assert told[0] == told[1]
print("once")
"""


@pytest.mark.audit  # starts processes
def test_the_same_seed_gives_the_same_audit_on_two_cores_even_from_an_unguarded_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "once\n"), done.stderr


def test_every_private_method_score_and_variant_is_audited():
    names = [subject.name for subject in subjects([], epsilon=ONE, seed=1)]
    assert len(set(names)) == len(names)
    for score in BOX_SCORES:
        assert f"hedge, {score}" in names
    for score in SCORES:
        assert f"diffgen, {score}, improved" in names
        assert (f"diffgen, {score}, faithful" in names) == (score != "gini")
    for score in ("discernibility", "ncp", "max", "infogain"):
        assert multi_score(score, faithful=True).name == score
        assert {f"diffmulti, {score}, {v}" for v in ("faithful", "improved")} <= set(names)
    assert {name.split(",")[0] for name in names} == set(known_names())


def test_methods_without_a_guarantee_are_listed_as_such():
    report = audit(["mondrian"], runs=200)
    assert isinstance(next(iter(subjects(["mondrian"], epsilon=ONE, seed=1))), Unclaimed)
    assert report.verdicts[0].outcome == "claims nothing"
    assert not report.refuted


@pytest.mark.audit  # starts processes, which takes long
def test_another_process_runs_the_same_methods():
    for subject in subjects((), epsilon=ONE, seed=1):
        if isinstance(subject, Unclaimed):
            continue
        sent = pickle.loads(pickle.dumps(subject))
        for pair in subject.pairs:
            here, there = (
                each.sample(pair, has_record=True, runs=2, seed=5) for each in (subject, sent)
            )
            assert here.keys() == there.keys()
            for name, column in here.items():
                np.testing.assert_array_equal(column, there[name])


def test_every_method_runs_on_every_pair_that_it_is_audited_on():
    for subject in subjects(list(METHODS), epsilon=ONE, seed=1):
        if isinstance(subject, Unclaimed):
            continue
        assert subject.pairs
        for pair in subject.pairs[:2]:
            for has_record in (True, False):
                columns = subject.sample(pair, has_record=has_record, runs=1, seed=2)
                assert set(columns["spent"]) == {float(subject.claim.epsilon)}


@pytest.mark.parametrize("seed", range(5))
def test_pairs_differ_in_one_record_within_their_domains(seed):
    plan = plan_of(PLAN)
    made = [
        *table_pairs(seed=seed),
        *basket_pairs(seed=seed),
        *pairs_over(schema_of(plan), seed=seed),
        *baskets_over(context_free([f"i{i}" for i in range(9)], fan_out=3), seed=seed),
    ]
    for pair in made:
        one, other = (pair.engine(has_record=record) for record in (True, False))
        holds = "table" if isinstance(pair, TablePair) else "baskets"
        assert len(getattr(one, holds)) == len(getattr(other, holds)) + 1
        assert isinstance(pair, TablePair | BasketPair)


PLAN = {
    "data": "nowhere.csv",
    "attributes": {
        "age": {"numeric": [0, 9]},
        "sick": {"role": "class", "values": ["no", "yes"]},
    },
    "publish": {"method": "diffgen", "epsilon": "1/2", "h": 1},
}


def test_a_plan_is_audited_with_its_own_settings_and_without_its_data():
    report = audit(plan=PLAN, runs=60, pairs=["T1"], seed=1)
    assert report.verdicts[0].claim == Claim(epsilon=Fraction(1, 2))
    assert report.verdicts[0].name == "diffgen, as the plan has it"
    assert report.verdicts[0].outcome == "not refuted"


def test_a_claim_about_large_tables_is_tried_on_large_tables():
    plan = {
        "attributes": {"ward": {"values": ["A", "B"]}},
        "publish": {
            "method": "sample", "epsilon": 1, "faithful": True, "least-records": 400
        },
    }  # fmt: skip
    report = audit(plan=plan, runs=50, pairs=["T1"], seed=1)
    assert report.verdicts[0].claim.delta > 0
    assert report.verdicts[0].outcome == "not refuted"
    pairs = pairs_over(schema_of(plan_of(plan)), least=400)
    assert all(len(pair.engine(has_record=False).table) >= 400 for pair in pairs)


def test_a_plan_for_baskets_is_audited_over_its_universe():
    plan = {
        "items": {"universe": ["a", "b", "c"]},
        "publish": {"method": "basic", "epsilon": 2},
    }
    report = audit(plan=plan, runs=60, pairs=["N"], seed=1)
    assert report.verdicts[0].claim.epsilon == 2
    assert not report.refuted


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"methods": ["nothing"]}, "is not a method"),
        ({"methods": ["noise"], "runs": 10}, "runs"),
        ({"methods": ["noise"], "jobs": 0}, "jobs"),
        ({"methods": ["noise"], "pairs": ["T99"]}, "T99"),
        ({"methods": ["noise"], "epsilon": 0}, "epsilon"),
        ({"methods": ["noise"], "plan": PLAN}, "exclude each other"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(SettingError, match=said):
        audit(**settings)


def test_no_pairs_are_left_out_silently():
    assert PairsOf().tables == ()
    with pytest.raises(SettingError, match="T5"):
        audit(["basic-table"], runs=200, pairs=["T5"])


def test_the_package_can_be_called_by_its_name():
    assert hedgerow.audit(["noise"], runs=200, seed=1).verdicts
    assert hedgerow.audit(["noise"], runs=200, seed=1).verdicts


def run(*arguments):
    return CliRunner().invoke(app, ["audit", *arguments])


def test_the_command_answers_in_json_and_leaves_a_table_and_a_picture(tmp_path):
    out = tmp_path / "audit"
    done = run(
        "noise", "tds", "--runs", "200", "--seed", "1", "--jobs", "1", "--json", "-o", str(out)
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told == json.loads((out / "audit.json").read_text())
    assert [each["outcome"] for each in told["verdicts"]] == ["not refuted", "claims nothing"]
    assert told["verdicts"][0]["epsilon"] == "1"
    assert "| noise | 1 | " in (out / "audit.md").read_text()
    picture = ElementTree.parse(out / "audit.svg").getroot()
    assert sum(part.tag.endswith("line") for part in picture) == 1


def test_the_command_shows_a_table_for_people():
    done = run("noise", "--runs", "200", "--seed", "1", "--jobs", "1")
    assert "certified" in done.stdout
    assert "not refuted" in done.stdout


def test_the_command_exits_with_1_where_a_claim_is_refuted(monkeypatch):
    broken = Coin(chances=(0.9, 0.1), name="broken [coin]")
    monkeypatch.setattr("hedgerow.auditing.run.subjects", lambda *_, **__: [broken])
    done = run("--runs", "1000", "--seed", "1", "--jobs", "1")
    assert done.exit_code == 1
    assert "broken [coin] is refuted" in done.stdout.replace("\n", " ")
