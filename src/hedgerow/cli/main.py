"""The `hedgerow` command: its parts, and how errors end."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

from hedgerow.cli import ledger, papers, taxonomy
from hedgerow.cli.audit import audit
from hedgerow.cli.check import check
from hedgerow.cli.demo import demo
from hedgerow.cli.disclose import disclose
from hedgerow.cli.draft import draft
from hedgerow.cli.evaluate import evaluate
from hedgerow.cli.generalise import generalise
from hedgerow.cli.publish import publish
from hedgerow.errors import HedgerowError, InternalError

app = typer.Typer(
    name="hedgerow",
    help="Publish confidential data so that anyone may analyse it and nobody in it can be"
    " singled out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(demo)
app.command()(draft)
app.command()(check)
app.command()(publish)
app.command()(disclose)
app.command()(generalise)
app.command()(evaluate)
app.command()(audit)
app.add_typer(ledger.app, name="ledger")
app.add_typer(papers.app, name="papers")
app.add_typer(taxonomy.app, name="taxonomy")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"hedgerow {version('hedgerow')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and leave.", callback=_show_version),
    ] = False,
) -> None:
    """Publish confidential data so that nobody in it can be singled out."""


def main() -> None:
    """Run the command line; every failure is one message and an exit code."""
    try:
        app()
    except HedgerowError as error:
        _tell(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(130)
    except Exception as error:
        # A traceback may show confidential values: only who asks for it gets one.
        if os.environ.get("HEDGEROW_DEBUG"):
            raise
        unexpected = InternalError(f"unexpected {type(error).__name__}")
        _tell(unexpected)
        sys.exit(unexpected.exit_code)


def _tell(error: HedgerowError) -> None:
    if "--json" in sys.argv:
        facts = {"what": error.what, "where": error.where, "do": error.do}
        sys.stdout.write(json.dumps({"error": facts, "exit-code": error.exit_code}) + "\n")
    else:
        sys.stderr.write(f"error: {error}\n")
