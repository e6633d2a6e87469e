"""Former names of options: they work, with a notice on stderr, until version 0.3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

REMOVED_IN = "0.3"

_OUT = {"--output": "--out"}
_REASON = {"--why": "--reason"}
_HISTORY = {"--memory": "--history"}

FORMER: Mapping[str, Mapping[str, str]] = {
    "attack": {"--most-records": "--max-records"},
    "audit": {"--people": "--per-person"},
    "certificate": _OUT,
    "check": {"--version": "--draw-by"},
    "compare": {"--pairs": "--write-pairs"},
    "confirm": _REASON,
    "disclose": {"--key": "--record-id", **_HISTORY},
    "draft": {"--record": "--record-id", **_OUT},
    "draw": _OUT,
    "explain": {"--record": "--row"},
    "generalise": _OUT,
    "given show": _HISTORY,
    "given withdraw": {**_HISTORY, **_REASON},
    "ledger different": _REASON,
    "ledger export": _OUT,
    "ledger neighbours": _REASON,
    "ledger new-key": _REASON,
    "ledger plan": {"--for": "--duration", "--epsilon": "--cap"},
    "ledger restored": _REASON,
    "publish": {
        "--records": "--write-records",
        "--sign": "--signing-key",
        "--version": "--draw-by",
    },
    "risk": {"--most-sets": "--max-sets"},
    "sign": {"--key": "--signing-key"},
    "taxonomy build context-free": _OUT,
    "taxonomy build dates": _OUT,
    "taxonomy build flat": _OUT,
    "taxonomy build numeric": _OUT,
    "taxonomy build prefix": _OUT,
    "taxonomy check": {"--from": "--input-format"},
    "taxonomy convert": {"--from": "--input-format", "--to": "--format"},
    "taxonomy edit add": {"--to": "--into"},
    "taxonomy edit move": {"--to": "--into"},
    "taxonomy show": {
        "--from": "--input-format",
        "--depth": "--max-depth",
        "--width": "--max-children",
    },
    "verify": {"--key": "--public-key"},
}
"""Former and present names of options, by command."""


class HedgerowCommand(TyperCommand):
    """A command that also takes the former names of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command, with present names in place of former ones."""
        former = FORMER.get(" ".join(_path(ctx)), {})
        return super().parse_args(ctx, list(present_names(args, former, notice=_notice)))


def present_names(
    words: Sequence[str], former: Mapping[str, str], *, notice: Callable[[str, str], None]
) -> Iterator[str]:
    """Yield the words with present names of options; ``notice`` gets each pair of names.

    >>> list(present_names(["--why=trial", "--", "--why"], _REASON, notice=print))
    --why --reason
    ['--reason=trial', '--', '--why']
    """
    for at, word in enumerate(words):
        if word == "--":
            yield from words[at:]
            return
        name, equals, value = word.partition("=")
        if name in former:
            notice(name, former[name])
            yield former[name] + equals + value
        else:
            yield word


def use_present_names(app: typer.Typer) -> None:
    """Let every command of a program take the former names of its options."""
    for command in app.registered_commands:
        if command.cls in (None, TyperCommand):
            command.cls = HedgerowCommand
    for group in app.registered_groups:
        if group.typer_instance is not None:
            use_present_names(group.typer_instance)


def _path(context: Any) -> list[str]:
    """Return the names of a command and of the groups that it is in."""
    if context.parent is None:
        return []
    return [*_path(context.parent), str(context.info_name)]


def _notice(old: str, new: str) -> None:
    typer.echo(f"note: {old} is now {new}; the old name works until {REMOVED_IN}", err=True)
