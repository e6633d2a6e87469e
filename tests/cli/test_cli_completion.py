"""`hedgerow completion`: the shells read Typer's scripts, and words are completed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hedgerow.cli.completion import VARIABLE
from hedgerow.cli.main import make_app

SHELLS = ("bash", "zsh", "fish")
PROGRAM = Path(sys.executable).with_name("hedgerow")


def script(shell: str) -> str:
    result = CliRunner().invoke(make_app(), ["completion", shell])
    assert result.exit_code == 0
    return result.stdout


def completed(*words: str) -> list[str]:
    environment = {
        **os.environ,
        VARIABLE: "complete_bash",
        "COMP_WORDS": " ".join(("hedgerow", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [PROGRAM], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_the_command_prints_a_script_and_refuses_other_shells():
    assert VARIABLE in script("fish")
    shown = CliRunner().invoke(make_app(), ["completion", "fish", "--json"]).stdout
    assert json.loads(shown)["script"] == script("fish").removesuffix("\n")
    assert CliRunner().invoke(make_app(), ["completion", "tcsh"]).exit_code == 2


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_its_script(shell, tmp_path):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script(shell), encoding="utf-8")
    done = subprocess.run([program, "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["gen"], ["generalise"]),
        (["ledger", "sh"], ["show"]),
        (["publish", "plan.yaml", "--eps"], ["--epsilon"]),
        (["publish", "plan.yaml", "--leaf"], ["--leaf-table"]),
        (["publish", "plan.yaml", "--method", "hed"], ["hedge"]),
        (["publish", "plan.yaml", "--engine", "st"], ["stream"]),
        (["disclose", "plan.yaml", "--record"], ["--record-id"]),
        (["disclose", "plan.yaml", "--method", "bt"], ["btda"]),
        (["methods", "weav"], ["weave"]),
        (["audit", "hedge", "chai"], ["chain"]),
        (["taxonomy", "build", "num"], ["numeric"]),
        (["verify", "release", "--key"], []),  # a former name is not proposed
    ],
    ids=" ".join,
)
def test_words_are_completed(words, expected):
    assert completed(*words) == expected


def test_bash_completes_by_the_script(tmp_path):
    program = shutil.which("bash")
    if program is None:
        pytest.skip("bash is not installed")
    run = (
        f"{script('bash')}\nCOMP_WORDS=(hedgerow conf); COMP_CWORD=1;"
        ' _hedgerow_completion hedgerow; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [program, "-c", run],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": path},
    )
    assert done.stdout.split() == ["confirm"]
