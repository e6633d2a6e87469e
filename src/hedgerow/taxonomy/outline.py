"""Nested structures as outlines: one entry per node, in depth-first order, with its depth.

A nested taxonomy gives the parents of labels:

- a mapping holds groups, each label with its content;

- a list holds values, and groups written as mappings.

Nothing here recurses, so a structure nested too deeply ends in an error with a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.labels import MOST_LEVELS, ROOT, brief, displayed, fault_of, too_deep

Nested: TypeAlias = Mapping[Any, Any] | Sequence[Any]
"""``{label: nested, ...}`` or ``[label or {label: nested}, ...]``."""


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One node of an outline, and its place in the source."""

    label: str
    depth: int
    is_group: bool
    where: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class TreeOutline:
    """Labels in depth-first order, each with the position of its parent (-1 for the root)."""

    labels: list[str]
    parents: list[int]


def outline_of(entries: Iterable[OutlineEntry], *, where: str | None = None) -> TreeOutline:
    """Return checked entries as an outline; several topmost ones get a common root ``*``."""
    listed = list(_checked(entries))
    if not listed:
        raise TaxonomyError(
            "The taxonomy is empty.", where=where, do="Give a root label with values below it."
        )
    tops = [entry for entry in listed if entry.depth == 0]
    if len(tops) == 1 and tops[0].is_group:
        return _joined(listed, shift=0)
    taken = next((entry for entry in listed if entry.label == ROOT), None)
    if taken:
        raise _fault(
            taken,
            f"{displayed(ROOT)} is taken, but several topmost labels need a root of that name.",
            do="Put everything under one root.",
        )
    top = OutlineEntry(label=ROOT, depth=0, is_group=True)
    return _joined([top, *listed], shift=1)


def entries_of(nested: Nested, *, where: str | None = None) -> Iterator[OutlineEntry]:
    """Yield the entries of plain mappings and lists, from a plan or a JSON file."""
    path: list[str] = []
    stack = [_members(nested, depth=0, path=path, where=where)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
            continue
        label, depth, below = item
        del path[depth:]
        place = _place(where, path)
        if isinstance(label, Mapping):  # a group inside a list
            stack.append(_members(label, depth=depth, path=path, where=place))
            continue
        text = label_text(label, where=place)
        yield OutlineEntry(text, depth, below is not None, where=place)
        path.append(text)
        if below is not None:
            place = _place(where, path)
            stack.append(_members(below, depth=depth + 1, path=path, where=place))


_Member: TypeAlias = tuple[Any, int, Any]


def _members(below: Any, *, depth: int, path: list[str], where: str | None) -> Iterator[_Member]:
    """Return the content of one mapping or list: (label or group in a list, depth, content)."""
    if isinstance(below, Mapping):
        # An empty group is kept as an empty list, and refused later.
        items = below.items()
        return ((label, depth, () if inner is None else inner) for label, inner in items)
    if isinstance(below, Sequence) and not isinstance(below, str | bytes):
        return ((member, depth, None) for member in below)
    if path:
        raise TaxonomyError(
            f"Below {displayed(path[-1])} is {displayed(str(below))}, not a list or a mapping.",
            where=where,
            value=path[-1],
            do=f"Write a single value as a list: [{displayed(str(below))}].",
        )
    raise TaxonomyError(
        "A nested taxonomy is a mapping of labels, or a list of values.",
        where=where,
        do="Write for example {Any: {Indoor: [office, shop], Outdoor: [farm]}}.",
    )


def label_text(label: object, *, where: str | None) -> str:
    """Return a label of a plan or a JSON file as text; whole numbers are labels as well."""
    if isinstance(label, str):
        return label
    if isinstance(label, int) and not isinstance(label, bool):
        return str(label)
    if isinstance(label, Sequence):
        raise TaxonomyError(
            "A list is directly in a list.", where=where, do="Give the inner list a label."
        )
    raise TaxonomyError(
        f"The label {brief(label)} is not text.",
        where=where,
        value=str(label),
        do="Put it in quotes, so that it is read as it is written.",
    )


def _place(where: str | None, path: Sequence[str]) -> str | None:
    if not path:
        return where
    way = "below " + " > ".join(displayed(label) for label in path[-3:])
    return f"{where}, {way}" if where else way


def _checked(entries: Iterable[OutlineEntry]) -> Iterator[OutlineEntry]:
    """Refuse a bad label, a repeated label, an empty group and too many levels."""
    seen: dict[str, OutlineEntry] = {}
    ancestors: list[OutlineEntry] = []
    last: OutlineEntry | None = None
    for entry in entries:
        _refuse_empty_group(last, entry.depth)
        fault = fault_of(entry.label)
        if fault:
            raise _fault(
                entry, f"The label {displayed(entry.label)} {fault}.", do="Write a plain name."
            )
        if entry.depth > MOST_LEVELS:
            raise too_deep(entry.label, where=entry.where, line=entry.line)
        del ancestors[entry.depth :]
        if entry.label in seen:
            raise _used_twice(entry, seen[entry.label], ancestors)
        seen[entry.label] = entry
        ancestors.append(entry)
        last = entry
        yield entry
    _refuse_empty_group(last, 0)


def _refuse_empty_group(entry: OutlineEntry | None, next_depth: int) -> None:
    if entry is not None and entry.is_group and next_depth <= entry.depth:
        raise _fault(
            entry,
            f"The group {displayed(entry.label)} has no value below it.",
            do="List its values, or write it as a value: an item of a list.",
        )


def _used_twice(
    entry: OutlineEntry, before: OutlineEntry, ancestors: Sequence[OutlineEntry]
) -> TaxonomyError:
    at = f" (line {before.line})" if before.line else ""
    if before in ancestors:
        return _fault(
            entry,
            f"The label {displayed(entry.label)} occurs twice on one path{at}.",
            do="Write it once, or rename one of the two.",
        )
    return _fault(
        entry,
        f"The label {displayed(entry.label)} occurs twice{at}, so it has two parents.",
        do="Keep it in one place, or rename one of the two.",
    )


def _fault(entry: OutlineEntry, what: str, *, do: str) -> TaxonomyError:
    return TaxonomyError(what, where=entry.where, line=entry.line, value=entry.label, do=do)


def _joined(entries: Sequence[OutlineEntry], *, shift: int) -> TreeOutline:
    parents: list[int] = []
    path: list[int] = []
    for node, entry in enumerate(entries):
        depth = 0 if node == 0 else entry.depth + shift
        del path[depth:]
        parents.append(path[-1] if path else -1)
        path.append(node)
    return TreeOutline([entry.label for entry in entries], parents)
