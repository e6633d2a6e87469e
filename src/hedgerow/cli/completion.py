"""`hedgerow completion`: a script by which a shell completes commands and options.

The script holds all words itself, so that a key press starts no program.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import typer

Shell = Literal["bash", "zsh", "fish"]

_ENGINES = ("memory", "stream", "spark")


@dataclass(frozen=True, kw_only=True)
class CompletionWords:
    """What may follow the words of one command: commands with a line of help each, or options."""

    path: tuple[str, ...]
    commands: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...]


def completion_command(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.", show_choices=False)],
) -> None:
    """Print a script that completes commands, options and methods in a shell.

    Where to put it: for bash ~/.local/share/bash-completion/completions/hedgerow, for zsh a
    file _hedgerow in a folder of $fpath, for fish ~/.config/fish/completions/hedgerow.fish.

    Example: hedgerow completion fish > ~/.config/fish/completions/hedgerow.fish
    """
    sys.stdout.write(script(shell, context.find_root().command))


def script(shell: Shell, program: Any) -> str:
    """Return the script for a shell; ``program`` is the command of the whole program."""
    makers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    return makers[shell](command_words(program), _values())


def command_words(program: Any) -> list[CompletionWords]:
    """Return what may follow every command of the program, the program itself first."""
    found: list[CompletionWords] = []
    waiting: list[tuple[tuple[str, ...], Any]] = [((), program)]
    while waiting:
        path, command = waiting.pop(0)
        below = getattr(command, "commands", {})
        found.append(
            CompletionWords(
                path=path,
                commands=tuple((name, _line(each)) for name, each in below.items())
                or _arguments(path),
                options=(*_options(command), ("--help", "Show how it is used.")),
            )
        )
        waiting += [((*path, name), each) for name, each in below.items()]
    return found


def _arguments(path: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the words that a command takes, where they are few and known."""
    from hedgerow.plan.registry import METHODS

    known: dict[tuple[str, ...], tuple[str, ...]] = {
        ("methods",): tuple(METHODS),
        ("completion",): get_args(Shell),
    }
    return tuple((word, "") for word in known.get(path, ()))


def _line(command: Any) -> str:
    """Return the first sentence of a command's help."""
    text = " ".join((command.help or "").partition("\n\n")[0].split())
    return text.removesuffix(".")


def _options(command: Any) -> list[tuple[str, str]]:
    return [
        (name, " ".join((parameter.help or "").split()).removesuffix("."))
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--") and name != "--help"
    ]


def _values() -> dict[str, tuple[str, ...]]:
    """Return the values that some options take."""
    from hedgerow.plan.registry import METHODS

    return {"--method": tuple(METHODS), "--engine": _ENGINES}


def _bash(words: list[CompletionWords], values: dict[str, tuple[str, ...]]) -> str:
    known = "|".join(f'"{" ".join(each.path)}"' for each in words if each.path)
    cases = "\n".join(
        f'    "{" ".join(each.path)}")'
        f' commands="{_names(each.commands)}"; options="{_names(each.options)}" ;;'
        for each in words
    )
    given = "\n".join(f'    {key}) commands="{" ".join(of)}" ;;' for key, of in values.items())
    return f"""# bash completion for hedgerow
_hedgerow() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local path="" tried commands="" options="" at
  for ((at = 1; at < COMP_CWORD; at++)); do
    tried="${{path:+$path }}${{COMP_WORDS[at]}}"
    case "$tried" in {known}) path="$tried" ;; esac
  done
  case "$path" in
{cases}
  esac
  case "$before" in
{given}
    --*) [[ "$current" == -* ]] || commands="" ;;
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n "$commands" ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -F _hedgerow hedgerow
"""


def _zsh(words: list[CompletionWords], values: dict[str, tuple[str, ...]]) -> str:
    known = "|".join(f'"{" ".join(each.path)}"' for each in words if each.path)
    cases = "\n".join(
        f'    "{" ".join(each.path)}") commands=({_described(each.commands)})'
        f" options=({_described(each.options)}) ;;"
        for each in words
    )
    given = "\n".join(
        f"    {key}) compadd -- {' '.join(of)}; return ;;" for key, of in values.items()
    )
    return f"""#compdef hedgerow
_hedgerow() {{
  local line_path="" tried at
  local -a commands options
  for ((at = 2; at < CURRENT; at++)); do
    tried="${{line_path:+$line_path }}${{words[at]}}"
    case "$tried" in {known}) line_path="$tried" ;; esac
  done
  case "$line_path" in
{cases}
  esac
  case "${{words[CURRENT-1]}}" in
{given}
  esac
  if [[ "${{words[CURRENT]}}" == -* ]]; then
    _describe -o option options
  elif (( ${{#commands}} )); then
    _describe command commands
  else
    _files
  fi
}}
if [[ "${{funcstack[1]}}" == _hedgerow ]]; then _hedgerow "$@"; else compdef _hedgerow hedgerow; fi
"""


def _fish(words: list[CompletionWords], values: dict[str, tuple[str, ...]]) -> str:
    lines = ["# fish completion for hedgerow"]
    for each in words:
        where = _fish_place(each)
        lines += [
            f"complete -c hedgerow -f -n '{where}' -a {name} -d {_quoted(line)}"
            for name, line in each.commands
        ]
        for name, line in each.options:
            taken = f" -x -a '{' '.join(values[name])}'" if name in values else ""
            lines.append(
                f"complete -c hedgerow -n '{where}' -l {name.removeprefix('--')}{taken}"
                f" -d {_quoted(line)}"
            )
    return "\n".join(lines) + "\n"


def _fish_place(each: CompletionWords) -> str:
    """Return the condition that the line so far names this command, and none below it."""
    if not each.path:
        return "__fish_use_subcommand"
    seen = [f"__fish_seen_subcommand_from {name}" for name in each.path]
    if each.commands:
        below = _names(each.commands)
        seen.append(f"not __fish_seen_subcommand_from {below}")
    return "; and ".join(seen)


def _names(pairs: tuple[tuple[str, str], ...]) -> str:
    return " ".join(name for name, _ in pairs)


def _described(pairs: tuple[tuple[str, str], ...]) -> str:
    return " ".join(_quoted(f"{name}:{line.replace(':', ' -')}") for name, line in pairs)


def _quoted(text: str) -> str:
    """Return a text in single quotes, as all three shells read it."""
    return "'" + text.replace("\\", "/").replace("'", "’") + "'"
