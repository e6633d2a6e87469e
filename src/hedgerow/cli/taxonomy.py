"""``hedgerow taxonomy``: list, check, show, convert, build and edit taxonomies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, is_stdout, say, stdout_by_way_of
from hedgerow.cli.options import OutFile, TableOption
from hedgerow.cli.taxonomy_edits import app as edit
from hedgerow.errors import TaxonomyError

if TYPE_CHECKING:
    from rich.tree import Tree

    from hedgerow.taxonomy.files import Format
    from hedgerow.taxonomy.tree import Taxonomy

app = typer.Typer(
    name="taxonomy",
    help="List, check, show, convert, build and edit taxonomies.",
    no_args_is_help=True,
)
build = typer.Typer(name="build", help="Build a taxonomy by rule.", no_args_is_help=True)
app.add_typer(build, name="build")
app.add_typer(edit, name="edit")

_FORMATS = "arx, yaml, json or pairs"

InputFormatOption = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="FORMAT",
        help=f"Read this format: {_FORMATS}. By default that of the file.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"Write this format: {_FORMATS}. By default that of the file name.",
    ),
]
FanOutOption = Annotated[
    int | None, typer.Option("--fan-out", help="Group this number of nodes into one.")
]
ValuesArgument = Annotated[list[str] | None, typer.Argument(help="The values, in order.")]
ValuesOption = Annotated[
    Path | None,
    typer.Option(
        "--values", metavar="FILE", help="Read the values from this file, one on each line."
    ),
]
RootOption = Annotated[str, typer.Option("--root", help="Label the root with this text.")]


@app.command("list")
def list_taxonomies(*, json_: JsonOption = False, quiet: QuietOption = False) -> None:
    """List the bundled taxonomies.

    A plan names one by 'taxonomy: hedgerow:NAME'; 'show hedgerow:NAME' draws it.

    Example: hedgerow taxonomy list
    """
    from hedgerow.cli.ready import ready_facts, show_ready

    facts = ready_facts()
    answer({"taxonomies": facts}, as_json=json_, show=lambda: show_ready(facts, quiet=quiet))


@app.command("check")
def check_taxonomies(
    files: Annotated[
        list[Path], typer.Argument(help="Taxonomy files, ARX CSV for example, or hedgerow:NAME.")
    ],
    *,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE or URL",
            help="Read this confidential table, for the data owner only (with --column).",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Check the values of this column of --data."),
    ] = None,
    table: TableOption = None,
    plan: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Use this plan for the file format."),
    ] = None,
    input_format: InputFormatOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check that files are taxonomies, and show their sizes.

    Checks all files, and exits with 2 if one is not a taxonomy. With --data and --column, checks
    that one taxonomy has all values of the column: the answer is confidential, for the data owner
    only, and the exit code is 1 if a value is missing.

    Example: hedgerow taxonomy check taxonomies/workclass.csv taxonomies/race.csv
    """
    if data is not None or column is not None:
        from hedgerow.cli.ready import CheckedColumn, check_column

        checked = CheckedColumn(data=data, column=column, table=table, plan=plan)
        tree = None if len(files) != 1 else _read(files[0], input_format)
        check_column(str(files[0]), tree, checked, as_json=json_, quiet=quiet)
        return
    results = [_checked(file, input_format) for file in files]
    failed = [error for _, error in results if error]
    if len(files) == 1 and failed:
        raise failed[0]
    facts = [fact for fact, _ in results]
    answer({"files": facts}, as_json=json_, show=lambda: _show_checked(facts, quiet=quiet))
    if failed and json_:
        raise typer.Exit(TaxonomyError.exit_code)  # one JSON document: it has the errors
    if failed:
        raise TaxonomyError(
            f"{len(failed)} of {len(files)} files are not usable.",
            do="See the message for each file.",
        )


