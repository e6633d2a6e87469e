"""`hedgerow publish`: release a table, baskets or sequences."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer_done, progress, say
from hedgerow.cli.options import (
    DataOption,
    EngineOption,
    EpsilonOption,
    ExpectOption,
    ForceOption,
    MethodOption,
    OutFolder,
    PlanArgument,
    SigningKeyOption,
    TableOption,
)

if TYPE_CHECKING:
    from hedgerow.model.certificate import Certificate
    from hedgerow.pipeline.kinds.kind import AnyRelease


def publish_command(
    plan: PlanArgument,
    *,
    data: DataOption = None,
    table: TableOption = None,
    method: MethodOption = None,
    epsilon: EpsilonOption = None,
    out: OutFolder = Path("release"),
    write_records: Annotated[
        bool, typer.Option("--write-records", help="Write records.csv too: synthetic records.")
    ] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write release.parquet too.")] = False,
    force: ForceOption = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Make and book another release although this one is in place."
        ),
    ] = False,
    engine: EngineOption = "memory",
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Use at most this memory, such as 2GB (stream)."),
    ] = None,
    scratch: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Put scratch files into this folder (stream)."),
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Connect to this master, such as local[4].")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Use this random seed. The release is NOT private and is not booked."
        ),
    ] = None,
    expect: ExpectOption = None,
    even_if_noise: Annotated[
        bool,
        typer.Option(
            "--even-if-noise",
            help="Publish although the release would be mostly noise.",
        ),
    ] = False,
    signing_key: SigningKeyOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    settings: dict[str, Any],
) -> None:
    """Publish a table, baskets or sequences under differential privacy.

    Books the budget on the data set's ledger, then writes a folder with the release, its
    certificate and a report. Methods without that guarantee (mondrian, tds, full-domain) book
    nothing, and their certificates state it. If the release of the same command is in place
    already, it is returned and nothing is spent.

    A release that would be mostly noise, by the plan's number of records, is refused before
    anything is spent; `check` shows the forecast.

    Example: hedgerow publish plan.yaml --epsilon 1 --out release
    """
    from hedgerow import EngineSettings, Output
    from hedgerow.pipeline.publish import publish as run

    notices: list[str] = []
    with progress("publishing", quiet=quiet or as_json) as report:
        release = run(
            plan,
            data=data,
            table=table,
            out=Output(
                folder=out,
                records=write_records,
                parquet=parquet,
                force=force,
                again=again,
                signing_key=signing_key,
            ),
            engine=EngineSettings.of(engine, memory=memory, scratch=scratch, master=master),
            seed=seed,
            expect=expect,
            even_if_noise=even_if_noise,
            progress=report,
            notice=notices.append,
            method=method,
            epsilon=epsilon,
            **settings,
        )
    answer_done(
        {**_result(release, out), "notes": notices},
        as_json=as_json,
        show=lambda: _show(release, out, notices, quiet=quiet),
    )


def _result(release: AnyRelease, out: Path) -> dict[str, Any]:
    certificate = release.certificate
    return {
        "out": str(out),
        "epsilon": None
        if certificate.guarantee.epsilon is None
        else str(certificate.guarantee.epsilon),
        "delta": None if certificate.guarantee.delta is None else str(certificate.guarantee.delta),
        "private": certificate.guarantee.private,
        "method": certificate.method.name,
        "groups": release.n_rows,
        "noisy-total": certificate.data.noisy_total,
        "ledger": None
        if certificate.ledger is None
        else certificate.ledger.model_dump(mode="json", by_alias=True),
    }


def _show(release: AnyRelease, out: Path, notices: list[str], *, quiet: bool) -> None:
    for sentence in notices:
        sys.stderr.write(f"note: {sentence}\n")
    if quiet:
        return
    from rich.markup import escape

    certificate = release.certificate
    epsilon = certificate.guarantee.epsilon
    budget = "not differentially private" if epsilon is None else f"epsilon = {epsilon}"
    say(f"[bold]{escape(str(out))}[/bold]: {release.n_rows:,} {_rows(certificate)}, {budget}")
    say(escape(certificate.guarantee.statement))
    if certificate.covers is not None:
        say(escape(certificate.covers.statement))
    if certificate.ledger is not None:
        line = certificate.ledger
        whose = f"{'people' if line.people else 'data set'} {escape(repr(line.dataset))}"
        say(f"Booked on the ledger as entry {line.entry} of {whose}.")
    say(f"Read {escape(str(out / 'report.html'))} first; certificate.json has all details.")


def _rows(certificate: Certificate) -> str:
    items = certificate.data.items
    if items is None:
        return "groups"
    return "different sequences" if items.ordered else "different baskets"
