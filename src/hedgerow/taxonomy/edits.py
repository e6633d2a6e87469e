"""Edits of a tree of labels: move, group, rename, split, dissolve, add, remove.

Every edit takes a tree and gives another; nothing is changed in place, so that going back is
keeping the tree from before. No edit but :meth:`EditableTree.added`, :meth:`~EditableTree.removed`
and a value's new name changes which values there are: a group that is left without members goes,
since it would read as a value otherwise.
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
    """A tree by its labels: ``below`` has the members of every group, ``above`` each one's group.

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
        return cls._made(labels[0], {group: tuple(some) for group, some in members.items()})

    @classmethod
    def _made(cls, root: str, below: _Below) -> EditableTree:
        above = {member: group for group, members in below.items() for member in members}
        return cls(root=root, below=MappingProxyType(below), above=MappingProxyType(above))

    def taxonomy(self) -> Taxonomy:
        """Return the taxonomy of the tree; too many levels are refused."""
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
        """Whether something lies below a label."""
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
        """Put nodes, with all below them, into the group ``to``: before a member, or at its end."""
        chosen = self._chosen(labels)
        self._check_group(to)
        inside = next((label for label in chosen if label in self.way(to)), None)
        if inside is not None:
            raise _refused(
                f"{displayed(to)} lies in {displayed(inside)} itself",
                inside,
                "Move it to a group that is not below it.",
            )
        if before is not None and self.above.get(before) != to:
            raise _refused(
                f"{displayed(before)} is no member of {displayed(to)}",
                before,
                "Give a member of the group, or leave it out.",
            )
        members = self.below[to]
        left = [label for label in members if label not in chosen]
        ahead = members if before is None else members[: members.index(before)]
        place = sum(label not in chosen for label in ahead)
        below = self._without(chosen, keep=to)
        below[to] = (*left[:place], *chosen, *left[place:])
        return self._made(self.root, _unemptied(below, self.root))

    def grouped(self, labels: Sequence[str], name: str) -> EditableTree:
        """Put nodes into a new group, which takes the place of the first of them."""
        chosen = self._chosen(labels)
        self._check_new(name)
        parent = self.above[chosen[0]]
        place = self.below[parent].index(chosen[0])
        earlier = sum(label not in chosen for label in self.below[parent][:place])
        below = self._without(chosen, keep=parent)
        left = below[parent]
        below[parent] = (*left[:earlier], name, *left[earlier:])
        below[name] = tuple(chosen)
        return self._made(self.root, _unemptied(below, self.root))

    def renamed(self, label: str, name: str) -> EditableTree:
        """Give a node another label. A value's label is what the data hold."""
        self._check_known(label)
        if name == label:
            return self
        self._check_new(name)
        below = {
            (name if group == label else group): members for group, members in self.below.items()
        }
        if label == self.root:
            return self._made(name, below)
        parent = self.above[label]
        below[parent] = tuple(name if each == label else each for each in below[parent])
        return self._made(self.root, below)

    def split(self, group: str, members: Sequence[str], name: str) -> EditableTree:
        """Take some members out of a group into a new group right behind it."""
        self._check_group(group)
        chosen = self._chosen(members)
        strange = next((label for label in chosen if self.above[label] != group), None)
        if strange is not None:
            raise _refused(
                f"{displayed(strange)} is no member of {displayed(group)}",
                strange,
                "Choose members that lie directly below the group.",
            )
        if group == self.root:
            raise _refused("the root cannot be split", group, "Group some of its members instead.")
        if len(chosen) == len(self.below[group]):
            raise _refused(
                f"no member of {displayed(group)} would be left in it",
                group,
                "Leave at least one member out, or rename the group.",
            )
        self._check_new(name)
        below = self._without(chosen, keep=group)
        parent = self.above[group]
        place = below[parent].index(group) + 1
        below[parent] = (*below[parent][:place], name, *below[parent][place:])
        below[name] = tuple(chosen)
        return self._made(self.root, below)

    def dissolved(self, group: str) -> EditableTree:
        """Take a group away; its members take its place."""
        self._check_group(group)
        if group == self.root:
            raise _refused("the root cannot be taken away", group, "Rename it instead.")
        below = dict(self.below)
        members, parent = below.pop(group), self.above[group]
        place = below[parent].index(group)
        below[parent] = (*below[parent][:place], *members, *below[parent][place + 1 :])
        return self._made(self.root, below)

    def added(self, values: Sequence[str], to: str) -> EditableTree:
        """Add new values at the end of a group."""
        self._check_group(to)
        repeated = first_repeated(values)
        if not values or repeated:
            raise _refused(
                f"{displayed(repeated)} is given twice" if values else "no value is given",
                repeated,
                "Give each value once.",
            )
        for value in values:
            self._check_new(value)
        below = dict(self.below)
        below[to] = (*below[to], *values)
        return self._made(self.root, below)

    def removed(self, labels: Sequence[str]) -> EditableTree:
        """Take nodes away with all below them; some value must be left."""
        chosen = self._chosen(labels)
        below = self._without(chosen, keep=self.root)
        gone = list(chosen)
        while gone:
            gone.extend(below.pop(gone.pop(), ()))
        below = _unemptied(below, self.root)
        if not below.get(self.root):
            raise _refused("no value would be left", chosen[0], "Keep at least one.")
        return self._made(self.root, below)

    def placed(self, ways: Iterable[Sequence[str]]) -> EditableTree:
        """Put values where ways from the widest group down to the value say.

        Values and groups that are there move, with what is below a group; others are added.
        A way may begin with the root. What a way does not name stays where it is.
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
        """Return the nodes that are meant, none of them below another, or refuse."""
        if not labels:
            raise _refused("nothing is chosen", "", "Choose at least one node.")
        for label in labels:
            self._check_known(label)
        chosen = dict.fromkeys(labels)
        if self.root in chosen:
            raise _refused("the root stays where it is", self.root, "Choose nodes below it.")
        # A node below another one that is chosen goes along with it.
        return tuple(
            label for label in chosen if not any(up in chosen for up in self.way(label)[:-1])
        )

    def _without(self, chosen: Sequence[str], *, keep: str) -> _Below:
        """Return the members of all groups without some nodes; ``keep`` stays, empty or not."""
        below, gone = dict(self.below), set(chosen)
        for group in {self.above[label] for label in chosen}:
            below[group] = tuple(label for label in below[group] if label not in gone)
        below.setdefault(keep, ())
        return below

    def _check_known(self, label: str) -> None:
        if label not in self:
            raise _refused(
                f"no node is called {displayed(label)}", label, "Look at the tree as it is now."
            )

    def _check_group(self, label: str) -> None:
        self._check_known(label)
        if not self.is_group(label):
            raise _refused(
                f"{displayed(label)} is a value, not a group",
                label,
                "Choose a group, or make one of several values first.",
            )

    def _check_new(self, label: str) -> None:
        _check_fault(label)
        if label in self:
            raise _refused(
                f"label {displayed(label)} is taken",
                label,
                "Every group and every value has a label of its own: give another.",
            )


class _Places:
    """Where every node lies while many of them move at once."""

    def __init__(self, tree: EditableTree) -> None:
        self.root = tree.root
        self.above = dict(tree.above)
        self.below = {group: dict.fromkeys(members) for group, members in tree.below.items()}

    def put(self, label: str, group: str, *, is_value: bool) -> None:
        """Put a node into a group, wherever it was; one that is new is made."""
        known = label == self.root or label in self.above
        if known and is_value == (label in self.below):
            wanted, found = ("value", "group") if is_value else ("group", "value")
            raise _refused(
                f"{displayed(label)} is a {found}, and a {wanted} is wanted",
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
                    f"{displayed(label)} would lie in itself",
                    label,
                    "Write every row from the same end: the value first, or the widest group.",
                )
            group = self.above[group]

    def tree(self) -> EditableTree:
        """Return the tree, without groups that have no members any more."""
        below = {group: tuple(members) for group, members in self.below.items()}
        return EditableTree._made(self.root, _unemptied(below, self.root))


def _check_fault(label: str) -> None:
    fault = fault_of(label)
    if fault is not None:
        raise _refused(
            f"label {displayed(label)} {fault}",
            label,
            "Give a name without line breaks and without blanks around it.",
        )


def _unemptied(below: _Below, root: str) -> _Below:
    """Take away groups that have lost their last member, and those that lose theirs by that."""
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
