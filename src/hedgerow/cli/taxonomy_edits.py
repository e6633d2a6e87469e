"""``hedgerow taxonomy edit``: edit the tree of a taxonomy file, which keeps its format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say

if TYPE_CHECKING:
    from hedgerow.taxonomy.edits import EditableTree

app = typer.Typer(
    name="edit",
    help="Edit the tree of a taxonomy file: move, group, rename, split and more.",
    no_args_is_help=True,
)

FileArgument = Annotated[Path, typer.Argument(help="The taxonomy file; it keeps its format.")]
LabelsArgument = Annotated[list[str], typer.Argument(help="Labels of values or groups.")]
LabelArgument = Annotated[str, typer.Argument(help="The label of a value or a group.")]
GroupArgument = Annotated[str, typer.Argument(help="The label of a group.")]
NameOption = Annotated[str, typer.Option("--name", help="Label the new group with this text.")]


@app.command("move")
def move_nodes(
    file: FileArgument,
    labels: LabelsArgument,
    *,
    into: Annotated[str, typer.Option("--into", help="Put them into this group.")],
    before: Annotated[
        str | None, typer.Option("--before", help="Put them before this member. By default last.")
    ] = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Move values, or groups with their members, into a group.

    Example: hedgerow taxonomy edit move jobs.csv farm road --into Outdoor
    """
    _edited(file, lambda tree: tree.moved(labels, into, before=before), json_, quiet)


@app.command("group")
def group_nodes(
    file: FileArgument,
    labels: LabelsArgument,
    *,
    name: NameOption,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Put values or groups into a new group.

    Example: hedgerow taxonomy edit group jobs.csv farm road --name Outdoor
    """
    _edited(file, lambda tree: tree.grouped(labels, name), json_, quiet)


@app.command("rename")
def rename_nodes(
    file: FileArgument,
    label: LabelArgument,
    name: Annotated[str, typer.Argument(help="The new label.")],
    *,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Rename a value or a group. The label of a value must be the text in the data.

    Example: hedgerow taxonomy edit rename jobs.csv Outdoor "In the open"
    """
    _edited(file, lambda tree: tree.renamed(label, name), json_, quiet)


@app.command("split")
def split_nodes(
    file: FileArgument,
    group: GroupArgument,
    members: LabelsArgument,
    *,
    name: NameOption,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Split some members of a group off into a new group beside it.

    Example: hedgerow taxonomy edit split jobs.csv Outdoor road rail --name Transport
    """
    _edited(file, lambda tree: tree.split(group, members, name), json_, quiet)


@app.command("dissolve")
def dissolve_nodes(
    file: FileArgument,
    group: GroupArgument,
    *,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Dissolve a group: its members replace it.

    Example: hedgerow taxonomy edit dissolve jobs.csv Outdoor
    """
    _edited(file, lambda tree: tree.dissolved(group), json_, quiet)


@app.command("add")
def add_nodes(
    file: FileArgument,
    values: Annotated[list[str], typer.Argument(help="New values.")],
    *,
    into: Annotated[
        str | None, typer.Option("--into", help="Put them into this group. By default the root.")
    ] = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add values to a group. They must be public knowledge, not taken from the data.

    Example: hedgerow taxonomy edit add jobs.csv mine quarry --into Outdoor
    """
    _edited(
        file, lambda tree: tree.added(values, tree.root if into is None else into), json_, quiet
    )


@app.command("remove")
def remove_nodes(
    file: FileArgument,
    labels: LabelsArgument,
    *,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Remove values, or groups with their members.

    Example: hedgerow taxonomy edit remove jobs.csv quarry
    """
    _edited(file, lambda tree: tree.removed(labels), json_, quiet)


@app.command("paste")
def paste_nodes(
    file: FileArgument,
    cells: Annotated[
        Path, typer.Argument(help="A text file of rows: a value and its groups, separated by tabs.")
    ],
    *,
    group_first: Annotated[
        bool, typer.Option("--group-first", help="Read rows that begin with the widest group.")
    ] = False,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Place values as the rows of a spreadsheet state; missing ones are added.

    Example: hedgerow taxonomy edit paste jobs.csv cells.txt
    """
    from hedgerow.taxonomy.formats.text import read_text
    from hedgerow.taxonomy.paste import pasted_ways

    ways = pasted_ways(read_text(cells), order="group-first" if group_first else "value-first")
    _edited(file, lambda tree: tree.placed(ways), json_, quiet)


def _edited(
    file: Path, edit: Callable[[EditableTree], EditableTree], as_json: bool, quiet: bool
) -> None:
    from hedgerow.taxonomy.edits import EditableTree
    from hedgerow.taxonomy.rewrite import OpenedTaxonomy

    opened = OpenedTaxonomy.read(file)
    tree = opened.replace(edit(EditableTree.of(opened.taxonomy)).taxonomy()).taxonomy
    facts: dict[str, object] = {"file": str(file), "leaves": tree.n_leaves, "nodes": tree.n_nodes}
    n_lost = opened.n_inner_comments
    if n_lost:
        facts["comments-lost"] = n_lost

    def show() -> None:
        from rich.text import Text

        if not quiet:
            say(Text(f"{file}: {tree.n_leaves:,} values, {tree.n_nodes:,} nodes"))
            if n_lost:
                say(Text(f"{n_lost:,} comments inside of the tree are lost"))

    answer(facts, as_json=as_json, show=show)
