"""`hedgerow check`: forecast a release without reading the data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say
from hedgerow.cli.options import EpsilonOption, MethodOption, PlanArgument
from hedgerow.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table

    from hedgerow.model.method import Step
    from hedgerow.pipeline.alternatives import Alternative
    from hedgerow.pipeline.forecast import Forecast
    from hedgerow.pipeline.prepare import Prepared

_RANGE = re.compile(r"\s*(\d{1,12})\s*(?:-\s*(\d{1,12})\s*)?", re.ASCII)


def check_command(
    plan: PlanArgument,
    *,
    records: Annotated[
        str | None,
        typer.Option(
            metavar="N or N-M",
            help="Assume this number of records instead of the plan's, or a range.",
        ),
    ] = None,
    within: Annotated[
        int | None,
        typer.Option(
            min=1, help="Compute the epsilon for this error of a count, in 95 % of releases."
        ),
    ] = None,
    methods: Annotated[
        bool, typer.Option("--methods", help="Compare with all other methods.")
    ] = False,
    method: MethodOption = None,
    epsilon: EpsilonOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    settings: dict[str, Any],
) -> None:
    """Forecast the cost and the error of a release, without reading the data.

    Shows the split of epsilon, the number of groups, the error of published counts and of queries,
    memory and a verdict, for the plan's number of records. Exits with 1 if the release would be
    mostly noise, which `publish` refuses. Reports any other reason why `publish` would refuse the
    plan, such as a missing privacy unit.

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
    found = forecast(ready, records=counted)
    others = _others(ready, counted) if methods else None
    result = {
        **_signatures(ready),
        "privacy-unit": ready.plan.privacy_unit,
        "protects": unit_words(ready),
        "blockers": _blockers(ready),
        "method": ready.settings.method,
        "publishes": ready.settings.publishes,
        "fingerprint": None if within is not None else ready.fingerprint(),
        "within": within,
        **found.as_dict(),
        **({} if others is None else {"methods": [each.as_dict() for each in others]}),
    }
    answer(result, as_json=as_json, show=lambda: _show(found, result, others, quiet=quiet))
    if found.verdict == "mostly noise":
        raise typer.Exit(1)
    return None


def _blockers(ready: Prepared) -> list[dict[str, str | None]]:
    """Return the reasons for which `publish` would refuse the plan, whatever the data."""
    from hedgerow.pipeline.unit import blockers

    return [
        {"error": type(each).__name__, "where": each.where, "what": each.what, "do": each.do}
        for each in blockers(ready)
    ]


def _records(text: str | None) -> int | tuple[int, int] | None:
    """Return a number or range of records from the text of the option."""
    if text is None:
        return None
    match = _RANGE.fullmatch(text)
    if match is None:
        raise SettingError(
            f"{text!r} is not a number of records.",
            where="--records",
            do="Give a whole number such as 45000, or a range such as 10000-50000.",
        )
    first, second = match[1], match[2]
    return int(first) if second is None else (int(first), int(second))


def _others(ready: Prepared, records: int | tuple[int, int] | None) -> list[Alternative]:
    from hedgerow.pipeline.alternatives import alternatives

    return alternatives(ready, records=records)


