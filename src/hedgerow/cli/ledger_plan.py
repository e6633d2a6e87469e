"""``hedgerow ledger plan``: divide a budget among repeated releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say

if TYPE_CHECKING:
    from hedgerow.privacy.schedule import Schedule


def plan(
    *,
    every: Annotated[
        str, typer.Option("--every", help="Publish every day, week, month, quarter or year.")
    ],
    duration: Annotated[
        tuple[str, str],
        typer.Option(metavar="NUMBER UNIT", help="Publish for this time, such as: 2 years."),
    ],
    cap: Annotated[str, typer.Option(help="Spend at most this epsilon on all releases.")],
    disjoint: Annotated[
        bool,
        typer.Option("--disjoint", help="Assume that no record or person is in two releases."),
    ] = False,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compute the budget of each of many regular releases.

    Reads and writes nothing. With --disjoint each release covers its own part: 'covers' in a plan.

    Example: hedgerow ledger plan --every month --duration 2 years --cap 4
    """
    from hedgerow.privacy.schedule import Schedule

    amount, unit = duration
    found = Schedule.of(every, amount=amount, unit=unit, epsilon=cap, disjoint=disjoint)
    answer(found.as_dict(), as_json=json_, show=lambda: _show(found, quiet=quiet))


def _show(found: Schedule, *, quiet: bool) -> None:
    from hedgerow.privacy.budget import epsilon_text

    facts = found.as_dict()
    times = "release" if found.n_releases == 1 else "releases"
    each = facts["each"]
    shown = (
        each if found.each.denominator == 1 else f"{each} (as a decimal {facts['each-decimal']})"
    )
    if quiet:
        say(each)
        return
    say(f"{found.n_releases:,} {times}: every {found.every}, for {facts['for']}.")
    total = epsilon_text(found.epsilon)
    if found.disjoint:
        say(f"Each may cost epsilon = {shown}, the whole cap: no record is in two releases.")
        say(
            "Each plan covers its own part, by the same column with the same domain:"
            " 'covers: {column: ..., values: [...]}'."
        )
        say(
            "This holds for records. If people are protected ('person'), confirm in the plan that"
            " nobody has records both in a part and outside of it: 'people-disjoint'."
        )
    else:
        say(f"Each may cost epsilon = {shown}; together they cost {total}.")
    say("Limits of repeated publishing: hedgerow docs people.")
