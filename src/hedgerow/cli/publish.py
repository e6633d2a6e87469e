"""`hedgerow publish`: a private release of a table, or of baskets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, say

if TYPE_CHECKING:
    from hedgerow.model.certificate import Certificate
    from hedgerow.pipeline.prepare import AnyRelease


def publish(
    plan: Annotated[Path, typer.Argument(help="The plan file (YAML, TOML or JSON).")],
    *,
    data: Annotated[
        str | None, typer.Option(help="A table in place of the plan's own: a file or a URL.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="A method in place of the plan's.")] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="A budget in place of the plan's: 1, 0.5 or 1/2.")
    ] = None,
    h: Annotated[
        str | None,
        typer.Option("--h", help="DiffGen, DiffMulti: specialisations; DiffGen also 'all'."),
    ] = None,
    purpose: Annotated[
        str | None,
        typer.Option("--for", help="Tables: classification, clustering, counting or general."),
    ] = None,
    score: Annotated[
        str | None, typer.Option(help="Tables: how splits are compared; see the method's own.")
    ] = None,
    depth: Annotated[int | None, typer.Option(help="DiffMulti: the most splits of a path.")] = None,
    distribution: Annotated[
        str | None, typer.Option(help="DiffMulti: how specialisations are shared: fair or even.")
    ] = None,
    height: Annotated[int | None, typer.Option(help="RPS: how often a box is halved.")] = None,
    cells: Annotated[
        int | None,
        typer.Option(help="basic-table, DPCube: the most cells; attributes are coarsened to fit."),
    ] = None,
    degree: Annotated[
        int | None, typer.Option(help="PrivBayes: the most parents of an attribute.")
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", help="Mondrian, TDS, full-domain: the least records of a box."),
    ] = None,
    relaxed: Annotated[
        bool | None,
        typer.Option("--relaxed/--strict", help="Mondrian: boxes may overlap, or may not."),
    ] = None,
    categories: Annotated[
        str | None, typer.Option(help="Mondrian: cut categories by taxonomy or order.")
    ] = None,
    suppression: Annotated[
        str | None, typer.Option(help="Full-domain: the share of records that may be left out.")
    ] = None,
    fan_out: Annotated[
        int | None, typer.Option(help="Full-domain: runs of a grid to one of the next level.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(help="Truthful: the chance that the guarantee fails: 1e-6.")
    ] = None,
    risk_weight: Annotated[
        str | None,
        typer.Option("--lambda", help="Supermodular and its kin: weight of low risk."),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(help="Supermodular, truthful: the part of epsilon for the synopsis."),
    ] = None,
    least_records: Annotated[
        int | None, typer.Option(help="Sample: records that the table surely has, publicly.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(help="DiffPart: the most items of a record.")
    ] = None,
    false_positives: Annotated[
        str | None,
        typer.Option(help="DiffPart: partitions without records that may pass a test, on average."),
    ] = None,
    c1: Annotated[
        str | None,
        typer.Option("--c1", help="DiffPart, faithful: factor of the counts' threshold."),
    ] = None,
    c2: Annotated[
        str | None, typer.Option("--c2", help="DiffPart, faithful: factor of the tests' threshold.")
    ] = None,
    faithful: Annotated[
        bool | None,
        typer.Option("--faithful/--improved", help="As the paper prints it, or improved."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path(
        "release"
    ),
    records: Annotated[
        bool, typer.Option("--records", help="Write records drawn from the boxes, too.")
    ] = False,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write release.parquet beside release.csv.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a release that is there already.")
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
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Publish a table, or set-valued data, under differential privacy.

    Books the budget on the data set's ledger, then writes a folder with the release, its
    certificate and a report. Baselines without that guarantee (mondrian, tds, full-domain)
    book nothing and say so in what they write.

    Example: hedgerow publish plan.yaml --epsilon 1 --out release
    """
    from hedgerow.pipeline.publish import publish as run

    settings: dict[str, Any] = {
        "h": parse_steps(h),
        "purpose": purpose,
        "score": score,
        "depth": depth,
        "distribution": distribution,
        "height": height,
        "cells": cells,
        "degree": degree,
        "k": k,
        "relaxed": relaxed,
        "categories": categories,
        "suppression": suppression,
        "fan_out": fan_out,
        "delta": delta,
        "risk_weight": risk_weight,
        "share": share,
        "least_records": least_records,
        "max_length": max_length,
        "false_positives": false_positives,
        "c1": c1,
        "c2": c2,
    }
    with progress("publishing", quiet=quiet or as_json) as report:
        release = run(
            plan,
            data=data,
            out=out,
            records=records,
            parquet=parquet,
            force=force,
            engine=engine,  # type: ignore[arg-type]  # checked by the pipeline
            memory=memory,
            scratch=scratch,
            master=master,
            seed=seed,
            expect=expect,
            progress=report,
            method=method,
            epsilon=epsilon,
            faithful=faithful,
            **{name: value for name, value in settings.items() if value is not None},
        )
    answer(_result(release, out), as_json=as_json, show=lambda: _show(release, out, quiet=quiet))


def parse_steps(text: str | None) -> int | str | None:
    """Return a number of specialisations as one; the plan judges any other text."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else text


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


def _show(release: AnyRelease, out: Path, *, quiet: bool) -> None:
    if quiet:
        return
    from rich.markup import escape

    certificate = release.certificate
    promised = certificate.guarantee.epsilon
    budget = "not differentially private" if promised is None else f"epsilon = {promised}"
    say(f"[bold]{escape(str(out))}[/bold]: {release.n_rows:,} {_rows(certificate)}, {budget}")
    say(escape(certificate.guarantee.statement))
    if certificate.ledger is not None:
        line = certificate.ledger
        say(f"Booked on the ledger as entry {line.entry} of data set {escape(repr(line.dataset))}.")
    say(f"Read {escape(str(out / 'report.html'))} first; certificate.json has every detail.")


def _rows(certificate: Certificate) -> str:
    return "groups" if certificate.data.items is None else "different baskets"
