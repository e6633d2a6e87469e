"""`hedgerow risk`: measure the risk of a raw table, for the data owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, read_plainly, say
from hedgerow.cli.options import ForceOption, OutFolder, SensitiveOption

if TYPE_CHECKING:
    from hedgerow.risks.raw.assessment import RiskAssessment


def risk_command(
    data: Annotated[
        Path | None,
        typer.Argument(help="The confidential table. By default the plan's."),
    ] = None,
    *,
    plan: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Use this plan. Predictors are quasi-identifiers, and the class is sensitive.",
        ),
    ],
    quasi: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Treat this column as a quasi-identifier. Repeatable; by default all predictors.",
        ),
    ] = None,
    sensitive: SensitiveOption = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Estimate the number of people who are unique in the population, if the table has"
            " this share of it (above 0, at most 1).",
        ),
    ] = None,
    max_sets: Annotated[
        int, typer.Option(min=1, help="Count at most this number of sets of columns.")
    ] = 2000,
    out: OutFolder = Path("risk"),
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure the risk of publishing a table unchanged.

    Writes risk.html and risk.json. Both are computed from the confidential records without noise:
    they are NOT private, are for the data owner only, and must not be published.

    Example: hedgerow risk patients.csv --plan plan.yaml --fraction 0.1 -o risk
    """
    from hedgerow.risks.raw.assess import risk

    with read_plainly(plan), progress("measuring risk", quiet=quiet or as_json) as report:
        assessment = risk(
            data,
            plan=plan,
            quasi=quasi or (),
            sensitive=sensitive or (),
            fraction=fraction,
            most_sets=max_sets,
            out=out,
            force=force,
            progress=report,
        )
    result = {"out": str(out), "private": False, **assessment.as_dict()}
    answer(result, as_json=as_json, show=lambda: _show(assessment, out, quiet=quiet))


def _show(assessment: RiskAssessment, out: Path, *, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape
    from rich.table import Table

    from hedgerow.report.headlines import per_cent
    from hedgerow.report.risk import risk_headline

    facts = assessment.facts
    say(escape(risk_headline(facts)))
    table = Table(box=None, pad_edge=False)
    for name in ("columns known to an attacker", "unique records", "share"):
        table.add_column(name, justify="left" if name.startswith("columns") else "right")
    for each in sorted(facts["sets"]["worst"], key=lambda each: -each["share"])[:5]:
        table.add_row(
            escape(", ".join(each["columns"])), f"{each['unique']:,}", per_cent(each["share"])
        )
    say(table)
    for each in facts["diversity"]:
        say(
            f"{escape(each['column'])}: l = {each['distinct-l']}, t = {each['t']:.2f};"
            f" {per_cent(each['homogeneous'])} of the records are in groups with one value."
        )
    for each in facts["identifiers"]:
        say(f"{escape(each['column'])} may contain {each['kind']} (found by its {each['by']}).")
    say(f"[bold]{escape(str(out / 'risk.html'))}[/bold] has all figures.")
    say("It is for the data owner only: it is not private. Do not publish it.")
