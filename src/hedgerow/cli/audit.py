"""`hedgerow audit`: try to refute the guarantee of methods, or of a plan."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, a_folder, answer, progress, say
from hedgerow.cli.options import MethodsArgument

if TYPE_CHECKING:
    from hedgerow.auditing.report import AuditReport


def audit_command(
    methods: MethodsArgument = None,
    *,
    per_person: Annotated[
        bool,
        typer.Option("--per-person", help="Use tables that differ in all records of one person."),
    ] = False,
    plan: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Use this plan's settings, on simulated neighbours."),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Use this privacy budget. By default the plan's, or 1.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Run each table of the worst pairs this number of times.")
    ] = None,
    pairs: Annotated[
        str | None, typer.Option(help="Use only these pairs of neighbours, such as T1,T4.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Use this random seed. By default none.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Use this number of processes. By default one per core."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            callback=a_folder,
            metavar="FOLDER",
            help="Write to this folder: audit.json, audit.md and audit.svg.",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Try to refute the guarantee of methods by running them on worst-case tables.

    Runs each method many times on tables that differ in one record, and compares the claimed
    epsilon with the largest one that the runs prove, up to an error probability of one in a
    million. With --per-person the tables differ in all records of one person; with --plan, in the
    unit that the plan protects. Reads no confidential data. Exits with 1 if a claim is refuted.

    Example: hedgerow audit hedge diffgen --epsilon 1 --runs 2000
    """
    from hedgerow.auditing.run import RUNS
    from hedgerow.auditing.run import audit as run_audit

    with progress("audit", quiet=quiet or as_json) as report:
        found = run_audit(
            methods or (),
            people=per_person,
            plan=plan,
            epsilon=epsilon,
            runs=RUNS if runs is None else runs,
            pairs=[name.strip() for name in (pairs or "").split(",") if name.strip()],
            seed=seed,
            jobs=jobs or os.cpu_count() or 1,
            progress=report,
        )
    if out is not None:
        _write(found, out)
    answer(found.as_dict(), as_json=as_json, show=lambda: _show(found, quiet=quiet))
    if found.refuted:
        raise typer.Exit(1)


def _write(found: AuditReport, out: Path) -> None:
    """Write the report as JSON, Markdown and SVG."""
    from hedgerow.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(found.as_dict(), indent=2, ensure_ascii=False) + "\n"
        (out / "audit.json").write_text(text, encoding="utf-8")
        (out / "audit.md").write_text(found.markdown(), encoding="utf-8")
        (out / "audit.svg").write_text(found.svg(), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The report cannot be written ({type(error).__name__}).",
            where=str(out),
            do="Choose another folder with --out.",
        ) from None


def _show(found: AuditReport, *, quiet: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    from hedgerow.auditing.report import claim_words

    table = Table(
        title="Lower bounds on epsilon, from runs on neighbouring tables", title_justify="left"
    )
    for column in ("audited", "claimed", "certified", "runs", "verdict", "worst pair"):
        table.add_column(column, justify="left" if column in {"audited", "verdict"} else "right")
    for verdict in found.verdicts:
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
    for verdict in found.verdicts:
        if verdict.outcome == "refuted" and verdict.worst is not None:
            say(f"{escape(verdict.name)} is refuted: {escape(verdict.worst.event)}.")
    say("Bounds hold up to an error probability of one in a million. No claim is proved by them.")
