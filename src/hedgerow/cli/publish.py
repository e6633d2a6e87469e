"""`hedgerow publish`: a private release of a table, or of baskets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, a_folder, answer_done, progress, say

if TYPE_CHECKING:
    from hedgerow.model.certificate import Certificate
    from hedgerow.pipeline.kinds.kind import AnyRelease


def publish_command(
    plan: Annotated[Path, typer.Argument(help="The plan file (YAML, TOML or JSON).")],
    *,
    data: Annotated[
        str | None, typer.Option(help="A table in place of the plan's own: a file or a URL.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="With a database URL in --data: the name of the table.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="A method in place of the plan's.")] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="A budget in place of the plan's: 1, 0.5 or 1/2.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", callback=a_folder, help="The folder to write.")
    ] = Path("release"),
    records: Annotated[
        bool, typer.Option("--records", help="Write records drawn from the boxes, too.")
    ] = False,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write release.parquet beside release.csv.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a release that is there already.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Make another release where this one is in place, and book it."
        ),
    ] = False,
    engine: Annotated[
        str, typer.Option(help="What counts the records: memory, stream or spark.")
    ] = "memory",
    memory: Annotated[
        str | None, typer.Option(help="Streaming: the memory to work in, such as 2GB.")
    ] = None,
    scratch: Annotated[
        Path | None, typer.Option(help="Streaming: a folder for the codes; removed afterwards.")
    ] = None,
    master: Annotated[
        str | None, typer.Option(help="Spark: the master's URL, such as local[4].")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="For experiments: reproducible and NOT private, never booked."),
    ] = None,
    expect: Annotated[
        str | None,
        typer.Option(help="The fingerprint that `check` showed: any other plan is refused."),
    ] = None,
    even_if_noise: Annotated[
        bool,
        typer.Option(
            "--even-if-noise",
            help="Publish although the plan's records are too few for it to be more than noise.",
        ),
    ] = False,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Sign the release with the private key in this file."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    settings: dict[str, Any],
) -> None:
    """Publish a table, or set-valued data, under differential privacy.

    Books the budget on the data set's ledger, then writes a folder with the release, its
    certificate and a report. Baselines without that guarantee (mondrian, tds, full-domain)
    book nothing and say so in what they write. The same command once more answers with the
    release that is in place and spends nothing.

    By the plan's own number of records, as `check` tells, a release that would be mostly noise
    is refused and nothing is spent.

    Example: hedgerow publish plan.yaml --epsilon 1 --out release
    """
    from hedgerow import EngineSettings
    from hedgerow.pipeline.publish import publish as run

    notices: list[str] = []
    with progress("publishing", quiet=quiet or as_json) as report:
        release = run(
            plan,
            data=data,
            table=table,
            out=out,
            records=records,
            parquet=parquet,
            force=force,
            again=again,
            engine=EngineSettings.of(engine, memory=memory, scratch=scratch, master=master),
            seed=seed,
            expect=expect,
            even_if_noise=even_if_noise,
            sign=sign,
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
    promised = certificate.guarantee.epsilon
    budget = "not differentially private" if promised is None else f"epsilon = {promised}"
    say(f"[bold]{escape(str(out))}[/bold]: {release.n_rows:,} {_rows(certificate)}, {budget}")
    say(escape(certificate.guarantee.statement))
    if certificate.covers is not None:
        say(escape(certificate.covers.statement))
    if certificate.ledger is not None:
        line = certificate.ledger
        whose = f"{'people' if line.people else 'data set'} {escape(repr(line.dataset))}"
        say(f"Booked on the ledger as entry {line.entry} of {whose}.")
    say(f"Read {escape(str(out / 'report.html'))} first; certificate.json has every detail.")


def _rows(certificate: Certificate) -> str:
    items = certificate.data.items
    if items is None:
        return "groups"
    return "different sequences" if items.ordered else "different baskets"
