"""The how-to guides, typed as they are written, and every command that a page shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer

from hedgerow.cli.main import app, main

BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
PLAN = re.compile(r"# ([\w.-]+\.yaml)\n")


def steps(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the steps of a page: a plan with its name, or a line to type and what it prints."""
    for kind, body in BLOCK.findall(text):
        if kind == "yaml" and (name := PLAN.match(body)):
            yield "plan", name[1], body
        elif kind == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                line, _, printed = part.partition("\n")
                yield "line", line, printed


def typed(line: str, printed: str, monkeypatch, capsys) -> None:
    """Type a line; hedgerow runs in this process, and what it prints must be as the page says."""
    words = shlex.split(line)
    if words[0] == "cd":
        monkeypatch.chdir(words[1])
        return
    assert words[0] == "hedgerow", line
    if "spark" in words:  # in a process of its own, so that no session stays behind
        subprocess.run([sys.executable, "-m", "hedgerow", *words[1:]], check=True)
        return
    monkeypatch.setattr(sys, "argv", words)
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    refused = printed.startswith("error:")
    said = "".join(capsys.readouterr())
    assert bool(ended.value.code) == refused, f"{line}\n{said}"
    assert " ".join(printed.split()) in " ".join(said.split()), line


def follow(page: Path, monkeypatch, capsys) -> None:
    """Do all steps of a page in the present folder."""
    for kind, what, rest in steps(page.read_text(encoding="utf-8")):
        if kind == "plan":
            Path(what).write_text(rest, encoding="utf-8")
        else:
            typed(what, rest, monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_departments_publish_and_the_third_release_is_refused(
    root, folder, monkeypatch, capsys
):
    follow(root / "docs" / "how-to" / "two-departments.md", monkeypatch, capsys)
    assert {"release-work", "release-home"} <= {path.name for path in Path().iterdir()}
    assert not Path("release-again").exists()


def test_a_reviewer_is_answered_with_attacks_of_the_demonstration(
    root, folder, monkeypatch, capsys
):
    follow(root / "docs" / "how-to" / "answer-a-reviewer.md", monkeypatch, capsys)
    assert Path("release-attack/attack.html").is_file()


def test_a_table_is_published_with_the_engine_of_a_cluster(root, folder, monkeypatch, capfd):
    if shutil.which("java") is None:
        pytest.skip("there is no Java: install it to publish with Spark")
    pytest.importorskip("pyspark")
    follow(root / "docs" / "how-to" / "spark.md", monkeypatch, capfd)
    certificate = Path("release-spark/certificate.json").read_text(encoding="utf-8")
    assert '"spark"' in certificate


def test_a_plan_for_every_month_is_signed_once_and_published(root, folder, monkeypatch, capsys):
    rng = np.random.default_rng(7)
    n = 6_000
    pl.DataFrame(
        {
            "patient_id": rng.integers(0, 3_000, n),
            "age": rng.integers(0, 100, n),
            "ward": rng.choice(["A", "B"], n),
            "admitted": rng.choice(["2026-09-03", "2026-10-14"], n),
        }
    ).write_csv("visits.csv")
    page = root / "docs" / "how-to" / "every-month.md"
    (lines,) = re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    Path("plan.yaml").write_text(
        "data: visits.csv\nrecords: 6000\nattributes:\n"
        "  age: {numeric: [0, 99], source: data}\n"
        "  ward: {values: [A, B], source: data}\n"
        "  admitted:\n"
        "    date: {from: 2026-01-01, to: 2030-12-31, step: month}\n"
        "    source: data\n"
        f"{lines}",
        encoding="utf-8",
    )
    follow(page, monkeypatch, capsys)
    assert Path("release-2026-10/report.html").is_file()


def commands(page: Path) -> list[str]:
    """Return the lines of a page that call hedgerow; a line may go on after a backslash."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(r"^(?:> )?\$ (hedgerow(?: .*)?)$", text, flags=re.MULTILINE)


def accepted(line: str) -> None:
    """Find the command of a line, and each of its options."""
    command = typer.main.get_command(app)
    words = shlex.split(line, comments=True)[1:]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    if hasattr(command, "commands"):
        assert not words or words[0].startswith("-"), f"{line}: {words[0]} is not a command"
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    for word in words:
        if re.match(r"--?[a-z]", word) and word not in ("-h", "--help"):
            assert word.partition("=")[0] in known, f"{line}: {word} is not an option"


def test_every_command_on_a_page_exists_with_its_options(root):
    pages = [*(root / "docs").rglob("*.md"), root / "README.md", root / "examples" / "README.md"]
    lines = {line: page.name for page in pages for line in commands(page)}
    assert len(lines) > 50
    for line in lines:
        accepted(line)


def test_an_option_that_does_not_exist_is_noticed():
    with pytest.raises(AssertionError, match="is not an option"):
        accepted("hedgerow verify release --speedily")
    with pytest.raises(AssertionError, match="is not a command"):
        accepted("hedgerow publsh plan.yaml")
