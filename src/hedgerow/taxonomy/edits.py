"""Edits of a tree of labels: move, group, rename, split, dissolve, add, remove.

Every edit takes a tree and returns another; nothing is changed in place, so that an edit is undone
by keeping the former tree. Only :meth:`EditableTree.added`, :meth:`~EditableTree.removed` and a
value's new name change the set of values: a group without members is removed, since it would be
read as a value otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.labels import MOST_LEVELS, displayed, fault_of, first_repeated, too_deep
from hedgerow.taxonomy.tree import Taxonomy

_Below = dict[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EditableTree:
    """A tree by its labels: ``below`` has the members of every group, ``above`` the group of each.

    >>> tree = EditableTree.of(Taxonomy.from_nested("*", ["office", "shop", "farm"]))
    >>> tree.grouped(["office", "shop"], "Indoor").taxonomy().labels
    ('*', 'Indoor', 'office', 'shop', 'farm')
    """

    root: str
    below: Mapping[str, tuple[str, ...]]
    above: Mapping[str, str]

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> EditableTree:
        """Return the tree of a taxonomy."""
        members: dict[str, list[str]] = {}
        labels = taxonomy.labels
        for label, parent in zip(labels[1:], taxonomy.parent[1:].tolist(), strict=True):
            members.setdefault(labels[parent], []).append(label)
        return cls._by_label(labels[0], {group: tuple(some) for group, some in members.items()})

    @classmethod
    def _by_label(cls, root: str, below: _Below) -> EditableTree:
        above = {member: group for group, members in below.items() for member in members}
        return cls(root=root, below=MappingProxyType(below), above=MappingProxyType(above))

    def taxonomy(self) -> Taxonomy:
        """Return the taxonomy of the tree; refuse too many levels."""
        labels, parents = [self.root], [-1]
        stack = [(member, 0, 1) for member in reversed(self.below[self.root])]
        while stack:
            label, parent, depth = stack.pop()
            if depth > MOST_LEVELS:
                raise too_deep(label)
            parents.append(parent)
            labels.append(label)
            here = len(labels) - 1
            stack.extend(
                (member, here, depth + 1) for member in reversed(self.below.get(label, ()))
            )
        return Taxonomy.from_parents(labels, parents)

    def __contains__(self, label: str) -> bool:
        return label == self.root or label in self.above

    def is_group(self, label: str) -> bool:
        """Return whether a label is a group."""
        return label in self.below

    def leaves(self, label: str | None = None) -> Iterator[str]:
        """Yield the values below a label, from first to last; by default all."""
        stack = [self.root if label is None else label]
        while stack:
            each = stack.pop()
            if each in self.below:
                stack.extend(reversed(self.below[each]))
            else:
                yield each

    def way(self, label: str) -> list[str]:
        """Return the labels from the root down to this one, both included."""
        way = [label]
        while way[-1] != self.root:
            way.append(self.above[way[-1]])
        return way[::-1]

    def moved(self, labels: Sequence[str], to: str, *, before: str | None = None) -> EditableTree:
        """Move nodes, with all below them, into the group ``to``, before a member or at its end."""
        chosen = self._chosen(labels)
        self._check_group(to)
        inside = next((label for label in chosen if label in self.way(to)), None)
        if inside is not None:
            raise _refused(
                f"{displayed(to)} is itself in {displayed(inside)}.",
                inside,
                "Move it to a group that is not below it.",
            )
        if before is not None and self.above.get(before) != to:
            raise _refused(
                f"{displayed(before)} is not a member of {displayed(to)}.",
                before,
                "Give a member of the group, or leave it out.",
            )
        members = self.below[to]
        left = [label for label in members if label not in chosen]
        ahead = members if before is None else members[: members.index(before)]
        place = sum(label not in chosen for label in ahead)
        below = self._without(chosen, keep=to)
        below[to] = (*left[:place], *chosen, *left[place:])
        return self._by_label(self.root, _unemptied(below, self.root))

    def grouped(self, labels: Sequence[str], name: str) -> EditableTree:
        """Put nodes into a new group, in place of the first of them."""
        chosen = self._chosen(labels)
        self._check_new(name)
        parent = self.above[chosen[0]]
        place = self.below[parent].index(chosen[0])
        earlier = sum(label not in chosen for label in self.below[parent][:place])
        below = self._without(chosen, keep=parent)
        left = below[parent]
        below[parent] = (*left[:earlier], name, *left[earlier:])
        below[name] = tuple(chosen)
        return self._by_label(self.root, _unemptied(below, self.root))

    def renamed(self, label: str, name: str) -> EditableTree:
        """Give a node another label; a value's label is its spelling in the data."""
        self._check_known(label)
        if name == label:
            return self
        self._check_new(name)
        below = {
            (name if group == label else group): members for group, members in self.below.items()
        }
        if label == self.root:
            return self._by_label(name, below)
        parent = self.above[label]
        below[parent] = tuple(name if each == label else each for each in below[parent])
        return self._by_label(self.root, below)

    def split(self, group: str, members: Sequence[str], name: str) -> EditableTree:
        """Move some members of a group into a new group directly after it."""
        self._check_group(group)
        chosen = self._chosen(members)
        strange = next((label for label in chosen if self.above[label] != group), None)
        if strange is not None:
            raise _refused(
                f"{displayed(strange)} is not a member of {displayed(group)}.",
                strange,
                "Choose members that are directly below the group.",
            )
        if group == self.root:
            raise _refused("The root cannot be split.", group, "Group some of its members instead.")
        if len(chosen) == len(self.below[group]):
            raise _refused(
                f"No member of {displayed(group)} would be left in it.",
                group,
                "Leave at least one member out, or rename the group.",
            )
        self._check_new(name)
        below = self._without(chosen, keep=group)
        parent = self.above[group]
        place = below[parent].index(group) + 1
        below[parent] = (*below[parent][:place], name, *below[parent][place:])
        below[name] = tuple(chosen)
        return self._by_label(self.root, below)

    def dissolved(self, group: str) -> EditableTree:
        """Remove a group; its members take its place."""
        self._check_group(group)
        if group == self.root:
            raise _refused("The root cannot be removed.", group, "Rename it instead.")
        below = dict(self.below)
        members, parent = below.pop(group), self.above[group]
        place = below[parent].index(group)
        below[parent] = (*below[parent][:place], *members, *below[parent][place + 1 :])
        return self._by_label(self.root, below)

    def added(self, values: Sequence[str], to: str) -> EditableTree:
        """Add new values at the end of a group."""
        self._check_group(to)
        repeated = first_repeated(values)
        if not values or repeated:
            raise _refused(
                f"{displayed(repeated)} occurs twice." if values else "No value was set.",
                repeated,
                "Give each value once.",
            )
        for value in values:
            self._check_new(value)
        below = dict(self.below)
        below[to] = (*below[to], *values)
        return self._by_label(self.root, below)

    def removed(self, labels: Sequence[str]) -> EditableTree:
        """Remove nodes with all below them; some value must be left."""
        chosen = self._chosen(labels)
        below = self._without(chosen, keep=self.root)
        gone = list(chosen)
        while gone:
            gone.extend(below.pop(gone.pop(), ()))
        below = _unemptied(below, self.root)
        if not below.get(self.root):
            raise _refused("No value would be left.", chosen[0], "Keep at least one.")
        return self._by_label(self.root, below)

    def placed(self, ways: Iterable[Sequence[str]]) -> EditableTree:
        """Place values by paths from the widest group down to the value.

        Existing values and groups move, with what is below a group; others are added. A path may
        begin with the root. Labels that no path names stay in place.
        """
        places = _Places(self)
        for way in ways:
            plain = way[1:] if len(way) > 1 and way[0] == self.root else way
            group = self.root
            for label in plain[:-1]:
                places.put(label, group, is_value=False)
                group = label
            if plain:
                places.put(plain[-1], group, is_value=True)
        return places.tree()

    def _chosen(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Return the nodes to change; refuse nodes below one another."""
        if not labels:
            raise _refused("Nothing is selected.", "", "Select at least one node.")
        for label in labels:
            self._check_known(label)
        chosen = dict.fromkeys(labels)
        if self.root in chosen:
            raise _refused("The root cannot be moved.", self.root, "Choose nodes below it.")
        # A node below another selected one moves with it.
        return tuple(
            label for label in chosen if not any(up in chosen for up in self.way(label)[:-1])
        )

    def _without(self, chosen: Sequence[str], *, keep: str) -> _Below:
        """Return the members of all groups without some nodes; ``keep`` stays, even if empty."""
        below, gone = dict(self.below), set(chosen)
        for group in {self.above[label] for label in chosen}:
            below[group] = tuple(label for label in below[group] if label not in gone)
        below.setdefault(keep, ())
        return below

    def _check_known(self, label: str) -> None:
        if label not in self:
            raise _refused(
                f"There is no node {displayed(label)}.", label, "Look at the current tree."
            )

    def _check_group(self, label: str) -> None:
        self._check_known(label)
        if not self.is_group(label):
            raise _refused(
                f"{displayed(label)} is a value, not a group.",
                label,
                "Choose a group, or make one of several values first.",
            )

    def _check_new(self, label: str) -> None:
        _check_fault(label)
        if label in self:
            raise _refused(
                f"The label {displayed(label)} is taken.",
                label,
                "Every group and every value has a label of its own: give another.",
            )


class _Places:
    """The positions of all nodes while many of them move at once."""

    def __init__(self, tree: EditableTree) -> None:
        self.root = tree.root
        self.above = dict(tree.above)
        self.below = {group: dict.fromkeys(members) for group, members in tree.below.items()}

    def put(self, label: str, group: str, *, is_value: bool) -> None:
        """Put a node into a group, from any position; create it if it is new."""
        known = label == self.root or label in self.above
        if known and is_value == (label in self.below):
            wanted, found = ("value", "group") if is_value else ("group", "value")
            raise _refused(
                f"{displayed(label)} is a {found}, but must be a {wanted}.",
                label,
                f"Give the {wanted} a label of its own.",
            )
        if not known:
            _check_fault(label)
            if not is_value:
                self.below[label] = {}
        elif self.above[label] != group:
            self._check_apart(label, group)
            del self.below[self.above[label]][label]
        self.above[label] = group
        self.below[group][label] = None

    def _check_apart(self, label: str, group: str) -> None:
        while group != self.root:
            if group == label:
                raise _refused(
                    f"{displayed(label)} would be in itself.",
                    label,
                    (
                        "Write every row in the same direction: from the value, or from the widest"
                        " group."
                    ),
                )
            group = self.above[group]

    def tree(self) -> EditableTree:
        """Return the tree, without groups that have no members left."""
        below = {group: tuple(members) for group, members in self.below.items()}
        return EditableTree._by_label(self.root, _unemptied(below, self.root))


def _check_fault(label: str) -> None:
    fault = fault_of(label)
    if fault is not None:
        raise _refused(
            f"The label {displayed(label)} {fault}.",
            label,
            "Give a name without line breaks and without blanks around it.",
        )


def _unemptied(below: _Below, root: str) -> _Below:
    """Remove groups without members, and those that become empty by that."""
    above = {member: group for group, members in below.items() for member in members}
    empty = [group for group, members in below.items() if not members and group != root]
    while empty:
        group = empty.pop()
        del below[group]
        parent = above.get(group)
        if parent is None:
            continue
        below[parent] = tuple(label for label in below[parent] if label != group)
        if not below[parent] and parent != root:
            empty.append(parent)
    return below


def _refused(what: str, value: str, do: str) -> TaxonomyError:
    return TaxonomyError(what, value=value, do=do)
