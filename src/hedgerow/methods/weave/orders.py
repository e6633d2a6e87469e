"""Correlations of pairs of numbers, from 2 x 2 marginals.

2-way marginals are chosen where they are far from the model in records. Most pairs of
numbers never are, and would be independent in the release although they rise together a
little. Every number is cut once, where its noisy 1-way marginal is cut most evenly, and every
pair of numbers is counted in the four cells of both cuts.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.coarsening import FINEST, Merging
from hedgerow.methods.weave.pairs import AttributePair
from hedgerow.model.arrays import Floats

KEPT = 0.5
"""Standard deviations of noise by which the deviation of a 2 x 2 marginal is shrunk."""

_SIGNS = np.array([[1.0, -1.0], [-1.0, 1.0]])


def numbers(axes: tuple[CellAxis, ...]) -> list[int]:
    """Return the attributes that can be cut in a lower and an upper part: public."""
    return [a for a, axis in enumerate(axes) if axis.ordered and axis.n_cells > 1]


def order_pairs(axes: tuple[CellAxis, ...]) -> list[AttributePair]:
    """Return all pairs of numbers."""
    return list(combinations(numbers(axes), 2))


def halves(merging: Merging, masses: Floats) -> NDArray[np.int64]:
    """Return 0 or 1 for each cell: the most even cut between its finest groups.

    ``masses`` are noisy records by cell.

    >>> axis = CellAxis(edges=np.arange(5), ordered=True, depths=None)
    >>> masses = np.array([2.0, 5.0, 6.0, 1.0])
    >>> halves(Merging(axis, masses), masses).tolist()
    [0, 0, 1, 1]
    """
    groups = merging.groups(FINEST)
    below = np.cumsum(np.bincount(groups, masses))
    cut = int(np.argmin(np.abs(below[:-1] - below[-1] / 2)))
    upper: NDArray[np.int64] = (groups > cut).astype(np.int64)
    return upper


def quartered(
    table: NDArray[np.int64],
    mergings: tuple[Merging, Merging],
    upper: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Return the table (first, second, class) of finest groups added up to (2, 2, 1)."""
    first, second = (
        int(np.argmax(each)) for each in map(_by_group, mergings, upper)
    )  # the first group of the upper part
    rows = np.add.reduceat(table.sum(axis=2), [0, first], axis=0)
    sums: NDArray[np.int64] = np.add.reduceat(rows, [0, second], axis=1)[:, :, None]
    return sums


def _by_group(merging: Merging, upper: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0 or 1 for each finest group."""
    parts = np.zeros(merging.n_groups(FINEST), dtype=np.int64)
    parts[merging.groups(FINEST)] = upper
    return parts


def with_deviation(noisy: NDArray[np.int64], first: Floats, second: Floats) -> Floats:
    """Return the 2 x 2 table with these margins and the estimated deviation from independence.

    All four cells estimate the same deviation, so its noise has half the deviation of a cell's.

    >>> noisy = np.array([[31, 19], [21, 29]])
    >>> with_deviation(noisy[:, :, None], np.array([50.0, 50.0]), np.array([50.0, 50.0]))[:, :, 0]
    array([[30., 20.],
           [20., 30.]])
    """
    free = first[:, None] * second[None, :] / max(float(first.sum()), 1e-9)
    away = float(((noisy[:, :, 0] - free) * _SIGNS).sum() / 4)
    least, most = -min(free[0, 0], free[1, 1]), min(free[0, 1], free[1, 0])
    counts: Floats = (free + np.clip(away, least, most) * _SIGNS)[:, :, None]
    return counts


def margin(noise: float) -> float:
    """Return how far cells may stay away from the estimate, for noise of some scale."""
    return KEPT * noise / float(np.sqrt(2))
