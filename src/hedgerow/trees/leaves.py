"""From a grown tree to a release: noisy leaves, consistent estimates, integer counts.

The estimates are the weighted least squares of all noisy counts of the tree, level by level: it is
post-processing, which uses noisy counts only and costs nothing [Hay et al., VLDB 2010].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.engine import Engine
from hedgerow.model.groups import CountOrigin, Groups, Ranges, Tree
from hedgerow.model.run import Run
from hedgerow.privacy.source import RandomSource
from hedgerow.trees.projection import simplex_shift
from hedgerow.trees.topdown import Boxes, Grown


def tree_levels(parent: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Return the nodes of each level; parents come before their children.

    >>> [level.tolist() for level in tree_levels(np.array([-1, 0, 0, 1], dtype=np.int32))]
    [[0], [1, 2], [3]]
    """
    depth = np.zeros(len(parent), dtype=np.int64)
    pending = np.arange(1, len(parent))
    while len(pending):
        depth[pending] = depth[parent[pending]] + 1
        wrong = depth[pending] != depth[parent[pending]] + 1
        pending = pending[wrong]
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def consistent(
    parent: NDArray[np.int32], weighted: NDArray[np.float64], precision: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return estimates of all nodes that add up along the tree, and the root's precision.

    ``weighted`` (nodes, classes) are sums of noisy counts times their precision, and
    ``precision`` (nodes,) sums of precisions; a node without a count of its own has 0.
    Of all estimates that add up, these are nearest to the counts, weighted by precision.
    """
    levels = tree_levels(parent)
    best, sure = weighted.copy(), precision.copy()
    child_sum, child_spread = np.zeros_like(best), np.zeros_like(sure)
    for level in reversed(levels):
        inner = level[child_spread[level] > 0]
        through = 1 / child_spread[inner]
        best[inner] += child_sum[inner] * through[:, None]
        sure[inner] += through
        best[level] /= sure[level][:, None]
        children = level[parent[level] >= 0]
        np.add.at(child_sum, parent[children], best[children])
        np.add.at(child_spread, parent[children], 1 / sure[children])
    for level in levels[1:]:
        above = parent[level]
        missing = best[above] - child_sum[above]
        best[level] += missing * (1 / sure[level] / child_spread[above])[:, None]
    return best, float(sure[0])


@dataclass(frozen=True, kw_only=True)
class MeasuredCounts:
    """Noisy class counts measured while growing: (boxes, classes), and the share of each."""

    tree: NDArray[np.int64]
    noisy: NDArray[np.int64]
    share: Fraction


@dataclass(frozen=True, kw_only=True)
class MeasuredTotal:
    """A noisy number of all records, and its share."""

    noisy: int
    share: Fraction


@dataclass(kw_only=True)
class Measurements:
    """Measurements of a strategy, to be reused when the leaves are counted."""

    counts: list[MeasuredCounts] = field(default_factory=list)
    total: MeasuredTotal | None = None


def publish_leaves(
    grown: Grown,
    measured: Measurements,
    *,
    run: Run[Engine],
) -> Groups:
    """Return the groups of a tree's leaves, from all measurements.

    Leaf counts are drawn with what each path has left; earlier measurements are combined with them
    by weighted least squares, so that a box's children add up to it; then the leaves are
    projected to non-negative integers with one noisy total.

    Privacy: costs what each path has left; everything else uses noisy counts only.
    """
    noisy, shares = run.noisy_rest(grown.counts, nodes=grown.leaves.ledger, on="counts")
    precisions = np.array([float(share) ** 2 for share in shares.values])[shares.which]
    weighted = np.zeros((len(grown.parent), noisy.shape[1]))
    precision = np.zeros(len(grown.parent))
    _note(weighted, precision, grown.leaves.tree, noisy, precisions)
    for each in measured.counts:
        _note(weighted, precision, each.tree, each.noisy, np.float64(float(each.share) ** 2))
    estimates, sure = consistent(grown.parent, weighted, precision)
    total = _total(estimates[0], sure, measured.total)
    leaves = estimates[grown.leaves.tree]
    counts, shift = _whole_counts(leaves, total, source=run.source)
    origin = CountOrigin(share=min(shares.values), threshold=None, lowered_by=shift)
    has_class = run.engine.schema.class_attribute is not None
    return groups_of_leaves(grown, counts, origin, has_class=has_class)


def _note(
    weighted: NDArray[np.float64],
    precision: NDArray[np.float64],
    nodes: NDArray[np.int64],
    noisy: NDArray[np.int64],
    precisions: NDArray[np.float64] | np.float64,
) -> None:
    each = np.broadcast_to(precisions, nodes.shape)
    np.add.at(weighted, nodes, noisy * each[:, None])
    np.add.at(precision, nodes, each)


def _total(root: NDArray[np.float64], sure: float, total: MeasuredTotal | None) -> int:
    """Return the number of records from the tree and the measured total, by precision."""
    by_tree, tree_weight = float(root.sum()), sure / len(root)
    if total is None:
        return round(by_tree)
    weight = float(total.share) ** 2
    return round((by_tree * tree_weight + total.noisy * weight) / (tree_weight + weight))


def _whole_counts(
    estimates: NDArray[np.float64], total: int, *, source: RandomSource
) -> tuple[NDArray[np.int64], float]:
    """Return non-negative integer counts with a given total, nearest to the estimates."""
    if total <= 0:
        return np.zeros(estimates.shape, dtype=np.int64), 0.0
    flat = estimates.ravel()
    shift = simplex_shift(flat, total)
    positive = np.maximum(flat - shift, 0.0)
    # Rounded so that every partial sum is within one of its value: unbiased, with the same total.
    start = float(source.words(1)[0] >> np.uint64(11)) / (1 << 53)
    running = np.floor(np.cumsum(positive) * (total / positive.sum()) + start)
    running[-1] = total
    whole = np.diff(np.concatenate([np.zeros(1), running])).astype(np.int64)
    return np.maximum(whole, 0).reshape(estimates.shape), shift


def groups_of_leaves(
    grown: Grown, counts: NDArray[np.int64], origin: CountOrigin | None, *, has_class: bool
) -> Groups:
    """Return the groups, with boxes in their canonical order and without zero counts."""
    ranges, index = zip(
        *(_ranges(grown.leaves, a) for a in range(grown.leaves.first.shape[1])), strict=True
    )
    order = np.lexsort(tuple(reversed(index)))
    boxes = tuple(column[order] for column in index)
    counts = counts[order]
    box, label = np.nonzero(counts)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return Groups(
        ranges=tuple(ranges),
        index=tuple(column[box] for column in boxes),
        classes=label.astype(np.int32) if has_class else None,
        counts=counts[box, label],
        is_cut=False,
        origin=origin,
        tree=_tree(grown, number, counts[number].sum(axis=1)),
        boxes=boxes,
    )


def _ranges(leaves: Boxes, attribute: int) -> tuple[Ranges, NDArray[np.int32]]:
    first, stop = leaves.first[:, attribute], leaves.stop[:, attribute]
    width = np.int64(stop.max(initial=0)) + 1
    unique, place = np.unique(first * width + stop, return_inverse=True)
    starts, ends = np.divmod(unique, width)
    table = Ranges(first=starts.astype(first.dtype), stop=ends.astype(stop.dtype))
    return table, place.astype(np.int32)


def _tree(grown: Grown, number: NDArray[np.int32], sizes: NDArray[np.int64]) -> Tree:
    """Return the tree with its leaves numbered as boxes and sizes that add up."""
    levels = tree_levels(grown.parent)
    box = np.full(len(grown.parent), -1, dtype=np.int32)
    box[grown.leaves.tree] = number
    total = np.zeros(len(grown.parent))
    total[grown.leaves.tree] = sizes
    for level in reversed(levels[1:]):
        np.add.at(total, grown.parent[level], total[level])
    order, renamed = _by_level(grown.parent, levels)
    parent = grown.parent[order]
    return Tree(
        parent=np.where(parent >= 0, renamed[parent], -1).astype(np.int32),
        attribute=grown.attribute[order],
        first=grown.first[order],
        stop=grown.stop[order],
        box=box[order],
        sizes=total[order],
    )


def _by_level(
    parent: NDArray[np.int32], levels: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the nodes by level, siblings adjacent, and the position of each node.

    A box that waits while others split gets its children later than they do.
    """
    order, renamed = [levels[0]], np.zeros(len(parent), dtype=np.int32)
    placed = 1
    for level in levels[1:]:
        ordered = level[np.argsort(renamed[parent[level]], kind="stable")]
        renamed[ordered] = np.arange(placed, placed + len(ordered), dtype=np.int32)
        placed += len(ordered)
        order.append(ordered)
    return np.concatenate(order), renamed