@app.command("show")
def show_taxonomy(
    file: Annotated[Path, typer.Argument(help="A taxonomy file, or hedgerow:NAME.")],
    *,
    max_depth: Annotated[
        int | None, typer.Option(min=1, help="Show at most this number of levels below the root.")
    ] = None,
    max_children: Annotated[
        int, typer.Option(min=1, help="Show at most this number of children of a node.")
    ] = 20,
    input_format: InputFormatOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw the tree of a taxonomy.

    Example: hedgerow taxonomy show taxonomies/workclass.csv --max-depth 1
    """
    taxonomy = _read(file, input_format)
    levels = int(taxonomy.height[0]) if max_depth is None else max_depth

    def draw() -> None:
        say(_drawn(taxonomy, levels=levels, width=max_children))
        if not quiet:
            _say_plain(_size(taxonomy))

    result = {"file": str(file), **_facts(taxonomy), "tree": _listed(taxonomy, levels)}
    answer(result, as_json=json_, show=draw)


@app.command()
def convert(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A taxonomy file, or hedgerow:NAME.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    *,
    input_format: InputFormatOption = None,
    format_: FormatOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Convert a taxonomy to another format.

    Example: hedgerow taxonomy convert workclass.csv workclass.yaml
    """
    _deliver(_read(source, input_format), target, format_, as_json=json_, quiet=quiet)


@build.command("numeric")
def build_numeric(
    *,
    low: Annotated[str | None, typer.Option("--low", help="Begin with this value.")] = None,
    high: Annotated[str | None, typer.Option("--high", help="End with this value.")] = None,
    step: Annotated[str, typer.Option("--step", help="Make cells of this width.")] = "1",
    edge: Annotated[
        list[str] | None, typer.Option("--edge", help="Put an edge between cells here. Repeatable.")
    ] = None,
    fan_out: FanOutOption = None,
    width: Annotated[
        list[str] | None,
        typer.Option("--width", help="Make a level of groups of this width. Repeatable."),
    ] = None,
    out: OutFile,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build cells of equal width between two values, or cells between edges, in groups.

    Example: hedgerow taxonomy build numeric --low 0 --high 99 --width 5 --width 10 -o age.csv
    """
    from hedgerow.taxonomy import builders

    if edge:
        _refuse("--edge", "--low, --high and --width", any((low, high, width)))
        taxonomy = builders.numeric_edges(edge, fan_out=fan_out, root=root)
    elif low is None or high is None:
        raise TaxonomyError("The bounds are missing.", do="Give --low and --high, or --edge.")
    else:
        taxonomy = builders.numeric(
            low=low, high=high, step=step, fan_out=fan_out, widths=width or (), root=root
        )
    _deliver(taxonomy, out, format_, as_json=json_, quiet=quiet)


@build.command("prefix")
def build_prefix(
    codes: ValuesArgument = None,
    *,
    values: ValuesOption = None,
    length: Annotated[
        int | None, typer.Option("--length", help="Use all codes of this number of digits.")
    ] = None,
    mask: Annotated[str, typer.Option("--mask", help="Mask with this character.")] = "*",
    out: OutFile,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build codes masked from the right, one character at a time: 12345, 1234*, 123**.

    Example: hedgerow taxonomy build prefix --values zip-codes.txt -o zip.csv
    """
    from hedgerow.taxonomy import builders

    if length is None:
        listed = _values(codes, values)
    else:
        _refuse("--length", "values", bool(codes or values))
        listed = builders.prefix_codes(length)
    taxonomy = builders.prefixes(listed, mask=mask, root=root)
    _deliver(taxonomy, out, format_, as_json=json_, quiet=quiet)


@build.command("dates")
def build_dates(
    *,
    start: Annotated[str, typer.Option("--from", metavar="DATE", help="Begin with this day.")],
    end: Annotated[str, typer.Option("--to", metavar="DATE", help="End with this day.")],
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level",
            help="Keep this level: day, month, quarter or year. Repeatable, in this order.",
        ),
    ] = None,
    out: OutFile,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build the days between two dates, by month, quarter and year.

    Example: hedgerow taxonomy build dates --from 2020-01-01 --to 2021-12-31 -o day.csv
    """
    from hedgerow.taxonomy import builders

    taxonomy = builders.dates(start, end, levels=level or builders.DATE_LEVELS, root=root)
    _deliver(taxonomy, out, format_, as_json=json_, quiet=quiet)


@build.command("context-free")
def build_context_free(
    items: ValuesArgument = None,
    *,
    values: ValuesOption = None,
    fan_out: Annotated[
        int, typer.Option("--fan-out", help="Group this number of nodes into one.")
    ] = 10,
    out: OutFile,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build groups of equal size from a list of items, in its order.

    Example: hedgerow taxonomy build context-free --values items.txt --fan-out 10 -o items.csv
    """
    from hedgerow.taxonomy import builders

    taxonomy = builders.context_free(_values(items, values), fan_out=fan_out, root=root)
    _deliver(taxonomy, out, format_, as_json=json_, quiet=quiet)


@build.command("flat")
def build_flat(
    leaves: ValuesArgument = None,
    *,
    values: ValuesOption = None,
    out: OutFile,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build a list of values under one root.

    Example: hedgerow taxonomy build flat red green blue -o colour.csv
    """
    from hedgerow.taxonomy import builders

    taxonomy = builders.flat(_values(leaves, values), root=root)
    _deliver(taxonomy, out, format_, as_json=json_, quiet=quiet)


def _read(file: Path, format_name: str | None) -> Taxonomy:
    from hedgerow.taxonomy.files import read_taxonomy
    from hedgerow.taxonomy.ready.catalogue import ready_name, ready_taxonomy

    if (name := ready_name(str(file))) is not None:
        return ready_taxonomy(name).tree
    return read_taxonomy(file, format=_format(format_name))


def _format(name: str | None) -> Format | None:
    from hedgerow.taxonomy.files import format_called

    return None if name is None else format_called(name)


def _values(listed: list[str] | None, file: Path | None) -> list[str]:
    from hedgerow.taxonomy.load import read_values

    if listed and file:
        _refuse("--values", "values", True)
    if file is not None:
        return read_values(file)
    if not listed:
        raise TaxonomyError("The values are missing.", do="List them, or give --values FILE.")
    return listed


def _refuse(option: str, others: str, both: bool) -> None:
    if both:
        raise TaxonomyError(f"{option} and {others} exclude each other.", do="Give one of them.")


def _checked(file: Path, format_name: str | None) -> tuple[dict[str, Any], TaxonomyError | None]:
    try:
        return {"file": str(file), **_facts(_read(file, format_name))}, None
    except TaxonomyError as error:
        facts = {"what": error.what, "where": error.where, "do": error.do}
        return {"file": str(file), "error": facts}, error


def _facts(taxonomy: Taxonomy) -> dict[str, Any]:
    return {
        "leaves": taxonomy.n_leaves,
        "nodes": taxonomy.n_nodes,
        "height": int(taxonomy.height[0]),
        "root": taxonomy.labels[0],
    }


def _size(taxonomy: Taxonomy) -> str:
    values = "1 value" if taxonomy.n_leaves == 1 else f"{taxonomy.n_leaves:,} values"
    return f"{values}, {taxonomy.n_nodes:,} nodes, height {taxonomy.height[0]}"


def _deliver(
    taxonomy: Taxonomy, target: Path, format_name: str | None, *, as_json: bool, quiet: bool
) -> None:
    """Write a taxonomy and report it."""
    from hedgerow.taxonomy.files import write_taxonomy

    if is_stdout(target):
        with stdout_by_way_of("taxonomy.csv") as place:
            write_taxonomy(taxonomy, place, _format(format_name))
        return
    write_taxonomy(taxonomy, target, _format(format_name))

    def show() -> None:
        if not quiet:
            _say_plain(f"{target}: {_size(taxonomy)}")

    answer({"file": str(target), **_facts(taxonomy)}, as_json=as_json, show=show)


def _show_checked(facts: list[dict[str, Any]], *, quiet: bool) -> None:
    for fact in facts:
        if "error" in fact:
            error = fact["error"]
            _say_plain(f"{error['where'] or fact['file']}: {error['what']}\n  {error['do']}")
        elif not quiet:
            leaves, nodes = f"{fact['leaves']:,}", f"{fact['nodes']:,}"
            _say_plain(f"{fact['file']}: leaves {leaves}, nodes {nodes}, height {fact['height']}")


def _drawn(taxonomy: Taxonomy, *, levels: int, width: int) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    def worded(node: int) -> Text:
        text = Text(taxonomy.labels[node])
        if not taxonomy.is_leaf(node):
            n_leaves = int(taxonomy.stop[node] - taxonomy.first[node])
            text.append(f"  ({n_leaves:,})", style="dim")
        return text

    top = Tree(worded(0))
    pending = [(0, top)]
    while pending:
        node, drawn = pending.pop()
        children = taxonomy.children(node).tolist()
        if not children or taxonomy.depth[node] >= levels:
            continue
        pending += [(child, drawn.add(worded(child))) for child in children[:width]]
        if len(children) > width:
            drawn.add(Text(f"... {len(children) - width:,} more", style="dim"))
    return top


def _listed(taxonomy: Taxonomy, levels: int) -> dict[str, Any]:
    """Return the tree as JSON: label, range of codes, and children down to a level."""
    nodes: list[dict[str, Any]] = []
    ranges = zip(taxonomy.labels, taxonomy.first.tolist(), taxonomy.stop.tolist(), strict=True)
    for node, (label, first, stop) in enumerate(ranges):
        nodes.append({"label": label, "first": first, "stop": stop})
        if 0 < taxonomy.depth[node] <= levels:
            nodes[taxonomy.parent[node]].setdefault("children", []).append(nodes[node])
    return nodes[0]


def _say_plain(text: str) -> None:
    """Print text without markup: labels and paths may contain brackets."""
    from rich.text import Text

    say(Text(text))
