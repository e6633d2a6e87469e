"""How commands speak: tables and words on stdout, progress on stderr, or JSON."""

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

JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON, for machines.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no closing words.")
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
            "a folder cannot be written to standard output",
            where="--out -",
            do="Give the name of a folder.",
        )
    return out


def answer_done(result: dict[str, Any], *, as_json: bool, show: Callable[[], None]) -> None:
    """Answer for work that is done and in place: what cannot be printed does not undo it.

    A pipe that was closed, a full disk or a terminal without the letters ends the words, never
    the command with an error: a script that sees one would do the work again.
    """
    try:
        answer(result, as_json=as_json, show=show)
        sys.stdout.flush()
    except (OSError, ValueError, SystemExit):
        # Letters that the terminal lacks and closed files are ValueErrors; Rich leaves where a
        # pipe is closed, and so does who is told to stop, when there is nothing left to stop.
        quieten(sys.stdout)
        try:
            sys.stderr.write("note: all is done, but the answer could not be printed\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            quieten(sys.stderr)


def quieten(stream: Any) -> None:
    """Let nothing more be printed there, not even what waits to be: Python would end with 120."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)


def steady_streams() -> None:
    """Give a program that was started without stdin, stdout or stderr one that leads nowhere.

    Otherwise the next file that is opened would get its number, and what is printed.
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
    """Print renderables or marked-up text on stdout, without guessing at colours."""
    from rich.console import Console

    Console(highlight=False, soft_wrap=True, file=cast("IO[str]", _Visible(sys.stdout))).print(
        *parts
    )


class _Visible:
    """A stream on which what nobody would see is written out; colours stay."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text for people."""
        return self._stream.write("\x1b".join(map(visible, text.split("\x1b"))))


def _streamed(place: str) -> Callable[[str, float | None], None]:
    """Return what writes progress to a file, at most ten lines a second for one step.

    A file that cannot be written ends the telling and not the work.
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
    """Tell, where a file is not read for want of a ``plan``, what a plan would say of it.

    A release does not say how the file that it was made from is written.
    """
    try:
        yield
    except DataError as error:
        if plan is None:
            error.add_note(
                "It was read as CSV in UTF-8 with commas. If it is written otherwise, give the"
                " plan, whose 'reading' says how: --plan plan.yaml"
            )
        raise


@contextmanager
def progress(title: str, *, quiet: bool) -> Iterator[Callable[[str, float | None], None]]:
    """Show steps on stderr while work goes on; yields ``report(step, fraction)``.

    ``fraction`` is ``None`` while a step's length is unknown. Nothing shown depends on
    the data beyond the size of its file. Where the variable HEDGEROW_PROGRESS names a file, each
    step is a line of JSON at its end instead, ``{"step": "reading", "fraction": 0.5}``.
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
