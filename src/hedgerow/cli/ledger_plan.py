"""``hedgerow ledger plan``: what each release may cost that is made again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say

if TYPE_CHECKING:
    from hedgerow.privacy.schedule import Schedule


def plan(
    *,
    every: Annotated[
        str, typer.Option("--every", help="How often: day, week, month, quarter or year.")
    ],
    for_: Annotated[
        tuple[str, str],
        typer.Option("--for", metavar="NUMBER UNIT", help="For how long, such as: 2 years."),
    ],
    epsilon: Annotated[
        str, typer.Option("--epsilon", help="The cap: what all releases together may cost.")
    ],
    disjoint: Annotated[
        bool,
        typer.Option("--disjoint", help="No record (or person) is in two of them: 'covers'."),
    ] = False,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say what each of many releases may cost. Nothing is read or written.

    Example: hedgerow ledger plan --every month --for 2 years --epsilon 4
    """
    from hedgerow.privacy.schedule import Schedule

    amount, unit = for_
    found = Schedule.of(every, amount=amount, unit=unit, epsilon=epsilon, disjoint=disjoint)
    answer(found.as_dict(), as_json=json_, show=lambda: _show(found, quiet=quiet))


def _show(found: Schedule, *, quiet: bool) -> None:
    from hedgerow.privacy.budget import epsilon_text

    told = found.as_dict()
    times = "release" if found.n_releases == 1 else "releases"
    each = told["each"]
    shown = each if found.each.denominator == 1 else f"{each} (as a decimal {told['each-decimal']})"
    if quiet:
        say(each)
        return
    say(f"{found.n_releases:,} {times}: every {found.every}, for {told['for']}.")
    total = epsilon_text(found.epsilon)
    if found.disjoint:
        say(f"Each may cost epsilon = {shown}, all of the cap: nobody is in two of them.")
        say(
            "Every plan covers its own part, by the same column and the same domain:"
            " 'covers: {column: ..., values: [...]}'."
        )
        say(
            "That is for records. Where people are protected ('person'), somebody must confirm"
            " that nobody has records both in a part and outside of it: 'people-disjoint'."
        )
    else:
        say(f"Each may cost epsilon = {shown}; together they cost {total}.")
    say("What repeated publishing gives away: docs/people.md.")
