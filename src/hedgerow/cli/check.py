"""`hedgerow check`: a dry run that reads no record."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say
from hedgerow.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table

    from hedgerow.model.method import Step
    from hedgerow.pipeline.alternatives import Alternative
    from hedgerow.pipeline.forecast import Forecast
    from hedgerow.pipeline.prepare import Prepared

_RANGE = re.compile(r"\s*(\d{1,12})\s*(?:-\s*(\d{1,12})\s*)?", re.ASCII)


def check_command(
    plan: Annotated[Path, typer.Argument(help="The plan file (YAML, TOML or JSON).")],
    *,
    records: Annotated[
        str | None,
        typer.Option(
            metavar="N or N-M",
            help="About how many records there are, in place of the plan's own line, or a range.",
        ),
    ] = None,
    within: Annotated[
        int | None,
        typer.Option(
            min=1, help="The error wanted of a count, in 95 of 100 cases: epsilon is solved for."
        ),
    ] = None,
    methods: Annotated[
        bool, typer.Option("--methods", help="Show what every other method would give, too.")
    ] = False,
    method: Annotated[str | None, typer.Option(help="A method in place of the plan's.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="A budget in place of the plan's.")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    settings: dict[str, Any],
) -> None:
    """Show what a plan will cost and keep, without reading a record.

    The split of epsilon, the number of groups, the error of a published count and of counts
    over the release, memory and a verdict, for about as many records as the plan says. Exits
    with 1 where the release would be mostly noise, which `publish` refuses. What else `publish`
    would refuse the plan for, such as a missing privacy unit, is reported.

    Example: hedgerow check plan.yaml --records 10000-50000 --within 10
    """
    from hedgerow.pipeline.forecast import forecast
    from hedgerow.pipeline.prepare import prepare
    from hedgerow.pipeline.unit import unit_words
    from hedgerow.pipeline.wanted import with_error

    ready = prepare(plan, method=method, epsilon=epsilon, **settings)
    if not ready.private:
        return _plain(ready, as_json=as_json, quiet=quiet)
    counted = _records(records)
    if within is not None:
        ready = with_error(ready, within=within, records=counted)
    told = forecast(ready, records=counted)
    others = _others(ready, counted) if methods else None
    result = {
        "confirmed": ready.plan.confirmed,
        "privacy-unit": ready.plan.privacy_unit,
        "protects": unit_words(ready),
        "blockers": _blockers(ready),
        "method": ready.settings.method,
        "publishes": ready.settings.publishes,
        "fingerprint": None if within is not None else ready.fingerprint(),
        "within": within,
        **told.as_dict(),
        **({} if others is None else {"methods": [each.as_dict() for each in others]}),
    }
    answer(result, as_json=as_json, show=lambda: _show(told, result, others, quiet=quiet))
    if told.verdict == "mostly noise":
        raise typer.Exit(1)
    return None


def _blockers(ready: Prepared) -> list[dict[str, str | None]]:
    """Return what `publish` would refuse the plan for, whatever the data hold."""
    from hedgerow.pipeline.unit import blockers

    return [
        {"error": type(each).__name__, "where": each.where, "what": each.what, "do": each.do}
        for each in blockers(ready)
    ]


def _records(text: str | None) -> int | tuple[int, int] | None:
    """Return a number of records, or a range of it, as the option writes it."""
    if text is None:
        return None
    found = _RANGE.fullmatch(text)
    if found is None:
        raise SettingError(
            f"{text!r} is no number of records",
            where="--records",
            do="Give a whole number such as 45000, or a range such as 10000-50000.",
        )
    first, second = found[1], found[2]
    return int(first) if second is None else (int(first), int(second))


def _others(ready: Prepared, records: int | tuple[int, int] | None) -> list[Alternative]:
    from hedgerow.pipeline.alternatives import alternatives

    return alternatives(ready, records=records)


def _plain(ready: Prepared, *, as_json: bool, quiet: bool) -> None:
    """Say what a method without a guarantee does; there is no budget to tell of."""
    result = {
        "confirmed": ready.plan.confirmed,
        "privacy-unit": ready.plan.privacy_unit,
        "blockers": _blockers(ready),
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
            _show_blockers(result)

    answer(result, as_json=as_json, show=show)


def _show(
    told: Forecast,
    result: dict[str, Any],
    others: list[Alternative] | None,
    *,
    quiet: bool,
) -> None:
    if quiet:
        return
    from rich.markup import escape

    say(_budget(told))
    if (instead := told.outline.instead) is not None:
        say(_table_of(instead.steps, f"where {instead.when}"))
    for each in (told,) if told.upto is None else (told, told.upto):
        _show_kept(each, result["method"])
    if result["protects"] is not None and result["privacy-unit"] != "person":
        say(escape(result["protects"]))  # the notes begin with it where there are people
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
    if others is not None:
        _show_others(others)
    say(f"[bold]{told.advice}[/bold]")
    if result["within"] is not None:
        say(f"Publish with --epsilon {told.epsilon}, or write it into the plan.")
    else:
        _show_fingerprint(result)
    _show_blockers(result)


def _show_blockers(result: dict[str, Any]) -> None:
    from rich.markup import escape

    if not result["confirmed"]:
        say("The plan is not confirmed yet: publish will refuse it (confirmed: false).")
    for each in result["blockers"]:
        if each["where"] != "confirmed":
            say(f"[bold]publish will refuse it: {escape(each['what'])}.[/bold]")
            say(escape(each["do"]))


def _budget(told: Forecast) -> Table:
    from hedgerow.privacy.budget import epsilon_text

    return _table_of(told.outline.steps, f"epsilon = {epsilon_text(told.epsilon)}")


def _table_of(steps: tuple[Step, ...], title: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("goes to")
    table.add_column("each", justify="right")
    table.add_column("times", justify="right")
    table.add_column("together", justify="right")
    for step in steps:
        table.add_row(step.on, str(step.share), str(step.times), str(step.share * step.times))
    return table


def _show_kept(told: Forecast, method: str) -> None:
    """Say what the release will be good for, in words with numbers."""
    if told.records is not None and told.prediction is not None:
        say(
            f"For about {told.records:,} {told.counted}, reckoned by running {method} on made-up"
            " tables of the plan's domains:"
        )
    if told.outline.true_counts:
        say("Published counts are true; what is left out and the sampling protect.")
    elif told.outline.counts_marginals:
        say(f"A cell of a marginal is within ±{told.error_95:,} of the truth in 95 of 100 cases.")
    elif told.publishes == "table":
        say(f"A published count is within ±{told.error_95:,} of the truth in 95 of 100 cases.")
    else:
        say(f"The noise on a count is within ±{told.error_95:,} in 95 of 100 cases.")
    if told.publishes == "table" and not told.outline.counts_marginals:
        say(f"About {told.n_groups:,} groups (boxes times classes){_spread(told)}.")
    counts = None if told.prediction is None else told.prediction.error
    if counts is not None:
        say(
            f"A count of {counts.size:,} people, by one to three columns, is off by about"
            f" {counts.typical:,.0f} (95 of 100: {counts.within_95:,.0f})."
        )


def _spread(told: Forecast) -> str:
    runs = told.prediction
    if runs is None or runs.fewest == runs.most:
        return ""
    return f", between {runs.fewest:,} and {runs.most:,}"


def _show_others(others: list[Alternative]) -> None:
    from rich.table import Table

    table = Table(title="By the other methods", title_justify="left")
    for name in ("method", "groups", "count within", "500 people off by", "verdict"):
        table.add_column(name, justify="left" if name in ("method", "verdict") else "right")
    for each in others:
        table.add_row(*each.cells())
    say(table)


def _show_fingerprint(result: dict[str, Any]) -> None:
    say(f"To publish this plan and no other: publish --expect {result['fingerprint'][:16]}")
