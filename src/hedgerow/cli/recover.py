"""`hedgerow recover`: a release whose last step failed, put in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, a_folder, answer_done, say
from hedgerow.cli.ledger import LedgerOption


def recover_command(
    folder: Annotated[
        Path, typer.Argument(help="The hidden folder that the run named.", show_default=False)
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            callback=a_folder,
            help="Another folder than the one that the run was given.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a release that is there already.")
    ] = False,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Put a release in its place whose last step failed after it was booked.

    Nothing is drawn or spent: the folder holds the whole release, and the ledger its booking.
    It works once, and only on a folder of your own that nobody else may enter.

    Example: hedgerow recover .release.partial-1f0c22a9 --ledger ledger.sqlite
    """
    from hedgerow.pipeline.recover import recover

    place = recover(folder, out=out, force=force, ledger=ledger)

    def show() -> None:
        if not quiet:
            from rich.markup import escape

            say(f"[bold]{escape(str(place))}[/bold]: the release is in its place, and booked.")

    answer_done({"out": str(place)}, as_json=as_json, show=show)
