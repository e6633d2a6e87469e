"""The `hedgerow` command: its parts, and how errors end."""

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
from hedgerow.cli.completion import completion_command
from hedgerow.cli.confirm import confirm_command
from hedgerow.cli.console import quieten, steady_streams
from hedgerow.cli.demo import demo_command
from hedgerow.cli.disclose import disclose_command
from hedgerow.cli.docs import docs_command
from hedgerow.cli.draft import draft_command
from hedgerow.cli.draw import draw_command
from hedgerow.cli.evaluate import evaluate_command
from hedgerow.cli.explain import explain_command
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
        typer.Option("--version", help="Show the version and leave.", callback=_show_version),
    ] = False,
) -> None:
    """Publish confidential data with a proved bound on what it reveals about any one person."""


def _without_settings() -> None:
    """Stand for a command that is listed and not run."""


def make_app(*, method_settings: bool = True) -> typer.Typer:
    """Return the program; options for the methods' settings are those of the registry now.

    Without ``method_settings`` two commands lack these options, and nothing is loaded for them.
    """
    if method_settings:
        from hedgerow.cli.settings import MethodCommand, takes_method_settings

        kind: dict[str, Any] = {"cls": MethodCommand}
        checking = takes_method_settings(check_command)
        publishing = takes_method_settings(publish_command)
    else:
        kind, checking, publishing = {}, _without_settings, _without_settings
    made = typer.Typer(
        name="hedgerow",
        help="Publish confidential data so that anyone may analyse it, with a proved bound on what"
        " it reveals about any one person.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    made.command("demo")(demo_command)
    made.command("draft")(draft_command)
    made.command("check", help=check_command.__doc__, **kind)(checking)
    made.command("confirm")(confirm_command)
    made.command("publish", help=publish_command.__doc__, **kind)(publishing)
    made.command("recover")(recover_command)
    made.command("verify")(verify_command)
    made.command("sign")(sign_command)
    made.command("signing-key")(signing_key_command)
    made.command("certificate")(certificate_command)
    made.command("disclose")(disclose_command)
    made.command("explain")(explain_command)
    made.command("draw")(draw_command)
    made.command("generalise")(generalise_command)
    made.command("evaluate")(evaluate_command)
    made.command("attack")(attack_command)
    made.command("compare")(compare_command)
    made.command("risk")(risk_command)
    made.command("audit")(audit_command)
    made.command("methods")(methods_command)
    made.command("studio")(studio_command)
    made.command("docs")(docs_command)
    made.command("completion")(completion_command)
    made.add_typer(ledger.app, name="ledger")
    made.add_typer(given.app, name="given")
    made.add_typer(taxonomy.app, name="taxonomy")
    made.callback()(root)
    return made


def __getattr__(name: str) -> Any:
    """Give ``app``, the whole program, to those who ask for it by that name."""
    if name == "app":
        return make_app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Stopped(SystemExit):
    """Somebody asked the program to end; what it was doing is undone first."""


@contextmanager
def _stopped_cleanly() -> Iterator[None]:
    """Let every request to end, by a key or by the system, undo what is half done and say so.

    Typer would end an interrupt without a word, and the system the other two without undoing.
    """

    def stop(number: int, _frame: Any) -> None:
        raise Stopped(128 + number)

    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    with suppress(ValueError):  # not the main thread: whoever runs us handles signals
        before = {name: signal.signal(getattr(signal, name), stop) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def main() -> None:
    """Run the command line."""
    steady_streams()
    with_settings = {"check", "publish", "completion"}
    run_command(make_app(method_settings=bool(with_settings & set(sys.argv[1:2]))))


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
            "there is not enough memory",
            where="memory",
            do="Give it more, or publish with --engine stream.",
        )
        _tell(short, _notes(error))
        sys.exit(short.exit_code)
    except Exception as error:
        # A traceback may show confidential values: only who asks for it gets one.
        if os.environ.get("HEDGEROW_DEBUG"):
            raise
        short_of = _short_of_memory(error)
        unexpected = short_of or InternalError(f"unexpected {type(error).__name__}")
        _tell(unexpected, [*_notes(error), *_unbooked(short_of)])
        sys.exit(unexpected.exit_code)


def _short_of_memory(error: Exception) -> InputError | None:
    """Return what is to be said where the system gives this process little memory.

    A library that cannot be loaded, or a thread that cannot be started, then ends in an error of
    any kind: a name that is missing, a module that is half there.
    """
    try:
        import resource
    except ImportError:  # there are no such limits on this system
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_MEMORY:
        return None
    return InputError(
        f"memory ran out, as it seems: an unexpected {type(error).__name__} under a limit of"
        f" {limit >> 20:,} MB for the whole process",
        do="Give it 2,048 MB or more (ulimit -v), or no limit.",
    )


def _unbooked(error: InputError | None) -> list[str]:
    """Say that nothing was booked where that is sure: what books was not even loaded."""
    loaded = "hedgerow.pipeline.publish" in sys.modules
    return ["Nothing was booked."] if error and not loaded else []


def _notes(error: BaseException) -> list[str]:
    """Return what was added to an error on its way, such as what stays booked."""
    return list(getattr(error, "__notes__", ()))


def _tell(error: HedgerowError, notes: Sequence[str] = ()) -> None:
    notes = [*_notes(error), *notes]
    if "--json" in sys.argv:
        facts: dict[str, Any] = {"what": error.what, "where": error.where, "do": error.do}
        told = {**facts, "notes": notes} if notes else facts
        _say(sys.stdout, json.dumps({"error": told, "exit-code": error.exit_code}))
    else:
        _say(sys.stderr, "\n".join([f"error: {error}", *notes]))


def _say(stream: Any, text: str) -> None:
    """Print a last word; where nobody can hear it, the exit code says it alone."""
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except (OSError, ValueError):
        quieten(stream)
