"""The `hedgerow` command: its subcommands, errors and interrupts."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer

from hedgerow.cli import given, ledger, taxonomy
from hedgerow.cli.attack import attack_command
from hedgerow.cli.audit import audit_command
from hedgerow.cli.certificate import certificate_command
from hedgerow.cli.check import check_command
from hedgerow.cli.compare import compare_command
from hedgerow.cli.completion import completion_command, words_to_complete
from hedgerow.cli.confirm import confirm_command
from hedgerow.cli.console import quieten, steady_streams
from hedgerow.cli.demo import demo_command
from hedgerow.cli.disclose import disclose_command
from hedgerow.cli.docs import docs_command
from hedgerow.cli.draft import draft_command
from hedgerow.cli.draw import draw_command
from hedgerow.cli.evaluate import evaluate_command
from hedgerow.cli.explain import explain_command
from hedgerow.cli.former import use_present_names
from hedgerow.cli.generalise import generalise_command
from hedgerow.cli.methods import methods_command
from hedgerow.cli.publish import publish_command
from hedgerow.cli.recover import recover_command
from hedgerow.cli.risk import risk_command
from hedgerow.cli.sign import sign_command, signing_key_command
from hedgerow.cli.studio import studio_command
from hedgerow.cli.verify import verify_command
from hedgerow.errors import HedgerowError, InputError, InternalError

LEAST_MEMORY = 2 << 30
"""Bytes of address space below which libraries may fail to load."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"hedgerow {version('hedgerow')}")
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version),
    ] = False,
) -> None:
    """Publish confidential data with a proved bound on what it reveals about any one person."""


def _without_settings() -> None:
    """Stand in for a command that is listed and not run."""


def make_app(*, method_settings: bool = True) -> typer.Typer:
    """Return the program, with options for the settings of the methods now registered.

    Without ``method_settings``, three commands lack these options and the methods are not loaded.
    """
    if method_settings:
        from hedgerow.cli.settings import PublishingCommand, takes_settings

        kind: dict[str, Any] = {"cls": PublishingCommand}
        checking = takes_settings(check_command, "publish")
        publishing = takes_settings(publish_command, "publish")
        disclosing = takes_settings(disclose_command, "disclose")
    else:
        kind, checking, publishing, disclosing = {}, *[_without_settings] * 3
    app = typer.Typer(
        name="hedgerow",
        help="Publish confidential data so that anyone may analyse it, with a proved bound on what"
        " it reveals about any one person.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.command("demo")(demo_command)
    app.command("draft")(draft_command)
    app.command("check", help=check_command.__doc__, **kind)(checking)
    app.command("confirm")(confirm_command)
    app.command("publish", help=publish_command.__doc__, **kind)(publishing)
    app.command("recover")(recover_command)
    app.command("verify")(verify_command)
    app.command("sign")(sign_command)
    app.command("signing-key")(signing_key_command)
    app.command("certificate")(certificate_command)
    app.command("disclose", help=disclose_command.__doc__)(disclosing)
    app.command("explain")(explain_command)
    app.command("draw")(draw_command)
    app.command("generalise")(generalise_command)
    app.command("evaluate")(evaluate_command)
    app.command("attack")(attack_command)
    app.command("compare")(compare_command)
    app.command("risk")(risk_command)
    app.command("audit")(audit_command)
    app.command("methods")(methods_command)
    app.command("studio")(studio_command)
    app.command("docs")(docs_command)
    app.command("completion")(completion_command)
    app.add_typer(ledger.app, name="ledger")
    app.add_typer(given.app, name="given")
    app.add_typer(taxonomy.app, name="taxonomy")
    app.callback()(root)
    use_present_names(app)
    return app


def __getattr__(name: str) -> Any:
    """Return the whole program under the name ``app``."""
    if name == "app":
        return make_app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Stopped(SystemExit):
    """A request to end the program, after unfinished work is undone."""


@contextmanager
def _stopped_cleanly() -> Iterator[None]:
    """Undo unfinished work on every request to end the program, by a key or a signal.

    By default Typer ends silently on SIGINT, and the system without undoing on the others.
    """

    def stop(number: int, _frame: Any) -> None:
        raise Stopped(128 + number)

    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    with suppress(ValueError):  # not the main thread: the caller handles signals
        before = {name: signal.signal(getattr(signal, name), stop) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def main() -> None:
    """Run the command line."""
    steady_streams()
    words = words_to_complete() or sys.argv
    with_settings = {"check", "publish", "disclose"} & set(words[1:2])
    run_command(make_app(method_settings=bool(with_settings)))


def run_command(command: Callable[[], Any]) -> None:
    """Run a command; every failure is one message and an exit code."""
    try:
        with _stopped_cleanly():
            command()
    except HedgerowError as error:
        _tell(error)
        sys.exit(error.exit_code)
    except Stopped as error:
        word = "interrupted" if error.code == 128 + signal.SIGINT else "stopped"
        _say(sys.stderr, "\n".join([word, *_notes(error)]))
        raise
    except MemoryError as error:
        short = InputError(
            "There is not enough memory.",
            where="memory",
            do="Give the process more, or publish with --engine stream.",
        )
        _tell(short, _notes(error))
        sys.exit(short.exit_code)
    except Exception as error:
        # A traceback may show confidential values: print it only on request.
        if os.environ.get("HEDGEROW_DEBUG"):
            raise
        short_of = _short_of_memory(error)
        unexpected = short_of or InternalError(f"Unexpected {type(error).__name__}.")
        _tell(unexpected, [*_notes(error), *_unbooked(short_of)])
        sys.exit(unexpected.exit_code)


def _short_of_memory(error: Exception) -> InputError | None:
    """Return an error about memory if the system limits it for this process.

    Under a limit, a library that cannot be loaded or a thread that cannot be started ends in an
    error of any kind: a missing name, a partly loaded module.
    """
    try:
        import resource
    except ImportError:  # there are no such limits on this system
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_MEMORY:
        return None
    return InputError(
        f"Memory probably ran out: an unexpected {type(error).__name__} under a limit of"
        f" {limit >> 20:,} MB for the whole process.",
        do="Give it 2,048 MB or more (ulimit -v), or no limit.",
    )


def _unbooked(error: InputError | None) -> list[str]:
    """State that nothing was booked if the code that books was not loaded."""
    loaded = "hedgerow.pipeline.publish" in sys.modules
    return ["Nothing was booked."] if error and not loaded else []


def _notes(error: BaseException) -> list[str]:
    """Return the notes of an error, such as what remains booked."""
    return list(getattr(error, "__notes__", ()))


def _tell(error: HedgerowError, notes: Sequence[str] = ()) -> None:
    notes = [*_notes(error), *notes]
    if "--json" in sys.argv:
        facts: dict[str, Any] = {"what": error.what, "where": error.where, "do": error.do}
        shown = {**facts, "notes": notes} if notes else facts
        _say(sys.stdout, json.dumps({"error": shown, "exit-code": error.exit_code}))
    else:
        _say(sys.stderr, "\n".join([f"error: {error}", *notes]))


def _say(stream: Any, text: str) -> None:
    """Print a last message; if the stream is closed, only the exit code remains."""
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except (OSError, ValueError):
        quieten(stream)
