"""`hedgerow completion`: every command and option, in scripts that the shells can read."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from hedgerow.cli.completion import command_words, script
from hedgerow.cli.main import make_app
from hedgerow.plan.registry import METHODS

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    return {shell: script(shell, get_command(make_app())) for shell in SHELLS}


def test_every_command_and_every_option_is_in_every_script(scripts):
    words = command_words(get_command(make_app()))
    assert ("ledger", "show") in {each.path for each in words}
    for text in scripts.values():
        for each in words:
            for name, _ in (*each.commands, *each.options):
                assert name.removeprefix("--") in text
        assert all(name in text for name in METHODS)


def test_settings_of_methods_are_completed():
    publish = next(
        each for each in command_words(get_command(make_app())) if each.path == ("publish",)
    )
    assert {"--epsilon", "--records", "--faithful"} <= {name for name, _ in publish.options}


def test_the_command_prints_it_and_refuses_other_shells(scripts):
    runner = CliRunner()
    assert runner.invoke(make_app(), ["completion", "fish"]).output == scripts["fish"]
    assert runner.invoke(make_app(), ["completion", "tcsh"]).exit_code == 2


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_its_script(shell, scripts, tmp_path):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(scripts[shell], encoding="utf-8")
    done = subprocess.run([program, "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["hedgerow", "gen"], ["generalise"]),
        (["hedgerow", "ledger", "sh"], ["show"]),
        (["hedgerow", "publish", "plan.yaml", "--eps"], ["--epsilon"]),
        (["hedgerow", "publish", "--method", "hed"], ["hedge"]),
        (["hedgerow", "methods", "weav"], ["weave"]),
        (["hedgerow", "publish", "ledger-f"], ["ledger-file"]),
    ],
)
def test_bash_completes(line, expected, scripts, tmp_path):
    program = shutil.which("bash")
    if program is None:
        pytest.skip("bash is not installed")
    (tmp_path / "ledger-file").touch()
    words = " ".join(f'"{word}"' for word in line)
    run = (
        f"{scripts['bash']}\nCOMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _hedgerow;"
        ' printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [program, "-c", run], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == expected
