"""`hedgerow docs`: open the documentation of this version, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, a_folder, answer, say
from hedgerow.errors import SettingError


def docs_command(
    page: Annotated[
        str, typer.Argument(help="The page to open, such as tutorial, api or papers/diffgen.")
    ] = "index",
    *,
    path: Annotated[
        bool, typer.Option("--path", help="Print the path of the page and open no browser.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            callback=a_folder,
            metavar="FOLDER",
            help="Write to this folder instead of the cache.",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Open the documentation of this version in a browser, offline.

    The pages are part of the package and are written to the user's cache once. Without a browser,
    or with --path or --json, prints the path of the page.

    Example: hedgerow docs tutorial
    """
    from rich.markup import escape

    from hedgerow.handbook.write import PAGES, handbook

    folder = handbook(out)
    file = folder / PAGES / f"{page.removesuffix('.md').removesuffix('.html')}.html"
    if not file.resolve().is_relative_to(folder.resolve()) or not file.is_file():
        known = sorted(
            each.relative_to(folder / PAGES).with_suffix("").as_posix()
            for each in (folder / PAGES).rglob("*.html")
        )
        raise SettingError(
            f"There is no page {page!r}.", where="docs", do=f"Give one of: {', '.join(known)}."
        )
    opened = not (path or as_json) and _opened(file)

    def show() -> None:
        if path or not opened:
            say(escape(str(file)))
        elif not quiet:
            say(f"Opened {escape(str(file))}")

    answer({"page": str(file), "folder": str(folder)}, as_json=as_json, show=show)


def _opened(file: Path) -> bool:
    """Return whether a browser opened the page; a system without one is not an error."""
    import webbrowser

    try:
        return webbrowser.open(file.resolve().as_uri())
    except (webbrowser.Error, OSError):
        return False
