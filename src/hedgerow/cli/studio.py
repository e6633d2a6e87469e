"""`hedgerow studio`: the whole tool in a browser, on this machine alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, say
from hedgerow.errors import MissingExtraError


def studio_command(
    folder: Annotated[
        Path, typer.Argument(help="The folder to work in: all that pages see and write is in it.")
    ] = Path(),
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 is any that is free.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address and open no browser.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Work with tables, plans and releases in the browser.

    Serves pages to this machine's user alone, from 127.0.0.1, until it is ended with Ctrl-C. The
    address that it prints is good once. Pages edit the same files as the commands do, and show
    the command that does the same. Needs: pip install "hedgerow[studio]".

    Example: hedgerow studio ~/registers
    """
    try:
        from hedgerow.studio.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "ruamel", "anyio"):
            raise
        raise MissingExtraError("The studio", extra="studio") from None

    def tell(address: str, other: str | None) -> None:
        if as_json:
            sys.stdout.write(json.dumps({"url": address, "fallback": other}) + "\n")
        else:
            say(address)
            if not quiet:
                _explain(other)
        sys.stdout.flush()

    serve(folder, port=port, open_browser=not no_open, tell=tell)


def _explain(other: str | None) -> None:
    say("Open this address, which is good once; end the studio with Ctrl-C.")
    if other is not None:
        say(f"If the browser does not find it: {other}")
