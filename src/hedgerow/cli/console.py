"""Output of commands: tables and text or JSON on stdout, progress on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import IO, Annotated, Any, cast

import typer

from hedgerow.errors import DataError, SettingError, visible

JsonOption = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print neither progress nor closing text.")
]


def answer(result: dict[str, Any], *, as_json: bool, show: Callable[[], None]) -> None:
    """Print ``result`` as JSON, or let ``show`` print it for people."""
    if as_json:
        sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    else:
        show()


def is_stdout(output: object) -> bool:
    """Return whether the file of ``-o`` is standard output: ``-``."""
    return str(output) == "-"


@contextmanager
def stdout_by_way_of(name: str) -> Iterator[Path]:
    """Yield a file of this name in a private folder, and copy it to standard output at the end."""
    import shutil
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="hedgerow-") as folder:
        place = Path(folder) / name
        yield place
        sys.stdout.flush()
        with place.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def a_folder(out: Path | None) -> Path | None:
    """Return the folder of ``-o``; a folder cannot go to standard output, so ``-`` is refused."""
    if is_stdout(out):
        raise SettingError(
            "A folder cannot be written to standard output.",
            where="--out -",
            do="Give the name of a folder.",
        )
    return out


def answer_done(result: dict[str, Any], *, as_json: bool, show: Callable[[], None]) -> None:
    """Answer after work that cannot be undone; an answer that cannot be printed is not an error.

    A closed pipe, a full disk or a terminal without the letters ends the output, never the command
    with an error code: a script that sees one would repeat the work.
    """
    try:
        answer(result, as_json=as_json, show=show)
        sys.stdout.flush()
    except (OSError, ValueError, SystemExit):
        # Letters that the terminal lacks and closed files are ValueErrors. Rich exits if a pipe is
        # closed, and so does a signal handler; the work is complete in both cases.
        quieten(sys.stdout)
        try:
            sys.stderr.write("note: the work is complete, but the answer could not be printed\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            quieten(sys.stderr)


def quieten(stream: Any) -> None:
    """Discard all further output of a stream, and what is buffered: Python would exit with 120."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)


def steady_streams() -> None:
    """Replace missing standard streams by the null device.

    Otherwise the next file that is opened would get the number of the stream, and its output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                nowhere = os.open(os.devnull, os.O_RDWR)
                if nowhere != number:
                    os.dup2(nowhere, number)
                    os.close(nowhere)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def say(*parts: Any) -> None:
    """Print renderables or text with markup on stdout, without highlighting."""
    from rich.console import Console

    Console(highlight=False, soft_wrap=True, file=cast("IO[str]", _Visible(sys.stdout))).print(
        *parts
    )


class _Visible:
    """A stream that escapes invisible characters, and keeps colours."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text with its invisible characters escaped."""
        return self._stream.write("\x1b".join(map(visible, text.split("\x1b"))))


def _streamed(place: str) -> Callable[[str, float | None], None]:
    """Return a function that writes progress to a file, at most ten lines a second for one step.

    A file that cannot be written ends the reports and not the work.
    """
    last: tuple[str, float] = ("", 0.0)

    def report(step: str, fraction: float | None) -> None:
        nonlocal last
        now = monotonic()
        if step == last[0] and now - last[1] < 0.1 and fraction != 1:
            return
        last = (step, now)
        with suppress(OSError), open(place, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(json.dumps({"step": step, "fraction": fraction}) + "\n")

    return report


@contextmanager
def read_plainly(plan: object) -> Iterator[None]:
    """Add a hint about ``--plan`` to an error in data that were read without a plan.

    A release does not record the format of the file that it was made from.
    """
    try:
        yield
    except DataError as error:
        if plan is None:
            error.add_note(
                "It was read as CSV in UTF-8 with commas. If it has another format, give the plan"
                " whose 'reading' describes it: --plan plan.yaml"
            )
        raise


@contextmanager
def progress(title: str, *, quiet: bool) -> Iterator[Callable[[str, float | None], None]]:
    """Show progress on stderr; yields ``report(step, fraction)``.

    ``fraction`` is ``None`` while the length of a step is unknown. Nothing shown depends on the
    data except the size of the file. If the variable HEDGEROW_PROGRESS names a file, each step is
    appended to it as a line of JSON instead, ``{"step": "reading", "fraction": 0.5}``.
    """
    if place := os.environ.get("HEDGEROW_PROGRESS"):
        yield _streamed(place)
        return
    if quiet or not sys.stderr.isatty():
        yield lambda step, fraction: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    task = bar.add_task(title, total=None)

    def report(step: str, fraction: float | None) -> None:
        total = None if fraction is None else 1.0
        bar.update(task, description=step, total=total, completed=fraction or 0.0)

    try:
        yield report
    finally:
        with suppress(OSError, ValueError):  # a terminal that was closed meanwhile
            bar.stop()
