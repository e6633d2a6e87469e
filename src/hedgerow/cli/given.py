"""`hedgerow given`: what was given to whom by `hedgerow disclose`, for the owner of the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say

if TYPE_CHECKING:
    from hedgerow.disclosure.memory_file import MemoryFile
    from hedgerow.disclosure.recipient import PastDisclosure

app = typer.Typer(
    name="given",
    help="See which records were disclosed to whom, and take back what never reached them.",
    no_args_is_help=True,
)

PlanArgument = Annotated[Path, typer.Argument(help="The plan file whose records were disclosed.")]
MemoryOption = Annotated[
    Path | None,
    typer.Option("--memory", help="The file that remembers, if the plan does not name it."),
]


@app.command("show")
def show_given(
    plan: PlanArgument,
    *,
    memory: MemoryOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show every disclosure that names a recipient, after checking that nothing was changed.

    Example: hedgerow given show plan.yaml
    """
    from hedgerow.disclosure.recipient import everything_given

    file = _memory(plan, memory)
    found = everything_given(file)
    told = {"memory": str(file.path), "given": [each.as_dict() for each in found]}
    answer(told, as_json=json_, show=lambda: None if quiet else _show(file, found))


@app.command("withdraw")
def withdraw_disclosure(
    plan: PlanArgument,
    number: Annotated[int, typer.Argument(min=1, help="The number that 'given show' tells.")],
    *,
    why: Annotated[str, typer.Option("--why", help="Why, and who says so; kept for good.")],
    memory: MemoryOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say that a disclosure never reached its recipient, so that it no longer counts.

    Only for what did not leave the house: a trial, or a run that failed. What somebody has
    seen cannot be taken back, and would be missing from the risk of all that follows.

    Example: hedgerow given withdraw plan.yaml 3 --why "trial, deleted; A. Keeper"
    """
    from hedgerow.disclosure.recipient import withdraw_given

    file = _memory(plan, memory)
    taken = withdraw_given(file, number, why=why)
    told = {"memory": str(file.path), "withdrawn": number, "recipient": taken.recipient}
    words = f"Disclosure {number} no longer counts."
    answer(told, as_json=json_, show=lambda: None if quiet else say(words))


def _memory(plan: Path, memory: Path | None) -> MemoryFile:
    from hedgerow.disclosure.memory_file import MemoryFile
    from hedgerow.disclosure.recipient import memory_of
    from hedgerow.plan.load import load_plan

    return memory_of(load_plan(plan)) if memory is None else MemoryFile(memory)


def _show(file: MemoryFile, found: list[PastDisclosure]) -> None:
    from rich.markup import escape
    from rich.table import Table

    if not found:
        say(f"Nothing is remembered in {escape(str(file.path))}.")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("number", "day", "recipient", "records", "state", "folder"):
        table.add_column(title, justify="right" if title in ("number", "records") else "left")
    for each in found:
        texts = (each.at[:10], each.recipient, f"{each.n_records:,}", each.state, each.folder or "")
        table.add_row(str(each.number), *map(escape, texts))
    say(table)
