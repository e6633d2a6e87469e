"""evaluate(release, data): whole evaluations of every kind of release."""

from __future__ import annotations

import json
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.errors import DataError, ReleaseError, SettingError
from hedgerow.evaluation.evaluation import JSON_FILE, PAGE_FILE
from hedgerow.evaluation.run import evaluate
from hedgerow.model.certificate import Guarantee
from hedgerow.model.groups import Groups
from hedgerow.release.baskets import BasketRelease
from hedgerow.release.release import Release

PLAN = {
    "attributes": {
        "age": {"numeric": [0, 39]},
        "job": {"taxonomy": {"Indoor": ["office", "shop"], "Outdoor": ["farm", "sea"]}},
        "sick": {"role": "class", "values": ["no", "yes"]},
    },
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 8},
    "ledger": {"dataset": "people", "cap": 8},
}
BASKETS = {
    "items": {"universe": [1, 6], "fan-out": 3},
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "diffpart", "epsilon": 8},
}


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, job = rng.integers(0, 40, n), rng.integers(0, 4, n)
    sick = (age >= 20) & (job < 3) | (rng.random(n) < 0.05)
    return pd.DataFrame(
        {
            "age": age,
            "job": np.array(["office", "shop", "farm", "sea"])[job],
            "sick": np.where(sick, "yes", "no"),
        }
    )


DATA, TEST = people(900, 1), people(300, 2)


@pytest.fixture(scope="module")
def release() -> Release:
    return hedgerow.publish(PLAN, data=DATA, seed=1)


@pytest.fixture(scope="module")
def everything(release):
    return evaluate(release, DATA, test=TEST)


def test_all_tasks_of_a_table_are_measured(everything):
    facts = everything.facts
    tasks = {"fidelity", "classification", "clustering", "counting", "relations", "loss", "risk"}
    assert tasks <= set(facts)
    told = facts["classification"]
    assert told["floor"] < 0.7
    assert told["release"]["boxes"]["tree"] > 0.9
    assert told["release"]["records"]["boosting"] > 0.8
    assert told["test-rows"] == "test file"
    assert [each["ways"] for each in facts["counting"]["marginals"]] == [1, 2, 3]
    assert facts["counting"]["marginals"][0]["mean"] < 0.1
    assert facts["counting"]["spread"].startswith("by the release's")
    assert facts["data"] == {"records": 900}


def test_columns_and_pairs_are_compared_in_cells_of_the_raw_data(everything):
    found = everything.facts["fidelity"]
    assert found["against"] == "records"
    assert [each["attributes"] for each in found["columns"]] == [["age"], ["job"], ["sick"]]
    assert {each["cells"] for each in found["columns"]} == {"values"}
    assert found["2-way"]["n"] == found["2-way"]["n-possible"] == 3
    assert found["2-way"]["tables"] == "exact"
    errors = [each["error"] for each in found["columns"]]
    assert found["1-way"]["mean"] == pytest.approx(np.mean(errors))
    assert found["1-way"]["worst"]["value"] == max(errors)
    assert found["1-way"]["wide"] == errors[0]  # age alone has more than 24 values
    assert found["columns"][0]["mean"]["records"] == pytest.approx(DATA["age"].mean())
    assert found["columns"][1]["mean"] is None
    page = everything.html()
    assert "Columns and pairs of columns" in page


def test_measures_beside_accuracy_have_a_floor_and_a_ceiling(everything):
    told = everything.facts["classification"]
    assert set(told["measures"]) == {"auc", "balanced-accuracy", "rare-recall"}
    for each in told["measures"].values():
        assert each["floor"] <= each["release"]["boxes"]["tree"] <= 1
        assert set(each["ceiling"]) == set(each["release"]["records"]) == set(told["ceiling"])
    assert told["measures"]["auc"]["floor"] == told["measures"]["balanced-accuracy"]["floor"] == 0.5
    assert told["measures"]["rare-recall"]["floor"] == 0
    assert [each["label"] for each in told["classes"]] == [
        told["classes"][0]["label"],
        told["usual"],
    ]
    assert sum(each["share"] for each in told["classes"]) == pytest.approx(1)


