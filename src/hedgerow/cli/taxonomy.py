"""``hedgerow taxonomy``: list, check, show, convert, build and edit taxonomies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, is_stdout, say, stdout_by_way_of
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

FromOption = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help=f"{_FORMATS}; else the file decides."),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="FORMAT", help=f"{_FORMATS}; else the name decides."),
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help=f"{_FORMATS}; else the name decides."),
]
OutOption = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="Where the taxonomy goes; - for stdout."),
]
FanOutOption = Annotated[
    int | None, typer.Option("--fan-out", help="Group that many nodes into one, up to the root.")
]
ValuesArgument = Annotated[list[str] | None, typer.Argument(help="The values, in order.")]
ValuesOption = Annotated[
    Path | None,
    typer.Option("--values", metavar="FILE", help="A text file with one value per line instead."),
]
RootOption = Annotated[str, typer.Option("--root", help="The label of the root.")]


@app.command("list")
def list_taxonomies(*, json_: JsonOption = False, quiet: QuietOption = False) -> None:
    """List the ready taxonomies that come with hedgerow.

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
        typer.Option(help="Owner only: a table, to see whether a column of it is covered."),
    ] = None,
    column: Annotated[str | None, typer.Option(help="With --data: the column.")] = None,
    table: Annotated[
        str | None, typer.Option(help="With a database URL in --data: the name of the table.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A plan whose 'reading' says how the data is written."),
    ] = None,
    from_: FromOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say of each file whether it is a taxonomy, and how large it is.

    Exits with 2 where one is not; the others are checked all the same. With --data and
    --column, says of one taxonomy whether it is complete: whether every value of the column
    is in it. That answer is confidential, for the owner of the data; exits with 1 where it is
    incomplete.

    Example: hedgerow taxonomy check taxonomies/workclass.csv taxonomies/race.csv
    """
    if data is not None or column is not None:
        from hedgerow.cli.ready import ColumnAsked, check_column

        asked = ColumnAsked(data=data, column=column, table=table, plan=plan)
        tree = None if len(files) != 1 else _read(files[0], from_)
        check_column(str(files[0]), tree, asked, as_json=json_, quiet=quiet)
        return
    results = [_checked(file, from_) for file in files]
    failed = [error for _, error in results if error]
    if len(files) == 1 and failed:
        raise failed[0]
    facts = [fact for fact, _ in results]
    answer({"files": facts}, as_json=json_, show=lambda: _show_checked(facts, quiet=quiet))
    if failed and json_:
        raise typer.Exit(TaxonomyError.exit_code)  # one JSON document: it has the errors
    if failed:
        raise TaxonomyError(
            f"{len(failed)} of {len(files)} files are not usable", do="See what is said of each."
        )


@app.command("show")
def show_taxonomy(
    file: Annotated[Path, typer.Argument(help="A taxonomy file, or hedgerow:NAME.")],
    *,
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help="Show that many levels below the root.")
    ] = None,
    width: Annotated[
        int, typer.Option("--width", min=1, help="Show that many children of a node.")
    ] = 20,
    from_: FromOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw the tree of a taxonomy.

    Example: hedgerow taxonomy show taxonomies/workclass.csv --depth 1
    """
    taxonomy = _read(file, from_)
    levels = int(taxonomy.height[0]) if depth is None else depth

    def draw() -> None:
        say(_drawn(taxonomy, levels=levels, width=width))
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
    from_: FromOption = None,
    to: ToOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a taxonomy in another format; what it means stays the same.

    Example: hedgerow taxonomy convert workclass.csv workclass.yaml
    """
    _deliver(_read(source, from_), target, to, as_json=json_, quiet=quiet)


@build.command("numeric")
def build_numeric(
    *,
    low: Annotated[str | None, typer.Option("--low", help="The lowest value.")] = None,
    high: Annotated[str | None, typer.Option("--high", help="The highest value.")] = None,
    step: Annotated[str, typer.Option("--step", help="The width of a cell.")] = "1",
    edge: Annotated[
        list[str] | None, typer.Option("--edge", help="An edge of a cell; give it several times.")
    ] = None,
    fan_out: FanOutOption = None,
    width: Annotated[
        list[str] | None,
        typer.Option("--width", help="The width of a level's groups; give it several times."),
    ] = None,
    output: OutOption,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Cells of one width from low to high, or between edges, in groups.

    Example: hedgerow taxonomy build numeric --low 0 --high 99 --width 5 --width 10 -o age.csv
    """
    from hedgerow.taxonomy import builders

    if edge:
        _refuse("--edge", "--low, --high and --width", any((low, high, width)))
        made = builders.numeric_edges(edge, fan_out=fan_out, root=root)
    elif low is None or high is None:
        raise TaxonomyError("the bounds are not given", do="Give --low and --high, or --edge.")
    else:
        made = builders.numeric(
            low=low, high=high, step=step, fan_out=fan_out, widths=width or (), root=root
        )
    _deliver(made, output, format_, as_json=json_, quiet=quiet)


