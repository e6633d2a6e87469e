"""Arguments and options that several commands share: one name has one meaning everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import a_folder


def _methods(incomplete: str) -> list[str]:
    """Return the publishing methods that begin with a text, for completion."""
    from hedgerow.plan.registry import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def _disclosing_methods(incomplete: str) -> list[str]:
    """Return the methods of `disclose` that begin with a text, for completion."""
    from hedgerow.plan.disclose import DISCLOSE_METHODS

    return [name for name in DISCLOSE_METHODS if name.startswith(incomplete)]


def _engines(incomplete: str) -> list[str]:
    """Return the engines that begin with a text, for completion."""
    return [name for name in ("memory", "stream", "spark") if name.startswith(incomplete)]


PlanArgument = Annotated[Path, typer.Argument(help="The plan file (YAML, TOML or JSON).")]
ReleaseArgument = Annotated[
    Path, typer.Argument(help="The release folder.", show_default=False, metavar="RELEASE")
]

DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="FILE or URL",
        help="Read this confidential table instead of the plan's: a file or a database URL.",
    ),
]
TableOption = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="NAME", help="Read this table of the database whose URL is given."
    ),
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="METHOD",
        autocompletion=_methods,
        help="Use this method instead of the plan's.",
    ),
]
DisclosingMethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="METHOD",
        autocompletion=_disclosing_methods,
        help="Use this method instead of the plan's: aruba, btda, branch-and-bound, brute-force,"
        " aggregate or approx.",
    ),
]
MethodsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="METHOD", autocompletion=_methods, help="Methods to audit. By default all."
    ),
]
MethodArgument = Annotated[
    str | None,
    typer.Argument(autocompletion=_methods, help="The method whose settings to show."),
]
EpsilonOption = Annotated[
    str | None,
    typer.Option("--epsilon", metavar="NUMBER", help="Use this privacy budget: 1, 0.5 or 1/2."),
]
EngineOption = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        autocompletion=_engines,
        help="Count records with this engine: memory, stream or spark.",
    ),
]
AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="FILE",
        help="Read the attacker's dictionary from this file instead of the plan's.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an existing result.")]
ExpectOption = Annotated[
    str | None,
    typer.Option(
        "--expect",
        metavar="FINGERPRINT",
        help="Refuse any plan but the one with this fingerprint, as 'check' shows it.",
    ),
]
SigningKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--signing-key",
        metavar="FILE",
        help="Sign the release with the private key in this file (mode 0600).",
    ),
]
LedgerOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        envvar="HEDGEROW_LEDGER",
        metavar="FILE",
        help="Use this ledger instead of the default one.",
    ),
]
ReasonOption = Annotated[
    str,
    typer.Option(
        "--reason",
        metavar="TEXT",
        help="State the reason. Name who decided; the text is kept and cannot be undone.",
    ),
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        help="Use this record of what recipients were given, if the plan does not name it.",
    ),
]
TestOption = Annotated[
    Path | None,
    typer.Option(
        "--test",
        metavar="FILE",
        help="Test classifiers on these records, which must not be in the release.",
    ),
]
SensitiveOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive",
        metavar="COLUMN",
        help="Treat this column as sensitive. Repeatable; by default the class.",
    ),
]
OutFolder = Annotated[
    Path,
    typer.Option("--out", "-o", callback=a_folder, metavar="FOLDER", help="Write to this folder."),
]
OutFile = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="Write to this file; - is standard output."),
]