def test_relations_of_all_pairs_are_told_by_name(everything):
    told = everything.facts["relations"]
    assert [each["attributes"] for each in told["pairs"]] == [
        ["age", "job"],
        ["age", "sick"],
        ["job", "sick"],
    ]
    assert [each["attribute"] for each in told["means"]] == ["age", "sick"]
    age, sick = told["means"]
    assert age["records"] == pytest.approx(DATA["age"].mean())
    assert sick["records"] == pytest.approx((DATA["sick"] == "yes").mean())
    assert told["pairs"][1]["correlation"]["records"] == pytest.approx(
        np.corrcoef(DATA["age"], DATA["sick"] == "yes")[0, 1]
    )


def test_progress_rises_from_task_to_task(release):
    told: list[tuple[str, float]] = []
    evaluate(release, DATA, test=TEST, progress=lambda step, part: told.append((step, part)))
    measuring = [part for step, part in told if step.startswith("measuring")]
    assert measuring == sorted(measuring)
    assert measuring[0] == 0
    assert measuring[-1] <= 1
    assert len({step for step, _ in told if step.startswith("measuring")}) == 7
    assert len(measuring) > 40  # within tasks too


def test_a_private_release_has_no_record_to_re_identify(everything):
    assert everything.facts["risk"]["applicable"] is False
    assert "epsilon" in everything.facts["risk"]["why"]


def test_every_number_of_the_page_is_in_the_json(everything):
    text = everything.to_json()
    assert json.loads(text) == everything.facts
    assert "NaN" not in text
    page = everything.html()
    assert page.count("<svg") >= 5  # the mark and the plots
    assert "For the data owner" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    for learner in everything.facts["classification"]["ceiling"].values():
        assert f"{100 * learner:.1f} %" in page


def test_without_a_test_file_the_page_says_what_it_tested_on(release):
    told = evaluate(release, DATA, tasks="classification").facts["classification"]
    assert told["n-test"] == 300
    assert "from which the release was also made" in told["note"]


