"""The allowable cuts of boxes, one attribute at a time, and the best of each box.

A cut is allowable if every part has no record or at least k [Mondrian, allowable cut].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.placed import Borders

NONE = -1
"""Replaces an attribute: the box has no allowable cut."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MondrianCuts:
    """One attribute's best cut of every box (confidential).

    ``border`` is the cut's first border among all borders of the attribute, and ``merit`` the
    value by which boxes compare their attributes; both are undefined if no cut is allowable.
    """

    attribute: int
    allowable: NDArray[np.bool_]
    border: NDArray[np.int64]
    merit: NDArray[np.float64]


def best_of_boxes(
    cuts: list[MondrianCuts], n_boxes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each box's attribute of highest merit (the first of several) and its border."""
    if not cuts:
        return np.full(n_boxes, NONE), np.zeros(n_boxes, dtype=np.int64)
    merits = np.stack([np.where(each.allowable, each.merit, -np.inf) for each in cuts], axis=1)
    best = merits.argmax(axis=1)
    rows = np.arange(n_boxes)
    attributes = np.array([each.attribute for each in cuts], dtype=np.int64)
    border = np.stack([each.border for each in cuts], axis=1)[rows, best]
    return np.where(merits[rows, best] > -np.inf, attributes[best], NONE), border


def entropy_records(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return, for each row of class counts, its records times the entropy of their classes.

    >>> entropy_records(np.array([[2, 2], [4, 0]])).tolist()
    [4.0, 0.0]
    """
    totals = counts.sum(axis=-1, keepdims=True)
    share = counts / np.maximum(totals, 1)
    bits: NDArray[np.float64] = (counts * np.log2(np.where(share > 0, share, 1.0))).sum(axis=-1)
    return 0.0 - bits  # and not -bits, which would be -0.0 if all have one class


def cuts_at_values(
    attribute: int,
    borders: Borders,
    ranks: NDArray[np.int64],
    counts: NDArray[np.int64],
    values: NDArray[np.int64],
    *,
    k: int,
    by_class: bool,
) -> MondrianCuts:
    """Return the best cut of an ordered attribute in every box, in two parts.

    By class: the cut whose parts have the lowest entropy. Otherwise the cut just above the
    median [Mondrian, Anonymize], or just below it if only that is allowable; if neither is, the
    attribute has no cut. Its merit is then the spread of the box's values.

    ``ranks`` are the positions among ``values`` of the last value before each border.
    """
    box = np.repeat(np.arange(borders.n_boxes), np.diff(borders.starts))
    running = np.concatenate([np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)])
    base = running[borders.bin_starts]
    left = running[np.arange(len(box)) + box + 1] - base[:-1][box]
    whole = (base[1:] - base[:-1])[box]
    n_left, n_whole = left.sum(axis=1), whole.sum(axis=1)
    allowed = (n_left >= k) & (n_whole - n_left >= k)
    if by_class:
        cost = entropy_records(left) + entropy_records(whole - left)
    else:
        half = (n_whole + 1) // 2
        cost = np.where(n_left >= half, n_left - half, n_whole + half - n_left).astype(np.float64)
    allowable, border, least = _least(cost, allowed, borders.starts)
    merit = -least
    if not by_class:
        merit = _spread(running.sum(axis=1), borders, ranks, values)
    return MondrianCuts(attribute=attribute, allowable=allowable, border=border, merit=merit)


def _least(
    cost: NDArray[np.float64], allowed: NDArray[np.bool_], starts: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]]:
    """Return, for every box, whether a cut is allowed, the first cheapest one, and its cost."""
    n_boxes = len(starts) - 1
    least = np.full(n_boxes, np.inf)
    border = np.zeros(n_boxes, dtype=np.int64)
    some = np.flatnonzero(np.diff(starts) > 0)
    if not len(some):
        return least < np.inf, border, least
    priced = np.where(allowed, cost, np.inf)
    least[some] = np.minimum.reduceat(priced, starts[some])
    box = np.repeat(np.arange(n_boxes), np.diff(starts))
    cheapest = np.flatnonzero(priced == least[box])[::-1]
    border[box[cheapest]] = cheapest  # the first of several is written last
    return least < np.inf, border, least


def _spread(
    running: NDArray[np.int64],
    borders: Borders,
    ranks: NDArray[np.int64],
    values: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the range of each box's values, as a part of the range of all values."""
    spread = np.zeros(borders.n_boxes)
    ends = running[borders.bin_starts]
    n_borders = np.diff(borders.starts)
    some = np.flatnonzero((n_borders > 0) & (ends[1:] > ends[:-1]))
    bins, at, n_borders = borders.bin_starts[some], borders.starts[some], n_borders[some]
    low = np.searchsorted(running, ends[some], side="right") - 1 - bins
    high = np.searchsorted(running, ends[some + 1], side="left") - 1 - bins
    # Bin j is between border j - 1 and border j, and ranks are those of the values before.
    lowest = ranks[at + np.maximum(low - 1, 0)] + (low > 0)
    highest = ranks[at + np.minimum(high, n_borders - 1)] + (high == n_borders)
    spread[some] = (values[highest] - values[lowest]) / max(int(values[-1] - values[0]), 1)
    return spread


def cuts_into_children(
    attribute: int,
    borders: Borders,
    counts: NDArray[np.int64],
    shares: NDArray[np.float64],
    *,
    k: int,
    by_class: bool,
) -> MondrianCuts:
    """Return the single cut of a taxonomy's node in every box: into all of its children.

    Its merit is the part of all values below the node, or the entropy that the cut leaves.
    """
    n_borders = np.diff(borders.starts)
    sizes = counts.sum(axis=1)
    small = (sizes > 0) & (sizes < k)
    bins = borders.bin_starts[:-1]
    allowable = (n_borders > 0) & (np.add.reduceat(small.astype(np.int64), bins) == 0)
    merit = shares
    if by_class:
        merit = -np.add.reduceat(entropy_records(counts), bins)
    return MondrianCuts(
        attribute=attribute,
        allowable=allowable,
        border=borders.starts[:-1].astype(np.int64),
        merit=merit,
    )
