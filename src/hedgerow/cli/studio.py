"""`hedgerow studio`: start the web interface, on this machine only."""

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
        Path, typer.Argument(help="The folder that pages can read and write.")
    ] = Path(),
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Listen on this port; 0 chooses a free one.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address and open no browser.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Work with tables, plans and releases in the browser.

    Serves pages on 127.0.0.1 to the user who started it, until it is stopped with Ctrl-C. The
    address that it prints can be opened once. Pages edit the same files as the commands, and show
    the equivalent command. Needs: pip install "hedgerow[studio]".

    Example: hedgerow studio ~/registers
    """
    try:
        from hedgerow.studio.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "ruamel", "anyio"):
            raise
        raise MissingExtraError("The studio", extra="studio") from None

    def show(address: str, other: str | None) -> None:
        if as_json:
            sys.stdout.write(json.dumps({"url": address, "fallback": other}) + "\n")
        else:
            say(address)
            if not quiet:
                _explain(other)
        sys.stdout.flush()

    serve(folder, port=port, open_browser=not no_open, tell=show)


def _explain(other: str | None) -> None:
    say("Open this address; it can be used once. Stop the studio with Ctrl-C.")
    if other is not None:
        say(f"If the browser cannot reach it: {other}")
