"""Edits of a taxonomy from forms, each with the equivalent command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hedgerow.errors import InputError
from hedgerow.studio.shell import Sent
from hedgerow.studio.treefile import TreeEdit
from hedgerow.studio.treeview import stepped_place
from hedgerow.taxonomy.edits import EditableTree
from hedgerow.taxonomy.paste import pasted_ways
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True)
class TreeChange:
    """An edit with its command, renamed groups, and groups that it opens."""

    edit: TreeEdit = field(repr=False)
    command: tuple[str, ...]
    n_nodes: int
    names: dict[str, str] = field(default_factory=dict)
    opens: tuple[str, ...] = ()


def tree_change(kind: str, form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    """Return the change described by a form."""
    return TREE_EDITS[kind](form, taxonomy, file)


def _words(kind: str, file: str, labels: list[str], *options: str) -> tuple[str, ...]:
    """Return a command; labels that look like options follow ``--``."""
    ending = ("--",) if any(label.startswith("-") for label in labels) else ()
    if not ending:
        return ("hedgerow", "taxonomy", "edit", kind, file, *labels, *options)
    return ("hedgerow", "taxonomy", "edit", kind, *options, "--", file, *labels)


def _chosen(form: Sent) -> list[str]:
    labels = list(dict.fromkeys(form.all("label")))
    if not labels:
        raise InputError("No node is marked.", do="Mark at least one node first.")
    return labels


def _one(form: Sent) -> str:
    labels = _chosen(form)
    if len(labels) > 1:
        raise InputError("More than one node is marked.", do="Mark only one node.")
    return labels[0]


def _move(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    labels, to, before = _chosen(form), form.need("to"), form.get("before") or None
    options = ("--into", to) if before is None else ("--into", to, "--before", before)
    return TreeChange(
        edit=lambda tree: tree.moved(labels, to, before=before),
        command=_words("move", file, labels, *options),
        n_nodes=len(labels),
        opens=(to,),
    )


def _step(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    label, direction = form.need("moved"), form.need("direction")
    if direction not in ("up", "down", "in", "out"):
        raise InputError("The direction is not valid.", do="Load the page again.")
    to, before = stepped_place(EditableTree.of(taxonomy), label, direction)  # type: ignore[arg-type]
    options = ("--into", to) if before is None else ("--into", to, "--before", before)
    return TreeChange(
        edit=lambda tree: tree.moved([label], to, before=before),
        command=_words("move", file, [label], *options),
        n_nodes=1,
        opens=(to,),
    )


def _group(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    labels, name = _chosen(form), form.need("name").strip()
    return TreeChange(
        edit=lambda tree: tree.grouped(labels, name),
        command=_words("group", file, labels, "--name", name),
        n_nodes=len(labels),
        opens=(name,),
    )


def _rename(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    label, name = _one(form), form.need("name").strip()
    return TreeChange(
        edit=lambda tree: tree.renamed(label, name),
        command=_words("rename", file, [label, name]),
        n_nodes=1,
        names={label: name},
    )


def _split(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    labels, name = _chosen(form), form.need("name").strip()
    groups = {EditableTree.of(taxonomy).above.get(label) for label in labels}
    group = groups.pop()
    if groups or group is None:
        raise InputError(
            "The marked nodes belong to several groups, or the root is among them.",
            do="Mark some members of one group.",
        )
    return TreeChange(
        edit=lambda tree: tree.split(group, labels, name),
        command=_words("split", file, [group, *labels], "--name", name),
        n_nodes=len(labels),
        opens=(name,),
    )


def _dissolve(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    group = _one(form)
    return TreeChange(
        edit=lambda tree: tree.dissolved(group),
        command=_words("dissolve", file, [group]),
        n_nodes=1,
    )


def _add(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    values = [line.strip() for line in form.get("values").splitlines() if line.strip()]
    to = form.get("to") or taxonomy.labels[0]
    return TreeChange(
        edit=lambda tree: tree.added(values, to),
        command=_words("add", file, values, "--into", to),
        n_nodes=len(values),
        opens=(to,),
    )


def _remove(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    labels = _chosen(form)
    return TreeChange(
        edit=lambda tree: tree.removed(labels),
        command=_words("remove", file, labels),
        n_nodes=len(labels),
    )


def _paste(form: Sent, taxonomy: Taxonomy, file: str) -> TreeChange:
    group_first = form.get("order") == "group-first"
    ways = pasted_ways(form.get("cells"), order="group-first" if group_first else "value-first")
    options = ("--group-first",) if group_first else ()
    return TreeChange(
        edit=lambda tree: tree.placed(ways),
        command=("hedgerow", "taxonomy", "edit", "paste", file, "cells.txt", *options),
        n_nodes=len(ways),
    )


TREE_EDITS: dict[str, Callable[[Sent, Taxonomy, str], TreeChange]] = {
    "move": _move,
    "step": _step,
    "group": _group,
    "rename": _rename,
    "split": _split,
    "dissolve": _dissolve,
    "add": _add,
    "remove": _remove,
    "paste": _paste,
}
"""Edits by their names in forms."""
