"""Scores of a range's candidates, added up over all boxes that have the range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiler import is_loaded
from hedgerow.trees.box_scores import FEW_CLASSES, GINI, UNIT, BoxScore, Children


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RangeCounts:
    """The counts of all boxes that have one range of an attribute (confidential).

    Boxes are adjacent in ``counts`` (classes, bins) from ``begin`` to ``end``, each with one
    bin between consecutive ``edges``. A numeric range may be split at each border, any other
    only at all of them. ``domain`` is the width of the whole domain.
    """

    counts: NDArray[np.int64]
    begin: int
    end: int
    edges: NDArray[np.int64]
    domain: int
    numeric: bool

    @property
    def n_bins(self) -> int:
        """Number of bins of each box."""
        return len(self.edges) - 1

    @property
    def n_boxes(self) -> int:
        """Number of boxes with the range."""
        return (self.end - self.begin) // self.n_bins


def summed_scores(table: RangeCounts, score: BoxScore) -> NDArray[np.int64]:
    """Return the scores of a range's candidates, added up over all boxes (confidential).

    If compiled loops count the records, they also compute Gini counts of few classes, with the
    same sums.
    """
    few = len(table.counts) < FEW_CLASSES  # otherwise NumPy adds classes in another order
    if score == GINI and few and is_loaded("count.compiled.placed"):
        return compiled_gini(table)
    return (_sums_of_borders if table.numeric else _sum_of_children)(table, score)


def compiled_gini(table: RangeCounts) -> NDArray[np.int64]:
    """Return the same by compiled loops."""
    from hedgerow.trees import compiled

    sums = np.zeros(table.n_bins - 1 if table.numeric else 1, dtype=np.int64)
    loop = compiled.gini_of_borders if table.numeric else compiled.gini_of_children
    loop(table.counts, table.begin, table.end, UNIT, sums)
    return sums


def _sum_of_children(table: RangeCounts, score: BoxScore) -> NDArray[np.int64]:
    n_bins, n_boxes = table.n_bins, table.n_boxes
    children = Children(
        counts=table.counts[:, table.begin : table.end].T,
        widths=np.tile(np.diff(table.edges), n_boxes),
        starts=np.arange(n_boxes + 1) * n_bins,
        domain=table.domain,
    )
    return np.asarray(score.of(children).sum(keepdims=True))


def _sums_of_borders(table: RangeCounts, score: BoxScore) -> NDArray[np.int64]:
    n_bins, n_boxes = table.n_bins, table.n_boxes
    n_classes = len(table.counts)
    bins = table.counts[:, table.begin : table.end].reshape(n_classes, n_boxes, n_bins)
    running = np.cumsum(bins, axis=2)
    left, whole = running[:, :, :-1], running[:, :, -1:]
    both = np.concatenate([left, whole - left], axis=1).reshape(n_classes, -1)
    inner = table.edges[1:-1]
    children = Children(
        counts=both.T,
        widths=np.concatenate(
            [np.tile(inner - table.edges[0], n_boxes), np.tile(table.edges[-1] - inner, n_boxes)]
        ),
        starts=None,
        domain=table.domain,
    )
    sums: NDArray[np.int64] = score.of(children).reshape(n_boxes, -1).sum(axis=0)
    return sums
