"""`hedgerow disclose`: release generalised single records, without a guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, say
from hedgerow.cli.options import (
    AgainstOption,
    DataOption,
    DisclosingMethodOption,
    ForceOption,
    OutFolder,
    PlanArgument,
)

if TYPE_CHECKING:
    from hedgerow.disclosure.movement import RiskMovement
    from hedgerow.disclosure.result import Disclosure
    from hedgerow.report.owner import RecipientHistory


def disclose_command(
    plan: PlanArgument,
    *,
    data: DataOption = None,
    against: AgainstOption = None,
    method: DisclosingMethodOption = None,
    out: OutFolder = Path("disclosed"),
    force: ForceOption = False,
    resume: Annotated[
        bool,
        typer.Option("--resume/--fresh", help="Resume an interrupted run, or start again."),
    ] = True,
    accept_risk: Annotated[
        bool,
        typer.Option(
            "--accept-risk",
            help="Write the disclosure although its mean risk is above half of that of the original"
            " records; the certificate states it.",
        ),
    ] = False,
    hours: Annotated[
        float,
        typer.Option(help="Refuse a run that is expected to take longer than this."),
    ] = 6.0,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Use this random seed (approx with --faithful).")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    settings: dict[str, Any],
) -> None:
    """Disclose single records, each generalised to the minimum risk at a required utility.

    NOT differentially private: values are the original ones, only coarser. Writes a folder with
    the records, a certificate that states this, a report, and a folder 'owner' with the risks,
    which is confidential. An interrupted run can be resumed. If risk does not fall, nothing is
    written (exit 3). With --recipient, earlier disclosures to that recipient count too.

    Example: hedgerow disclose plan.yaml --at-least half --out disclosed
    """
    from hedgerow.disclosure.disclose import disclose as run

    try:
        with progress("disclosing", quiet=quiet or as_json) as report:
            disclosed = run(
                plan,
                data=data,
                against=against,
                out=out,
                force=force,
                resume=resume,
                seed=seed,
                hours=hours,
                accept_risk=accept_risk,
                on_risk=lambda movement: _show_movement(movement, quiet or as_json),
                on_recognised=lambda have: _show_recognised(have, quiet or as_json),
                progress=report,
                method=method,
                **settings,
            )
    except (KeyboardInterrupt, SystemExit):  # by a key, or by the system
        if not quiet:
            typer.echo("Results so far are kept: the same command resumes the run.", err=True)
        raise
    answer(_result(disclosed, out), as_json=as_json, show=lambda: _show(disclosed, out, quiet))


def _result(disclosed: Disclosure, out: Path) -> dict[str, Any]:
    certificate = disclosed.certificate
    return {
        "out": str(out),
        "method": certificate.method.name,
        "private": certificate.guarantee.private,
        "records": disclosed.n_rows,
        "owner-only": str(out / "owner"),
        "disclosure": certificate.model_dump(mode="json", by_alias=True)["disclosure"],
    }


def _show_movement(movement: RiskMovement, quiet: bool) -> None:
    """Print the risk before and after, for the owner, before anything is written."""
    if quiet:
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("for you only", "before", "after"):
        table.add_column(title, justify="left" if title == "for you only" else "right")
    for name, pair in (("mean risk", movement.mean), ("largest risk", movement.largest)):
        table.add_row(name, *(f"{value:.3g}" for value in pair))
    say(table)
    say(
        f"{movement.unique:,} of {movement.n_rows:,} rows are unique;"
        f" {100 * movement.verbatim:.1f} % of cells have the original value."
    )


def _show_recognised(have: RecipientHistory, quiet: bool) -> None:
    """Print what the recipient already has, for the owner."""
    if quiet or not have.earlier:
        return
    from rich.markup import escape

    say(
        f"{escape(have.name)} has received records {len(have.earlier)} time(s) before;"
        f" {have.n_recognised:,} of these records were among them."
    )


def _show(disclosed: Disclosure, out: Path, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape

    place = escape(str(out))
    say(f"[bold]{place}[/bold]: {disclosed.n_rows:,} generalised records.")
    say(escape(disclosed.certificate.guarantee.statement))
    say(f"Read {escape(str(out / 'owner' / 'report.html'))} before you give anything to others.")
    say(f"Never give {escape(str(out / 'owner'))} to others: that folder is for you only.")
