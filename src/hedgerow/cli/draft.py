"""`hedgerow draft`: propose a plan for a table or for baskets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, is_stdout, progress, say
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
        str, typer.Argument(help="The table: a file or a database URL; or a basket file.")
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The plan file to write; - for stdout.")
    ] = Path("plan.yaml"),
    taxonomies: Annotated[
        Path | None, typer.Option(help="A folder of taxonomy files to choose from.")
    ] = None,
    class_name: Annotated[
        str | None, typer.Option("--class", help="The column to predict, if you know it.")
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(help="The column of a table that holds the items of baskets."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(help="With --items, one to a row: the column that tells records apart."),
    ] = None,
    ordered: Annotated[
        bool,
        typer.Option("--ordered", help="Records are sequences: their order is kept."),
    ] = False,
    order: Annotated[
        str | None,
        typer.Option(help="With --record: the column that says where in its sequence a row is."),
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="With a database URL: the query to run.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="With a database URL: the name of the table.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help=f"The publishing method; by default {DEFAULT_METHOD}, for baskets"
            f" {DEFAULT_BASKET_METHOD}, for sequences {DEFAULT_SEQUENCE_METHOD}."
        ),
    ] = None,
    epsilon: Annotated[str, typer.Option(help="The privacy budget: 1, 0.5 or 1/2.")] = "1",
    person: Annotated[
        str | None,
        typer.Option(help="The column that says whose a record is, or several: COLUMN,COLUMN."),
    ] = None,
    records_per_person: Annotated[
        str | None,
        typer.Option(help="With --person: the most records of one person that count, or auto."),
    ] = None,
    one_record_per_person: Annotated[
        bool,
        typer.Option("--one-record-per-person", help="Nobody can have more than one record."),
    ] = False,
    protects_records: Annotated[
        bool,
        typer.Option("--protects-records", help="Protect each record, not the person."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a plan that is there already.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Propose a plan for a table, for baskets or for sequences.

    Guesses how the file is written, types, bounds, taxonomies, the class and identifiers
    from the data, marks every guess with a comment, and leaves the plan unconfirmed: publish
    refuses it until a person has put public knowledge in place of the guesses. A file whose
    name ends in .dat, .seq or .baskets, whose first line begins with %, or (unless it is
    called .csv or .tsv) whose lines look like baskets, is read as baskets; so is a table whose
    column of items is named. With --ordered they are sequences: lines of a file, lists, or the
    rows of a long table.

    No data show whether a person can have several records. State it with --person,
    --one-record-per-person or --protects-records; otherwise the plan asks, and lists the columns
    that may say whose a record is. Open questions are listed under 'to-do' in the plan. It cannot
    be confirmed before each is answered and removed.

    Example: hedgerow draft adult.csv --taxonomies taxonomies -o plan.yaml
    """
    from hedgerow.drafting.compose import draft

    is_file = not is_stdout(output)
    if is_file:
        _check_output(output, force=force)
    with progress("reading", quiet=quiet or as_json) as report:
        proposed = draft(
            data,
            query=query,
            table=table,
            taxonomies=taxonomies,
            class_name=class_name,
            items=items,
            record=record,
            order=order,
            ordered=ordered,
            method=method,
            epsilon=epsilon,
            person=None if person is None else _columns(person),
            records_per_person=records_per_person,
            one_record_per_person=one_record_per_person,
            protects_records=protects_records,
            base=output.parent if is_file else Path(),
            progress=report,
        )
    if is_file:
        _write(output, proposed.text)
    if as_json:
        answer(_result(proposed, output, is_file=is_file), as_json=True, show=lambda: None)
    elif not is_file:
        typer.echo(proposed.text, nl=False)
    elif not quiet:
        _show(proposed, output)


def _columns(names: str) -> list[str]:
    """Return the columns that an option names."""
    return [name.strip() for name in names.split(",") if name.strip()]


def _check_output(output: Path, *, force: bool) -> None:
    if output.suffix.lower() not in (".yaml", ".yml"):
        raise PlanError(
            "a draft is written as YAML", where=str(output), do="End its name in .yaml."
        )
    if output.exists() and not force:
        raise PlanError(
            "the file is there already", where=str(output), do="Use --force to replace it."
        )


def _write(output: Path, text: str) -> None:
    # Through a second file, so that a failure leaves the old plan whole.
    draft_file = output.with_name(output.name + ".part")
    try:
        draft_file.write_text(text, encoding="utf-8", newline="\n")
        draft_file.replace(output)
    except OSError as error:
        draft_file.unlink(missing_ok=True)
        raise PlanError(
            error.strerror or "it cannot be written", where=str(output), do="Choose another place."
        ) from None


def _result(proposed: Draft, output: Path, *, is_file: bool) -> dict[str, Any]:
    attributes = proposed.plan.attributes
    roles = ("predictor", "class", "identifier", "drop")
    return {
        "plan": str(output) if is_file else None,
        "text": None if is_file else proposed.text,
        "confirmed": False,
        "roles": {
            role: [name for name, plan in attributes.items() if plan.role == role] for role in roles
        },
        "to-do": list(proposed.plan.to_do),
        "notes": list(proposed.notes),
    }


def _show(proposed: Draft, output: Path) -> None:
    from rich.markup import escape

    if proposed.plan.items is not None:
        column = proposed.plan.items.column
        lie = "one record per line" if column is None else f"in the column {column}"
        kind = proposed.plan.items.publishes
        say(f"[bold]{escape(str(output))}[/bold]: {kind}, {escape(lie)}.")
    else:
        _show_table(proposed, output)
    for note in proposed.notes:
        say(f"Note: {escape(note)}.")
    _show_questions(proposed)
    say("Now read it: replace what is marked 'from the data' by public knowledge, then sign it:")
    say(f"hedgerow confirm {escape(str(output))} --by NAME. Until then publish refuses it, and the")
    say("draft is confidential.")


def _show_questions(proposed: Draft) -> None:
    from rich.markup import escape

    n = len(proposed.plan.to_do)
    if n:
        questions = "1 question" if n == 1 else f"{n} questions"
        say(f"{questions} to answer before the plan can be confirmed ('to-do' in the plan):")
    for question in proposed.plan.to_do:
        say(f"- {escape(question)}")


def _show_table(proposed: Draft, output: Path) -> None:
    from rich.markup import escape

    attributes = proposed.plan.attributes
    left_out = sum(not plan.is_read for plan in attributes.values())
    class_name = proposed.plan.class_name
    say(
        f"[bold]{escape(str(output))}[/bold]: {len(proposed.plan.predictors)} predictors,"
        f" class {escape(class_name) if class_name else 'unknown'}, {left_out} columns left out."
    )
