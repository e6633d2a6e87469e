"""The private baselines on the command line: from a table to a release that reads back."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from hedgerow.cli.main import app
from hedgerow.errors import PlanError, ReleaseError, SettingError
from hedgerow.release.release import Release

METHODS = {
    "basic-table": ["--cells", "64"],
    "rps": ["--height", "3"],
    "dpcube": ["--cells", "100"],
    "privbayes": ["--degree", "2"],
}


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    rows = [f"{i % 90},{'ABC'[i % 3]},{i * i % 50},{'no' if i % 3 else 'yes'}" for i in range(1500)]
    (tmp_path / "visits.csv").write_text("age,ward,days,returned\n" + "\n".join(rows))
    (tmp_path / "plan.yaml").write_text(
        "data: visits.csv\nattributes:\n  age: {numeric: [0, 99]}\n  ward: {values: [A, B, C]}\n"
        "  days: {numeric: [0, 60]}\n  returned: {role: class, values: ['no', 'yes']}\n"
        "protects: records\nconfirmed: true\npublish: {method: hedge, epsilon: 2}\n"
        "ledger: {dataset: visits, cap: 40, file: ledger.sqlite}\n"
    )
    return tmp_path / "plan.yaml"


def call(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("method", METHODS)
def test_a_baseline_is_published_with_records_and_reads_back(plan, tmp_path, method):
    out = tmp_path / "out"
    given = ("publish", plan, "--method", method, *METHODS[method], "--write-records", "-o", out)
    told = json.loads(call(*given, "--json"))
    assert told["private"]
    assert told["method"] == method
    release = Release.load(out)
    assert release.n_rows == told["groups"]
    records = pl.read_csv(out / "records.csv")
    assert records.columns == ["age", "ward", "days", "returned"]
    assert len(records) == told["noisy-total"]
    assert abs(len(records) - 1500) < 400
    assert records["age"].is_between(0, 99).all()
    assert release.certificate.departures
    assert "<html" in release.report()


@pytest.mark.parametrize("method", METHODS)
def test_check_tells_what_a_baseline_will_cost(plan, method):
    given = ("check", plan, "--method", method, *METHODS[method], "--records", "100000")
    told = json.loads(call(*given, "--json"))
    assert told["method"] == method
    assert told["verdict"] == "feasible"


def test_invented_records_say_so_and_cannot_generalise_others(plan, tmp_path):
    out = tmp_path / "out"
    call("publish", plan, "--method", "privbayes", "-o", out)
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "A release of synthetic records" in report
    assert "The rows are synthetic" in report
    told = call("check", plan, "--method", "privbayes")
    assert "A cell of a marginal is within" in told
    with pytest.raises(ReleaseError, match="no tree leads to them"):
        call("generalise", out, tmp_path / "visits.csv", "-o", tmp_path / "x.csv")


def test_a_table_of_too_many_cells_is_refused_before_it_is_read(plan, tmp_path):
    wide = plan.read_text().replace("[0, 99]}", "[0, 999999], step: 0.1}")
    wide = wide.replace("[0, 60]}", "[0, 999999], step: 0.1}")
    wide = wide.replace("  ward:", "  more: {numeric: [0, 999999], step: 0.1}\n  ward:")
    plan.write_text(wide)
    with pytest.raises(SettingError, match="too many to publish"):
        call("publish", plan, "--method", "basic-table", "-o", tmp_path / "out")


@pytest.mark.parametrize(
    ("method", "option"), [("rps", "--degree"), ("privbayes", "--height"), ("hedge", "--cells")]
)
def test_a_setting_of_another_baseline_is_a_mistake(plan, tmp_path, method, option):
    with pytest.raises(PlanError, match=option.removeprefix("--")):
        call("publish", plan, "--method", method, option, "3", "-o", tmp_path / "out")
