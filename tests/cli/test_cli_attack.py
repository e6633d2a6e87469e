"""`hedgerow attack` on the command line."""

from __future__ import annotations

import json
import stat

import pytest
import yaml
from typer.testing import CliRunner

from hedgerow.cli.main import app
from hedgerow.errors import ReleaseError, SettingError
from support.attacked import people_plan, population


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    place = tmp_path_factory.mktemp("published")
    everybody = population(240)
    everybody[:120].write_csv(place / "people.csv")
    everybody[120:].write_csv(place / "others.csv")
    plan = people_plan("hedge", epsilon=1)
    plan["ledger"]["file"] = "ledger.sqlite"
    (place / "plan.yaml").write_text(yaml.safe_dump({"data": "people.csv", **plan}))
    call("publish", place / "plan.yaml", "--seed", "1", "-o", place / "release", "-q")
    return place


@pytest.fixture
def folder(published, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    return published


def call(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def files(folder):
    return folder / "release", folder / "people.csv", "--holdout", folder / "others.csv"


def test_attack_shows_attack_control_and_bound_and_writes_a_page(folder, tmp_path):
    told = call("attack", *files(folder), "--sensitive", "job", "--shadows", "1")
    for word in ("attack", "control", "bound", "singling out", "inference: job", "88.1 %"):
        assert word in told
    assert "Not run: differencing" in told
    assert "not private" in told
    page = tmp_path / "release-attack" / "attack.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "What a failed attack does not show" in page.read_text()


def test_attack_answers_in_json_what_it_wrote(folder, tmp_path):
    told = json.loads(
        call("attack", *files(folder), "-o", "own", "--max-records", "30", "--shadows", 0, "--json")
    )
    written = json.loads((tmp_path / "own" / "attack.json").read_text())
    assert told.pop("out") == "own"
    assert told.pop("private") is False
    assert told == written
    assert told["targets"]["pairs"] == 30


def test_attack_is_quiet_when_asked_and_refuses_what_is_wrong(folder):
    data = folder / "people.csv"
    assert call("attack", folder / "release", data, "-q") == ""
    runner = CliRunner()
    again = runner.invoke(app, ["attack", str(folder / "release"), str(data)])
    assert isinstance(again.exception, ReleaseError)
    unknown = ["attack", str(folder / "release"), str(data), "--sensitive", "pay", "-o", "new"]
    assert isinstance(runner.invoke(app, unknown).exception, SettingError)


def test_a_second_release_and_its_data_are_named_by_options(folder):
    told = json.loads(
        call(
            *("attack", *files(folder), "--other", folder / "release"),
            *("--other-data", folder / "people.csv", "-o", "two", "--json", "--shadows", 0),
        )
    )
    assert "no record" in told["differencing"]["not-run"]
