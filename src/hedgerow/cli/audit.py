"""`hedgerow audit`: try to break the guarantee of methods, or of a plan."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, a_folder, answer, progress, say

if TYPE_CHECKING:
    from hedgerow.auditing.report import AuditReport


def audit_command(
    methods: Annotated[
        list[str] | None,
        typer.Argument(metavar="METHOD", help="Methods to audit; all where none is named."),
    ] = None,
    *,
    people: Annotated[
        bool,
        typer.Option("--people", help="Tables that differ in all records of one person."),
    ] = False,
    plan: Annotated[
        Path | None,
        typer.Option(help="Audit the settings of this plan, on made-up neighbours."),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="The budget to run and to test, 1 or the plan's own.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs on each table of the pairs that look worst.")
    ] = None,
    pairs: Annotated[
        str | None, typer.Option(help="Only these pairs of neighbours, such as T1,T4.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Make the audit reproducible with this seed.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes that share the work; all cores.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            callback=a_folder,
            help="A folder for audit.json, audit.md and audit.svg.",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Try to break the guarantee of methods, by running them on tables built to hurt.

    Every method is run many times on tables that differ in one record. The largest epsilon
    that the runs prove, but for one chance in a million, is compared with the one claimed.
    With --people they differ in one person with all their records; with --plan, in what the
    plan protects. No confidential data is read. Exits with 1 where a claim is refuted.

    Example: hedgerow audit hedge diffgen --epsilon 1 --runs 2000
    """
    from hedgerow.auditing.run import RUNS
    from hedgerow.auditing.run import audit as run_audit

    with progress("audit", quiet=quiet or as_json) as report:
        made = run_audit(
            methods or (),
            people=people,
            plan=plan,
            epsilon=epsilon,
            runs=RUNS if runs is None else runs,
            pairs=[name.strip() for name in (pairs or "").split(",") if name.strip()],
            seed=seed,
            jobs=jobs or os.cpu_count() or 1,
            progress=report,
        )
    if out is not None:
        _write(made, out)
    answer(made.as_dict(), as_json=as_json, show=lambda: _show(made, quiet=quiet))
    if made.refuted:
        raise typer.Exit(1)


def _write(made: AuditReport, out: Path) -> None:
    """Leave the report in a folder, for machines, for a page of text and for the eye."""
    from hedgerow.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(made.as_dict(), indent=2, ensure_ascii=False) + "\n"
        (out / "audit.json").write_text(text, encoding="utf-8")
        (out / "audit.md").write_text(made.markdown(), encoding="utf-8")
        (out / "audit.svg").write_text(made.svg(), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot be written ({type(error).__name__})",
            where=str(out),
            do="Give another folder with --out.",
        ) from None


def _show(made: AuditReport, *, quiet: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    from hedgerow.auditing.report import claim_words

    table = Table(title="What runs on neighbouring tables prove", title_justify="left")
    for column in ("audited", "claimed", "certified", "runs", "verdict", "worst pair"):
        table.add_column(column, justify="left" if column in {"audited", "verdict"} else "right")
    for verdict in made.verdicts:
        if verdict.claim is None:
            table.add_row(escape(verdict.name), "nothing", "", "", verdict.outcome, "")
            continue
        table.add_row(
            escape(verdict.name),
            claim_words(verdict.claim),
            f"{verdict.certified:.2f}",
            f"{verdict.runs:,}",
            f"[bold]{verdict.outcome}[/bold]" if verdict.outcome == "refuted" else verdict.outcome,
            "" if verdict.worst is None else verdict.worst.pair,
        )
    say(table)
    if quiet:
        return
    for verdict in made.verdicts:
        if verdict.outcome == "refuted" and verdict.worst is not None:
            say(f"{escape(verdict.name)} is refuted: {escape(verdict.worst.event)}.")
    say("An epsilon is certified but for one chance in a million; no claim is proved by this.")
