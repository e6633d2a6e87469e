"""`hedgerow evaluate`: what a release keeps, for the data owner."""

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

if TYPE_CHECKING:
    from hedgerow.evaluation.evaluation import Evaluation


def evaluate_command(
    release: Annotated[
        Path,
        typer.Argument(help="The release folder, or with --plan a table of any other tool."),
    ],
    data: Annotated[
        Path, typer.Argument(help="The confidential data that the release was made from.")
    ],
    *,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows kept out of the release, to classify."),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="fidelity, classification, clustering, counting, relations, itemsets, loss, risk,"
            " people or all; may be given several times. By default all that fit the release."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="The plan: it names the domains of a plain table or basket file, and says how"
            " DATA is written."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            callback=a_folder,
            metavar="DIR",
            help="The folder to write, never inside the release; by default the release's name"
            " with -evaluation.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an evaluation that is there already.")
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Of queries, samples and test rows that are drawn.")
    ] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure what a release keeps, compared with the raw data.

    Writes evaluation.html and evaluation.json for the data owner: they are computed from the
    confidential records without noise, are NOT private and must not go with the release.

    Example: hedgerow evaluate release patients.csv --test later.csv -o evaluation
    """
    from hedgerow.evaluation.evaluation import check_folder
    from hedgerow.evaluation.run import evaluate as measure

    folder = out or Path(f"{release.resolve().name.partition('.')[0] or 'release'}-evaluation")
    check_folder(folder, apart_from=release, force=force)
    with read_plainly(plan), progress("evaluating", quiet=quiet or as_json) as report:
        evaluation = measure(
            release,
            data,
            test=test,
            tasks=task or "all",
            plan=plan,
            out=folder,
            force=force,
            seed=seed,
            progress=report,
        )
    result = {"out": str(folder), "private": False, **evaluation.facts}
    answer(result, as_json=as_json, show=lambda: _show(evaluation, folder, quiet=quiet))


def _show(evaluation: Evaluation, folder: Path, *, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape
    from rich.table import Table

    from hedgerow.report.headlines import headlines

    table = Table(box=None, pad_edge=False, show_header=False)
    for line in headlines(evaluation.facts):
        table.add_row(escape(line.what), escape(line.value), line.verdict or "")
    say(table)
    for task, why in evaluation.facts["skipped"].items():
        say(f"Not measured: {task}, because {escape(why)}.")
    told = evaluation.facts.get("classification")
    if told is not None:
        say(escape(told["note"]))
    say(f"[bold]{escape(str(folder / 'evaluation.html'))}[/bold] has all figures and plots.")
    say("It is for the data owner only: not private, and not to go with the release.")