@build.command("prefix")
def build_prefix(
    codes: ValuesArgument = None,
    *,
    values: ValuesOption = None,
    length: Annotated[
        int | None, typer.Option("--length", help="All codes of that many digits instead.")
    ] = None,
    mask: Annotated[str, typer.Option("--mask", help="The character that masks.")] = "*",
    output: OutOption,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Codes masked from the right, one character at a time: 12345, 1234*, 123**.

    Example: hedgerow taxonomy build prefix --values zip-codes.txt -o zip.csv
    """
    from hedgerow.taxonomy import builders

    if length is None:
        given = _values(codes, values)
    else:
        _refuse("--length", "values", bool(codes or values))
        given = builders.prefix_codes(length)
    made = builders.prefixes(given, mask=mask, root=root)
    _deliver(made, output, format_, as_json=json_, quiet=quiet)


@build.command("dates")
def build_dates(
    *,
    start: Annotated[str, typer.Option("--from", metavar="DATE", help="The first day.")],
    end: Annotated[str, typer.Option("--to", metavar="DATE", help="The last day.")],
    level: Annotated[
        list[str] | None,
        typer.Option("--level", help="day, month, quarter, year: give those to keep, in order."),
    ] = None,
    output: OutOption,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """All days from one date to another, by month, quarter and year.

    Example: hedgerow taxonomy build dates --from 2020-01-01 --to 2021-12-31 -o day.csv
    """
    from hedgerow.taxonomy import builders

    made = builders.dates(start, end, levels=level or builders.DATE_LEVELS, root=root)
    _deliver(made, output, format_, as_json=json_, quiet=quiet)


@build.command("context-free")
def build_context_free(
    items: ValuesArgument = None,
    *,
    values: ValuesOption = None,
    fan_out: Annotated[int, typer.Option("--fan-out", help="Group that many nodes into one.")] = 10,
    output: OutOption,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Items in groups of equal size, in the order given, whatever they mean.

    Example: hedgerow taxonomy build context-free --values items.txt --fan-out 10 -o items.csv
    """
    from hedgerow.taxonomy import builders

    made = builders.context_free(_values(items, values), fan_out=fan_out, root=root)
    _deliver(made, output, format_, as_json=json_, quiet=quiet)


@build.command("flat")
def build_flat(
    leaves: ValuesArgument = None,
    *,
    values: ValuesOption = None,
    output: OutOption,
    format_: FormatOption = None,
    root: RootOption = "*",
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Values directly under one root.

    Example: hedgerow taxonomy build flat red green blue -o colour.csv
    """
    from hedgerow.taxonomy import builders

    made = builders.flat(_values(leaves, values), root=root)
    _deliver(made, output, format_, as_json=json_, quiet=quiet)


def _read(file: Path, format_name: str | None) -> Taxonomy:
    from hedgerow.taxonomy.files import read_taxonomy
    from hedgerow.taxonomy.ready.catalogue import ready_name, ready_taxonomy

    if (name := ready_name(str(file))) is not None:
        return ready_taxonomy(name).tree
    return read_taxonomy(file, format=_format(format_name))


def _format(name: str | None) -> Format | None:
    from hedgerow.taxonomy.files import format_called

    return None if name is None else format_called(name)


def _values(given: list[str] | None, file: Path | None) -> list[str]:
    from hedgerow.taxonomy.load import read_values

    if given and file:
        _refuse("--values", "values", True)
    if file is not None:
        return read_values(file)
    if not given:
        raise TaxonomyError("no value is given", do="List the values, or give --values FILE.")
    return given


def _refuse(option: str, others: str, both: bool) -> None:
    if both:
        raise TaxonomyError(f"{option} does not go with {others}", do="Give one of the two.")


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
    """Write a taxonomy and say so."""
    from hedgerow.taxonomy.files import write_taxonomy

    if is_stdout(target):
        with stdout_by_way_of("taxonomy.csv") as place:
            write_taxonomy(taxonomy, place, _format(format_name))
        return
    write_taxonomy(taxonomy, target, _format(format_name))

    def tell() -> None:
        if not quiet:
            _say_plain(f"{target}: {_size(taxonomy)}")

    answer({"file": str(target), **_facts(taxonomy)}, as_json=as_json, show=tell)


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
    """The tree as JSON: label, range of codes, and children down to a level."""
    nodes: list[dict[str, Any]] = []
    ranges = zip(taxonomy.labels, taxonomy.first.tolist(), taxonomy.stop.tolist(), strict=True)
    for node, (label, first, stop) in enumerate(ranges):
        nodes.append({"label": label, "first": first, "stop": stop})
        if 0 < taxonomy.depth[node] <= levels:
            nodes[taxonomy.parent[node]].setdefault("children", []).append(nodes[node])
    return nodes[0]


def _say_plain(text: str) -> None:
    """Print text as it is: labels and paths may hold brackets."""
    from rich.text import Text

    say(Text(text))
