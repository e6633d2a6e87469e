"""`python -m experiments`: the experiments of the five papers, run again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, say
from hedgerow.cli.main import run_command

if TYPE_CHECKING:
    from experiments.figure import Figure, Scene
    from experiments.run import Result

app = typer.Typer(
    help="The experiments of the five papers, run again beside what was printed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="The folder of public data sets; otherwise HEDGEROW_DATA or ../shared/data.",
    ),
]


@app.command("list")
def list_figures(
    data: DataOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the figures that can be run again, and which data they lack.

    Example: python -m experiments list
    """
    from experiments.figure import Scene
    from experiments.registry import FIGURES

    scene = Scene(folder=_data_folder(data), quick=True)
    figures = list(FIGURES.values())
    result = {"figures": [_entry(figure, scene) for figure in figures]}
    answer(result, as_json=as_json, show=lambda: None if quiet else _show_list(figures, scene))


def _entry(figure: Figure, scene: Scene) -> dict[str, Any]:
    return {
        "id": figure.id,
        "paper": figure.paper,
        "title": figure.title,
        "statements": len(figure.statements),
        "lacks": figure.absent(scene),
    }


def _show_list(figures: list[Figure], scene: Scene) -> None:
    from rich.table import Table

    table = Table()
    for name in ("figure", "paper", "shows", "data"):
        table.add_column(name)
    for figure in figures:
        lacks = figure.absent(scene)
        table.add_row(
            figure.id, figure.paper, figure.title, f"lacks {lacks[0]}" if lacks else "there"
        )
    say(table)


@app.command("run")
def run(
    figure: Annotated[
        str, typer.Argument(help="A figure such as diffgen-3a, a paper such as diffgen, or all.")
    ],
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for plots, JSON and finished runs.")
    ] = Path("papers"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Seconds a figure: samples of the data, one run or two.")
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="The most runs of a setting, for less than the figure's own."),
    ] = None,
    data: DataOption = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side; all cores by default.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget finished runs that the folder holds.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run figures again: a plot, a JSON and a verdict on each statement of the paper.

    Every finished run is kept at once; the same command goes on where it was interrupted.
    A figure whose data are absent is skipped and says so.

    Example: python -m experiments run diffgen-3a -o papers --quick
    """
    from experiments.figure import Scene
    from experiments.registry import chosen_figures
    from experiments.run import run_figure, workers
    from experiments.store import Store

    figures = chosen_figures(figure)
    scene = Scene(folder=_data_folder(data), quick=quick)
    ready = [one for one in figures if not one.absent(scene)]
    skipped = [one for one in figures if one.absent(scene)]
    _make(out)
    if fresh:
        for one in ready:
            Store.of(one, scene, out).clear()
    results = []
    with workers(1 if quick and jobs is None else jobs) as pool:
        for one in ready:
            with progress(one.id, quiet=quiet or as_json) as report:
                result = run_figure(one, scene, out, runs=runs, jobs=pool, progress=report)
            results.append(result)
            if not (quiet or as_json):
                _show_result(result, out)
    told = {
        "out": str(out),
        "figures": [_summary(result) for result in results],
        "skipped": [{"id": one.id, "lacks": one.absent(scene)} for one in skipped],
    }
    answer(told, as_json=as_json, show=lambda: None if quiet else _show_skipped(skipped, scene))


def _summary(result: Result) -> dict[str, Any]:
    return {
        "id": result.figure.id,
        "quick": result.quick,
        "cpu-seconds": round(result.seconds, 1),
        "verdicts": [verdict.as_dict() for verdict in result.verdicts],
    }


def _show_result(result: Result, out: Path) -> None:
    from rich.markup import escape

    figure = result.figure
    say(f"[bold]{figure.id}[/bold] {escape(figure.title)} ({result.seconds:,.0f} s of CPU time)")
    for verdict in result.verdicts:
        say(f"  “{escape(verdict.quote)}”\n    {escape(verdict.words)}")
    say(f"  {escape(str(out / figure.id))}.svg")


def _show_skipped(skipped: list[Figure], scene: Scene) -> None:
    from rich.markup import escape

    for figure in skipped:
        lacks = ", ".join(figure.absent(scene))
        say(f"[bold]{figure.id}[/bold] skipped: its data are absent ({escape(lacks)})")
    if skipped:
        say("Give the folder that holds them with --data, or set HEDGEROW_DATA.")


def _make(out: Path) -> None:
    from hedgerow.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "the folder cannot be made", where=str(out), do="Give another one with --out."
        ) from error


def _data_folder(given: Path | None) -> Path | None:
    """Return the folder of public data sets, if there is one."""
    from hedgerow.errors import InputError

    if given is not None and not given.is_dir():
        raise InputError(
            "is not a folder", where=str(given), do="Give the folder of data sets with --data."
        )
    named = os.environ.get("HEDGEROW_DATA")
    folder = given or (Path(named) if named else Path("..") / "shared" / "data")
    return folder.resolve() if folder.is_dir() else None


if __name__ == "__main__":
    run_command(app)
