"""`hedgerow draw`: plain records drawn from a release, for tools that want rows."""

from __future__ import annotations

from hedgerow.cli.console import (
    JsonOption,
    QuietOption,
    answer,
    is_stdout,
    say,
    stdout_by_way_of,
)
from hedgerow.cli.options import OutFile, ReleaseArgument


def draw_command(
    release: ReleaseArgument,
    *,
    out: OutFile,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw synthetic records from the groups of a table's release.

    Each group yields as many records as its noisy count. Uses published figures only, and costs
    no budget.

    Example: hedgerow draw release -o records.csv
    """
    from hedgerow.errors import ReleaseError
    from hedgerow.privacy.source import SystemSource
    from hedgerow.release.records import FROM_BOXES, write_records
    from hedgerow.release.release import Release

    loaded = Release.load(release)
    if is_stdout(out):
        with stdout_by_way_of("records.csv") as place:
            write_records(loaded.schema, loaded.groups, place, source=SystemSource())
        return
    n_records = int(loaded.groups.counts.sum())
    if out.exists():
        raise ReleaseError("The file exists.", where=str(out), do="Choose another name.")
    try:
        write_records(loaded.schema, loaded.groups, out, source=SystemSource())
    except OSError as error:
        raise ReleaseError(
            f"The file cannot be written: {error.strerror}.",
            where=str(out),
            do="Choose a file in a folder that you may write to.",
        ) from error

    def show() -> None:
        from rich.text import Text

        if not quiet:
            say(Text(f"{out}: {n_records:,} records, drawn from {release}"))
            if not loaded.groups.are_points:
                say(FROM_BOXES)

    answer({"file": str(out), "records": n_records}, as_json=as_json, show=show)
