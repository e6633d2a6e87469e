"""`hedgerow completion`: print the script with which a shell completes words, by Typer."""

from __future__ import annotations

import os
from typing import Annotated, Literal, TypeAlias

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer

Shell: TypeAlias = Literal["bash", "zsh", "fish", "powershell"]

VARIABLE = "_HEDGEROW_COMPLETE"
"""Environment variable by which a shell asks for completions."""


def completion_command(
    shell: Annotated[
        Shell, typer.Argument(help="bash, zsh, fish or powershell.", show_choices=False)
    ],
    *,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Print a script that completes commands, options and methods in a shell.

    Save it as ~/.local/share/bash-completion/completions/hedgerow for bash, as _hedgerow in a
    folder of $fpath for zsh, and as ~/.config/fish/completions/hedgerow.fish for fish.

    Example: hedgerow completion fish > ~/.config/fish/completions/hedgerow.fish
    """
    from typer._completion_shared import get_completion_script

    text = get_completion_script(prog_name="hedgerow", complete_var=VARIABLE, shell=shell)
    result = {"shell": shell, "script": text}
    answer(result, as_json=as_json, show=lambda: typer.echo(text))


def words_to_complete() -> list[str] | None:
    """Return the words of a line that a shell asks to complete; ``None`` for a normal run."""
    if VARIABLE not in os.environ:
        return None
    from typer._completion_classes import completion_init

    completion_init()
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()
