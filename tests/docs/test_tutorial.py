"""The tutorial, typed as it is written: every command ends well, and its files are there."""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys

import pytest

from hedgerow.cli.main import main

BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)


def steps(text: str) -> list[tuple[str, str]]:
    """The commands and the Python of the page, in their order."""
    found: list[tuple[str, str]] = []
    for kind, body in BLOCK.findall(text):
        if kind == "python":
            found.append((kind, body))
        else:
            lines = [line for line in body.splitlines() if line.startswith("$ ")]
            assert lines == body.splitlines(), "a console block holds commands alone"
            found += [(kind, line.removeprefix("$ ")) for line in lines]
    return found


def typed(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what a shell would do with one line; hedgerow runs in this process, which spares time."""
    words = shlex.split(line)
    if words[0] == "cd":
        monkeypatch.chdir(words[1])
    elif words[0] == "hedgerow":
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None), line
    else:
        subprocess.run(["bash", "-euc", line], check=True, capture_output=True)


def test_the_tutorial_goes_from_a_hospital_s_file_to_a_report(root, tmp_path, monkeypatch, capsys):
    text = (root / "docs" / "tutorial.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for kind, step in steps(text):
        if kind == "python":
            exec(step, names)
        else:
            typed(step, monkeypatch)
    clinic = tmp_path / "clinic"
    for name in (
        "release/report.html",
        "release/dictionary.csv",
        "release/records.csv",
        "evaluation/evaluation.html",
        "grouped.csv",
    ):
        assert (clinic / name).is_file(), name
    certificate = json.loads((clinic / "release" / "certificate.json").read_text(encoding="utf-8"))
    assert certificate["guarantee"]["private"] is True
    assert certificate["approved"]["by"] == "A. Muster, data protection"
    kept = {each["name"] for each in certificate["data"]["attributes"]}
    assert {"sex", "ward", "diagnosis", "height", "cost", "returned"} <= kept
    with (clinic / "release" / "release.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) > 20
    assert "patients" in capsys.readouterr().out
    assert hasattr(names["model"], "predict")


def test_the_tutorial_s_readme_steps_are_those_of_the_readme(root):
    tutorial = (root / "docs" / "tutorial.md").read_text(encoding="utf-8")
    readme = (root / "README.md").read_text(encoding="utf-8")
    verbs = set(re.findall(r"^\$ hedgerow (\w+)", readme, flags=re.MULTILINE)) - {"compare"}
    assert verbs <= set(re.findall(r"^\$ hedgerow (\w+)", tutorial, flags=re.MULTILINE))
    assert "docs/tutorial.md" in readme


def test_the_hospital_is_the_same_each_time_and_as_hospitals_write(tmp_path):
    from hedgerow.demo.hospital import write_hospital
    from hedgerow.errors import ReleaseError

    one, two = (write_hospital(tmp_path / name, n=500) for name in "ab")
    assert one.read_bytes() == two.read_bytes()
    text = one.read_text(encoding="utf-8")
    assert "unbekannt" in text
    assert re.search(r";\d\.\d{3},\d\d;", text)
    with pytest.raises(ReleaseError, match="exists"):
        write_hospital(tmp_path / "a", n=5)
