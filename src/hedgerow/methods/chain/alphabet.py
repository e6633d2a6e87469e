"""Encoding of items as steps in a tree of prefixes: one step, or one per taxonomy level."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.sequence_kernels import ItemSteps
from hedgerow.taxonomy.tree import Taxonomy

FLAT_UP_TO = 64
"""Universes up to that many items are one step each; larger ones follow their taxonomy."""

MOST_CHILDREN = 64
"""A node with more children than this is regrouped, in the order that they have."""

BETWEEN = 0
"""The kind of a node between two items: the next step begins one, or ends the sequence."""

NONE = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class Alphabet:
    """Items and steps that may follow each other, from public knowledge alone.

    A node is of a *kind*: ``BETWEEN`` items, or inside the item whose group is known. Child
    ``slot`` of a node of kind ``k`` completes the item ``item_of[k, slot]``, or goes on inside
    the group ``kind_of[k, slot]``; the last slot ends a sequence and is there ``BETWEEN`` items
    alone. ``there[k, slot]`` says which children there are.
    """

    n_items: int
    steps: ItemSteps
    item_of: NDArray[np.int32] = field(repr=False)
    kind_of: NDArray[np.int32] = field(repr=False)
    there: NDArray[np.bool_] = field(repr=False)

    @property
    def width(self) -> int:
        """Number of slots of a node."""
        return self.steps.width

    @property
    def end(self) -> int:
        """The slot that ends a sequence."""
        return self.steps.end

    @property
    def n_kinds(self) -> int:
        """Number of kinds of nodes: 1 if every item is a single step."""
        return len(self.there)

    @property
    def fan_out(self) -> int:
        """The most children that a node has."""
        return int(self.there.sum(axis=1).max())

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Alphabet:
        """Return the alphabet of a universe.

        >>> Alphabet.of(Taxonomy.flat(["home", "shop"])).width
        3
        """
        spelt = _Spelling(taxonomy.n_leaves)
        if taxonomy.n_leaves <= FLAT_UP_TO:
            spelt.add([(code, code + 1, None) for code in range(taxonomy.n_leaves)], ())
        else:
            spelt.add(_pieces(taxonomy, 0), ())
        return spelt.alphabet()


Piece = tuple[int, int, "list[Piece] | None"]
"""A range of codes, and the pieces it is made of; ``None`` for a single item."""


def _pieces(taxonomy: Taxonomy, node: int) -> list[Piece]:
    """Return what a node divides into, wide nodes regrouped and those of one child skipped."""
    children = taxonomy.children(node).tolist()
    while len(children) == 1 and not taxonomy.is_leaf(children[0]):
        children = taxonomy.children(children[0]).tolist()
    found: list[Piece] = []
    for child in children:
        first, stop = int(taxonomy.first[child]), int(taxonomy.stop[child])
        found.append((first, stop, None if stop - first == 1 else _pieces(taxonomy, child)))
    return _narrowed(found)


def _narrowed(pieces: list[Piece]) -> list[Piece]:
    """Group neighbouring pieces until there are few enough."""
    while len(pieces) > MOST_CHILDREN:
        size = math.ceil(math.sqrt(len(pieces)))
        pieces = [
            (group[0][0], group[-1][1], group if len(group) > 1 else group[0][2])
            for group in (pieces[at : at + size] for at in range(0, len(pieces), size))
        ]
    return pieces


class _Spelling:
    """Numbers the kinds of nodes, and writes down the steps of every item."""

    def __init__(self, n_items: int) -> None:
        self._words: list[tuple[int, ...]] = [()] * n_items
        self._kinds: list[list[tuple[int, int]]] = []  # (item, kind) of every child

    def add(self, pieces: list[Piece], before: tuple[int, ...]) -> int:
        """Return the number of a new kind with these children."""
        kind = len(self._kinds)
        children: list[tuple[int, int]] = []
        self._kinds.append(children)
        for slot, (first, _, inner) in enumerate(pieces):
            word = (*before, slot)
            if inner is None:
                self._words[first] = word
                children.append((first, BETWEEN))
            else:
                children.append((NONE, self.add(inner, word)))
        return kind

    def alphabet(self) -> Alphabet:
        """Return the alphabet of all kinds that were added."""
        width = max(map(len, self._kinds)) + 1
        shape = (len(self._kinds), width)
        item_of = np.full(shape, NONE, dtype=np.int32)
        kind_of = np.zeros(shape, dtype=np.int32)
        there = np.zeros(shape, dtype=np.bool_)
        for kind, children in enumerate(self._kinds):
            for slot, (item, inner) in enumerate(children):
                item_of[kind, slot], kind_of[kind, slot] = item, inner
                there[kind, slot] = True
        there[BETWEEN, width - 1] = True
        slots = np.zeros((len(self._words), max(map(len, self._words))), dtype=np.int32)
        for item, word in enumerate(self._words):
            slots[item, : len(word)] = word
        n_steps = np.array([len(word) for word in self._words], dtype=np.int32)
        return Alphabet(
            n_items=len(self._words),
            steps=ItemSteps(slots=slots, n_steps=n_steps, width=width),
            item_of=item_of,
            kind_of=kind_of,
            there=there,
        )
