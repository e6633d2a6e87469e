"""Messages are sentences, and lines of help are in the imperative.

``tools/messages.py`` collects the messages from the source.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from typer.main import get_command

from hedgerow.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from messages import Message, error_makers, messages, messages_in  # noqa: E402

ENOUGH = 1_200
"""Fewer messages would mean that they are no longer found."""

EXCEPTIONS = {
    "src/hedgerow/count/spark/workers.py: Attribute {}: {}": "The second value is a sentence.",
    "src/hedgerow/count/spark/people.py: Attribute {}: {}": "The second value is a sentence.",
}

VERBS = frozenset(
    [
        "accept",
        "begin",
        "end",
        "mask",
        "place",
        "resume",
        "spend",
        "add",
        "allow",
        "answer",
        "apply",
        "approve",
        "ask",
        "assume",
        "attack",
        "book",
        "build",
        "cap",
        "change",
        "check",
        "choose",
        "compare",
        "complete",
        "compute",
        "confirm",
        "connect",
        "convert",
        "copy",
        "count",
        "describe",
        "disclose",
        "dissolve",
        "draw",
        "edit",
        "estimate",
        "evaluate",
        "explain",
        "export",
        "finish",
        "forecast",
        "generalise",
        "give",
        "group",
        "identify",
        "keep",
        "label",
        "limit",
        "list",
        "listen",
        "look",
        "make",
        "measure",
        "merge",
        "move",
        "name",
        "open",
        "order",
        "print",
        "propose",
        "protect",
        "publish",
        "put",
        "read",
        "recover",
        "refuse",
        "remove",
        "rename",
        "repeat",
        "replace",
        "restore",
        "round",
        "run",
        "say",
        "set",
        "share",
        "show",
        "sign",
        "split",
        "start",
        "state",
        "stop",
        "take",
        "test",
        "treat",
        "try",
        "use",
        "verify",
        "withdraw",
        "work",
        "write",
    ]
)


@pytest.fixture(scope="module")
def found() -> list[Message]:
    return list(messages())


def _key(message: Message) -> str:
    return f"{message.file}: {' '.join(message.text.replace(chr(0), '{}').split())}"


def test_every_message_begins_with_a_capital_and_ends_with_a_full_stop(
    found: list[Message],
) -> None:
    assert len(found) > ENOUGH
    rest = [str(each) for each in found if each.fault is not None and _key(each) not in EXCEPTIONS]
    assert not rest, "\n".join(rest)


def test_exceptions_are_used(found: list[Message]) -> None:
    assert set(EXCEPTIONS) <= {_key(each) for each in found if each.fault is not None}


@pytest.mark.parametrize(
    "source",
    [
        'raise PlanError("the file is empty.", where="x")',
        'raise PlanError("The file is empty", where="x")',
        'raise PlanError(f"{name} is empty")',
        'raise DataError("The file is empty." if full else "the file is there.")',
        'error = LedgerError(what="nothing was booked.")',
        'raise TaxonomyError("The file is empty.", do="give another.")',
        'raise mistake("The list is empty.", "list a value.")',
        'def no(what, do):\n    return PlanError(what, do=do)\nraise no("it is empty.", "Go.")',
        'class E(PlanError): ...\nraise PlanError("The file " "is empty")',
        'error.add_note("a person may have several records.")',
    ],
)
def test_a_message_that_is_no_sentence_is_found(source: str) -> None:
    every = list(messages_in(source, file="a.py", makers=error_makers()))
    assert [each for each in every if each.fault is not None]


@pytest.mark.parametrize(
    "source",
    [
        'raise PlanError("The file is empty.", where="x", do="Write a line.")',
        'raise PlanError(f"{name!r} is empty.", do="Go on with: hedgerow recover FOLDER")',
        'raise ValueError("an event is not a mapping")',
        'raise PlanError(text, where="the file")',
        'raise PlanError("Is it empty?", do=f"Give {allowed}.")',
    ],
)
def test_a_sentence_is_no_finding(source: str) -> None:
    every = messages_in(source, file="a.py", makers=error_makers())
    assert [each for each in every if each.fault is not None] == []


def _help_lines(command: click.Command, words: str) -> Iterator[tuple[str, str]]:
    """Yield the first line of help of a command, its options and its subcommands."""
    yield words, (command.help or "").strip().partition("\n")[0]
    for option in command.params:
        if option.param_type_name == "option" and not getattr(option, "hidden", False):
            yield f"{words} {option.opts[0]}", getattr(option, "help", "") or ""
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        if not inner.hidden:
            yield from _help_lines(inner, f"{words} {name}")


def test_every_line_of_help_begins_with_a_verb_in_the_imperative() -> None:
    lines = dict(_help_lines(get_command(app), "hedgerow"))
    assert len(lines) > 300
    wrong = [
        f"{words}: {text}"
        for words, text in lines.items()
        if (text.split() or [""])[0].lower().strip(",.:") not in VERBS
    ]
    assert not wrong, "\n".join(wrong)


def test_every_line_of_help_begins_with_a_capital_and_ends_with_a_full_stop() -> None:
    lines = _help_lines(get_command(app), "hedgerow")
    wrong = [
        f"{words}: {text}"
        for words, text in lines
        if text[:1].islower() or not text.rstrip().endswith((".", "]"))
    ]
    assert not wrong, "\n".join(wrong)
