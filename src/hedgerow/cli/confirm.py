"""`hedgerow confirm`: sign a plan as it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer_done, say
from hedgerow.errors import SettingError

if TYPE_CHECKING:
    from hedgerow.pipeline.confirm import Signing


def confirm_command(
    plan: Annotated[Path, typer.Argument(help="The plan file (YAML, TOML or JSON).")],
    *,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who signs; it is published.")],
    approve: Annotated[
        bool, typer.Option("--approve", help="Sign for the release, too, not for domains alone.")
    ] = False,
    why: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="With --approve: the reason, in a public sentence."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=TEXT",
            help="The public source of a domain, such as 'age=code book p. 4'; may be repeated."
            " items=TEXT for set-valued data.",
        ),
    ] = None,
    all_public: Annotated[
        bool,
        typer.Option(
            "--all-public",
            help="State that every domain that was taken from the data is public knowledge.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be signed, and write nothing.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Sign a plan: all its domains are public knowledge.

    Writes who signed, the day and the fingerprint of the plan into the plan file, with the content
    of its taxonomies. `publish` and `disclose` refuse a plan that differs from it and name the
    differences; only the path of the table may change. Signing again replaces the signature.

    Refused while a question of the plan is open, while it does not say what is protected (a
    person or a record), and while a domain was taken from the data and has no public source.
    The signature does not prove who signed.

    Example: hedgerow confirm plan.yaml --by "A. Officer" --source "age=code book p. 4"
    """
    from hedgerow.pipeline.confirm_file import confirm_file

    made = confirm_file(
        plan,
        by=by,
        approve=approve,
        why=why,
        sources=_sources(source or []),
        all_public=all_public,
        dry_run=dry_run,
    )
    answer_done(
        _result(made, plan, written=not dry_run),
        as_json=as_json,
        show=lambda: None if quiet else _show(made, plan, written=not dry_run),
    )


def _sources(given: list[str]) -> dict[str, str]:
    sources: dict[str, str] = {}
    for text in given:
        column, sign, said = text.partition("=")
        if not sign or not column.strip() or not said.strip():
            raise SettingError(
                f"{text!r} does not name a column and its source",
                where="--source",
                do="Give COLUMN=TEXT, such as 'age=code book p. 4'.",
            )
        sources[column.strip()] = said.strip()
    return sources


def _result(made: Signing, plan: Path, *, written: bool) -> dict[str, Any]:
    return {
        "plan": str(plan),
        "fingerprint": made.signed.fingerprint,
        "written": written,
        "confirms": list(made.words),
        "keys": {key: _without_parts(value) for key, value in made.keys.items()},
        "sources": made.sources,
        "notes": list(made.notes),
    }


def _without_parts(value: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if value is None else {key: each for key, each in value.items() if key != "signed"}


def _show(made: Signing, plan: Path, *, written: bool) -> None:
    from rich.text import Text

    for sentence in (*made.words, *made.notes):
        say(Text(sentence))
    signed = [key for key, value in made.keys.items() if value is not None]
    by = next(value["by"] for value in made.keys.values() if value is not None)
    done = "signed" if written else "nothing was written; this would be signed"
    say(Text(f"{plan}: {done}: {' and '.join(signed)} by {by}", style="bold"))
    say(f"Fingerprint of the signed plan: {made.signed.fingerprint}")
