"""The papers on the command line: what is listed, run, skipped and refused."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from hedgerow.errors import InputError, SettingError


def call(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_figures_are_listed_with_what_they_lack(tmp_path):
    told = json.loads(call("list", "--data", tmp_path, "--json"))["figures"]
    by_id = {figure["id"]: figure for figure in told}
    assert len(by_id) == 24
    assert by_id["diffgen-3a"]["lacks"] == []
    assert by_id["aruba-7"]["lacks"] == ["diabetes-130/diabetic_data.csv.gz"]
    shown = call("list", "--data", tmp_path)
    assert "diffmulti-rps" in shown
    assert "lacks" in shown


@pytest.mark.audit  # five seconds; figures themselves are run beside it
def test_a_figure_is_run_and_told_with_its_verdicts(tmp_path):
    told = json.loads(call("run", "diffgen-5", "--quick", "-o", tmp_path, "--json"))
    (figure,) = told["figures"]
    assert figure["id"] == "diffgen-5"
    assert figure["quick"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "diffgen-5.json",
        "diffgen-5.svg",
        "runs",
    }
    before = (tmp_path / "runs" / "diffgen-5.quick.jsonl").read_text(encoding="utf-8")
    shown = call("run", "diffgen-5", "--quick", "-o", tmp_path)
    assert "All the previous experiments can finish" in shown
    assert (tmp_path / "runs" / "diffgen-5.quick.jsonl").read_text(encoding="utf-8") == before
    call("run", "diffgen-5", "--quick", "-o", tmp_path, "--fresh", "--quiet")
    assert (tmp_path / "runs" / "diffgen-5.quick.jsonl").read_text(encoding="utf-8") != before


def test_a_figure_without_its_data_is_skipped_and_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    shown = call("run", "aruba", "--quick", "--data", tmp_path / "data", "-o", "out")
    assert "aruba-7 skipped: its data are absent (diabetes-130/diabetic_data.csv.gz)" in shown
    told = json.loads(call("run", "aruba-9", "--quick", "-o", "out", "--json"))
    assert told["figures"] == []
    assert told["skipped"] == [{"id": "aruba-9", "lacks": ["diabetes-130/diabetic_data.csv.gz"]}]


def test_the_data_folder_may_come_from_the_environment(tmp_path, monkeypatch):
    (tmp_path / "diabetes-130").mkdir()
    (tmp_path / "diabetes-130" / "diabetic_data.csv.gz").touch()
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    told = json.loads(call("list", "--json"))["figures"]
    assert {figure["id"]: figure["lacks"] for figure in told}["tkde-3"] == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["diffgen-99"], SettingError),
        (["diffgen-5", "--data", "nowhere"], InputError),
        (["diffgen-5", "-o", "file"], InputError),
    ],
    ids=["no such figure", "no such data", "no such folder"],
)
def test_what_cannot_be_run_is_refused(tmp_path, monkeypatch, arguments, error):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(error):
        CliRunner().invoke(app, ["run", *arguments, "--quick"], catch_exceptions=False)
