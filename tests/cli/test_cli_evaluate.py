"""`hedgerow evaluate` on the command line."""

from __future__ import annotations

import json
import shutil
import stat

import pytest
from typer.testing import CliRunner

from hedgerow.cli.main import app
from hedgerow.errors import DataError, ReleaseError, SettingError

PLAN = """
data: people.csv
attributes:
  age: {numeric: [0, 39]}
  sick: {role: class, values: ['no', 'yes']}
protects: records
confirmed: true
publish: {method: diffgen, epsilon: 8, h: 3}
ledger: {dataset: people, cap: 8, file: ledger.sqlite}
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    place = tmp_path_factory.mktemp("published")
    rows = [f"{age},{'yes' if age >= 20 else 'no'}" for age in range(40)]
    (place / "people.csv").write_text("\n".join(["age,sick", *rows * 20]) + "\n")
    (place / "plan.yaml").write_text(PLAN)
    call("publish", place / "plan.yaml", "--seed", "1", "-o", place / "release", "-q")
    return place


@pytest.fixture
def folder(published, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(published, tmp_path, dirs_exist_ok=True)
    return tmp_path


def call(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_evaluate_says_what_matters_first_and_where_the_rest_is(folder):
    told = call("evaluate", "release", "people.csv", "--task", "classification", "--task", "loss")
    assert "decision tree trained on the release" in told
    assert "generalisation of a cell (NCP)" in told
    assert "not private" in told
    assert "There is no test file" in told
    page = folder / "release-evaluation" / "evaluation.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "For the data owner" in page.read_text()


def test_evaluate_answers_in_json_what_it_wrote(folder):
    told = json.loads(
        call("evaluate", "release", "people.csv", "--task", "loss", "-o", "own", "--json")
    )
    written = json.loads((folder / "own" / "evaluation.json").read_text())
    assert told.pop("out") == "own"
    assert told.pop("private") is False
    assert told == written
    assert told["release"]["method"] == "diffgen"


def test_quiet_says_nothing(folder):
    assert call("evaluate", "release", "people.csv", "--task", "counting", "-q") == ""


def test_a_plain_file_is_evaluated_with_its_plan(folder):
    (folder / "other.csv").write_text("age,sick,count\n0-19,no,400\n[20;40],yes,400\n")
    told = json.loads(
        call(
            *("evaluate", "other.csv", "people.csv", "--plan", "plan.yaml", "--json"),
            *("--test", "people.csv", "--task", "classification"),
        )
    )
    assert told["out"] == "other-evaluation"
    assert told["classification"]["release"]["boxes"]["tree"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["release", "people.csv", "-o", "release/owner"], ReleaseError, "others may see"),
        (["release", "people.csv", "--task", "itemsets"], SettingError, "not a task for a table"),
        (["people.csv", "people.csv"], SettingError, "does not name its domains"),
        (["nothing", "people.csv"], ReleaseError, "no such file or folder"),
    ],
)
def test_what_cannot_be_done_is_refused(folder, arguments, error, message):
    result = CliRunner().invoke(app, ["evaluate", *arguments])
    assert isinstance(result.exception, error)
    assert message in str(result.exception)
    assert not (folder / "release" / "owner").exists()


@pytest.mark.parametrize("command", ["evaluate", "generalise"])
def test_a_file_that_is_written_otherwise_asks_for_its_plan(folder, command):
    text = (folder / "people.csv").read_text(encoding="utf-8").replace(",", ";")
    (folder / "other.csv").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, [command, "release", "other.csv"])
    assert isinstance(result.exception, DataError)
    assert any("--plan plan.yaml" in note for note in result.exception.__notes__)
