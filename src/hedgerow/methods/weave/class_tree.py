"""A class tree grown on the pool, and how many records of each class its leaves hold.

The pool is public, so growing the tree costs nothing; its leaves are boxes, and one table of
leaf and class is counted with noise.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.pool import Pool
from hedgerow.methods.weave.weighing import weighed
from hedgerow.model.arrays import Floats
from hedgerow.model.engine import Batch
from hedgerow.model.groups import Tree

PER_LEAF = 10.0
"""Records per leaf and class, over the scale of the table's noise, at the least."""

MOST_LEAVES = 1000

LEAST_POOLED = 20
"""Records of the pool in a leaf, at the least."""

_CHUNK = 1 << 15


def most_leaves(n_records: float, share: float, n_classes: int) -> int:
    """Return how many leaves a noisy number of records is worth.

    >>> most_leaves(30_000, 0.08, 2)
    120
    """
    return int(np.clip(n_records * share / (PER_LEAF * n_classes), 2, MOST_LEAVES))


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassTree:
    """Binary splits: a record of node ``i`` goes left if its code is below ``border[i]``.

    ``attribute[i]`` is -1 for a leaf; the children of a node are ``left[i]`` and the one after.
    ``leaf[i]`` numbers the leaves, from the lowest codes on, and is -1 elsewhere.
    """

    attribute: NDArray[np.int64]
    border: NDArray[np.int64]
    left: NDArray[np.int64]
    leaf: NDArray[np.int64]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.leaf.max()) + 1

    def published(self, sizes: list[int], records: NDArray[np.float64]) -> Tree:
        """Return the tree as releases have it, numbered level by level.

        ``sizes`` are those of the attributes' domains, ``records`` noisy estimates by leaf.
        """
        whole = tuple((0, size) for size in sizes)
        waiting = [(0, -1, -1, whole)]
        nodes = []
        for number, (at, parent, by, ranges) in enumerate(waiting):
            a, border = int(self.attribute[at]), int(self.border[at])
            nodes.append((parent, by, *(ranges[by] if by >= 0 else (0, 0)), int(self.leaf[at])))
            if a >= 0:
                low, high = ranges[a]
                for child, part in ((0, (low, border)), (1, (border, high))):
                    inside = (*ranges[:a], part, *ranges[a + 1 :])
                    waiting.append((int(self.left[at]) + child, number, a, inside))
        columns = np.array(nodes, dtype=np.int32).T.copy()
        held = np.where(columns[4] >= 0, records[columns[4]], 0.0)
        for number in range(len(nodes) - 1, 0, -1):
            held[columns[0, number]] += held[number]
        parent, attribute, first, stop, box = columns
        return Tree(parent=parent, attribute=attribute, first=first, stop=stop, box=box, sizes=held)

    def leaves_of(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the leaf of each column of codes (attributes, records)."""
        at = np.zeros(codes.shape[1], dtype=np.int64)
        records = np.arange(codes.shape[1])
        while True:
            split = self.attribute[at]
            inner = split >= 0
            if not inner.any():
                return self.leaf[at]
            here = codes[np.maximum(split, 0), records]
            at = np.where(inner, self.left[at] + (here >= self.border[at]), at)


@dataclass(frozen=True, kw_only=True, eq=False)
class LeafCounts:
    """Number of records of each class in each leaf of a tree."""

    tree: ClassTree = field(repr=False)
    n_classes: int

    @property
    def size(self) -> int:
        """Leaves times classes."""
        return self.tree.n_leaves * self.n_classes

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Return the table of a batch, flat."""
        sums = np.zeros(self.size, dtype=np.int64)
        for start in range(0, batch.n_records, _CHUNK):
            rows = slice(start, start + _CHUNK)
            codes = np.stack([column[rows].astype(np.int64) for column in batch.codes])
            keys = self.tree.leaves_of(codes) * self.n_classes
            if batch.classes is not None:
                keys += batch.classes[rows].astype(np.int64)
            sums += np.bincount(keys, minlength=self.size)
        return sums


def grown_tree(pool: Pool, axes: tuple[CellAxis, ...], *, n_leaves: int) -> ClassTree:
    """Return a tree of at most ``n_leaves`` leaves, the best split first, by weighted Gini."""
    return _Growth(pool, axes).grown(n_leaves)


class _Growth:
    """Nodes as lists, and the splits that wait, the best on top."""

    def __init__(self, pool: Pool, axes: tuple[CellAxis, ...]) -> None:
        self._pool, self._axes = pool, axes
        self._n_classes = len(pool.bounds) - 1
        self._keys = [pool.by_class(a) for a in range(len(pool.columns))]
        self._nodes: list[list[int]] = [[-1, 0, 0]]
        self._waiting: list[tuple[float, int, int, int]] = []
        self._rows: dict[int, NDArray[np.int64]] = {}

    def grown(self, n_leaves: int) -> ClassTree:
        self._consider(0, np.arange(len(self._pool.weights)))
        leaves = 1
        while leaves < n_leaves and self._waiting:
            _, node, a, cell = heapq.heappop(self._waiting)
            rows = self._rows.pop(node)
            first = len(self._nodes)
            self._nodes[node] = [a, int(self._axes[a].edges[cell]), first]
            self._nodes += [[-1, 0, 0], [-1, 0, 0]]
            goes_left = self._pool.columns[a][rows] < cell
            self._consider(first, rows[goes_left])
            self._consider(first + 1, rows[~goes_left])
            leaves += 1
        return self._numbered()

    def _consider(self, node: int, rows: NDArray[np.int64]) -> None:
        """Put the best split of a node in the queue, if there is one."""
        if len(rows) < 2 * LEAST_POOLED:
            return
        best = (1e-9, -1, -1)
        weights = self._pool.weights[rows]
        for a, axis in enumerate(self._axes):
            if axis.n_cells > 1:
                sums = weighed(self._keys[a][rows], weights, axis.n_cells * self._n_classes)
                gain, cell = _best_split(sums.reshape(axis.n_cells, self._n_classes))
                best = max(best, (gain, a, cell))
        gain, a, cell = best
        if a >= 0:
            self._rows[node] = rows
            heapq.heappush(self._waiting, (-gain, node, a, cell))

    def _numbered(self) -> ClassTree:
        nodes = np.array(self._nodes, dtype=np.int64)
        leaf = np.full(len(nodes), -1, dtype=np.int64)
        stack, found = [0], 0
        while stack:
            at = stack.pop()
            if nodes[at, 0] < 0:
                leaf[at], found = found, found + 1
            else:
                stack += [int(nodes[at, 2]) + 1, int(nodes[at, 2])]
        return ClassTree(
            attribute=nodes[:, 0].copy(),
            border=nodes[:, 1].copy(),
            left=nodes[:, 2].copy(),
            leaf=leaf,
        )


def _best_split(table: Floats) -> tuple[float, int]:
    """Return the largest gain of a cut (cells, classes), and the first cell on its right.

    The gain is the fall of records times Gini impurity; both sides keep a few records.
    """
    below = np.cumsum(table, axis=0)[:-1]
    total = table.sum(axis=0)
    above = total - below
    sizes = below.sum(axis=1), above.sum(axis=1)
    kept = np.minimum(*sizes) >= 1.0
    if not kept.any():
        return 0.0, -1
    pure = sum(
        (side**2).sum(axis=1) / np.maximum(size, 1e-9)
        for side, size in zip((below, above), sizes, strict=True)
    )
    gains = np.where(kept, pure - (total**2).sum() / max(float(total.sum()), 1e-9), -np.inf)
    at = int(np.argmax(gains))
    return float(gains[at]), at + 1
