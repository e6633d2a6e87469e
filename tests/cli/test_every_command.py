"""Every command has --json, --quiet and an example, and answers bad input alike."""

from __future__ import annotations

import json
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from hedgerow.cli.main import main, make_app

APP = make_app()

WITHOUT_INPUT = {
    "audit": "runs on simulated tables",
    "completion": "prints a script",
    "demo": "uses bundled data",
    "docs": "uses bundled pages",
    "ledger export": "uses the default ledger",
    "ledger plan": "only computes",
    "ledger verify": "uses the default ledger",
    "ledger show": "uses the default ledger",
    "methods": "lists what is bundled",
    "taxonomy list": "lists what is bundled",
    "taxonomy build context-free": "builds from values",
    "taxonomy build flat": "builds from values",
    "taxonomy build prefix": "builds from values",
    "signing-key": "makes a new file",
    "studio": "serves pages until it is stopped",
}
"""Commands that no missing file can stop, with the reason."""

WORDS = {"number": "1", "whose": "record", "every": "month", "as": "registry", "epsilon": "1"}
"""Words for parameters that are not files and names."""


def commands() -> dict[str, object]:
    found = {}
    waiting = [((), get_command(APP))]
    while waiting:
        path, command = waiting.pop()
        below = getattr(command, "commands", {})
        waiting += [((*path, name), sub) for name, sub in below.items()]
        if not below:
            found[" ".join(path)] = command
    return dict(sorted(found.items()))


COMMANDS = commands()

REFUSED = {"compare": "plans, which it takes files for, are not run on confidential data"}
"""Commands that refuse such words for privacy, with exit code 3."""


def words_for(command) -> list[str]:
    """A word for every parameter that is required; no file of that name exists."""
    words = []
    for each in command.params:
        if not each.required:
            continue
        value = WORDS.get(each.name, "nowhere.csv")
        words += [value] if each.param_type_name == "argument" else [each.opts[0], value]
    return words


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_json_quiet_and_an_example(name):
    options = {opt for each in COMMANDS[name].params for opt in each.opts}
    assert {"--json", "--quiet", "-q"} <= options
    shown = " ".join(CliRunner().invoke(APP, [*name.split(), "--help"]).output.split())
    assert f"Example: hedgerow {name}" in shown


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - set(WITHOUT_INPUT)))
def test_bad_input_is_one_document_and_an_exit_code(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [*name.split(), *words_for(COMMANDS[name]), "--json"]
    monkeypatch.setattr(sys, "argv", ["hedgerow", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    code = 3 if name in REFUSED else 2
    assert (ended.value.code, shown.err) == (code, "")
    answer = json.loads(shown.out)
    assert answer["exit-code"] == code
    assert answer["error"]["what"]
    assert answer["error"]["do"]


def test_the_exceptions_are_commands():
    assert set(WITHOUT_INPUT) <= set(COMMANDS)
