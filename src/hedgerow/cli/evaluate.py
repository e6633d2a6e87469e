"""`hedgerow evaluate`: measure what a release keeps, for the data owner."""

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
from hedgerow.cli.options import ForceOption, TestOption

if TYPE_CHECKING:
    from hedgerow.evaluation.evaluation import Evaluation


def evaluate_command(
    release: Annotated[
        Path,
        typer.Argument(help="The release folder, or with --plan a table made by another tool."),
    ],
    data: Annotated[
        Path, typer.Argument(help="The confidential data from which the release was made.")
    ],
    *,
    test: TestOption = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Measure this: fidelity, classification, clustering, counting, relations,"
            " itemsets, loss, risk, people or all. Repeatable; by default all that"
            " suit the release.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Use this plan for the file format and, for data of another tool, the domains.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            callback=a_folder,
            metavar="FOLDER",
            help="Write to this folder, outside the release. By default RELEASE-evaluation.",
        ),
    ] = None,
    force: ForceOption = False,
    seed: Annotated[int, typer.Option(min=0, help="Use this random seed.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure the utility of a release, compared with the raw data.

    Writes evaluation.html and evaluation.json. Both are computed from the confidential records
    without noise: they are NOT private, are for the data owner only, and must not be published.

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
    classification = evaluation.facts.get("classification")
    if classification is not None:
        say(escape(classification["note"]))
    say(f"[bold]{escape(str(folder / 'evaluation.html'))}[/bold] has all figures and charts.")
    say("It is for the data owner only: it is not private. Do not publish it.")
