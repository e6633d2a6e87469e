"""`hedgerow generalise`: other rows with the labels of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, read_plainly, say


def generalise_command(
    release: Annotated[Path, typer.Argument(help="The release folder.", show_default=False)],
    data: Annotated[
        Path,
        typer.Argument(help="A table with the release's attributes: CSV, TSV, Parquet, Arrow."),
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .csv or .parquet file; by default DATA's name with .generalised.csv.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A plan whose 'reading' says how DATA is written; by default UTF-8 with commas.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Put the rows of a table into the groups of a release.

    For a test set of models trained on the release. The result has one row per record:
    it is as confidential as DATA. DATA need not have the class.

    Example: hedgerow generalise release test.csv -o test.generalised.csv
    """
    from hedgerow.release.generalise import check_output, write_rows
    from hedgerow.release.generalise import generalise as apply
    from hedgerow.release.release import load_recoding

    target = check_output(output or Path(f"{stem(data)}.generalised.csv"), force=force)
    with read_plainly(plan), progress("generalising", quiet=quiet or as_json):
        recoding = load_recoding(release)
        rows = apply(recoding, data, plan=plan)
        write_rows(rows, target, schema=recoding.schema, force=force)
    result = {"file": str(target), "columns": rows.column_names, "private": False}
    answer(result, as_json=as_json, show=lambda: _show(target, quiet=quiet))


def stem(data: Path) -> str:
    """Return the name of a data file without its endings.

    >>> stem(Path("patients/test.csv.gz"))
    'test'
    """
    first, _, _ = data.name.lstrip(".").partition(".")
    return first or "data"


def _show(target: Path, *, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape

    say(f"[bold]{escape(str(target))}[/bold]: the rows with the release's labels.")
    say("It has one row per record and is as confidential as the table it came from.")
