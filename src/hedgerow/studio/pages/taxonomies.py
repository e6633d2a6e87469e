"""The page Taxonomies: the trees of a plan's columns, edited in their files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.errors import InputError
from hedgerow.studio.columntrees import (
    COVERAGE,
    column_trees,
    last_coverage,
    listed_files,
    own_tree,
    verdict_of,
)
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.shell import (
    Page,
    Sent,
    address,
    change,
    page_answer,
    plan_name,
    shown_plan,
    studio_of,
    view,
)
from hedgerow.studio.treeedits import TREE_EDITS, TreeChange, tree_change
from hedgerow.studio.treefile import TreeFiles
from hedgerow.studio.treemaking import new_name, new_tree
from hedgerow.studio.treeview import (
    PER_LEVEL,
    found_lines,
    group_labels_of,
    opened_at_first,
    tree_lines,
)
from hedgerow.studio.yamledit import Drop, Put
from hedgerow.taxonomy.files import write_taxonomy
from hedgerow.taxonomy.ready.catalogue import READY

MOST_OPEN = 2_000
_REPLACED = ("values", "numeric", "edges", "step", "date")
"""Keys of a column that a taxonomy replaces."""


def _files(request: Request) -> TreeFiles:
    return TreeFiles(folder=studio_of(request).folder)


def _plan(request: Request) -> PlanFile | None:
    return None if plan_name(request) is None else shown_plan(request)


def _show(request: Request) -> Response:
    """Show the columns and files, or the tree of one file."""
    plan, files, studio = _plan(request), _files(request), studio_of(request)
    columns = [] if plan is None else column_trees(plan, files, studio.runs)
    name = request.query_params.get("file")
    listed = listed_files(studio.folder, plan)
    return page_answer(
        request,
        "taxonomies.html.j2",
        columns=columns,
        files=[each for each in listed if each not in {column.file for column in columns}],
        sources=studio.folder.files(".csv", ".yaml", ".yml", ".json")[:300],
        ready=list(READY.values()),
        version=None if plan is None else plan.version,
        chosen=name,
        **(
            {}
            if name is None
            else _tree_values(
                request, files, name, opened=opened_at_first(files.opened(name).taxonomy)
            )
        ),
        **({} if name is None else _coverage_values(request, files, name)),
    )


def _tree_values(
    request: Request,
    files: TreeFiles,
    name: str,
    *,
    opened: tuple[str, ...],
    shown: Mapping[str, int] | None = None,
    done: TreeChange | None = None,
) -> dict[str, Any]:
    file = files.opened(name)
    tree = file.taxonomy
    return {
        "file": name,
        "tree_version": file.digest,
        "format": file.format,
        "n_comments": file.n_inner_comments,
        "top": tree_lines(tree, opened, shown=shown),
        "n_values": tree.n_leaves,
        "n_groups": tree.n_nodes - tree.n_leaves,
        "height": int(tree.height[0]),
        "groups": group_labels_of(tree),
        "n_undo": files.n_steps(name, "undo"),
        "n_redo": files.n_steps(name, "redo"),
        "marked": files.marked(name),
        "per_level": PER_LEVEL,
        "done": done,
    }


def _coverage_values(request: Request, files: TreeFiles, name: str) -> dict[str, Any]:
    """Return the columns of the plan with this taxonomy, and the results of their checks."""
    plan, runs = _plan(request), studio_of(request).runs
    found = []
    if plan is not None:
        for each in column_trees(plan, files, runs):
            if each.file == name:
                run = last_coverage(runs, files, name, each.column)
                found.append((each.column, run, verdict_of(run)))
    return {"coverage": found, "has_data": plan is not None and "data" in plan.data}


def _below(request: Request) -> Response:
    """Show the members of one node."""
    files = _files(request)
    name, label = request.query_params["file"], request.query_params["label"]
    wanted = request.query_params.get("shown", "")
    shown = {label: int(wanted) if wanted.isdecimal() and len(wanted) < 7 else PER_LEVEL}
    line = tree_lines(files.opened(name).taxonomy, (), shown=shown, top=label)
    return page_answer(request, "_below.html.j2", line=line, file=name)


def _find(request: Request) -> Response:
    """Show the search results."""
    files = _files(request)
    name, words = request.query_params["file"], request.query_params.get("find", "").strip()
    lines, n_found = found_lines(files.opened(name).taxonomy, words) if words else ((), 0)
    return page_answer(
        request, "_found.html.j2", lines=lines, n_found=n_found, words=words, file=name
    )


def _edit(request: Request, form: Sent) -> Response:
    """Edit the tree, write the file, and show the tree with the same groups open."""
    files, name = _files(request), form.need("file")
    version, kind = form.need("version"), form.need("do")
    shown = _shown(form)
    opened = tuple(shown)
    done: TreeChange | None = None
    if kind in ("undo", "redo"):
        files.step(name, version, "undo" if kind == "undo" else "redo")
    elif kind in ("mark", "unmark"):
        files.mark(name, version, complete=kind == "mark")
    elif kind in TREE_EDITS:
        done = tree_change(kind, form, files.opened(name).taxonomy, name)
        files.edit(name, version, done.edit)
        opened = tuple(done.names.get(label, label) for label in opened) + done.opens
    else:
        raise InputError("The edit is not valid.", where="do", do="Load the page again.")
    values = _tree_values(request, files, name, opened=opened, shown=shown, done=done)
    return page_answer(
        request, "_tree.html.j2", **values, **_coverage_values(request, files, name), kind=kind
    )


def _shown(form: Sent) -> dict[str, int]:
    """Return the open groups of a page with the number of members shown."""
    found = {}
    for sent in form.all("open")[:MOST_OPEN]:
        number, _, label = sent.partition(":")
        found[label] = int(number) if number.isdecimal() and len(number) < 7 else PER_LEVEL
    return found


def _check(request: Request, form: Sent) -> Response:
    """Compare the file with a column in a separate process."""
    files, name, column = _files(request), form.need("file"), form.need("column")
    plan, studio = shown_plan(request), studio_of(request)
    data = plan.data.get("data")
    if not isinstance(data, str):
        raise InputError(
            "The plan names no data file.", where="data", do="Add 'data:' to the plan."
        )
    place = data if ":" in data else str(PurePosixPath(plan.name).parent / data)
    words = ["taxonomy", "check", name, "--data", place, "--column", column, "--plan", plan.name]
    version = files.opened(name).digest
    run = studio.runs.start(
        COVERAGE, words, about={"file": name, "column": column, "version": version}
    )
    return page_answer(request, "_coverage.html.j2", column=column, run=run, verdict="running")


def _covered(request: Request) -> Response:
    """Show the result of a comparison with a column."""
    run = studio_of(request).runs.get(request.query_params["run"])
    return page_answer(
        request,
        "_coverage.html.j2",
        column=run.about.get("column", ""),
        run=run,
        verdict=verdict_of(run),
    )


def _make(request: Request, form: Sent) -> Response:
    """Create a new file, name it in the plan if requested, and open it."""
    files, name = _files(request), new_name(form.need("name"))
    tree = new_tree(form.need("kind"), form, studio_of(request).folder, name)
    files.create(name, tree.write)
    column = form.get("column")
    if column:
        _into_plan(request, form, column, name)
    return _go_to(request, name)


def _own(request: Request, form: Sent) -> Response:
    """Write the taxonomy of a column to a file, and name the file in the plan."""
    files, plan, column = _files(request), shown_plan(request), form.need("column")
    spec = plan.data.get("attributes", {}).get(column)
    if not isinstance(spec, Mapping):
        raise InputError("The plan has no such column.", where="column", do="Load the page again.")
    tree = own_tree(spec, plan, files)
    plain = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in column)
    name = new_name(plain.strip("-") or "column")
    files.create(name, lambda path: write_taxonomy(tree, path))
    _into_plan(request, form, column, name)
    return _go_to(request, name)


def _into_plan(request: Request, form: Sent, column: str, name: str) -> None:
    """Set a file as the taxonomy of a column, in place of its previous domain."""
    plan = shown_plan(request)
    depth = plan.name.count("/")
    path = "../" * depth + name
    spec = plan.data.get("attributes", {}).get(column)
    known = spec if isinstance(spec, Mapping) else {}
    edits = [Drop(path=("attributes", column, key)) for key in _REPLACED if key in known]
    put = Put(path=("attributes", column, "taxonomy"), value=path)
    plan.save([put, *edits], version=form.need("plan-version"))


def _go_to(request: Request, name: str) -> Response:
    place = address("taxonomies", plan=plan_name(request), file=name)
    return Response(status_code=204, headers={"HX-Redirect": place})


PAGE = Page(
    name="taxonomies",
    routes=(
        Route("/taxonomies", view(_show)),
        Route("/taxonomies/below", view(_below)),
        Route("/taxonomies/find", view(_find)),
        Route("/taxonomies/covered", view(_covered)),
        Route("/taxonomies/edit", change(_edit), methods=["POST"]),
        Route("/taxonomies/check", change(_check), methods=["POST"]),
        Route("/taxonomies/make", change(_make), methods=["POST"]),
        Route("/taxonomies/own", change(_own), methods=["POST"]),
    ),
)
