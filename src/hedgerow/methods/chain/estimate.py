"""From noisy counts of leaves to counts that are not negative and add up over a forest.

Everything here is arithmetic on published numbers. Sums are taken in a fixed order, and only by
operations whose rounding is prescribed, so that every processor gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.chain.alphabet import BETWEEN
from hedgerow.methods.chain.forest import Forest
from hedgerow.model.arrays import Floats

KEPT_FROM = 1.0
"""Standard deviations of noise from which a child keeps its own count."""

POOLED_FROM = 2.0
"""Standard deviations of noise from which a pooled count is trusted."""

_TINY = 1e-6
_LEAST_ROOT = 1e-3


class NoisySums:
    """The noisy counts of a forest, added up from the leaves, and the variances of the sums."""

    def __init__(self, forest: Forest, variance: float) -> None:
        self.forest = forest
        self.counts = np.where(forest.is_leaf, forest.noisy, 0).astype(np.float64)
        self.variances = np.where(forest.is_leaf, variance, 0.0)
        for first, stop in reversed(_levels(forest)[1:]):
            cells = forest.cell_of[first:stop]
            self.counts[cells] = row_sums(self.children(self.counts, first, stop))
            self.variances[cells] = row_sums(self.children(self.variances, first, stop))

    def children(self, values: Floats, first: int, stop: int) -> Floats:
        """Return the values of the cells of some nodes, a row each."""
        width = self.forest.alphabet.width
        return values[first * width : stop * width].reshape(stop - first, width)


def _levels(forest: Forest) -> list[tuple[int, int]]:
    return list(zip(forest.levels[:-1], forest.levels[1:], strict=True))


def row_sums(values: Floats) -> Floats:
    """Return the sums of rows, added one by one from the left."""
    sums: Floats = np.cumsum(values, axis=1)[:, -1]
    return sums


def _pool_keys(forest: Forest) -> NDArray[np.int64]:
    """Return what a node's children are pooled by: its last item, or the group it is in."""
    n_items = forest.alphabet.n_items
    inside = n_items + forest.nodes.kind.astype(np.int64)
    return np.where(forest.nodes.kind == BETWEEN, forest.nodes.last.astype(np.int64) + 1, inside)


def pooled(sums: Sequence[NoisySums]) -> Floats:
    """Return how probable each child is after each item, by the noisy counts of all forests.

    Sums that noise alone may have made are left out.
    """
    alphabet = sums[0].forest.alphabet
    shape = (alphabet.n_items + 1 + alphabet.n_kinds, alphabet.width)
    counts, variances = np.zeros(shape), np.zeros(shape)
    for each in sums:
        keys = _pool_keys(each.forest)
        np.add.at(counts, keys, each.counts.reshape(len(keys), -1))
        np.add.at(variances, keys, each.variances.reshape(len(keys), -1))
    sure = np.where(counts >= POOLED_FROM * np.sqrt(variances), np.maximum(counts, 0), 0) + _TINY
    return sure / row_sums(sure)[:, None]


def consistent_counts(sums: NoisySums, pool: Floats) -> Floats:
    """Return counts of all cells that are not negative and add up to those of their parents.

    Children whose count is beyond its noise keep it. What the others have together, as far as it
    is positive, is shared among them as ``pool`` says: cutting each at zero would give to rare
    items what noise has given them. All are then scaled to their parent.
    """
    forest = sums.forest
    keys = _pool_keys(forest)
    result = np.zeros(forest.n_cells)
    of_nodes = np.zeros(len(keys))
    roots = slice(0, forest.n_roots)
    of_nodes[roots] = np.maximum(
        row_sums(sums.children(sums.counts, 0, forest.n_roots)), _LEAST_ROOT
    )
    for first, stop in _levels(forest):
        if first:
            of_nodes[first:stop] = result[forest.cell_of[first:stop]]
        shares = _shares(
            sums.children(sums.counts, first, stop),
            sums.children(sums.variances, first, stop),
            pool[keys[first:stop]],
        )
        width = forest.alphabet.width
        result[first * width : stop * width] = (shares * of_nodes[first:stop, None]).ravel()
    return result


def _shares(counts: Floats, variances: Floats, pool: Floats) -> Floats:
    """Return what part of its parent each child gets; children that cannot be get nothing."""
    there = variances > 0
    kept = there & (counts >= KEPT_FROM * np.sqrt(variances))
    rest = np.maximum(row_sums(np.where(there & ~kept, counts, 0.0)), 0.0)
    among = _parts(np.where(there & ~kept, pool, 0.0))
    found = np.where(kept, counts, 0.0) + among * rest[:, None]
    nothing = row_sums(found) <= 0
    return np.where(nothing[:, None], _parts(np.where(there, pool, 0.0)), _parts(found))


def _parts(weights: Floats) -> Floats:
    """Return rows of weights made to add up to 1; rows of nothing stay so."""
    totals = row_sums(weights)[:, None]
    return np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), 0.0)


def whole(counts: Floats) -> NDArray[np.int64]:
    """Return whole counts whose running sums are those of ``counts``, rounded.

    >>> whole(np.array([0.4, 0.4, 0.4, 2.0])).tolist()
    [0, 1, 0, 2]
    """
    running = np.floor(np.cumsum(counts) + 0.5).astype(np.int64)
    return np.diff(running, prepend=0)
