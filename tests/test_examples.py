"""The examples run as they are, and say what they are there to show."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
import tempfile

import pytest

SAYS = {
    "hospital": r"foretold: feasible.*Differentially private with epsilon = 1\b.*\d+ groups",
    "transit": r"any one card .*Harbour > Market: [\d,]+ trips, ± \d+",
    "retail": r"any one customer .*bread and butter: [\d,]+ customers, ± \d+",
    "census": r"Female: 1\d,\d{3} ± \d+ .*refused: .*cap 1, spent 1",
    "scikit_learn": r"from the release: +8\d\.\d%.*from raw records: +8\d\.\d%",
    "spark_table": r"Differentially private with epsilon = 1\b.*counted by spark",
}
SLOW = {"spark_table"}
NOTEBOOKS = ("first_release", "reading_a_release")


@pytest.fixture
def examples(root, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(root / "examples"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return root / "examples"


@pytest.mark.parametrize("name", sorted(set(SAYS) - SLOW))
def test_an_example_shows_what_it_is_for(name, examples, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(tmp_path / "made")])
    runpy.run_path(str(examples / f"{name}.py"), run_name="__main__")
    assert re.search(SAYS[name], capsys.readouterr().out, re.DOTALL)
    assert list((tmp_path / "made").rglob("certificate.json"))


@pytest.mark.audit
def test_the_example_for_spark_shows_what_it_is_for(examples, tmp_path):
    if shutil.which("java") is None:
        pytest.skip("there is no Java, which Spark needs")
    command = [sys.executable, str(examples / "spark_table.py"), str(tmp_path / "made")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert re.search(SAYS["spark_table"], done.stdout, re.DOTALL)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_its_first_cell_to_its_last(name, examples):
    notebook = json.loads((examples / f"{name}.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in notebook["cells"]), "clear its outputs"
    names: dict[str, object] = {}
    for cell in cells:
        exec(compile(cell, f"{name}.ipynb", "exec"), names)
    assert names["release"].certificate.guarantee.private


def test_every_example_is_listed_and_run(examples):
    made = {path.stem for path in examples.glob("*.py")} - {"place"}
    assert made == set(SAYS)
    assert {path.stem for path in examples.glob("*.ipynb")} == set(NOTEBOOKS)
    text = (examples / "README.md").read_text(encoding="utf-8")
    for path in [*examples.glob("*.py"), *examples.glob("*.ipynb")]:
        assert f"({path.name})" in text or path.stem == "place", path.name
