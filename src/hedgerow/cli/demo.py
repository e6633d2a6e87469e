"""`hedgerow demo`: publish the bundled data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, say
from hedgerow.cli.options import ForceOption, OutFolder

if TYPE_CHECKING:
    from rich.table import Table

    from hedgerow.demo import Demonstration
    from hedgerow.evaluation.classification import Accuracy


def demo_command(
    out: OutFolder = Path("hedgerow-demo"),
    force: ForceOption = False,
    hospital: Annotated[
        bool,
        typer.Option(
            "--hospital", help="Write only patients.csv, a synthetic table of a hospital."
        ),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Publish the bundled UCI Adult table at epsilon 1 and show what the release keeps.

    Writes plan.yaml, taxonomies, the data and the release to a folder, as a starting point for a
    plan of your own.

    Example: hedgerow demo --out hedgerow-demo
    """
    if hospital:
        return _hospital(out, force=force, as_json=as_json, quiet=quiet)
    from hedgerow.demo import run_demo

    with progress("demonstration", quiet=quiet or as_json) as report:
        demo = run_demo(out, force=force, progress=report)
    answer(_result(demo), as_json=as_json, show=lambda: None if quiet else _show(demo))
    return None


def _hospital(out: Path, *, force: bool, as_json: bool, quiet: bool) -> None:
    from rich.markup import escape

    from hedgerow.demo.hospital import write_hospital

    path = write_hospital(out, force=force)
    words = f"Wrote {escape(str(path))}: synthetic patients, to try 'hedgerow draft' with."
    answer({"file": str(path)}, as_json=as_json, show=lambda: None if quiet else say(words))


def _result(demo: Demonstration) -> dict[str, Any]:
    accuracy = demo.accuracy
    figures = None
    if accuracy is not None:
        figures = {
            "floor": accuracy.floor,
            "release": accuracy.release,
            "boxes": demo.box_accuracy,
            "ceiling": accuracy.ceiling,
        }
    return {
        "folder": str(demo.folder),
        "epsilon": str(demo.release.certificate.guarantee.epsilon),
        "groups": len(demo.release.groups),
        "counts": [
            {"question": each.question, "released": each.released, "raw": each.raw}
            for each in demo.counts
        ],
        "accuracy": figures,
    }


def _show(demo: Demonstration) -> None:
    from rich.markup import escape

    n_rows = int(demo.release.groups.counts.sum())
    say(
        f"Published UCI Adult in [bold]{escape(str(demo.folder / 'release'))}[/bold]:"
        f" {n_rows:,} synthetic rows."
    )
    say(escape(demo.release.certificate.guarantee.statement))
    say(_counts(demo))
    if demo.accuracy is None:
        say("To see what a classifier learns from it: pip install 'hedgerow\\[evaluate]'")
    else:
        say(_learnt(demo.accuracy, demo.box_accuracy))
    say(
        f"Read {escape(str(demo.folder / 'release' / 'report.html'))};"
        f" {escape(str(demo.folder / 'plan.yaml'))} is a start for a plan of your own."
    )


def _counts(demo: Demonstration) -> Table:
    from rich.table import Table

    table = Table(title="Counts", title_justify="left")
    table.add_column("question")
    table.add_column("released rows", justify="right")
    table.add_column("raw records", justify="right")
    table.add_column("error", justify="right")
    for each in demo.counts:
        error = (each.released - each.raw) / max(each.raw, 1)
        table.add_row(each.question, f"{each.released:,}", f"{each.raw:,}", f"{error:+.1%}")
    return table


def _learnt(accuracy: Accuracy, of_boxes: float | None) -> Table:
    from rich.table import Table

    table = Table(
        title="Accuracy of a decision tree on the third that was held out", title_justify="left"
    )
    table.add_column("trained on")
    table.add_column("accuracy", justify="right")
    table.add_row("nothing (always the most frequent class)", f"{accuracy.floor:.1%}")
    table.add_row("[bold]the released rows[/bold]", f"[bold]{accuracy.release:.1%}[/bold]")
    if of_boxes is not None:
        table.add_row("the boxes of the leaf table", f"{of_boxes:.1%}")
    table.add_row("the raw records", f"{accuracy.ceiling:.1%}")
    return table
