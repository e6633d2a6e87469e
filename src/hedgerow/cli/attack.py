"""`hedgerow attack`: what attacks get out of a release, for the data owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, read_plainly, say

if TYPE_CHECKING:
    from hedgerow.risks.attacks.result import AttackReport


def attack_command(
    release: Annotated[
        Path,
        typer.Argument(help="The release folder, or with --plan a table of any other tool."),
    ],
    data: Annotated[
        Path, typer.Argument(help="The confidential data that the release was made from.")
    ],
    *,
    holdout: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of a random part of the same population that the release was not made"
            " from. Without it membership and controls are not run.",
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column whose values are inferred; may be given several times. By default the"
            " class.",
        ),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(metavar="RELEASE", help="A second release, to compare the two."),
    ] = None,
    other_data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The data of the second release, if not DATA."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="The plan: it names the domains of a plain table or basket file, and says how"
            " files are written."
        ),
    ] = None,
    most_records: Annotated[
        int, typer.Option(min=1, help="Attack at most this many records of the data.")
    ] = 1_000,
    shadows: Annotated[
        int,
        typer.Option(
            min=0, max=100, help="Make this many shadow releases of simulated tables; 0 for none."
        ),
    ] = 4,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The folder to write, never inside the release; by default the release's name"
            " with -attack.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a report that is there already.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples, pairs and ties.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run attacks on a release and report what they got.

    Writes attack.html, a page for a board, and attack.json for the data owner: they are computed
    from the confidential records without noise, are NOT private and must not go with the release.
    Nothing is booked, and the release does not change.

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
            most_records=most_records,
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
    say(f"[bold]{escape(str(folder / 'attack.html'))}[/bold] has all figures, for a board.")
    say("It is for the data owner only: not private, and not to go with the release.")
