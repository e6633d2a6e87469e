"""Figures that sdcMicro prints for an example, in the guide of the IHSN.

Statistical Disclosure Control for Microdata: A Practice Guide, "Measuring Risk": the tables of
ten respondents with their sample and population frequencies, and with their l-diversity. Values
are abbreviated here.
"""

from __future__ import annotations

import pandas as pd
import pytest

import hedgerow

KEYS = ["residence", "gender", "education", "labour"]
RESPONDENTS = pd.DataFrame(
    [
        ("u", "f", "s-", "job", "yes", 180),
        ("u", "f", "s-", "job", "yes", 180),
        ("u", "f", "p-", "out", "yes", 215),
        ("u", "m", "s", "job", "yes", 76),
        ("r", "f", "s", "none", "yes", 186),
        ("u", "m", "s", "job", "no", 76),
        ("u", "f", "p", "out", "no", 180),
        ("u", "m", "h", "none", "yes", 215),
        ("u", "f", "s-", "out", "no", 186),
        ("u", "f", "s-", "out", "yes", 76),
    ],
    columns=[*KEYS, "health", "weight"],
)
SAMPLE = [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
POPULATION = [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
DIVERSITY = [1, 1, 1, 2, 1, 2, 1, 1, 2, 2]
VIOLATING = {2: 4, 3: 10}


def plan_of(**more):
    attributes = {name: {"values": sorted(set(RESPONDENTS[name]))} for name in KEYS}
    health = {"role": "class", "values": ["yes", "no"]}
    return {"attributes": {**attributes, "health": health}, **more}


@pytest.fixture(scope="module")
def facts():
    return hedgerow.risk(RESPONDENTS, plan=plan_of()).facts


def test_frequencies_and_violations_of_k_anonymity_are_as_printed(facts):
    records = {bar["size"]: bar["records"] for bar in facts["sizes"]}
    assert (records["1"], records["2"]) == (SAMPLE.count(1), SAMPLE.count(2))
    assert facts["groups"] == 7
    assert facts["k"] == 1
    assert facts["unique"] == {"records": VIOLATING[2], "share": 0.4}
    assert records["1"] + records["2"] == VIOLATING[3]
    assert facts["attackers"]["prosecutor"]["mean"] == pytest.approx(
        sum(1 / frequency for frequency in SAMPLE) / len(SAMPLE)
    )


def test_l_diversity_is_as_printed(facts):
    (health,) = facts["diversity"]
    assert health["distinct-l"] == min(DIVERSITY)
    assert health["homogeneous"] == pytest.approx(DIVERSITY.count(1) / len(DIVERSITY))


def test_risk_in_the_population_is_one_over_the_printed_frequency(tmp_path):
    people = RESPONDENTS.loc[RESPONDENTS.index.repeat(RESPONDENTS["weight"])]
    people.to_csv(tmp_path / "people.csv", index=False)
    disclose = {"utility": {"at-least": "half"}, "against": str(tmp_path / "people.csv")}
    found = hedgerow.risk(RESPONDENTS, plan=plan_of(disclose=disclose)).facts
    assert found["attackers"]["journalist"]["highest"] == pytest.approx(1 / min(POPULATION))
    assert found["models"][1]["mean"] == pytest.approx(
        sum(1 / frequency for frequency in POPULATION) / len(POPULATION)
    )
