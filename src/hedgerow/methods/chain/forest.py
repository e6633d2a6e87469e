"""A forest of prefixes, grown level by level by private tests, with noisy counts of its leaves.

Every node that was expanded has ``width`` cells, one for each child that it may have; a cell is
an expanded node itself, or a leaf. Cell ``node * width + slot`` belongs to child ``slot``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.methods.chain.alphabet import NONE, Alphabet
from hedgerow.model.engine import BasketEngine
from hedgerow.model.run import Run
from hedgerow.privacy.mechanisms import pass_tests
from hedgerow.privacy.path_tests import PathTests

LevelCounts = Callable[[NDArray[np.int32], int, int], NDArray[np.int64]]
"""Counts the children of ``n`` nodes from ``first`` on, given the forest so far (confidential)."""

MOST_NODES = (1 << 31) - 1
"""Nodes of a forest, at the most: they are numbered by 32-bit integers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Stands:
    """Stands in a sequence: the kind of what comes next, and the last two items, if known."""

    kind: NDArray[np.int32]
    last: NDArray[np.int32]
    previous: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.kind)

    @classmethod
    def beginning(cls) -> Stands:
        """Return the one place before all items."""
        nothing = np.full(1, NONE, dtype=np.int32)
        return cls(kind=np.zeros(1, dtype=np.int32), last=nothing, previous=nothing)

    def children(self, alphabet: Alphabet) -> Stands:
        """Return the places of all cells; the end of a sequence is as its parent."""
        item, kind = alphabet.item_of[self.kind], alphabet.kind_of[self.kind]
        last = np.where(item >= 0, item, self.last[:, None])
        previous = np.where(item >= 0, self.last[:, None], self.previous[:, None])
        return Stands(kind=kind.ravel(), last=last.ravel(), previous=previous.ravel())

    def at(self, places: NDArray[np.bool_] | NDArray[np.int64]) -> Stands:
        """Return some of the places."""
        return Stands(
            kind=self.kind[places], last=self.last[places], previous=self.previous[places]
        )

    def and_then(self, others: Stands) -> Stands:
        """Return these places and others behind them."""
        return Stands(
            kind=np.concatenate([self.kind, others.kind]),
            last=np.concatenate([self.last, others.last]),
            previous=np.concatenate([self.previous, others.previous]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Forest:
    """Results of tests and noisy counts: all of it publishable.

    ``tree[cell]`` is the node that a cell was expanded to, -1 for a leaf; ``cell_of[node]`` the
    reverse, -1 for roots. ``levels`` are the borders between nodes of one depth and the next.
    ``noisy`` counts are those of leaves; ``is_leaf`` marks the leaves among the cells.
    """

    alphabet: Alphabet
    nodes: Stands
    tree: NDArray[np.int32] = field(repr=False)
    cell_of: NDArray[np.int64] = field(repr=False)
    levels: tuple[int, ...] = field(repr=False)
    is_leaf: NDArray[np.bool_] = field(repr=False)
    noisy: NDArray[np.int64] = field(repr=False)

    @property
    def n_roots(self) -> int:
        """Number of roots."""
        return self.levels[1]

    @property
    def n_cells(self) -> int:
        """Number of cells, leaves and others."""
        return len(self.tree)

    @property
    def is_end(self) -> NDArray[np.bool_]:
        """Which cells end a sequence."""
        ends = np.zeros(self.n_cells, dtype=np.bool_)
        ends[self.alphabet.end :: self.alphabet.width] = True
        return ends

    @property
    def open_leaves(self) -> NDArray[np.int64]:
        """The cells at which sequences leave the forest without having ended."""
        return np.flatnonzero(self.is_leaf & ~self.is_end)


def grow_forest(
    alphabet: Alphabet,
    roots: Stands,
    *,
    may_be_empty: bool,
    deepest: int,
    tests: PathTests,
    counted: LevelCounts,
    run: Run[BasketEngine],
    share: Fraction,
    on: str,
) -> Forest:
    """Return the forest that tests let grow from ``roots``, at most ``deepest`` levels of cells.

    ``may_be_empty`` says whether a sequence may end at a root. ``share`` is for the leaves.

    Privacy: which cells there are follows from the tests, which are booked. A record reaches one
    leaf, so that all noisy counts together cost ``share``.
    """
    width = alphabet.width
    nodes = level = roots
    tree = np.zeros(0, dtype=np.int32)
    cell_of = [np.full(len(roots), NONE, dtype=np.int64)]
    borders, leaves, raw = [0, len(roots)], [], []
    for depth in range(1, deepest + 1):
        first, n = borders[-2], len(level)
        counts = counted(tree, first, n).reshape(n, width)
        there = alphabet.there[level.kind]
        if depth == 1 and not may_be_empty:
            there[:, alphabet.end] = False
        tested = there.copy()
        tested[:, alphabet.end] = False
        if depth == deepest:
            tested[:] = False
        passed = pass_tests(counts, tested=tested, tests=tests)
        leaf = there & ~passed
        leaves.append(leaf.ravel())
        raw.append(counts[leaf])
        grown = np.full(n * width, NONE, dtype=np.int32)
        places = np.flatnonzero(passed.ravel())
        require_nodes(borders[-1] + len(places))
        grown[places] = borders[-1] + np.arange(len(places), dtype=np.int32)
        tree = np.concatenate([tree, grown])
        if not len(places):
            break
        level = level.children(alphabet).at(places)
        nodes = nodes.and_then(level)
        cell_of.append(first * width + places)
        borders.append(borders[-1] + len(places))
    is_leaf = np.concatenate(leaves)
    noisy = np.zeros(len(tree), dtype=np.int64)
    noisy[is_leaf] = run.noisy(np.concatenate(raw), share=share, on=on)
    return Forest(
        alphabet=alphabet,
        nodes=nodes,
        tree=tree,
        cell_of=np.concatenate(cell_of),
        levels=tuple(borders),
        is_leaf=is_leaf,
        noisy=noisy,
    )


def require_nodes(n_nodes: int) -> None:
    """Refuse a forest of more nodes than numbers; how many there are follows from the tests."""
    if n_nodes > MOST_NODES:
        raise InternalError(
            "A forest of prefixes has more nodes than their numbers can distinguish."
        )


def places_of_cells(forest: Forest) -> Stands:
    """Return the place in a sequence of every cell."""
    return forest.nodes.children(forest.alphabet)
