"""`hedgerow given`: the history of disclosures to recipients, for the data owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say
from hedgerow.cli.options import HistoryOption, PlanArgument, ReasonOption

if TYPE_CHECKING:
    from hedgerow.disclosure.memory_file import MemoryFile
    from hedgerow.disclosure.recipient import PastDisclosure

app = typer.Typer(
    name="given",
    help="Show the disclosures to each recipient, or withdraw one that was never handed over.",
    no_args_is_help=True,
)


@app.command("show")
def show_given(
    plan: PlanArgument,
    *,
    history: HistoryOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show all disclosures to named recipients, after verifying the history.

    Example: hedgerow given show plan.yaml
    """
    from hedgerow.disclosure.recipient import everything_given

    file = _history(plan, history)
    found = everything_given(file)
    facts = {"memory": str(file.path), "given": [each.as_dict() for each in found]}
    answer(facts, as_json=json_, show=lambda: None if quiet else _show(file, found))


@app.command("withdraw")
def withdraw_disclosure(
    plan: PlanArgument,
    number: Annotated[int, typer.Argument(min=1, help="The number that 'given show' lists.")],
    *,
    reason: ReasonOption,
    history: HistoryOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Withdraw a disclosure that never reached its recipient, so that it no longer counts.

    Use it only if nobody received the records: after a trial or a failed run. Withdrawing records
    that somebody has seen would understate the risk of all later disclosures.

    Example: hedgerow given withdraw plan.yaml 3 --reason "trial, deleted; A. Keeper"
    """
    from hedgerow.disclosure.recipient import withdraw_given

    file = _history(plan, history)
    withdrawn = withdraw_given(file, number, why=reason)
    facts = {"memory": str(file.path), "withdrawn": number, "recipient": withdrawn.recipient}
    words = f"Disclosure {number} no longer counts."
    answer(facts, as_json=json_, show=lambda: None if quiet else say(words))


def _history(plan: Path, history: Path | None) -> MemoryFile:
    from hedgerow.disclosure.memory_file import MemoryFile
    from hedgerow.disclosure.recipient import memory_of
    from hedgerow.plan.load import load_plan

    return memory_of(load_plan(plan)) if history is None else MemoryFile(history)


def _show(file: MemoryFile, found: list[PastDisclosure]) -> None:
    from rich.markup import escape
    from rich.table import Table

    if not found:
        say(f"{escape(str(file.path))} lists no disclosure.")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("number", "day", "recipient", "records", "state", "folder"):
        table.add_column(title, justify="right" if title in ("number", "records") else "left")
    for each in found:
        texts = (each.at[:10], each.recipient, f"{each.n_records:,}", each.state, each.folder or "")
        table.add_row(str(each.number), *map(escape, texts))
    say(table)
