"""``hedgerow taxonomy edit``: change the tree of a taxonomy file, which keeps its format."""

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
    help="Change the tree of a taxonomy file: move, group, rename, split and more.",
    no_args_is_help=True,
)

FileArgument = Annotated[Path, typer.Argument(help="The taxonomy file; it keeps its format.")]
LabelsArgument = Annotated[list[str], typer.Argument(help="Labels of values or groups.")]
LabelArgument = Annotated[str, typer.Argument(help="The label of a value or a group.")]
GroupArgument = Annotated[str, typer.Argument(help="The label of a group.")]
NameOption = Annotated[str, typer.Option("--name", help="The label of the new group.")]


@app.command("move")
def move_nodes(
    file: FileArgument,
    labels: LabelsArgument,
    *,
    to: Annotated[str, typer.Option("--to", help="The group that they go to.")],
    before: Annotated[
        str | None, typer.Option("--before", help="The member they go before; else they go last.")
    ] = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Move values or groups, with all below them, into a group.

    Example: hedgerow taxonomy edit move jobs.csv farm road --to Outdoor
    """
    _edited(file, lambda tree: tree.moved(labels, to, before=before), json_, quiet)


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
    """Give a value or a group another label. A value's label is what the data hold.

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
    """Take some members of a group into a new group beside it.

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
    """Take a group away; its members take its place.

    Example: hedgerow taxonomy edit dissolve jobs.csv Outdoor
    """
    _edited(file, lambda tree: tree.dissolved(group), json_, quiet)


@app.command("add")
def add_nodes(
    file: FileArgument,
    values: Annotated[list[str], typer.Argument(help="New values.")],
    *,
    to: Annotated[str | None, typer.Option("--to", help="The group; else the root.")] = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add values to a group. They must be public knowledge, and not come from the data.

    Example: hedgerow taxonomy edit add jobs.csv mine quarry --to Outdoor
    """
    _edited(file, lambda tree: tree.added(values, tree.root if to is None else to), json_, quiet)


@app.command("remove")
def remove_nodes(
    file: FileArgument,
    labels: LabelsArgument,
    *,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Take values, or groups with all below them, away.

    Example: hedgerow taxonomy edit remove jobs.csv quarry
    """
    _edited(file, lambda tree: tree.removed(labels), json_, quiet)


@app.command("paste")
def paste_nodes(
    file: FileArgument,
    cells: Annotated[
        Path, typer.Argument(help="A text file of rows: the value, then its groups, with tabs.")
    ],
    *,
    group_first: Annotated[
        bool, typer.Option("--group-first", help="Rows begin with the widest group instead.")
    ] = False,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Put values where the rows of a spreadsheet say; what is not there is added.

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
    made = opened.replace(edit(EditableTree.of(opened.taxonomy)).taxonomy()).taxonomy
    facts: dict[str, object] = {"file": str(file), "leaves": made.n_leaves, "nodes": made.n_nodes}
    n_lost = opened.n_inner_comments
    if n_lost:
        facts["comments-lost"] = n_lost

    def tell() -> None:
        from rich.text import Text

        if not quiet:
            say(Text(f"{file}: {made.n_leaves:,} values, {made.n_nodes:,} nodes"))
            if n_lost:
                say(Text(f"{n_lost:,} lines had comments inside of the tree; they are lost"))

    answer(facts, as_json=as_json, show=tell)
