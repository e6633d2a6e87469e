"""`hedgerow check`: a dry run that reads no record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say

if TYPE_CHECKING:
    from hedgerow.pipeline.forecast import Forecast
    from hedgerow.pipeline.prepare import Prepared


def check_command(
    plan: Annotated[Path, typer.Argument(help="The plan file (YAML, TOML or JSON).")],
    *,
    records: Annotated[
        int | None,
        typer.Option(min=0, help="About how many records there are, if that is public."),
    ] = None,
    method: Annotated[str | None, typer.Option(help="A method in place of the plan's.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="A budget in place of the plan's.")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    settings: dict[str, Any],
) -> None:
    """Show what a plan will cost and keep, without reading a record.

    The split of epsilon, the expected error of a count, the number of groups, memory and a
    verdict. Exits with 1 where the release would be mostly noise.

    Example: hedgerow check plan.yaml --records 45000
    """
    from hedgerow.pipeline.forecast import forecast
    from hedgerow.pipeline.prepare import prepare

    ready = prepare(plan, method=method, epsilon=epsilon, **settings)
    if not ready.private:
        return _plain(ready, as_json=as_json, quiet=quiet)
    told = forecast(ready, records=records)
    result = {
        "confirmed": ready.plan.confirmed,
        "method": ready.settings.method,
        "publishes": ready.settings.publishes,
        "fingerprint": ready.fingerprint(),
        **told.as_dict(),
    }
    answer(result, as_json=as_json, show=lambda: _show(told, result, quiet=quiet))
    if told.verdict == "mostly noise":
        raise typer.Exit(1)
    return None


def _plain(ready: Prepared, *, as_json: bool, quiet: bool) -> None:
    """Say what a method without a guarantee does; there is no budget to tell of."""
    result = {
        "confirmed": ready.plan.confirmed,
        "method": ready.settings.method,
        "publishes": ready.settings.publishes,
        "fingerprint": ready.fingerprint(),
        "epsilon": None,
        "statement": ready.statement,
    }

    def show() -> None:
        if not quiet:
            say(ready.statement)
            _show_fingerprint(result)
            if not ready.plan.confirmed:
                say("The plan is not confirmed yet: publish will refuse it (confirmed: false).")

    answer(result, as_json=as_json, show=show)


def _show(told: Forecast, result: dict[str, Any], *, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape
    from rich.table import Table

    from hedgerow.privacy.budget import epsilon_text

    table = Table(title=f"epsilon = {epsilon_text(told.epsilon)}", title_justify="left")
    table.add_column("goes to")
    table.add_column("each", justify="right")
    table.add_column("times", justify="right")
    table.add_column("together", justify="right")
    for step in told.outline.steps:
        table.add_row(step.on, str(step.share), str(step.times), str(step.share * step.times))
    say(table)
    if told.outline.true_counts:
        say("Published counts are true; what is left out and the sampling protect.")
    elif told.outline.counts_marginals:
        say(f"A cell of a marginal is within ±{told.error_95:,} of the truth in 95 of 100 cases.")
    elif told.publishes == "table":
        say(f"A published count is within ±{told.error_95:,} of the truth in 95 of 100 cases.")
        say(f"About {told.outline.n_groups:,} groups (boxes times classes).")
    else:
        say(f"The noise on a count is within ±{told.error_95:,} in 95 of 100 cases.")
    for note in told.outline.notes:
        say(escape(note))
    if told.usefulness:
        say("Whatever the data, with probability 95 % a counting query is off by at most")
        for n_itemsets, error in told.usefulness:
            say(f"  {error:,.0f} if it covers {n_itemsets} itemset{'s' if n_itemsets > 1 else ''};")
        say("usual errors are far smaller (Theorem 4.2 of the paper is a worst case).")
    if told.records is None:
        say(f"Memory: {told.bytes_per_record} bytes a record, and what is published.")
    else:
        say(f"Memory: about {told.memory_bytes / 1e6:,.0f} MB for the data and what is published.")
    say(f"[bold]{told.advice}[/bold]")
    _show_fingerprint(result)
    if not result["confirmed"]:
        say("The plan is not confirmed yet: publish will refuse it (confirmed: false).")


def _show_fingerprint(result: dict[str, Any]) -> None:
    say(f"To publish this plan and no other: publish --expect {result['fingerprint'][:16]}")
