"""Why a record is disclosed as it is: the lattice that is told is the one that is searched."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from hedgerow.cli.main import app
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.explain import explain_record
from hedgerow.disclosure.frontiers import explain_plane
from hedgerow.errors import RefusedError, SettingError
from hedgerow.plan.load import dump_plan, plan_of
from support.disclosure_tables import METHODS, patients, plan


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_form_that_is_told_is_the_one_that_is_disclosed(method):
    given = plan(**METHODS[method])
    data = patients(6 if method == "approx" else 150)
    disclosed = disclose(given, data=data, accept_risk=True)
    owner = disclosed.owner
    rows = disclosed.to_arrow().to_pylist()
    for record in (1, len(rows) // 3, len(rows)):
        told = explain_record(given, record, data=data)
        job = owner.problems.kind[record - 1]
        shown = {
            each["name"]: each["levels"][each["chosen"]]["label"]
            for each in told["attributes"]
            if each["chosen"] is not None
        }
        assert all(rows[record - 1][name] == label for name, label in shown.items())
        assert (told["chosen"] is not None) == bool(owner.found.feasible[job])
        if told["chosen"] is not None:
            assert told["chosen"]["risk"] == pytest.approx(owner.found.risk[job])
            assert told["chosen"]["utility"] == pytest.approx(owner.found.utility[job])
        assert told["before"]["risk"] == pytest.approx(owner.before.risk[job])


@pytest.mark.parametrize("method", ["aruba", "most utility", "balance"])
def test_no_form_that_would_do_is_better_than_the_chosen_one(method):
    told = explain_record(plan(**METHODS[method]), 17, data=patients())
    assert told["forms"] == len(told["points"])
    chosen, goal = told["chosen"], told["goal"]
    for form in told["best"]:
        if goal["kind"] == "least-risk":
            assert form["utility"] >= goal["at-least"] - 1e-9
            assert form["risk"] >= chosen["risk"] - 1e-12
        elif goal["kind"] == "most-utility":
            assert form["risk"] <= goal["at-most"] * (1 + 1e-9)
            assert form["utility"] <= chosen["utility"] + 1e-12
        else:
            balance = form["risk"] - goal["rate"] * form["utility"]
            assert balance >= chosen["risk"] - goal["rate"] * chosen["utility"] - 1e-12
    levels = [tuple(form["levels"]) for form in told["points"]]
    assert tuple(chosen["levels"]) in levels
    assert len(set(levels)) == told["forms"]
    assert {each["step"] for each in told["neighbours"]} <= {"finer", "coarser"}


def test_thresholds_over_the_frontiers_give_what_is_disclosed():
    given = plan(risk={}, utility={"at-least": "60%"})
    disclosed = disclose(given, data=patients(), accept_risk=True)
    told = explain_plane(given, data=patients(), most_records=150)
    assert told["records"] == 150
    owner = disclosed.owner
    for each, job in zip(told["frontiers"], owner.problems.kind, strict=True):
        utility = np.array(each["aruba"]["utility"])
        at = np.count_nonzero(utility >= 0.6 * each["before"]["utility"] - 1e-9) - 1
        assert each["aruba"]["risk"][at] == pytest.approx(owner.found.risk[job])


def test_the_best_sum_over_the_frontiers_is_that_of_the_aggregate_model():
    given = plan(method="aggregate", **{"lambda": 8})
    disclosed = disclose(given, data=patients(), accept_risk=True)
    told = explain_plane(given, data=patients(), most_records=150)
    owner = disclosed.owner
    for each, job in zip(told["frontiers"], owner.problems.kind, strict=True):
        best = np.array(each["tkde"]["hidden"]) * 8 + np.array(each["tkde"]["utility"])
        at = int(np.argmax(best))
        assert each["tkde"]["utility"][at] == pytest.approx(owner.found.utility[job])


def test_a_plan_that_nobody_confirmed_and_a_row_that_is_not_there_are_refused():
    with pytest.raises(RefusedError):
        explain_record({**plan(), "confirmed": False}, 1, data=patients())
    with pytest.raises(SettingError, match="not the number of a disclosed record"):
        explain_record(plan(), 151, data=patients())
    with pytest.raises(SettingError, match="matched by similarity"):
        explain_plane(plan(risk={"consistency": "jaro"}), data=patients())


def test_the_command_answers_in_words_and_in_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(patients(), "patients.csv")
    given = {**plan(), "data": "patients.csv"}
    (tmp_path / "plan.yaml").write_text(dump_plan(plan_of(given)))
    words = CliRunner().invoke(app, ["explain", "plan.yaml", "--row", "3"])
    assert words.exit_code == 0, words.output
    assert "for the owner of the data alone" in words.stdout.lower()
    assert "SECRET" not in words.stdout
    told = json.loads(CliRunner().invoke(app, ["explain", "plan.yaml", "--json"]).stdout)
    assert told["records"] == 150
    table = CliRunner().invoke(app, ["explain", "plan.yaml"])
    assert "100%" in table.stdout
