"""`hedgerow attack`: run attacks on a release, for the data owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import (
    JsonOption,
    QuietOption,
    a_folder,
    answer,
    progress,
    read_plainly,
    say,
)
from hedgerow.cli.options import ForceOption, SensitiveOption

if TYPE_CHECKING:
    from hedgerow.risks.attacks.result import AttackReport


def attack_command(
    release: Annotated[
        Path,
        typer.Argument(help="The release folder, or with --plan a table made by another tool."),
    ],
    data: Annotated[
        Path, typer.Argument(help="The confidential data from which the release was made.")
    ],
    *,
    holdout: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Test membership with these records: a random sample of the same population that"
            " is not in the release. Without it, neither membership nor controls are run.",
        ),
    ] = None,
    sensitive: SensitiveOption = None,
    other: Annotated[
        Path | None,
        typer.Option(metavar="RELEASE", help="Attack this second release too, and compare both."),
    ] = None,
    other_data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Use these data for the second release; by default DATA."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Use this plan for the file format and, for data of another tool, the domains.",
        ),
    ] = None,
    max_records: Annotated[
        int, typer.Option(min=1, help="Attack at most this number of records.")
    ] = 1_000,
    shadows: Annotated[
        int,
        typer.Option(
            min=0, max=100, help="Make this number of shadow releases of simulated tables."
        ),
    ] = 4,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            callback=a_folder,
            metavar="FOLDER",
            help="Write to this folder, outside the release. By default RELEASE-attack.",
        ),
    ] = None,
    force: ForceOption = False,
    seed: Annotated[int, typer.Option(min=0, help="Use this random seed.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run attacks on a release and report what they got.

    Writes attack.html, a page for a review board, and attack.json. Both are computed from the
    confidential records without noise: they are NOT private, are for the data owner only, and must
    not be published. Nothing is booked, and the release does not change.

    Example: hedgerow attack release patients.csv --holdout others.csv --sensitive diagnosis
    """
    from hedgerow.risks.attacks.result import check_attack_folder
    from hedgerow.risks.attacks.run import attack

    folder = out or Path(f"{release.resolve().name.partition('.')[0] or 'release'}-attack")
    check_attack_folder(folder, apart_from=release, force=force)
    with read_plainly(plan), progress("attacking", quiet=quiet or as_json) as report:
        found = attack(
            release,
            data,
            holdout=holdout,
            other=other,
            other_data=other_data,
            sensitive=sensitive or (),
            plan=plan,
            most_records=max_records,
            shadows=shadows,
            out=folder,
            force=force,
            seed=seed,
            progress=report,
        )
    result = {"out": str(folder), "private": False, **found.facts}
    answer(result, as_json=as_json, show=lambda: _show(found, folder, quiet=quiet))


def _show(found: AttackReport, folder: Path, *, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape
    from rich.table import Table

    from hedgerow.report.attack import board_answers, summary_of

    answered = board_answers(found.facts)
    table = Table()
    for name in ("question", "attack", "control", "bound"):
        table.add_column(name)
    for question, each in answered.items():
        for finding in each.found:
            cells = {bar.kind: bar.text for bar in finding.bars}
            plain = question.replace("-", " ")
            name = plain if finding.title == plain else f"{plain}: {finding.title}"
            shown = [cells.get(kind, "–") for kind in ("attack", "control", "bound")]
            table.add_row(*(escape(cell) for cell in (name, *shown)))
    say(table)
    for each in answered.values():
        for what, why in each.omitted:
            say(f"Not run: {escape(what)}: {escape(why)}.")
    for note in found.facts["notes"]:
        say(escape(note))
    say(f"[bold]{escape(summary_of(found.facts)[0])}[/bold]")
    say(f"[bold]{escape(str(folder / 'attack.html'))}[/bold] has all figures, for a review board.")
    say("It is for the data owner only: it is not private. Do not publish it.")
