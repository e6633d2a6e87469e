"""`hedgerow confirm`: sign a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer_done, say
from hedgerow.cli.options import PlanArgument
from hedgerow.errors import SettingError

if TYPE_CHECKING:
    from hedgerow.pipeline.confirm import Signing


def confirm_command(
    plan: PlanArgument,
    *,
    by: Annotated[str, typer.Option(metavar="NAME", help="Name who signs. The name is published.")],
    approve: Annotated[
        bool, typer.Option("--approve", help="Approve the release too, not only the domains.")
    ] = False,
    reason: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="State the reason. With --approve; it is published."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=TEXT",
            help="State the public source of a domain, such as 'age=code book p. 4'; for baskets,"
            " items=TEXT. Repeatable.",
        ),
    ] = None,
    all_public: Annotated[
        bool,
        typer.Option(
            "--all-public",
            help="State that all domains taken from the data are public knowledge.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be signed and write nothing.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Confirm that all domains of a plan are public knowledge, and sign it.

    Writes the name, the day and the fingerprint of the plan and its taxonomies into the plan file.
    `publish` and `disclose` refuse a plan that has changed since, and name the differences; only
    the path of the table may change. Confirming again replaces the signature.

    Refused if the plan has an open question or states no privacy unit (a person or a record), or
    if a domain was taken from the data and has no public source. The signature does not prove who
    signed.

    Example: hedgerow confirm plan.yaml --by "A. Officer" --source "age=code book p. 4"
    """
    from hedgerow.pipeline.confirm_file import confirm_file

    signing = confirm_file(
        plan,
        by=by,
        approve=approve,
        why=reason,
        sources=_sources(source or []),
        all_public=all_public,
        dry_run=dry_run,
    )
    answer_done(
        _result(signing, plan, written=not dry_run),
        as_json=as_json,
        show=lambda: None if quiet else _show(signing, plan, written=not dry_run),
    )


def _sources(texts: list[str]) -> dict[str, str]:
    sources: dict[str, str] = {}
    for text in texts:
        column, sign, said = text.partition("=")
        if not sign or not column.strip() or not said.strip():
            raise SettingError(
                f"{text!r} does not name a column and its source.",
                where="--source",
                do="Give COLUMN=TEXT, such as 'age=code book p. 4'.",
            )
        sources[column.strip()] = said.strip()
    return sources


def _result(signing: Signing, plan: Path, *, written: bool) -> dict[str, Any]:
    return {
        "plan": str(plan),
        "fingerprint": signing.signed.fingerprint,
        "written": written,
        "confirms": list(signing.words),
        "keys": {key: _without_parts(value) for key, value in signing.keys.items()},
        "sources": signing.sources,
        "notes": list(signing.notes),
    }


def _without_parts(value: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if value is None else {key: each for key, each in value.items() if key != "signed"}


def _show(signing: Signing, plan: Path, *, written: bool) -> None:
    from rich.text import Text

    for sentence in (*signing.words, *signing.notes):
        say(Text(sentence))
    signed = [key for key, value in signing.keys.items() if value is not None]
    by = next(value["by"] for value in signing.keys.values() if value is not None)
    done = "signed" if written else "Nothing was written; this would be signed"
    say(Text(f"{plan}: {done}: {' and '.join(signed)} by {by}", style="bold"))
    say(f"Fingerprint of the signed plan: {signing.signed.fingerprint}")
