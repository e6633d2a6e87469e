"""`hedgerow compare`: show releases side by side, for the data owner."""

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
    from hedgerow.comparison.compare import Comparison


def compare_command(
    contenders: Annotated[
        list[Path],
        typer.Argument(
            help="Release folders, or with --simulate or --public plan files.",
            metavar="RELEASE...",
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Read this confidential table, from which the releases were made."
        ),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate", help="Run plans on a table simulated from their public domains."
        ),
    ] = False,
    public: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Run plans on this public file.")
    ] = None,
    test: TestOption = None,
    records: Annotated[
        int | None,
        typer.Option(
            min=1, help="Assume this number of records instead of the plan's (--simulate)."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Use this plan for the file format and the ledger."),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Use this ledger instead of the default one."),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", callback=a_folder, metavar="FOLDER", help="Write to this folder."
        ),
    ] = Path("comparison"),
    write_pairs: Annotated[
        bool,
        typer.Option(
            "--write-pairs",
            help="Write pairs.json too: 2-way marginals of the data and of each release.",
        ),
    ] = False,
    force: ForceOption = False,
    seed: Annotated[int, typer.Option(min=0, help="Use this random seed.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare several releases: errors, accuracy of classifiers, risk and cost.

    With --data the releases must be on the ledger, and comparison.html and comparison.json are for
    the data owner only. Plans are run with --simulate or --public FILE only: choosing the best of
    several runs on the confidential data would spend budget, and is refused.

    Example: hedgerow compare release-hedge release-weave --data patients.csv
    """
    from hedgerow.comparison.compare import compare

    with read_plainly(plan), progress("comparing", quiet=quiet or as_json) as report:
        comparison = compare(
            contenders,
            data=data,
            simulate=simulate,
            public=public,
            test=test,
            records=records,
            plan=plan,
            ledger=ledger,
            out=out,
            pairs=write_pairs,
            force=force,
            seed=seed,
            progress=report,
        )
    result = {"out": str(out), **comparison.as_dict()}
    answer(result, as_json=as_json, show=lambda: _show(comparison, out, quiet=quiet))


def _show(comparison: Comparison, out: Path, *, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape
    from rich.table import Table

    from hedgerow.comparison.compare import COLUMNS

    table = Table("")
    rows = zip(COLUMNS, *comparison.cells(), strict=True)
    for name in next(rows)[1:]:
        table.add_column(escape(name), justify="right")
    for row in rows:  # a line for each figure: columns of figures would be too narrow
        table.add_row(*(escape(cell) for cell in row))
    say(table)
    say(escape(comparison.audience))
    say(f"[bold]{escape(str(out / 'comparison.html'))}[/bold] has the charts.")
