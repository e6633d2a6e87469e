"""The level loop that tree methods share: split all boxes of a level, then the next.

All boxes of a level are counted in one pass and routed in one pass; a strategy decides how
candidates are scored, how a choice is made, when a box stops and what each step may cost. There
is no loop over boxes anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.engine import Engine
from hedgerow.model.placed import Borders, LevelBins, Placed, Routing, SharedBorders, ragged
from hedgerow.model.run import Run
from hedgerow.trees.axes import Axis, axes_of

STOP = -1
"""Replaces the attribute to split: the box is never split again."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """Boxes of one level, by rows: their ranges, and their numbers in two other structures.

    ``ledger`` are the path ledger's nodes, ``tree`` the release tree's.
    """

    first: NDArray[np.int32]
    stop: NDArray[np.int32]
    ledger: NDArray[np.int64]
    tree: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Boxes:
        return Boxes(
            first=self.first[which],
            stop=self.stop[which],
            ledger=self.ledger[which],
            tree=self.tree[which],
        )

    @classmethod
    def whole(cls, axes: tuple[Axis, ...]) -> Boxes:
        """Return a single box with the whole domain."""
        return cls(
            first=np.zeros((1, len(axes)), dtype=np.int32),
            stop=np.array([[axis.size for axis in axes]], dtype=np.int32),
            ledger=np.zeros(1, dtype=np.int64),
            tree=np.zeros(1, dtype=np.int64),
        )

    @classmethod
    def joined(cls, parts: list[Boxes]) -> Boxes:
        """Return the boxes of several levels in one list."""
        return cls(
            first=np.concatenate([part.first for part in parts]),
            stop=np.concatenate([part.stop for part in parts]),
            ledger=np.concatenate([part.ledger for part in parts]),
            tree=np.concatenate([part.tree for part in parts]),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Level:
    """A strategy's view of a level; counts are confidential."""

    depth: int
    boxes: Boxes
    axes: tuple[Axis, ...]
    placed: Placed

    def bins(self, borders: dict[int, Borders]) -> dict[int, NDArray[np.int64]]:
        """Return class counts between the borders, by attribute (confidential)."""
        return self.placed.sum(LevelBins(borders=dict(borders)))

    def each_bins(
        self,
        borders: Mapping[int, Borders | SharedBorders],
        boxes: NDArray[np.int64] | None = None,
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the same attribute by attribute, of some boxes or of all (confidential)."""
        some = {} if boxes is None else dict.fromkeys(borders, boxes)
        return self.placed.each(LevelBins(borders=dict(borders), boxes=some))

    def classes(self) -> NDArray[np.int64]:
        """Return class counts of shape (boxes, classes) (confidential)."""
        return self.placed.classes()


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """A decision for every box: the attribute to split (or ``STOP``), and where.

    A box with an attribute but no border goes to the next level unchanged.
    """

    attribute: NDArray[np.int32]
    borders: Borders


class Strategy(Protocol):
    """The part of a tree method that is specific to it."""

    def split(self, level: Level) -> Split:
        """Decide for every box of the level, from noisy values and booked choices alone."""
        ...

    def follow(self, parents: NDArray[np.int64], children: Boxes) -> None:
        """Receive the next level's boxes; ``parents`` are rows of the last level."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Grown:
    """A tree of boxes and its leaves; ``counts`` (leaves, classes) are confidential.

    ``parent``, ``attribute``, ``first`` and ``stop`` describe the tree's nodes, level by
    level, the root first.
    """

    parent: NDArray[np.int32]
    attribute: NDArray[np.int32]
    first: NDArray[np.int32]
    stop: NDArray[np.int32]
    leaves: Boxes
    counts: NDArray[np.int64]


BranchNodes = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
"""Returns ledger nodes for the children of boxes, by the number of children of each."""


def grow(run: Run[Engine], strategy: Strategy) -> Grown:
    """Return the tree that a strategy grows, level by level; each split branches its path."""
    return _grown(run.engine, strategy, run.branch)


def grow_exactly(engine: Engine, strategy: Strategy) -> Grown:
    """Return the same for a strategy without a guarantee, which books nothing."""
    return _grown(engine, strategy, None)


def _grown(engine: Engine, strategy: Strategy, branch: BranchNodes | None) -> Grown:
    axes = axes_of(engine.schema)
    boxes, placed = Boxes.whole(axes), engine.place()
    nodes, leaves, counts = _Nodes(), [], []
    depth = 0
    while len(boxes):
        split = strategy.split(Level(depth=depth, boxes=boxes, axes=axes, placed=placed))
        stopped = split.attribute == STOP
        if stopped.any():
            leaves.append(boxes[stopped])
            counts.append(placed.classes()[stopped])
        if stopped.all():
            break
        children, parents, routing = _children(boxes, split, nodes, branch)
        placed.route(routing)
        strategy.follow(parents, children)
        boxes, depth = children, depth + 1
    return nodes.grown(Boxes.joined(leaves), np.concatenate(counts))


def _children(
    boxes: Boxes, split: Split, nodes: _Nodes, branch: BranchNodes | None
) -> tuple[Boxes, NDArray[np.int64], Routing]:
    """Return the next level's boxes, their parents, and the routing of records to them."""
    going = np.flatnonzero(split.attribute != STOP)
    n_borders = np.diff(split.borders.starts)
    if len(split.attribute) != len(boxes) or split.borders.n_boxes != len(boxes):
        raise InternalError("A strategy did not decide for every box.")
    n_children = np.where(split.attribute != STOP, n_borders + 1, 0)
    child_starts, inside = ragged(n_children)
    parents = np.repeat(np.arange(len(boxes)), n_children)
    attribute = split.attribute[parents]
    first, stop = boxes.first[parents].copy(), boxes.stop[parents].copy()
    rows = np.arange(len(parents))
    border = split.borders.starts[parents] + inside
    lower, upper = inside > 0, inside < n_borders[parents]
    first[rows[lower], attribute[lower]] = split.borders.values[border[lower] - 1]
    stop[rows[upper], attribute[upper]] = split.borders.values[border[upper]]
    if not (first < stop).all():
        raise InternalError("A split made an empty range.")
    divided = going[n_borders[going] > 0]
    new = n_borders[parents] > 0
    ledger_nodes, tree_nodes = boxes.ledger[parents], boxes.tree[parents]
    if len(divided):
        if branch is not None:
            ledger_nodes[new] = branch(boxes.ledger[divided], n_children[divided])
        tree_nodes[new] = nodes.add(
            boxes.tree[parents[new]],
            attribute[new],
            first[rows[new], attribute[new]],
            stop[rows[new], attribute[new]],
        )
    routing = Routing(
        attribute=split.attribute,
        borders=split.borders,
        first_child=child_starts[:-1],
        n_children=len(parents),
    )
    children = Boxes(first=first, stop=stop, ledger=ledger_nodes, tree=tree_nodes)
    return children, parents, routing


class _Nodes:
    """Nodes of the tree, as they are created."""

    def __init__(self) -> None:
        whole = np.full(1, -1, dtype=np.int32)
        self._columns: list[list[NDArray[np.int32]]] = [
            [whole],
            [whole],
            [np.zeros(1, dtype=np.int32)],
            [np.zeros(1, dtype=np.int32)],
        ]
        self._n = 1

    def add(self, *columns: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.int64]:
        """Add nodes (parent, attribute, first, stop) and return their numbers."""
        for kept, column in zip(self._columns, columns, strict=True):
            kept.append(column.astype(np.int32))
        start, self._n = self._n, self._n + len(columns[0])
        return np.arange(start, self._n)

    def grown(self, leaves: Boxes, counts: NDArray[np.int64]) -> Grown:
        """Return the finished tree."""
        parent, attribute, first, stop = (np.concatenate(column) for column in self._columns)
        return Grown(
            parent=parent,
            attribute=attribute,
            first=first,
            stop=stop,
            leaves=leaves,
            counts=counts,
        )
