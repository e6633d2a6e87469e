"""View of a taxonomy: its open levels, and search results."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from hedgerow.errors import InputError
from hedgerow.taxonomy.edits import EditableTree
from hedgerow.taxonomy.tree import Taxonomy

PER_LEVEL = 100
"""Number of members of a group that are shown at a time."""

MOST_LINES = 400
"""Maximum number of lines of a page; further open groups are shown closed."""

MOST_OPEN = 60
"""Maximum number of nodes of a tree that is shown completely."""

MOST_FOUND = 60
MOST_GROUPS = 300
"""Maximum number of groups offered as targets of a move, the topmost first."""

Direction = Literal["up", "down", "in", "out"]


@dataclass(frozen=True, kw_only=True)
class TreeLine:
    """One node: ``below`` are its members, if it is open; ``n_more`` is the number of others."""

    label: str
    is_group: bool
    is_open: bool
    n_values: int
    below: tuple[TreeLine, ...]
    n_more: int
    n_shown: int


@dataclass(frozen=True, kw_only=True)
class FoundLine:
    """A search result, with the groups that contain it."""

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
    """Return a node, by default the root, with all open levels below it.

    ``shown`` overrides the number of members that are shown for single groups.
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
    """Return the groups that are open at first: all groups of a small tree, else none."""
    if taxonomy.n_nodes > MOST_OPEN:
        return ()
    return tuple(taxonomy.labels[node] for node in (taxonomy.height > 0).nonzero()[0].tolist())


def found_lines(taxonomy: Taxonomy, words: str) -> tuple[tuple[FoundLine, ...], int]:
    """Return the nodes whose labels contain all words, shorter labels first, and their number."""
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
    """Return the groups that can be targets of a move, the topmost first."""
    groups = (taxonomy.height > 0).nonzero()[0]
    order = groups[taxonomy.depth[groups].argsort(kind="stable")][:MOST_GROUPS]
    return [taxonomy.labels[node] for node in order.tolist()]


def stepped_place(tree: EditableTree, label: str, direction: Direction) -> tuple[str, str | None]:
    """Return the group and the next member at the place to which a step moves a node.

    ``up`` and ``down`` move it among its siblings, ``in`` into the nearest group above it in the
    list, ``out`` to the place after its own group.
    """
    if label not in tree.above:
        raise InputError("The root cannot be moved.", do="Move nodes below it.")
    group = tree.above[label]
    siblings = tree.below[group]
    at = siblings.index(label)
    if direction == "up" and at:
        return group, siblings[at - 1]
    if direction == "down" and at < len(siblings) - 1:
        return group, siblings[at + 2] if at + 2 < len(siblings) else None
    if direction == "in":
        groups = [each for each in siblings[:at] if tree.is_group(each)]
        groups = groups or [each for each in siblings[at + 1 :] if tree.is_group(each)][:1]
        if groups:
            return groups[-1], None
    if direction == "out" and group in tree.above:
        around = tree.below[tree.above[group]]
        place = around.index(group) + 1
        return tree.above[group], around[place] if place < len(around) else None
    raise InputError("The node cannot be moved in that direction.", do="Choose another direction.")
