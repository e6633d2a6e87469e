"""`hedgerow risk`: how risky it would be to publish a table as it is, for the data owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, read_plainly, say

if TYPE_CHECKING:
    from hedgerow.risks.raw.assessment import RiskAssessment


def risk_command(
    data: Annotated[
        Path | None,
        typer.Argument(help="The confidential table. By default the one that the plan names."),
    ] = None,
    *,
    plan: Annotated[
        Path,
        typer.Option(help="The plan: predictors are quasi-identifiers, the class is sensitive."),
    ],
    quasi: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Treat this column as a quasi-identifier, in place of all predictors; repeatable.",
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Treat this column as sensitive, in place of the class; repeatable.",
        ),
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Estimate how many people are unique in the population, of which the table holds"
            " this share (above 0, at most 1).",
        ),
    ] = None,
    most_sets: Annotated[
        int, typer.Option(min=1, help="Count at most this many sets of columns.")
    ] = 2000,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Write risk.html and risk.json here.")
    ] = Path("risk"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace an assessment that is there already.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure how risky it would be to publish a table as it is.

    Writes risk.html and risk.json for the data owner: they are computed from the confidential
    records without noise, are NOT private and must not go with a release.

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
            most_sets=most_sets,
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
    for name in ("columns that somebody knows", "unique records", "share"):
        table.add_column(name, justify="left" if name.startswith("columns") else "right")
    for each in sorted(facts["sets"]["worst"], key=lambda each: -each["share"])[:5]:
        table.add_row(
            escape(", ".join(each["columns"])), f"{each['unique']:,}", per_cent(each["share"])
        )
    say(table)
    for each in facts["diversity"]:
        say(
            f"{escape(each['column'])}: l = {each['distinct-l']}, t = {each['t']:.2f};"
            f" {per_cent(each['homogeneous'])} of the records lie in groups of one value."
        )
    for each in facts["identifiers"]:
        say(f"{escape(each['column'])} may hold {each['kind']} (found by its {each['by']}).")
    say(f"[bold]{escape(str(out / 'risk.html'))}[/bold] has all figures.")
    say("It is for the data owner only: not private, and not to go with a release.")
