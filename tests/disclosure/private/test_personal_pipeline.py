"""Private disclosure from a plan to a folder: ledger, certificate, command line."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.errors import DeltaCapError, PlanError, ReleaseError, SettingError
from hedgerow.ledger.ledger import Ledger
from hedgerow.pipeline.prepare import prepare
from hedgerow.release.release import Release

ATTRIBUTES = {
    "age": {"numeric": [0, 99]},
    "ward": {"taxonomy": {"Any": {"North": ["A", "B"], "South": ["C"]}}},
    "sick": {"role": "class", "values": ["no", "yes"]},
}
NO_CLASS = {name: ATTRIBUTES[name] for name in ("age", "ward")}
SAMPLE = {"method": "sample", "epsilon": 1, "faithful": True, "least-records": 4000}


def table(n=4000):
    rng = np.random.default_rng(5)
    age = np.clip(rng.normal(50, 15, n), 0, 99).astype(int)
    return pd.DataFrame(
        {
            "age": age,
            "ward": rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1]),
            "sick": np.where(rng.random(n) < age / 100, "yes", "no"),
        }
    )


def plan_for(publish, attributes=None, **ledger):
    return {
        "attributes": ATTRIBUTES if attributes is None else attributes,
        "protects": "records",
        "confirmed": True,
        "publish": publish,
        "ledger": {"dataset": "wards", "cap": 4, **ledger},
    }


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))
    return Ledger


def test_pure_disclosure_is_published_booked_and_read_back(tmp_path, ledger):
    plan = plan_for({"method": "supermodular", "epsilon": 2})
    release = hedgerow.publish(
        plan, data=table(), out=hedgerow.Output(folder=tmp_path / "out", records=True)
    )
    guarantee = release.certificate.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.private) == (2, 0, True)
    assert release.certificate.budget.total == 2
    again = Release.load(tmp_path / "out")
    assert again.groups.counts.tolist() == release.groups.counts.tolist()
    entry = ledger().entries("wards")[0]
    assert (entry.method, entry.epsilon, entry.delta) == ("supermodular", 2, 0)
    with pytest.raises(ReleaseError):
        again.recoding.apply(table())


def test_a_sampled_release_costs_epsilon_and_says_what_it_did(ledger):
    plan = plan_for({"method": "supermodular", "epsilon": 1, "rate": "1/2"})
    release = hedgerow.publish(plan, data=table())
    (line,) = release.certificate.budget.spends
    assert (line.on, line.share) == ("all steps on a secret sample", 1)
    assert "secret sample" in release.certificate.method.details["counts"]
    assert release.certificate.counts.share > Fraction(3, 5)


def test_truthful_disclosure_needs_a_delta_that_the_ledger_allows(ledger):
    publish = {"method": "truthful", "epsilon": 2, "delta": "1e-6"}
    with pytest.raises(DeltaCapError, match="delta-cap"):
        hedgerow.publish(plan_for(publish), data=table())
    release = hedgerow.publish(plan_for(publish, **{"delta-cap": "1e-5"}), data=table())
    guarantee = release.certificate.guarantee
    assert guarantee.delta == Fraction(1, 10**6)
    assert "delta = 1e-06" in guarantee.statement
    assert "were omitted" in guarantee.statement
    assert release.certificate.ledger.delta_cap == Fraction(1, 10**5)
    assert ledger().account("wards").delta_spent == Fraction(1, 10**6)


def test_the_printed_algorithm_is_published_without_flattery(ledger):
    plan = plan_for(SAMPLE, NO_CLASS, **{"delta-cap": "1/2"})
    release = hedgerow.publish(plan, data=table().drop(columns="sick"))
    guarantee = release.certificate.guarantee
    assert guarantee.delta > Fraction(1, 4000)
    assert "no meaningful protection" in guarantee.statement
    assert "one random record in full" in guarantee.statement
    assert "Theorem 3(ii) guarantees no utility at these settings" in guarantee.statement
    papers = [departure.what for departure in release.certificate.departures]
    assert any("Algorithm 3 is not run" in what for what in papers)
    assert ledger().account("wards").delta_spent == guarantee.delta


def test_a_seeded_run_keeps_no_promise(ledger):
    release = hedgerow.publish(
        plan_for({"method": "supermodular", "epsilon": 1}), data=table(), seed=3
    )
    assert not release.certificate.guarantee.private


@pytest.mark.parametrize(
    ("publish", "words"),
    [
        ({**SAMPLE, "faithful": False}, "on request only"),
        ({key: SAMPLE[key] for key in ("method", "epsilon", "faithful")}, "least-records"),
        ({**SAMPLE, "version": "risk"}, "version risk needs it"),
        ({"method": "truthful", "epsilon": 1}, "delta"),
        ({"method": "truthful", "epsilon": 1, "delta": 0}, "delta 0"),
        ({"method": "supermodular", "epsilon": 1, "share": 1}, "below 1"),
        ({"method": "supermodular", "epsilon": 1, "kappa": "1/2"}, "from 1 up"),
        ({"method": "supermodular", "epsilon": 1, "model": 2, "floor": 2}, "uses no weights"),
        ({"method": "supermodular", "epsilon": 1, "levels": {"age": []}}, "list of depths"),
        ({"method": "supermodular", "epsilon": 1, "delta": "1e-6"}, "key is unknown"),
    ],
)
def test_settings_that_mean_nothing_are_mistakes_of_the_plan(publish, words):
    with pytest.raises(PlanError, match=words):
        prepare(plan_for(publish))


@pytest.mark.parametrize(
    ("publish", "words"),
    [
        ({"method": "supermodular", "epsilon": 1, "severities": {"nobody": 2}}, "'nobody'"),
        ({"method": "supermodular", "epsilon": 1, "severities": {"ward": {"Z": 2}}}, "'Z'"),
        (
            {"method": "supermodular", "epsilon": 1, "personal": {"by": "age", "factors": {}}},
            "Numbers have no factors",
        ),
        ({"method": "supermodular", "epsilon": 1, "levels": {"ward": [7]}}, "no depth 7"),
        ({"method": "supermodular", "epsilon": "1e-9"}, "too small"),
        ({"method": "truthful", "epsilon": 1, "delta": "1e-6", "rate": "0.6"}, "out of range"),
        (SAMPLE, "has no class"),
    ],
)
def test_settings_that_do_not_fit_the_table_are_refused_before_it_is_read(publish, words):
    with pytest.raises(SettingError, match=words):
        prepare(plan_for(publish))


def test_the_printed_algorithm_is_refused_where_nothing_can_be_proved():
    with pytest.raises(SettingError, match="No delta below 1"):
        prepare(plan_for({**SAMPLE, "least-records": 15}, NO_CLASS))
    with pytest.raises(SettingError, match="beta"):
        prepare(plan_for({**SAMPLE, "beta": "0.3"}, NO_CLASS))


@pytest.mark.parametrize(
    ("publish", "said"),
    [
        ({"method": "supermodular", "epsilon": 1}, "number of records"),
        ({"method": "truthful", "epsilon": 1, "delta": "1e-6"}, "counts are exact"),
    ],
)
def test_check_tells_what_will_be_bought(tmp_path, publish, said):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan_for(publish)))
    result = CliRunner().invoke(app, ["check", str(path), "--records", "40000"])
    assert result.exit_code == 0
    assert said in " ".join(result.output.split())
    assert "generalisations" in result.output


def test_the_command_line_publishes_by_another_method(tmp_path, ledger, monkeypatch):
    table(1500).to_csv(tmp_path / "data.csv", index=False)
    plan = tmp_path / "plan.json"
    plan.write_text(
        json.dumps(
            {
                **plan_for({"method": "hedge", "epsilon": 1}, **{"delta-cap": "1e-3"}),
                "data": "data.csv",
            }
        )
    )
    arguments = [
        *("publish", str(plan), "--method", "truthful", "--delta", "1e-4"),
        *("--lambda", "4", "--share", "1/4", "--out", str(tmp_path / "out"), "--json"),
    ]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert (told["method"], told["delta"], told["epsilon"]) == ("truthful", "1/10000", "1")
    settings = json.loads((tmp_path / "out" / "certificate.json").read_text())["method"]["settings"]
    assert (settings["lambda"], settings["share"]) == (4, 0.25)


def words_of(page):
    return " ".join(page.split())


def test_the_report_of_a_release_with_a_delta_promises_no_more_than_its_certificate(ledger):
    plan = plan_for(SAMPLE, NO_CLASS, **{"delta-cap": "1/2"})
    release = hedgerow.publish(plan, data=table().drop(columns="sick"))
    page = words_of(release.report())
    assert "no meaningful protection" in page
    assert "strong protection" not in page
    assert "This holds for every method of attack" not in page
    assert "counts of groups in a random sample" in page
    assert "noisy counts" not in page


def test_the_report_of_pure_disclosure_is_that_of_any_private_release(ledger):
    release = hedgerow.publish(plan_for({"method": "supermodular", "epsilon": 1}), data=table())
    page = words_of(release.report())
    assert "This holds for every method of attack" in page
    assert "noisy counts" in page
