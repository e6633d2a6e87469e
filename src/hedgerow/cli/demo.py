"""`hedgerow demo`: real bundled data, end to end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, a_folder, answer, progress, say

if TYPE_CHECKING:
    from hedgerow.demo import Demonstration


def demo_command(
    out: Annotated[
        Path, typer.Option("--out", "-o", callback=a_folder, help="The folder to make.")
    ] = Path("hedgerow-demo"),
    force: Annotated[
        bool, typer.Option("--force", help="Make the demonstration anew where one is.")
    ] = False,
    hospital: Annotated[
        bool,
        typer.Option("--hospital", help="Write a made-up hospital's patients.csv there, no more."),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Publish the bundled UCI Adult table at epsilon 1 and show what the release keeps.

    Leaves plan.yaml, taxonomies, the data and the release in a folder: a starting point
    for your own.

    Example: hedgerow demo --out hedgerow-demo
    """
    if hospital:
        return _hospital(out, force=force, as_json=as_json, quiet=quiet)
    from hedgerow.demo import run_demo

    with progress("demonstration", quiet=quiet or as_json) as report:
        made = run_demo(out, force=force, progress=report)
    answer(_result(made), as_json=as_json, show=lambda: None if quiet else _show(made))
    return None


def _hospital(out: Path, *, force: bool, as_json: bool, quiet: bool) -> None:
    from rich.markup import escape

    from hedgerow.demo.hospital import write_hospital

    path = write_hospital(out, force=force)
    told = f"Wrote {escape(str(path))}: made-up patients, to try 'hedgerow draft' on."
    answer({"file": str(path)}, as_json=as_json, show=lambda: None if quiet else say(told))


def _result(made: Demonstration) -> dict[str, Any]:
    accuracy = made.accuracy
    figures = None
    if accuracy is not None:
        figures = {
            "floor": accuracy.floor,
            "release": accuracy.release,
            "ceiling": accuracy.ceiling,
        }
    return {
        "folder": str(made.folder),
        "epsilon": str(made.release.certificate.guarantee.epsilon),
        "groups": len(made.release.groups),
        "accuracy": figures,
    }


def _show(made: Demonstration) -> None:
    from rich.markup import escape
    from rich.table import Table

    say(
        f"Published UCI Adult in [bold]{escape(str(made.folder / 'release'))}[/bold]:"
        f" {len(made.release.groups):,} groups."
    )
    say(escape(made.release.certificate.guarantee.statement))
    if made.accuracy is None:
        say("To see what a classifier learns from it: pip install 'hedgerow\\[evaluate]'")
    else:
        table = Table(title="A decision tree on the third that was held out", title_justify="left")
        table.add_column("learnt from")
        table.add_column("classified rightly", justify="right")
        table.add_row("nothing (always the most frequent class)", f"{made.accuracy.floor:.1%}")
        table.add_row("[bold]the release[/bold]", f"[bold]{made.accuracy.release:.1%}[/bold]")
        table.add_row("the raw records", f"{made.accuracy.ceiling:.1%}")
        say(table)
    say(
        f"Read {escape(str(made.folder / 'release' / 'report.html'))};"
        f" {escape(str(made.folder / 'plan.yaml'))} is a start for a plan of your own."
    )
