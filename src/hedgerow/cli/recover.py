"""`hedgerow recover`: finish a release whose final move failed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, a_folder, answer_done, say
from hedgerow.cli.options import ForceOption, LedgerOption


def recover_command(
    folder: Annotated[
        Path, typer.Argument(help="The hidden folder that the run reported.", show_default=False)
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            callback=a_folder,
            metavar="FOLDER",
            help="Write to this folder instead of the one of the run.",
        ),
    ] = None,
    force: ForceOption = False,
    ledger: LedgerOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Finish a release whose final move failed.

    Draws no noise and spends nothing: the folder has the complete release, and the ledger its
    booking. Works once, and only on a folder of yours that is closed to other users.

    Example: hedgerow recover .release.partial-1f0c22a9 --ledger ledger.sqlite
    """
    from hedgerow.pipeline.recover import recover

    place = recover(folder, out=out, force=force, ledger=ledger)

    def show() -> None:
        if not quiet:
            from rich.markup import escape

            say(f"[bold]{escape(str(place))}[/bold]: the release is complete and booked.")

    answer_done({"out": str(place)}, as_json=as_json, show=show)
