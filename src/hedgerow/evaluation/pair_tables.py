"""2-way marginals of all pairs of attributes, of records and of releases.

Single codes are counted. Boxes are spread: the rows of each pair of pieces are counted and divided
between the bins of both; or, with many pieces, all pairs are computed in one matrix product. Where
both would take too long, records drawn from the release stand for boxes. For the data owner: as
confidential as the input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.distinct import cell_weights
from hedgerow.evaluation.placing import drawn
from hedgerow.evaluation.spread import Spread
from hedgerow.model.arrays import Floats
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Schema

MOST_PRODUCTS = 40_000_000_000
"""Maximum number of multiplications to spread boxes: some seconds."""

MOST_BINS = 4096
"""Maximum number of bins of all attributes to spread boxes."""

_BLOCK = 1 << 22  # numbers in memory at a time

BinEdges: TypeAlias = Sequence[NDArray[np.int64]]
TableOfPair: TypeAlias = Callable[[int, int], Floats]
"""Function that returns the 2-way marginal of two attributes."""


def pair_tables(spread: Spread, edges: BinEdges) -> TableOfPair:
    """Return the 2-way marginals of the first attributes in these bins."""
    if all(axis.is_points for axis in spread.axes[: len(edges)]):
        return _counted(spread, edges)
    return (_by_pieces if _few_pieces(spread, edges) else _multiplied)(spread, edges)


def release_tables(
    groups: Groups, schema: Schema, edges: BinEdges, *, seed: int
) -> tuple[TableOfPair, bool]:
    """Return the 2-way marginals of a release; False if they are those of records drawn from it."""
    spread = Spread.of_groups(groups, schema)
    if all(axis.is_points for axis in spread.axes[: len(edges)]) or _affordable(spread, edges):
        return pair_tables(spread, edges), True
    return pair_tables(Spread.of_table(drawn(groups, schema, seed=seed)), edges), False


def _affordable(spread: Spread, edges: BinEdges) -> bool:
    n_bins = sum(len(borders) - 1 for borders in edges)
    return n_bins <= MOST_BINS and len(spread.weights) * n_bins**2 <= MOST_PRODUCTS


def _counted(spread: Spread, edges: BinEdges) -> TableOfPair:
    bins = [axis.bins(borders) for axis, borders in zip(spread.axes, edges, strict=False)]

    def table(a: int, b: int) -> Floats:
        shape = len(edges[a]) - 1, len(edges[b]) - 1
        return cell_weights([bins[a], bins[b]], shape, spread.unequal)

    return table


def _few_pieces(spread: Spread, edges: BinEdges) -> bool:
    """Return True if pairs of pieces need fewer products than all rows at once."""
    bins = [len(borders) - 1 for borders in edges]
    pieces = [len(axis.first) for axis in spread.axes[: len(edges)]]
    by_pieces = sum(
        max(pieces[a], bins[b]) * pieces[b] * bins[a] for a, b in combinations(range(len(bins)), 2)
    )
    return by_pieces < len(spread.weights) * sum(bins) ** 2


def _by_pieces(spread: Spread, edges: BinEdges) -> TableOfPair:
    pairs = list(zip(spread.axes, edges, strict=False))
    parts = [axis.parts(borders[:-1], borders[1:]) for axis, borders in pairs]
    index = [axis.index.astype(np.int64) for axis, _ in pairs]

    def table(a: int, b: int) -> Floats:
        shape = parts[a].shape[1], parts[b].shape[1]
        key = index[a] * shape[1]
        key += index[b]
        weights = np.bincount(key, weights=spread.weights, minlength=shape[0] * shape[1])
        cells: Floats = parts[a] @ weights.reshape(shape) @ parts[b].T
        return cells

    return table


def _multiplied(spread: Spread, edges: BinEdges) -> TableOfPair:
    axes = spread.axes[: len(edges)]
    parts = [
        axis.parts(borders[:-1], borders[1:]).T for axis, borders in zip(axes, edges, strict=True)
    ]
    starts = np.cumsum([0, *(part.shape[1] for part in parts)])
    total = np.zeros((starts[-1], starts[-1]))
    step = max(1, _BLOCK // max(int(starts[-1]), 1))
    for start in range(0, len(spread.weights), step):
        block = slice(start, start + step)
        rows = np.concatenate(
            [part[axis.index[block]] for part, axis in zip(parts, axes, strict=True)], axis=1
        )
        total += rows.T @ (rows * spread.weights[block, None])

    def table(a: int, b: int) -> Floats:
        return total[starts[a] : starts[a + 1], starts[b] : starts[b + 1]]

    return table
