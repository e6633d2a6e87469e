"""`-o -` is standard output, and never a file or a folder called '-'."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.errors import SettingError
from hedgerow.ledger.ledger import Ledger
from support.disclosure_tables import patients, plan

FOLDERS = [
    ["publish", "plan.yaml"],
    ["disclose", "plan.yaml"],
    ["evaluate", "release", "data.csv"],
    ["compare", "release", "--data", "data.csv"],
    ["recover", ".release.partial-1"],
    ["demo"],
    ["audit"],
    ["docs"],
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))
    return tmp_path


def printed(*given: str) -> str:
    result = CliRunner().invoke(app, list(given), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_a_file_goes_to_standard_output(folder):
    Ledger().open_dataset("adult", 4)
    given = {**plan(), "protects": "records", "publish": {"method": "hedge", "epsilon": 4}}
    hedgerow.publish(given, data=patients(500), out="release", seed=1)
    before = sorted(folder.iterdir())
    exported = printed("ledger", "export", "-o", "-")
    assert json.loads(exported)["datasets"][0]["dataset"] == "adult"
    assert exported == printed("ledger", "export")
    tree = "taxonomy build numeric --low 0 --high 3 --width 2 -o -"
    assert printed(*tree.split()).startswith("0;")
    assert len(printed("draw", "release", "-o", "-").splitlines()) > 100
    described = printed("certificate", "release", "--as", "croissant", "-o", "-")
    assert "@context" in json.loads(described)
    with pytest.raises(SettingError, match="does not end in"):  # its rows are confidential
        printed("generalise", "release", "data.csv", "-o", "-")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("command", FOLDERS, ids=lambda command: command[0])
def test_a_folder_does_not_go_to_standard_output(command, folder):
    with pytest.raises(SettingError, match="A folder cannot be written to standard output"):
        printed(*command, "-o", "-")
    assert not list(folder.iterdir())
