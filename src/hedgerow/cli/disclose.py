"""`hedgerow disclose`: single records, each at the least risk that leaves it useful."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, a_folder, answer, progress, say

if TYPE_CHECKING:
    from hedgerow.disclosure.movement import RiskMovement
    from hedgerow.disclosure.result import Disclosure
    from hedgerow.report.owner import RecipientHistory


def disclose_command(
    plan: Annotated[Path, typer.Argument(help="The plan file (YAML, TOML or JSON).")],
    *,
    data: Annotated[
        str | None, typer.Option(help="A table in place of the plan's own: a file or a URL.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="What an attacker knows, in place of the plan's: a file.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="aruba, btda, branch-and-bound, brute-force, aggregate or approx, in place of the"
            " plan's."
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help="Utility: depth, leaves, log, lm or xiao-tao.")
    ] = None,
    at_least: Annotated[
        str | None, typer.Option(help="The least utility of a record: 12, 60% or half.")
    ] = None,
    at_most: Annotated[
        str | None, typer.Option(help="The most risk of a record, for the most utility.")
    ] = None,
    model: Annotated[int | None, typer.Option(help="The risk model: 1, 2 or 3.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="A table of each person's own weights, one row per record.")
    ] = None,
    risk_weight: Annotated[
        str | None, typer.Option("--lambda", help="aggregate: the weight of low risk.")
    ] = None,
    power: Annotated[
        str | None, typer.Option("--kappa", help="aggregate: the power of utility.")
    ] = None,
    faithful: Annotated[
        bool | None,
        typer.Option("--faithful/--improved", help="approx: round as the paper prints it, or not."),
    ] = None,
    recipient: Annotated[
        str | None,
        typer.Option(help="Who gets the records: what they were given before counts."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="The column that tells records apart from one disclosure to the next."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="The file that remembers what was given to whom, not beside the plan."),
    ] = None,
    first: Annotated[
        bool | None,
        typer.Option("--first", help="Say that this recipient has nothing from these data yet."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", callback=a_folder, help="The folder to write.")
    ] = Path("disclosed"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace a release that is there already.")
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume/--fresh", help="Go on with a run that was stopped, or begin again."),
    ] = True,
    accept_risk: Annotated[
        bool,
        typer.Option(
            "--accept-risk",
            help="Write the disclosure even where its mean risk stays above half of that of the"
            " records as they are; the certificate says so.",
        ),
    ] = False,
    hours: Annotated[
        float,
        typer.Option(help="Refuse a run that is expected to take longer than that."),
    ] = 6.0,
    seed: Annotated[
        int | None, typer.Option(min=0, help="approx, faithful: for experiments, reproducible.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Disclose single records, each in the form of least risk that leaves it useful.

    NOT differentially private: values are the recorded ones, only coarser. Writes a folder
    with the records, a certificate that says so, a report, and a folder 'owner' with the
    risks, which is not for others. A stopped run goes on where it was. Where risk did not
    fall, nothing is written (exit 3). With --recipient, risk is that of all they were given.

    Example: hedgerow disclose plan.yaml --at-least half --out disclosed
    """
    from hedgerow.disclosure.disclose import disclose as run

    settings: dict[str, Any] = {
        "method": method,
        "utility": {"measure": measure, "at-least": at_least},
        "risk": {"model": model, "at-most": at_most, "weights": _place(weights)},
        "lambda": risk_weight,
        "kappa": power,
        "faithful": faithful,
        "recipient": recipient,
        "key": key,
        "memory": _place(memory),
        "first": first,
    }
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
                **settings,
            )
    except (KeyboardInterrupt, SystemExit):  # by a key, or by the system
        if not quiet:
            typer.echo("What was found so far is kept: the same command goes on.", err=True)
        raise
    answer(_result(disclosed, out), as_json=as_json, show=lambda: _show(disclosed, out, quiet))


def _place(path: str | None) -> str | None:
    """Return a path from here, wherever the plan lies."""
    return None if path is None else str(Path(path).absolute())


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
    """Say how risk moved, before anything is written: for the owner, who sees the terminal."""
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
        f"{movement.unique:,} of {movement.n_rows:,} rows equal no other;"
        f" {100 * movement.verbatim:.1f} % of cells show the recorded value itself."
    )


def _show_recognised(have: RecipientHistory, quiet: bool) -> None:
    """Say what the recipient has already: for the owner, who sees the terminal."""
    if quiet or not have.earlier:
        return
    from rich.markup import escape

    say(
        f"{escape(have.name)} has been given records {len(have.earlier)} time(s) before;"
        f" {have.n_recognised:,} of these records are among them."
    )


def _show(disclosed: Disclosure, out: Path, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape

    place = escape(str(out))
    say(f"[bold]{place}[/bold]: {disclosed.n_rows:,} records, each in a form of its own.")
    say(escape(disclosed.certificate.guarantee.statement))
    say(f"Read {escape(str(out / 'owner' / 'report.html'))} before you give anything away.")
    say(f"Give away all but {escape(str(out / 'owner'))}: that folder is for you only.")
