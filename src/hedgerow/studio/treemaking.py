"""New taxonomies from forms: ready ones, files, bands of numbers, prefixes, cells."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hedgerow.errors import InputError
from hedgerow.studio.folder import Folder
from hedgerow.studio.shell import Sent
from hedgerow.taxonomy import builders
from hedgerow.taxonomy.edits import EditableTree
from hedgerow.taxonomy.files import read_taxonomy, write_taxonomy
from hedgerow.taxonomy.labels import ROOT
from hedgerow.taxonomy.paste import Order, pasted_ways
from hedgerow.taxonomy.paths import from_paths
from hedgerow.taxonomy.ready.catalogue import PREFIX, ready_taxonomy
from hedgerow.taxonomy.tree import Taxonomy

TAXONOMIES = "taxonomies"
"""Folder of new taxonomies."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,80}")


@dataclass(frozen=True, kw_only=True)
class NewTree:
    """A taxonomy with the command that makes the same file."""

    taxonomy: Taxonomy
    command: tuple[str, ...]

    def write(self, path: Path) -> None:
        """Write the taxonomy in the format of the file's suffix."""
        write_taxonomy(self.taxonomy, path)


def new_name(text: str) -> str:
    """Return the name of a new taxonomy file in the folder."""
    name = text.strip().removeprefix(f"{TAXONOMIES}/")
    if not _NAME.fullmatch(name):
        raise InputError(
            "This is not a valid file name.",
            where="name",
            do="Use only letters, digits, spaces, '.', '-' and '_'.",
        )
    if not name.lower().endswith((".csv", ".yaml", ".yml", ".json")):
        name += ".csv"
    return f"{TAXONOMIES}/{name}"


def new_tree(kind: str, form: Sent, folder: Folder, target: str) -> NewTree:
    """Return the taxonomy described by a form."""
    make = _MAKERS.get(kind)
    if make is None:
        raise InputError("The kind of taxonomy is not valid.", do="Load the page again.")
    return make(form, folder, target)


def _ready(form: Sent, folder: Folder, target: str) -> NewTree:
    name = form.need("ready")
    command = ("hedgerow", "taxonomy", "convert", PREFIX + name.removeprefix(PREFIX), target)
    return NewTree(taxonomy=ready_taxonomy(name).tree, command=command)


def _imported(form: Sent, folder: Folder, target: str) -> NewTree:
    source = form.need("source")
    tree = read_taxonomy(folder.inside(source))
    return NewTree(taxonomy=tree, command=("hedgerow", "taxonomy", "convert", source, target))


def _numeric(form: Sent, folder: Folder, target: str) -> NewTree:
    words = ["hedgerow", "taxonomy", "build", "numeric"]
    edges = form.get("edges").replace(",", " ").split()
    if edges:
        for edge in edges:
            words += ["--edge", edge]
        return NewTree(taxonomy=builders.numeric_edges(edges), command=(*words, "-o", target))
    low, high, step = form.need("low"), form.need("high"), form.get("step") or "1"
    widths = form.get("widths").replace(",", " ").split()
    words += ["--low", low, "--high", high, "--step", step]
    for width in widths:
        words += ["--width", width]
    tree = builders.numeric(low=low, high=high, step=step, widths=widths)
    return NewTree(taxonomy=tree, command=(*words, "-o", target))


def _prefix(form: Sent, folder: Folder, target: str) -> NewTree:
    length, values = form.get("length").strip(), _listed(form.get("values"))
    base = ("hedgerow", "taxonomy", "build", "prefix")
    if length and not values:
        if not length.isdecimal():
            raise InputError(
                "The length is not an integer.", where="length", do="Give a number such as 5."
            )
        tree = builders.prefixes(builders.prefix_codes(int(length)))
        return NewTree(taxonomy=tree, command=(*base, "--length", length, "-o", target))
    return NewTree(taxonomy=builders.prefixes(values), command=(*base, *_few(values), "-o", target))


def _dates(form: Sent, folder: Folder, target: str) -> NewTree:
    first, last = form.need("from"), form.need("to")
    command = ("hedgerow", "taxonomy", "build", "dates", "--from", first, "--to", last)
    return NewTree(taxonomy=builders.dates(first, last), command=(*command, "-o", target))


def _values(form: Sent, folder: Folder, target: str) -> NewTree:
    values = _listed(form.get("values"))
    command = ("hedgerow", "taxonomy", "build", "flat", *_few(values), "-o", target)
    return NewTree(taxonomy=builders.flat(values), command=command)


def _cells(form: Sent, folder: Folder, target: str) -> NewTree:
    order: Order = "group-first" if form.get("order") == "group-first" else "value-first"
    ways = pasted_ways(form.get("cells"), order=order)
    if all(len(way) > 1 and way[0] == ways[0][0] for way in ways):
        tree = from_paths(ways)
    else:
        first = builders.flat([ways[0][-1]], root=ROOT)
        tree = EditableTree.of(first).placed(ways).taxonomy()
    command = ("hedgerow", "taxonomy", "edit", "paste", target, "cells.txt")
    return NewTree(taxonomy=tree, command=command)


def _listed(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _few(values: list[str]) -> tuple[str, ...]:
    """Return values as arguments of a command: the values, or a file if there are many."""
    return tuple(values) if len(values) <= 12 else ("--values", "values.txt")


_MAKERS: dict[str, Callable[[Sent, Folder, str], NewTree]] = {
    "ready": _ready,
    "import": _imported,
    "numeric": _numeric,
    "prefix": _prefix,
    "dates": _dates,
    "values": _values,
    "cells": _cells,
}
