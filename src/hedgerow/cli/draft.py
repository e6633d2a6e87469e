"""`hedgerow draft`: propose a plan for a table, baskets or sequences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, is_stdout, progress, say
from hedgerow.cli.options import ForceOption, OutFile, TableOption
from hedgerow.errors import PlanError
from hedgerow.plan.defaults import (
    DEFAULT_BASKET_METHOD,
    DEFAULT_METHOD,
    DEFAULT_SEQUENCE_METHOD,
)

if TYPE_CHECKING:
    from hedgerow.drafting.compose import Draft


def draft_command(
    data: Annotated[
        str, typer.Argument(help="The table (a file or a database URL), or a file of baskets.")
    ],
    *,
    out: OutFile = Path("plan.yaml"),
    taxonomies: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Choose from the taxonomies in this folder."),
    ] = None,
    class_name: Annotated[
        str | None,
        typer.Option("--class", metavar="COLUMN", help="Use this column as the class to predict."),
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Read the items of baskets from this column."),
    ] = None,
    record_id: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Identify records by this column (with --items)."),
    ] = None,
    ordered: Annotated[
        bool,
        typer.Option("--ordered", help="Read records as sequences, whose order is kept."),
    ] = False,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Order the rows of a sequence by this column (with --record-id)."
        ),
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="Read the result of this query of the database.")
    ] = None,
    table: TableOption = None,
    method: Annotated[
        str | None,
        typer.Option(
            help=f"Use this method. By default {DEFAULT_METHOD}, for baskets"
            f" {DEFAULT_BASKET_METHOD}, for sequences {DEFAULT_SEQUENCE_METHOD}."
        ),
    ] = None,
    purpose: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="PURPOSE",
            help="Publish for this purpose: rows for general use, classification, counting or"
            " clustering, or a generalised table to read (table).",
        ),
    ] = None,
    epsilon: Annotated[str, typer.Option(help="Use this privacy budget: 1, 0.5 or 1/2.")] = "1",
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN,...", help="Identify the person of a record by these columns."
        ),
    ] = None,
    records_per_person: Annotated[
        str | None,
        typer.Option(
            metavar="N or auto", help="Use at most this number of records of one person (--person)."
        ),
    ] = None,
    one_record_per_person: Annotated[
        bool,
        typer.Option("--one-record-per-person", help="State that nobody can have two records."),
    ] = False,
    protects_records: Annotated[
        bool,
        typer.Option("--protects-records", help="Protect each record instead of the person."),
    ] = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Propose a plan for a table, for baskets or for sequences.

    Guesses the file format, types, bounds, taxonomies, the class and identifiers from the data,
    marks each guess with a comment, and leaves the plan unconfirmed: publish refuses it until a
    person has replaced the guesses by public knowledge. A file is read as baskets if its name ends
    in .dat, .seq or .baskets, if its first line begins with %, or if it is neither .csv nor .tsv
    and its lines look like baskets; a table is read as baskets if --items names a column. With
    --ordered, records are sequences: lines of a file, lists, or the rows of a long table.

    No data show whether a person can have several records. State it with --person,
    --one-record-per-person or --protects-records; otherwise the plan asks, and lists the columns
    that may identify persons. Open questions are listed under 'to-do' in the plan, which cannot be
    confirmed before each is answered and removed.

    Example: hedgerow draft adult.csv --taxonomies taxonomies -o plan.yaml
    """
    from hedgerow.drafting.compose import draft

    is_file = not is_stdout(out)
    if is_file:
        _check_output(out, force=force)
    with progress("reading", quiet=quiet or as_json) as report:
        proposed = draft(
            data,
            query=query,
            table=table,
            taxonomies=taxonomies,
            class_name=class_name,
            items=items,
            record=record_id,
            order=order,
            ordered=ordered,
            method=method,
            purpose=purpose,
            epsilon=epsilon,
            person=None if person is None else _columns(person),
            records_per_person=records_per_person,
            one_record_per_person=one_record_per_person,
            protects_records=protects_records,
            base=out.parent if is_file else Path(),
            progress=report,
        )
    if is_file:
        _write(out, proposed.text)
    if as_json:
        answer(_result(proposed, out, is_file=is_file), as_json=True, show=lambda: None)
    elif not is_file:
        typer.echo(proposed.text, nl=False)
    elif not quiet:
        _show(proposed, out)


def _columns(names: str) -> list[str]:
    """Return the columns that an option names."""
    return [name.strip() for name in names.split(",") if name.strip()]


def _check_output(out: Path, *, force: bool) -> None:
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise PlanError(
            "A draft is a YAML file.", where=str(out), do="Choose a name that ends in .yaml."
        )
    if out.exists() and not force:
        raise PlanError("The file exists.", where=str(out), do="Use --force to replace it.")


def _write(out: Path, text: str) -> None:
    # Through a second file, so that a failure leaves the old plan intact.
    draft_file = out.with_name(out.name + ".part")
    try:
        draft_file.write_text(text, encoding="utf-8", newline="\n")
        draft_file.replace(out)
    except OSError as error:
        draft_file.unlink(missing_ok=True)
        raise PlanError(
            error.strerror or "it cannot be written", where=str(out), do="Choose another file."
        ) from None


def _result(proposed: Draft, out: Path, *, is_file: bool) -> dict[str, Any]:
    attributes = proposed.plan.attributes
    roles = ("predictor", "class", "identifier", "drop")
    return {
        "plan": str(out) if is_file else None,
        "text": None if is_file else proposed.text,
        "confirmed": False,
        "roles": {
            role: [name for name, plan in attributes.items() if plan.role == role] for role in roles
        },
        "to-do": list(proposed.plan.to_do),
        "notes": list(proposed.notes),
    }


def _show(proposed: Draft, out: Path) -> None:
    from rich.markup import escape

    if proposed.plan.items is not None:
        column = proposed.plan.items.column
        layout = "one record per line" if column is None else f"in the column {column}"
        kind = proposed.plan.items.publishes
        say(f"[bold]{escape(str(out))}[/bold]: {kind}, {escape(layout)}.")
    else:
        _show_table(proposed, out)
    for note in proposed.notes:
        say(f"Note: {escape(note)}")
    _show_questions(proposed)
    say("Now read it: replace what is marked 'from the data' by public knowledge, then sign it:")
    say(f"hedgerow confirm {escape(str(out))} --by NAME. Until then publish refuses it, and the")
    say("draft is confidential.")


def _show_questions(proposed: Draft) -> None:
    from rich.markup import escape

    n = len(proposed.plan.to_do)
    if n:
        questions = "1 question" if n == 1 else f"{n} questions"
        say(f"{questions} to answer before the plan can be confirmed ('to-do' in the plan):")
    for question in proposed.plan.to_do:
        say(f"- {escape(question)}")


def _show_table(proposed: Draft, out: Path) -> None:
    from rich.markup import escape

    attributes = proposed.plan.attributes
    left_out = sum(not plan.is_read for plan in attributes.values())
    class_name = proposed.plan.class_name
    say(
        f"[bold]{escape(str(out))}[/bold]: {len(proposed.plan.predictors)} predictors,"
        f" class {escape(class_name) if class_name else 'unknown'}, {left_out}"
        f" {'column' if left_out == 1 else 'columns'} left out."
    )
