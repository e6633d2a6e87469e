"""`hedgerow generalise`: give rows the labels of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, read_plainly, say
from hedgerow.cli.options import ForceOption, ReleaseArgument


def generalise_command(
    release: ReleaseArgument,
    data: Annotated[
        Path,
        typer.Argument(help="A table with the release's attributes: CSV, TSV, Parquet or Arrow."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write to this .csv or .parquet file. By default DATA.generalised.csv.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Use this plan for the file format. By default CSV in UTF-8 with commas.",
        ),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Generalise the rows of a table as a release does.

    Prepares a test set for models that were trained on the release. The result has one row per
    record and is as confidential as DATA. DATA may lack the class.

    Example: hedgerow generalise release test.csv -o test.generalised.csv
    """
    from hedgerow.release.generalise import check_output, write_rows
    from hedgerow.release.generalise import generalise as apply
    from hedgerow.release.release import load_recoding

    target = check_output(out or Path(f"{stem(data)}.generalised.csv"), force=force)
    with read_plainly(plan), progress("generalising", quiet=quiet or as_json):
        recoding = load_recoding(release)
        rows = apply(recoding, data, plan=plan)
        write_rows(rows, target, schema=recoding.schema, force=force)
    result = {"file": str(target), "columns": rows.column_names, "private": False}
    answer(result, as_json=as_json, show=lambda: _show(target, quiet=quiet))


def stem(data: Path) -> str:
    """Return the name of a data file without its suffixes.

    >>> stem(Path("patients/test.csv.gz"))
    'test'
    """
    first, _, _ = data.name.lstrip(".").partition(".")
    return first or "data"


def _show(target: Path, *, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape

    say(f"[bold]{escape(str(target))}[/bold]: the rows, with the labels of the release.")
    say("It has one row per record and is as confidential as the original table.")
