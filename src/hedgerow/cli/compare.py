"""`hedgerow compare`: releases side by side, for the data owner."""

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
    from hedgerow.comparison.comparison import Comparison


def compare_command(
    contenders: Annotated[
        list[Path],
        typer.Argument(
            help="Release folders; or plan files, with --simulate or --public.",
            metavar="RELEASE...",
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The confidential data that the releases are of."),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option("--simulate", help="Run plans on a table made from their public domains."),
    ] = False,
    public: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Run plans on a file that is public.")
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows kept out of the releases, to classify."),
    ] = None,
    records: Annotated[
        int | None,
        typer.Option(min=1, help="With --simulate: how many records, in place of the plan's."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="The plan: how the data is written, and where the ledger lies."),
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The ledger that booked the releases.")
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", callback=a_folder, metavar="DIR", help="The folder to write."),
    ] = Path("comparison"),
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs", help="Add pairs.json: tables of every two columns, original and released."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a comparison that is there already.")
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Of queries, test rows, made-up tables and runs on them.")
    ] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show several releases side by side: errors, learners, risk and cost.

    With --data the releases must be on the ledger, and comparison.html and comparison.json are
    for the data owner alone. Plans are run with --simulate or --public FILE only: to choose the
    best of several on the confidential data is spending, and is refused.

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
            pairs=pairs,
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

    from hedgerow.comparison.comparison import COLUMNS

    table = Table("")
    rows = zip(COLUMNS, *comparison.cells(), strict=True)
    for name in next(rows)[1:]:
        table.add_column(escape(name), justify="right")
    for row in rows:  # a line for each figure: columns of figures would be too narrow
        table.add_row(*(escape(cell) for cell in row))
    say(table)
    say(escape(comparison.told))
    say(f"[bold]{escape(str(out / 'comparison.html'))}[/bold] has the picture.")
