"""DiffMulti as plans and the command line see it."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.errors import PlanError, SettingError
from hedgerow.pipeline.forecast import forecast
from hedgerow.pipeline.prepare import prepare
from hedgerow.release.release import Release

ATTRIBUTES = {
    "age": {"numeric": [0, 99]},
    "ward": {"values": ["A", "B", "C"]},
    "sick": {"role": "class", "values": ["no", "yes"]},
}


def plan(**settings):
    publish = {"method": "diffmulti", "epsilon": 1, **settings}
    return {
        "attributes": ATTRIBUTES,
        "protects": "records",
        "confirmed": True,
        "publish": publish,
        "ledger": {"dataset": "wards", "cap": 2},
    }


def patients(n=600):
    rng = np.random.default_rng(5)
    age = rng.integers(0, 100, n)
    sick = np.where(rng.random(n) < age / 100, "yes", "no")
    return pd.DataFrame({"age": age, "ward": rng.choice(["A", "B", "C"], n), "sick": sick})


@pytest.mark.parametrize("faithful", [True, False])
def test_a_release_is_written_and_read_back(tmp_path, faithful):
    release = hedgerow.publish(
        plan(h=8, faithful=faithful), data=patients(), out=tmp_path / "out", seed=4
    )
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["method"]["name"] == "diffmulti"
    assert any("Eq. (10)" in each["what"] for each in certificate["departures"])
    again = Release.load(tmp_path / "out")
    assert again.groups.counts.tolist() == release.groups.counts.tolist()
    assert abs(int(release.groups.counts.sum()) - 600) < 300


@pytest.mark.parametrize(
    ("settings", "score"),
    [
        ({}, "discernibility"),
        ({"for": "classification"}, "max"),
        ({"for": "clustering"}, "clusters"),
        ({"for": "counting"}, "ncp"),
        ({"for": "clustering", "score": "infogain"}, "infogain"),
    ],
)
def test_the_purpose_picks_the_score_unless_one_is_given(settings, score):
    assert prepare(plan(**settings)).method.about.chosen == {"score": score}


def test_settings_reach_the_method():
    method = prepare(plan(h=7, distribution="even", depth=3)).method
    assert (method.specialisations, method.fair, method.depth) == (7, False, 3)
    assert prepare(plan(faithful=True)).method.faithful


@pytest.mark.parametrize(
    "wrong", [{"h": -1}, {"h": "all"}, {"depth": 0}, {"score": "gini"}, {"distribution": "odd"}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(PlanError):
        prepare(plan(**wrong))


def test_the_faithful_variant_has_no_depth():
    with pytest.raises(PlanError, match="has no such setting"):
        prepare(plan(faithful=True, depth=4))


def test_a_score_of_classes_needs_a_class():
    bare = plan(score="max")
    bare["attributes"] = {name: ATTRIBUTES[name] for name in ("age", "ward")}
    with pytest.raises(SettingError, match="compares classes"):
        prepare(bare)


def test_check_adds_up_and_tells_the_largest_h():
    told = forecast(prepare(plan(h=50)), records=600)
    steps = told.as_dict()["steps"]
    assert sum(Fraction(step["share"]) * step["times"] for step in steps) == 1
    # 99 splits of age to single years, then one of the ward in each.
    assert told.as_dict()["notes"][0].startswith("At most 199 specialisations")
