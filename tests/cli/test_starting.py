"""The command starts by either name, and an interrupt ends it without a traceback."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

INTERRUPTED_AT = """
import os, runpy, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
sys.argv = ["hedgerow", *{arguments!r}]
from hedgerow.__main__ import start
start()
"""


def ended(*command):
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize(
    "name",
    ["hedgerow.cli", "hedgerow.cli.main", "typer", "hedgerow.errors", "hedgerow.cli.verify"],
)
def test_an_interrupt_while_modules_are_loaded_is_one_line(name):
    done = ended("-c", INTERRUPTED_AT.format(name=name, arguments=["--version"]))
    assert done.returncode == 130, done.stderr
    assert done.stderr == "interrupted\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("name", ["numpy", "pyarrow", "hedgerow.drafting.compose"])
def test_an_interrupt_while_a_command_loads_what_it_needs_is_one_line(name, tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("age,job\n1,a\n2,b\n")
    arguments = ["draft", str(data), "-o", str(tmp_path / "plan.yaml")]
    done = ended("-c", INTERRUPTED_AT.format(name=name, arguments=arguments))
    assert done.returncode == 130, done.stderr
    assert done.stderr == "interrupted\n"


def test_the_package_runs_as_a_module():
    done = ended("-m", "hedgerow", "--version")
    assert done.returncode == 0
    assert done.stdout.startswith("hedgerow ")
    assert "Usage: python -m hedgerow " in ended("-m", "hedgerow", "--help").stdout


def test_the_command_and_the_module_start_alike(root):
    facts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert facts["project"]["scripts"] == {"hedgerow": "hedgerow.__main__:start"}
