"""How commands speak: tables and words on stdout, progress on stderr, or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Annotated, Any, cast

import typer

from hedgerow.errors import visible

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


@contextmanager
def progress(title: str, *, quiet: bool) -> Iterator[Callable[[str, float | None], None]]:
    """Show steps on stderr while work goes on; yields ``report(step, fraction)``.

    ``fraction`` is ``None`` while a step's length is unknown. Nothing shown depends on
    the data beyond the size of its file.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda step, fraction: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)

        def report(step: str, fraction: float | None) -> None:
            total = None if fraction is None else 1.0
            bar.update(task, description=step, total=total, completed=fraction or 0.0)

        yield report
