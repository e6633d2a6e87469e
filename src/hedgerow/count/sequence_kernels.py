"""Counts of sequences: their positions in a forest of prefixes, and their lengths."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.engine import SequenceBatch

NOWHERE = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSteps:
    """The steps of each item: one step without a taxonomy, else one per level.

    ``slots[item, j]`` is the child taken by step ``j`` of an item that has ``n_steps[item]``
    steps. Nodes have ``width`` children; the last one is the end of a sequence.
    """

    slots: NDArray[np.int32] = field(repr=False)
    n_steps: NDArray[np.int32] = field(repr=False)
    width: int

    @property
    def end(self) -> int:
        """Child that ends a sequence."""
        return self.width - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixCounts:
    """Number of sequences at each child of the nodes that were expanded last.

    ``tree[node * width + slot]`` is the number of an expanded child, or -1 for a leaf. Sequences
    begin at node 0. With a second forest, ``further``, a sequence that reaches a leaf of the first
    one continues there with its remaining items, from the root in ``roots`` for the leaf (-1:
    none). The nodes from ``first`` on, of the last forest, are counted.
    """

    steps: ItemSteps
    tree: NDArray[np.int32] = field(repr=False)
    first: int
    n_counted: int
    roots: NDArray[np.int32] | None = field(default=None, repr=False)
    further: NDArray[np.int32] | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """Number of counts: one per child."""
        return self.n_counted * self.steps.width

    def count(self, batch: SequenceBatch) -> NDArray[np.int64]:
        """Return the sum over a batch (confidential)."""
        counts = np.zeros(self.size, dtype=np.int64)
        if batch.compiled:
            self._compiled(batch, counts)
            return counts
        walk = _Walk(batch, self.steps)
        if self.roots is None or self.further is None:
            walk.count(self.tree, self.first, counts)
            return counts
        walk.leave(self.tree, self.roots)
        walk.count(self.further, self.first, counts)
        return counts

    def _compiled(self, batch: SequenceBatch, counts: NDArray[np.int64]) -> None:
        from hedgerow.count.compiled import sequences

        nothing = np.zeros(0, dtype=np.int32)
        sequences.count_prefixes(
            batch.offsets,
            batch.items,
            self.steps.slots,
            self.steps.n_steps,
            self.steps.width,
            self.tree,
            nothing if self.roots is None else self.roots,
            nothing if self.further is None else self.further,
            self.first,
            counts,
        )


class _Walk:
    """Sequences on their way down, all in the same step (confidential)."""

    def __init__(self, batch: SequenceBatch, steps: ItemSteps) -> None:
        self._items = batch.items
        self._steps = steps
        self._at = batch.offsets[:-1].copy()
        self._stop = batch.offsets[1:]
        self._step = np.zeros(len(self._at), dtype=np.int64)
        self._node = np.zeros(len(self._at), dtype=np.int64)

    def count(self, tree: NDArray[np.int32], first: int, counts: NDArray[np.int64]) -> None:
        """Add up the children to which sequences go from the nodes from ``first`` on."""
        while len(self._node):
            cells = self._cells()
            there = self._node >= first
            if there.any():
                found = cells[there] - first * self._steps.width
                counts += np.bincount(found, minlength=len(counts))
            self._go(cells, ~there, tree)

    def leave(self, tree: NDArray[np.int32], roots: NDArray[np.int32]) -> None:
        """Go to the leaves of a tree, and on to the roots of the second forest."""
        places: list[tuple[NDArray[np.int64], ...]] = []
        while len(self._node):
            cells = self._cells()
            out = (tree[cells] < 0) & (roots[cells] >= 0)
            root = roots[cells[out]].astype(np.int64)
            before = (self._at, self._step)
            self._advance()
            places.append((self._at[out], self._stop[out], self._step[out], root))
            self._at, self._step = before
            self._go(cells, ~out, tree)
        if places:
            self._at, self._stop, self._step, self._node = map(
                np.concatenate, zip(*places, strict=True)
            )

    def _cells(self) -> NDArray[np.int64]:
        """Return the child that each sequence goes to from its node."""
        slot = np.full(len(self._at), self._steps.end, dtype=np.int64)
        inside = self._at < self._stop
        items = self._items[self._at[inside]]
        slot[inside] = self._steps.slots[items, self._step[inside]]
        return self._node * self._steps.width + slot

    def _advance(self) -> None:
        """Take one step of each item, and the next item after its last step."""
        inside = self._at < self._stop
        done = inside.copy()
        n_steps = self._steps.n_steps[self._items[self._at[inside]]]
        done[inside] = self._step[inside] + 1 == n_steps
        self._step = np.where(done, 0, self._step + inside)
        self._at = self._at + done

    def _go(
        self, cells: NDArray[np.int64], going: NDArray[np.bool_], tree: NDArray[np.int32]
    ) -> None:
        """Follow the flagged sequences to expanded children; drop all others."""
        self._advance()
        node = np.full(len(cells), NOWHERE, dtype=np.int64)
        node[going] = tree[cells[going]]
        kept = node >= 0
        self._node = node[kept]
        self._at, self._stop, self._step = self._at[kept], self._stop[kept], self._step[kept]


@dataclass(frozen=True, kw_only=True, eq=False)
class LengthCounts:
    """Number of sequences by length, in bins that begin at the lengths in ``least``."""

    least: NDArray[np.int64] = field(repr=False)

    @property
    def size(self) -> int:
        """Number of counts: one per bin."""
        return len(self.least)

    def count(self, batch: SequenceBatch) -> NDArray[np.int64]:
        """Return the sum over a batch (confidential)."""
        bins = np.searchsorted(self.least, np.diff(batch.offsets), side="right") - 1
        return np.bincount(np.maximum(bins, 0), minlength=self.size).astype(np.int64)
