"""Groups and records as weights over codes, from which counts are computed.

A group has the number of records in its box, not their positions. Its records are spread evenly
over each of its ranges, or by the release's noisy marginals if it has them, independently for
each attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.distinct import cell_weights, row_numbers
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable

_BLOCK = 1 << 22  # numbers in memory while products are added up

CodeBounds = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SpreadAxis:
    """One attribute: distinct pieces ``[first, stop)`` of its codes, and each row's piece.

    ``ends`` are cumulative weights of the codes, by column, if pieces are not even; ``column`` is
    the column of each piece.
    """

    size: int
    first: CodeBounds
    stop: CodeBounds
    index: NDArray[np.integer[Any]]
    ends: NDArray[np.float64] | None = None
    column: CodeBounds | None = None

    @cached_property
    def is_points(self) -> bool:
        """True if every piece is a single code."""
        return bool((self.stop - self.first == 1).all())

    def bins(self, borders: CodeBounds) -> NDArray[np.integer[Any]]:
        """Return the bin in which the piece of each row begins."""
        of_piece = np.searchsorted(borders, self.first, side="right") - 1
        if np.array_equal(of_piece, np.arange(len(of_piece))):
            return self.index
        kind = np.uint8 if len(borders) <= 257 else np.int32
        found: NDArray[np.integer[Any]] = of_piece.astype(kind)[self.index]
        return found

    def parts(self, low: CodeBounds, high: CodeBounds) -> NDArray[np.float64]:
        """Return the part of each piece that lies in each range ``[low, high)``.

        One row per range, one column per piece.
        """
        begin = np.clip(self.first, low[:, None], None)
        end = np.maximum(np.minimum(self.stop, high[:, None]), begin)
        even: NDArray[np.float64] = (end - begin) / (self.stop - self.first)
        if self.ends is None or self.column is None:
            return even
        whole = self.ends[self.column, self.stop] - self.ends[self.column, self.first]
        inside = self.ends[self.column, end] - self.ends[self.column, begin]
        weighed: NDArray[np.float64] = np.where(
            whole > 0, inside / np.where(whole > 0, whole, 1), even
        )
        return weighed

    def spread_out(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of every code, from that of every piece."""
        if self.is_points:
            return _summed(self.first, weights, self.size)
        if self.ends is None or self.column is None:
            return self._evenly(weights / (self.stop - self.first))
        whole = self.ends[self.column, self.stop] - self.ends[self.column, self.first]
        known = whole > 0
        total = self._evenly(np.where(known, 0.0, weights / (self.stop - self.first)))
        per_weight = np.where(known, weights / np.where(known, whole, 1.0), 0.0)
        for column, codes in enumerate(np.diff(self.ends, axis=1)):
            total += codes * self._evenly(np.where(self.column == column, per_weight, 0.0))
        return total

    def _evenly(self, heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over pieces of a height at each of their codes."""
        rises = _summed(self.first, heights, self.size + 1)
        falls = _summed(self.stop, heights, self.size + 1)
        found: NDArray[np.float64] = np.maximum(np.cumsum(rises - falls)[:-1], 0.0)
        return found


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Spread:
    """Weighted rows over the attributes of a schema, the class last."""

    axes: tuple[SpreadAxis, ...]
    weights: NDArray[np.float64]

    @property
    def total(self) -> float:
        """Sum of all weights."""
        return float(self.weights.sum())

    @cached_property
    def unequal(self) -> NDArray[np.float64] | None:
        """Weights, or None if all are 1, so that rows are only counted."""
        return None if (self.weights == 1).all() else self.weights

    @classmethod
    def of_table(cls, table: EncodedTable, weights: NDArray[np.float64] | None = None) -> Spread:
        """Return records in their own codes (confidential).

        Each weighs 1 unless there are ``weights``.
        """
        columns = table.codes if table.classes is None else (*table.codes, table.classes)
        axes = [
            _points_axis(attribute.domain.size, codes)
            for attribute, codes in zip(table.schema.used(), columns, strict=True)
        ]
        return cls(axes=tuple(axes), weights=np.ones(len(table)) if weights is None else weights)

    @classmethod
    def of_groups(cls, groups: Groups, schema: Schema) -> Spread:
        """Return the groups of a release, weighted by their counts."""
        axes = [
            _groups_axis(groups, at, attribute.domain.size)
            for at, attribute in enumerate(schema.attributes)
        ]
        target = schema.class_attribute
        if target is not None and groups.classes is not None:
            axes.append(_points_axis(target.domain.size, groups.classes))
        return cls(axes=tuple(axes), weights=groups.counts.astype(np.float64))

    def code_weights(self, at: int) -> NDArray[np.float64]:
        """Return the weight of every code of one attribute."""
        axis = self.axes[at]
        return axis.spread_out(_summed(axis.index, self.unequal, len(axis.first)))

    def marginal(
        self, attributes: Sequence[int], edges: Sequence[CodeBounds]
    ) -> NDArray[np.float64]:
        """Return the marginal of up to three attributes.

        ``edges`` are the borders of the bins of each attribute, from 0 to its size.
        """
        axes = [self.axes[at] for at in attributes]
        if all(axis.is_points for axis in axes):
            return self._histogram(axes, edges)
        index, weights = self._projected(axes)
        parts = [
            axis.parts(borders[:-1], borders[1:]).T
            for axis, borders in zip(axes, edges, strict=True)
        ]
        return _added_up(parts, index, weights)

    def counts_in(
        self, attributes: Sequence[int], low: CodeBounds, high: CodeBounds
    ) -> NDArray[np.float64]:
        """Return the weight in each box ``[low, high)`` of up to three attributes.

        ``low`` and ``high`` have one row per box and one column per attribute.
        """
        axes = [self.axes[at] for at in attributes]
        if all(axis.is_points for axis in axes):
            return self._from_sums(axes, low, high)
        index, weights = self._projected(axes)
        parts = [axis.parts(low[:, at], high[:, at]) for at, axis in enumerate(axes)]
        answers = np.empty(len(low))
        step = max(1, _BLOCK // max(len(weights), 1))
        for start in range(0, len(low), step):
            block = slice(start, start + step)
            product = parts[0][block][:, index[0]]
            for part, places in zip(parts[1:], index[1:], strict=True):
                product = product * part[block][:, places]
            answers[block] = product @ weights
        return answers

    def _histogram(
        self, axes: Sequence[SpreadAxis], edges: Sequence[CodeBounds]
    ) -> NDArray[np.float64]:
        shape = [len(borders) - 1 for borders in edges]
        bins = [axis.bins(borders) for axis, borders in zip(axes, edges, strict=True)]
        return cell_weights(bins, shape, self.unequal)

    def _from_sums(
        self, axes: Sequence[SpreadAxis], low: CodeBounds, high: CodeBounds
    ) -> NDArray[np.float64]:
        """Answer from cumulative cells between the borders of the boxes."""
        edges = [
            np.unique(np.concatenate([low[:, at], high[:, at], [0, axis.size]]))
            for at, axis in enumerate(axes)
        ]
        sums = self._histogram(axes, edges)
        for dimension in range(len(axes)):
            sums = np.cumsum(sums, axis=dimension)
        sums = np.pad(sums, [(1, 0)] * len(axes))
        below = [np.searchsorted(borders, low[:, at]) for at, borders in enumerate(edges)]
        above = [np.searchsorted(borders, high[:, at]) for at, borders in enumerate(edges)]
        answers = np.zeros(len(low))
        for corner in range(1 << len(axes)):
            at = tuple(below[d] if corner >> d & 1 else above[d] for d in range(len(axes)))
            answers += (-1) ** corner.bit_count() * sums[at]
        return answers

    def _projected(
        self, axes: Sequence[SpreadAxis]
    ) -> tuple[list[NDArray[np.integer[Any]]], NDArray[np.float64]]:
        """Return the distinct rows of some axes, and the weight of each."""
        number, first = row_numbers([axis.index for axis in axes])
        weights: NDArray[np.float64] = np.bincount(
            number, weights=self.weights, minlength=len(first)
        ).astype(np.float64)
        return [axis.index[first] for axis in axes], weights


def _summed(
    place: NDArray[np.integer[Any]], weights: NDArray[np.float64] | None, size: int
) -> NDArray[np.float64]:
    """Return the weight at each of ``size`` places; without weights, the number of rows."""
    return np.bincount(place, weights=weights, minlength=size).astype(np.float64)


def _added_up(
    parts: Sequence[NDArray[np.float64]],
    index: Sequence[NDArray[np.integer[Any]]],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the sum over rows of the outer products of their parts, times their weights."""
    shape = [part.shape[1] for part in parts]
    *leading, last = parts
    width = int(np.prod(shape[:-1]))
    total = np.zeros((width, shape[-1]))
    step = max(1, _BLOCK // max(width, shape[-1], 1))
    for start in range(0, len(weights), step):
        block = slice(start, start + step)
        rows = np.ones((len(weights[block]), 1))
        for part, places in zip(leading, index, strict=False):
            rows = (rows[:, :, None] * part[places[block]][:, None, :]).reshape(len(rows), -1)
        total += rows.T @ (last[index[-1][block]] * weights[block, None])
    return total.reshape(shape)


def _points_axis(size: int, codes: NDArray[np.integer[Any]]) -> SpreadAxis:
    every = np.arange(size, dtype=np.int64)
    return SpreadAxis(size=size, first=every, stop=every + 1, index=codes)


def _groups_axis(groups: Groups, at: int, size: int) -> SpreadAxis:
    ranges, index = groups.ranges[at], groups.index[at]
    first, stop = ranges.first.astype(np.int64), ranges.stop.astype(np.int64)
    if groups.marginals is None:
        return SpreadAxis(size=size, first=first, stop=stop, index=index)
    ends = np.pad(np.cumsum(groups.marginals[at].T, axis=1), [(0, 0), (1, 0)])
    n_columns = len(ends)
    if n_columns == 1 or groups.classes is None:
        column = np.zeros(len(first), dtype=np.int64)
        return SpreadAxis(size=size, first=first, stop=stop, index=index, ends=ends, column=column)
    # Every class has its own pieces.
    return SpreadAxis(
        size=size,
        first=np.tile(first, n_columns),
        stop=np.tile(stop, n_columns),
        index=groups.classes.astype(np.int64) * len(first) + index,
        ends=ends,
        column=np.repeat(np.arange(n_columns), len(first)),
    )
