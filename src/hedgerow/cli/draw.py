"""`hedgerow draw`: plain records drawn from a release, for tools that want rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import (
    JsonOption,
    QuietOption,
    answer,
    is_stdout,
    say,
    stdout_by_way_of,
)


def draw_command(
    release: Annotated[Path, typer.Argument(help="The release folder of a table.")],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The CSV file; - for stdout.")
    ],
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw plain records from the groups of a release; costs no budget.

    Every group gives as many records as its noisy count. Only published figures are used.

    Example: hedgerow draw release -o records.csv
    """
    from hedgerow.errors import ReleaseError
    from hedgerow.privacy.source import SystemSource
    from hedgerow.release.records import FROM_BOXES, write_records
    from hedgerow.release.release import Release

    loaded = Release.load(release)
    if is_stdout(output):
        with stdout_by_way_of("records.csv") as place:
            write_records(loaded.schema, loaded.groups, place, source=SystemSource())
        return
    n_records = int(loaded.groups.counts.sum())
    if output.exists():
        raise ReleaseError("the file is there already", where=str(output), do="Give another name.")
    try:
        write_records(loaded.schema, loaded.groups, output, source=SystemSource())
    except OSError as error:
        raise ReleaseError(
            f"the file cannot be written: {error.strerror}",
            where=str(output),
            do="Give a file in a folder that you may write to.",
        ) from error

    def tell() -> None:
        from rich.text import Text

        if not quiet:
            say(Text(f"{output}: {n_records:,} records, drawn from {release}"))
            if not loaded.groups.are_points:
                say(FROM_BOXES)

    answer({"file": str(output), "records": n_records}, as_json=as_json, show=tell)