def test_the_report_is_for_its_owner_alone_and_never_in_the_release(release, tmp_path):
    folder = tmp_path / "release"
    release.write(folder)
    out = tmp_path / "owner" / "evaluation"
    evaluate(folder, DATA, tasks=["loss"], out=out)
    for name in (JSON_FILE, PAGE_FILE):
        assert stat.S_IMODE((out / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    for inside in (folder, folder / "evaluation"):
        with pytest.raises(ReleaseError, match="release, which others may see"):
            evaluate(folder, DATA, tasks=["loss"], out=inside)
    with pytest.raises(ReleaseError, match="evaluation already"):
        evaluate(folder, DATA, tasks=["loss"], out=out)
    evaluate(folder, DATA, tasks=["loss"], out=out, force=True)
    assert sorted(path.name for path in out.iterdir()) == [PAGE_FILE, JSON_FILE]
    assert Release.load(folder).digest == release.digest


def test_another_release_is_no_place_for_an_evaluation(release, tmp_path):
    release.write(tmp_path / "one")
    release.write(tmp_path / "two")
    with pytest.raises(ReleaseError, match="holds a release"):
        evaluate(tmp_path / "one", DATA, tasks=["loss"], out=tmp_path / "two")


def test_a_release_without_a_guarantee_has_its_risk_measured(release):
    truthful = replace(
        release,
        certificate=release.certificate.model_copy(
            update={"guarantee": Guarantee.none("Not differentially private.")}
        ),
    )
    told = evaluate(truthful, DATA, tasks=["risk", "loss"]).facts
    assert told["risk"]["applicable"]
    assert told["risk"]["certain"]
    assert 0 < told["risk"]["release"]["prosecutor"]["mean"] < 1
    assert told["risk"]["raw"]["uniques"] >= 0
    page = evaluate(truthful, DATA, tasks=["risk"]).html()
    assert "Smallest box" in page


def test_a_plain_file_of_another_tool_is_evaluated_with_a_plan(tmp_path):
    frame = DATA.copy()
    frame["age"] = np.where(frame["age"] < 20, "[0,20)", "20-39")
    frame["job"] = np.where(frame["job"] == "sea", "sea", "*")
    frame.loc[frame["job"] == "*", "job"] = np.where(
        DATA.loc[frame["job"] == "*", "job"] == "farm", "farm", "Indoor"
    )
    frame.to_csv(tmp_path / "anonymised.csv", index=False)
    told = evaluate(tmp_path / "anonymised.csv", DATA, test=TEST, plan=PLAN).facts
    assert told["release"]["shape"] == "cut"
    assert told["release"]["method"] is None
    assert told["classification"]["release"]["boxes"]["tree"] > 0.9
    assert told["counting"]["total"]["error"] == 0
    assert told["loss"]["records"] == told["loss"]["groups"]
    assert told["risk"]["certain"] is False


def test_plain_synthetic_records_are_evaluated_as_points():
    evaluation = evaluate(people(900, 7), DATA, test=TEST, plan=PLAN)
    told = evaluation.facts
    assert told["release"]["shape"] == "records"
    assert told["classification"]["release"]["boxes"] is None
    assert told["classification"]["release"]["records"]["tree"] > 0.85
    assert told["loss"]["records"] is None
    assert told["loss"]["groups"]["ncp"] == 0
    assert "drawn from it" in evaluation.html()


def test_a_disclosure_is_evaluated_with_its_plan(tmp_path):
    plan = {key: value for key, value in PLAN.items() if key not in ("publish", "ledger")}
    plan["disclose"] = {"method": "aruba", "utility": {"measure": "depth", "at-least": 2}}
    hedgerow.disclose(plan, data=DATA.head(200), out=tmp_path / "out")
    told = evaluate(tmp_path / "out", DATA, plan=plan, tasks=["counting", "loss", "risk"]).facts
    assert told["release"]["guarantee"] == "none"
    assert told["release"]["total"] == 200
    assert told["risk"]["certain"]
    assert 0 < told["loss"]["groups"]["ncp"] < 1
    with pytest.raises(SettingError, match="does not name its domains"):
        evaluate(tmp_path / "out", DATA)
    with (tmp_path / "out" / "disclosed.csv").open("a") as file:
        file.write("1,sea,no\n")
    with pytest.raises(ReleaseError, match="not the one that the certificate"):
        evaluate(tmp_path / "out", DATA, plan=plan)


def test_a_release_that_holds_nothing_is_evaluated_all_the_same(release):
    groups = release.groups
    nothing = Groups(
        ranges=groups.ranges,
        index=tuple(index[:0] for index in groups.index),
        classes=groups.classes[:0],
        counts=groups.counts[:0],
        is_cut=False,
        tree=groups.tree,
        boxes=groups.boxes,
        marginals=groups.marginals,
    )
    evaluation = evaluate(replace(release, groups=nothing), DATA, test=TEST)
    assert evaluation.facts["counting"]["marginals"][0]["mean"] == 1.0
    assert evaluation.facts["counting"]["ranges"][0]["relative"] == pytest.approx(
        evaluation.facts["counting"]["ranges"][0]["answering-zero"]
    )
    assert "<svg" in evaluation.html()
    json.loads(evaluation.to_json())


def test_data_without_the_class_is_measured_for_all_else(release):
    told = evaluate(release, DATA.drop(columns="sick")).facts
    assert "classification" not in told
    assert told["skipped"] == {"classification": "the data has no column of the class"}
    assert told["loss"]["records"]["classification-metric"] is None


def test_a_plan_beside_a_release_says_how_the_data_are_written(release, tmp_path):
    DATA.to_csv(tmp_path / "data.csv", sep=";", decimal=",", index=False, encoding="latin-1")
    form = {"delimiter": "semicolon", "decimal": "comma", "encoding": "latin-1"}
    plan = {**PLAN, "reading": form}
    asked = {"tasks": ["loss"], "seed": 1}
    told = evaluate(release, tmp_path / "data.csv", plan=plan, **asked).facts
    assert told["loss"] == evaluate(release, DATA, **asked).facts["loss"]
    with pytest.raises(DataError, match="does not exist"):
        evaluate(release, tmp_path / "data.csv", **asked)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"tasks": ["itemsets"]}, SettingError, "not a task for a table"),
        ({"tasks": "everything"}, SettingError, "not a task for a table"),
        ({"release": "nowhere"}, ReleaseError, "no such file"),
        ({"release": DATA}, SettingError, "does not name its domains"),
        ({"plan": PLAN}, SettingError, "names its own domains"),
        ({"data": DATA.iloc[:0]}, DataError, "no complete records"),
        (
            {"data": DATA.drop(columns="sick"), "tasks": ["classification"]},
            SettingError,
            "no column of the class",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_refused(release, given, error, message):
    asked = {"release": release, "data": DATA, **given}
    with pytest.raises(error, match=message):
        evaluate(asked.pop("release"), asked.pop("data"), **asked)


@pytest.fixture(scope="module")
def baskets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baskets")
    rng = np.random.default_rng(3)
    weights = np.array([0.6, 0.5, 0.3, 0.2, 0.1, 0.05])
    lines = [
        " ".join(str(i + 1) for i in np.flatnonzero(rng.random(6) < weights)) for _ in range(800)
    ]
    (folder / "a.dat").write_text("\n".join(line or "1" for line in lines) + "\n")
    return folder


def test_baskets_are_counted_and_mined(baskets):
    release = hedgerow.publish(BASKETS, data=baskets / "a.dat", seed=1)
    assert isinstance(release, BasketRelease)
    release.write(baskets / "release")
    evaluation = evaluate(baskets / "release", baskets / "a.dat")
    told = evaluation.facts
    assert len(told["counting"]["classes"]) == 5
    assert told["counting"]["n-queries"] == 50_000
    assert 0.5 < told["counting"]["kept"]["mass"] < 1.5
    assert [each["k"] for each in told["itemsets"]["top"]] == [20, 60, 100]
    assert told["itemsets"]["top"][0]["utility"] > 0.5
    assert "Frequent itemsets" in evaluation.html()
    with pytest.raises(SettingError, match="not a task for baskets"):
        evaluate(release, baskets / "a.dat", tasks=["loss"])
    with pytest.raises(SettingError, match="no classification task"):
        evaluate(release, baskets / "a.dat", test=baskets / "a.dat")


def test_a_plain_basket_file_keeps_all_of_itself(baskets):
    told = evaluate(baskets / "a.dat", baskets / "a.dat", plan=BASKETS).facts
    assert told["counting"]["kept"] == {"mass": 1.0, "true-sets": 1.0}
    assert {each["relative"] for each in told["counting"]["classes"]} == {0.0}
    assert {each["utility"] for each in told["itemsets"]["top"]} == {1.0}


def test_the_package_has_the_name_of_its_function(release):
    found = hedgerow.evaluate(release, DATA, tasks=["loss"])
    again = hedgerow.evaluate(release, DATA, tasks=["loss"])
    assert found.facts["loss"] == again.facts["loss"]
    assert "900" not in repr(found)


def test_the_same_seed_measures_the_same(release, everything):
    again = evaluate(release, DATA, test=TEST).facts
    for facts in (again, dict(everything.facts)):
        facts["seconds"] = None
    assert {**again} == {**everything.facts, "seconds": None}