def _plain(ready: Prepared, *, as_json: bool, quiet: bool) -> None:
    """Report on a method without a guarantee, which has no budget."""
    result = {
        **_signatures(ready),
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
            _show_signatures(result)
            _show_blockers(result)

    answer(result, as_json=as_json, show=show)


def _show(
    found: Forecast,
    result: dict[str, Any],
    others: list[Alternative] | None,
    *,
    quiet: bool,
) -> None:
    if quiet:
        return
    from rich.markup import escape

    say(_budget(found))
    if (instead := found.outline.instead) is not None:
        say(_table_of(instead.steps, f"where {instead.when}"))
    for each in (found,) if found.upto is None else (found, found.upto):
        _show_kept(each, result["method"])
    if result["protects"] is not None and result["privacy-unit"] != "person":
        say(escape(result["protects"]))  # the notes begin with it where there are people
    for note in found.outline.notes:
        say(escape(note))
    if found.usefulness:
        say("For any data, with probability 95 %, the error of a counting query is at most")
        for n_itemsets, error in found.usefulness:
            say(f"  {error:,.0f} if it covers {n_itemsets} itemset{'s' if n_itemsets > 1 else ''};")
        say("typical errors are far smaller (Theorem 4.2 of the paper is a worst case).")
    if found.records is None:
        say(f"Memory: {found.bytes_per_record} bytes per record, plus the release.")
    else:
        say(f"Memory: about {found.memory_bytes / 1e6:,.0f} MB for the data and the release.")
    if others is not None:
        _show_others(others)
    say(f"[bold]{found.advice}[/bold]")
    if result["within"] is not None:
        say(f"Publish with --epsilon {found.epsilon}, or write it into the plan.")
    else:
        _show_fingerprint(result)
    _show_signatures(result)
    _show_blockers(result)


def _show_blockers(result: dict[str, Any]) -> None:
    """Show the reasons why the plan cannot be published, other than its signatures."""
    from rich.markup import escape

    for each in result["blockers"]:
        if each["where"] not in ("confirmed", "approved"):
            say(f"[bold]publish will refuse it: {escape(each['what'])}[/bold]")
            say(escape(each["do"]))


def _signatures(ready: Prepared) -> dict[str, Any]:
    """Return who signed the plan, and whether it has changed since."""
    from hedgerow.pipeline.signed import signable_of, signature_states

    states = signature_states(ready.plan, signable_of(ready.plan, ready.domain))
    return {
        "confirmed": bool(ready.plan.confirmed),
        "signatures": [each.as_dict() for each in states],
    }


def _show_signatures(result: dict[str, Any]) -> None:
    from rich.text import Text

    if not result["confirmed"]:
        say("The plan is not confirmed: publish will refuse it (confirmed: false).")
    for each in result["signatures"]:
        refuses = " publish will refuse this plan until it is signed again." if each["void"] else ""
        say(Text(each["statement"] + refuses))


def _budget(found: Forecast) -> Table:
    from hedgerow.privacy.budget import epsilon_text

    return _table_of(found.outline.steps, f"epsilon = {epsilon_text(found.epsilon)}")


def _table_of(steps: tuple[Step, ...], title: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("spent on")
    table.add_column("each", justify="right")
    table.add_column("times", justify="right")
    table.add_column("total", justify="right")
    for step in steps:
        table.add_row(step.on, str(step.share), str(step.times), str(step.share * step.times))
    return table


def _show_kept(found: Forecast, method: str) -> None:
    """Print the forecast error of the release."""
    if found.records is not None and found.prediction is not None:
        say(
            f"For about {found.records:,} {found.counted}, estimated by running {method} on tables"
            " simulated from the plan's domains:"
        )
    if found.outline.true_counts:
        say("Published counts are exact; protection comes from sampling and omission.")
    elif found.outline.counts_marginals:
        say(f"A cell of a marginal is within ±{found.error_95:,} of the truth in 95 % of releases.")
    elif found.publishes == "table":
        say(f"A published count is within ±{found.error_95:,} of the truth in 95 % of releases.")
    else:
        say(f"The noise on a count is within ±{found.error_95:,} in 95 % of releases.")
    if found.publishes == "table" and not found.outline.counts_marginals:
        say(f"About {found.n_groups:,} groups (boxes times classes){_spread(found)}.")
    counts = None if found.prediction is None else found.prediction.error
    if counts is not None:
        say(
            f"A count of {counts.size:,} people, by one to three columns, has an error of about"
            f" {counts.typical:,.0f}, and at most {counts.within_95:,.0f} in 95 % of queries."
        )


def _spread(found: Forecast) -> str:
    runs = found.prediction
    if runs is None or runs.fewest == runs.most:
        return ""
    return f", between {runs.fewest:,} and {runs.most:,}"


def _show_others(others: list[Alternative]) -> None:
    from rich.table import Table

    table = Table(title="Other methods", title_justify="left")
    for name in ("method", "groups", "error of a count", "error for 500 people", "verdict"):
        table.add_column(name, justify="left" if name in ("method", "verdict") else "right")
    for each in others:
        table.add_row(*each.cells())
    say(table)


def _show_fingerprint(result: dict[str, Any]) -> None:
    say(f"To publish exactly this plan: publish --expect {result['fingerprint'][:16]}")
