"""Write the reference of the command line, docs/cli.md, from the program itself.

Run as ``python tools/cli_reference.py > docs/cli.md``.
"""

from __future__ import annotations

import sys

from typer.main import get_command
from typer.testing import CliRunner

from hedgerow.cli.main import app

HEAD = """# The command line

This page is made from the program's own help by `tools/cli_reference.py`.

Every command takes `--json` and `--quiet`; progress goes to stderr. Exit codes:
0 done; 1 the answer is no (a check finds the release infeasible); 2 bad input or usage, with
one message; 3 refused for privacy (over the cap, unconfirmed or changed plan); 70 internal
error; 130 interrupted and 143 terminated, after unfinished work is undone. Former names of
options work, with a notice on stderr, until version 0.3.
"""


def pages() -> list[tuple[str, ...]]:
    """Return every command's words, groups before their commands."""
    root = get_command(app)
    found: list[tuple[str, ...]] = [()]
    for name, command in sorted(root.commands.items()):  # type: ignore[attr-defined]
        found.append((name,))
        found += [(name, sub) for sub in sorted(getattr(command, "commands", {}))]
    return found


def reference() -> str:
    """Return the page."""
    runner = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})
    parts = [HEAD]
    for words in pages():
        shown = runner.invoke(app, [*words, "--help"], prog_name="hedgerow").output
        text = "\n".join(line.rstrip() for line in shown.strip().splitlines())
        parts.append(f"## `{' '.join(('hedgerow', *words))}`\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(reference())
