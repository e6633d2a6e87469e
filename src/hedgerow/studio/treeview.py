"""What the studio shows of a taxonomy: the levels that are open, and what is searched for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from hedgerow.errors import InputError
from hedgerow.taxonomy.edits import EditableTree
from hedgerow.taxonomy.tree import Taxonomy

PER_LEVEL = 100
"""Members of a group that are shown at a time."""

MOST_LINES = 400
"""Lines of a page: what is open beyond is shown closed."""

MOST_OPEN = 60
"""Nodes of a tree up to which all of it is shown at once."""

MOST_FOUND = 60
MOST_GROUPS = 300
"""Groups that are offered to move things to, the topmost first."""

Direction = Literal["up", "down", "in", "out"]


@dataclass(frozen=True, kw_only=True)
class TreeLine:
    """One node that is shown: ``below`` are its members, if it is open, ``n_more`` those left."""

    label: str
    is_group: bool
    is_open: bool
    n_values: int
    below: tuple[TreeLine, ...]
    n_more: int
    n_shown: int


@dataclass(frozen=True, kw_only=True)
class FoundLine:
    """A node that was searched for, with the groups around it."""

    label: str
    is_group: bool
    n_values: int
    way: tuple[str, ...]


def tree_lines(
    taxonomy: Taxonomy,
    opened: Collection[str],
    *,
    shown: Mapping[str, int] | None = None,
    top: str | None = None,
) -> TreeLine:
    """Return a node, by default the root, with all levels below it that are open.

    ``shown`` says how many members of a group are wanted, where that is not the usual number.
    """
    budget = [MOST_LINES]
    node = 0 if top is None else taxonomy.find(top)
    return _line(taxonomy, node, set(opened) | {taxonomy.labels[node]}, shown or {}, budget)


def _line(
    taxonomy: Taxonomy, node: int, opened: set[str], shown: Mapping[str, int], budget: list[int]
) -> TreeLine:
    label = taxonomy.labels[node]
    children = taxonomy.children(node).tolist()
    is_open = bool(children) and label in opened and budget[0] > 0
    wanted = children[: max(shown.get(label, 0), PER_LEVEL)] if is_open else []
    budget[0] -= len(wanted)
    below = tuple(_line(taxonomy, child, opened, shown, budget) for child in wanted)
    return TreeLine(
        label=label,
        is_group=bool(children),
        is_open=is_open,
        n_values=int(taxonomy.stop[node] - taxonomy.first[node]),
        below=below,
        n_more=len(children) - len(wanted) if is_open else 0,
        n_shown=len(wanted),
    )


def opened_at_first(taxonomy: Taxonomy) -> tuple[str, ...]:
    """Return the groups that are open when a tree is first shown: all of a small one."""
    if taxonomy.n_nodes > MOST_OPEN:
        return ()
    return tuple(taxonomy.labels[node] for node in (taxonomy.height > 0).nonzero()[0].tolist())


def found_lines(taxonomy: Taxonomy, words: str) -> tuple[tuple[FoundLine, ...], int]:
    """Return the nodes whose labels hold all words, shorter ones first, and how many there are."""
    parts = words.casefold().split()
    places = [
        node
        for node, label in enumerate(taxonomy.labels)
        if node and all(part in label.casefold() for part in parts)
    ]
    places.sort(key=lambda node: (len(taxonomy.labels[node]), node))
    lines = tuple(
        FoundLine(
            label=taxonomy.labels[node],
            is_group=not taxonomy.is_leaf(node),
            n_values=int(taxonomy.stop[node] - taxonomy.first[node]),
            way=tuple(taxonomy.labels[up] for up in taxonomy.path(node)[:-1].tolist()),
        )
        for node in places[:MOST_FOUND]
    )
    return lines, len(places)


def group_labels_of(taxonomy: Taxonomy) -> list[str]:
    """Return the groups that things can be moved to, the topmost first."""
    groups = (taxonomy.height > 0).nonzero()[0]
    order = groups[taxonomy.depth[groups].argsort(kind="stable")][:MOST_GROUPS]
    return [taxonomy.labels[node] for node in order.tolist()]


def stepped_place(tree: EditableTree, label: str, direction: Direction) -> tuple[str, str | None]:
    """Return the group, and the member to stand before, that one step of a node leads to.

    ``up`` and ``down`` are among its fellows, ``in`` is into the group above it in the list,
    ``out`` is behind its own group.
    """
    if label not in tree.above:
        raise InputError("the root stays where it is", do="Move nodes below it.")
    group = tree.above[label]
    fellows = tree.below[group]
    at = fellows.index(label)
    if direction == "up" and at:
        return group, fellows[at - 1]
    if direction == "down" and at < len(fellows) - 1:
        return group, fellows[at + 2] if at + 2 < len(fellows) else None
    if direction == "in":
        groups = [fellow for fellow in fellows[:at] if tree.is_group(fellow)]
        groups = groups or [fellow for fellow in fellows[at + 1 :] if tree.is_group(fellow)][:1]
        if groups:
            return groups[-1], None
    if direction == "out" and group in tree.above:
        around = tree.below[tree.above[group]]
        place = around.index(group) + 1
        return tree.above[group], around[place] if place < len(around) else None
    raise InputError(
        "there is no step in that direction", do="It is at the end of its group already."
    )
