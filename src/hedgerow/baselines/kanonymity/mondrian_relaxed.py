"""Relaxed Mondrian: records of the median value are distributed, so boxes may overlap.

It uses distinct rows and classes with their frequencies; if the median is among records of one
row and class, that entry is divided. All boxes of a level are cut at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.kanonymity.promise import Corners, loose_groups
from hedgerow.count.distinct import DistinctRows
from hedgerow.model.groups import Groups
from hedgerow.model.placed import ragged
from hedgerow.model.schema import Schema
from hedgerow.progress import Progress
from hedgerow.trees.axes import Axis, axes_of

_NO_CUT = -1.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Entries:
    """Rows and classes with their frequencies, sorted by box (confidential)."""

    codes: NDArray[np.int64]
    label: NDArray[np.int64]
    times: NDArray[np.int64]
    box: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> _Entries:
        return _Entries(
            codes=self.codes[which],
            label=self.label[which],
            times=self.times[which],
            box=self.box[which],
        )

    @classmethod
    def of(cls, rows: DistinctRows) -> _Entries:
        row, label = np.nonzero(rows.counts)
        return cls(
            codes=np.stack(rows.codes, axis=1)[row],
            label=label,
            times=rows.counts[row, label],
            box=np.zeros(len(row), dtype=np.int64),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Level:
    """The boxes of a level, by rows, and the entries in them (confidential)."""

    first: Corners
    stop: Corners
    entries: _Entries

    @property
    def n_boxes(self) -> int:
        return len(self.first)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Index of each box's first entry; no box is empty."""
        starts: NDArray[np.int64] = np.flatnonzero(np.diff(self.entries.box, prepend=-1))
        return starts

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of records of each box."""
        return np.add.reduceat(self.entries.times, self.starts)

    def part(self, which: NDArray[np.bool_]) -> _Level:
        """Return some of the boxes with their entries, renumbered."""
        number = np.cumsum(which) - 1
        kept = self.entries[which[self.entries.box]]
        box = number[kept.box]
        entries = _Entries(codes=kept.codes, label=kept.label, times=kept.times, box=box)
        return _Level(first=self.first[which], stop=self.stop[which], entries=entries)


def relaxed_groups(
    rows: DistinctRows, schema: Schema, *, k: int, ordered: bool, progress: Progress
) -> Groups:
    """Return the groups of relaxed Mondrian's boxes [Mondrian, relaxed partitioning].

    Categories are cut in the order of their codes if ``ordered``; otherwise into the children
    of their taxonomy's node, each with 0 or at least ``k`` records, as in strict Mondrian.
    """
    axes = axes_of(schema)
    cutter = _Cutter(
        axes=axes,
        ordered=tuple(ordered or axis.numeric for axis in axes),
        spans=tuple(max(int(np.ptp(codes)), 1) for codes in rows.codes),
        k=k,
    )
    level = _Level(
        first=np.zeros((1, len(axes)), dtype=np.int32),
        stop=np.array([[axis.size for axis in axes]], dtype=np.int32),
        entries=_Entries.of(rows),
    )
    n_classes, done = schema.n_classes, []
    total = int(level.entries.times.sum())
    while level.n_boxes:
        progress("cutting boxes", 1 - float(level.entries.times.sum()) / total)
        attribute = cutter.choose(level)
        done.append(_finished(level.part(attribute < 0), n_classes))
        level = cutter.cut(level.part(attribute >= 0), attribute[attribute >= 0])
    first, stop, counts = (np.concatenate(column) for column in zip(*done, strict=True))
    return loose_groups(first, stop, counts, schema)


def _finished(level: _Level, n_classes: int) -> tuple[Corners, Corners, NDArray[np.int64]]:
    counts = np.zeros((level.n_boxes, n_classes), dtype=np.int64)
    np.add.at(counts, (level.entries.box, level.entries.label), level.entries.times)
    return level.first, level.stop, counts


@dataclass(frozen=True, kw_only=True, eq=False)
class _Cutter:
    """Chooses and makes the cuts of a level; ``spans`` are the ranges of all values."""

    axes: tuple[Axis, ...]
    ordered: tuple[bool, ...]
    spans: tuple[int, ...]
    k: int

    def choose(self, level: _Level) -> NDArray[np.int64]:
        """Return the widest attribute by which each box can be cut, or -1 if there is none."""
        large = level.sizes() >= 2 * self.k
        merits = np.stack(
            [
                self._spread(level, a, large) if ordered else self._share(level, a)
                for a, ordered in enumerate(self.ordered)
            ],
            axis=1,
        )
        best = merits.argmax(axis=1)
        return np.where(merits[np.arange(len(best)), best] > 0, best, -1)

    def cut(self, level: _Level, attribute: NDArray[np.int64]) -> _Level:
        """Return the parts of the boxes, each cut by one attribute."""
        halved = np.array(self.ordered)[attribute]
        parts = []
        for which, cut in ((halved, self._halves), (~halved, self._children)):
            if which.any():
                parts.append(cut(level.part(which), attribute[which]))
        return _joined(parts, n_attributes=len(self.axes))

    def _spread(self, level: _Level, a: int, large: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the range of the boxes' values; any range above 0 can be cut in half."""
        codes = level.entries.codes[:, a]
        width = np.maximum.reduceat(codes, level.starts) - np.minimum.reduceat(codes, level.starts)
        spread: NDArray[np.float64] = width / self.spans[a]
        return np.where(large, spread, _NO_CUT)

    def _share(self, level: _Level, a: int) -> NDArray[np.float64]:
        """Return the part of all values below nodes whose children may all be boxes."""
        bins, bin_starts = self._bins(level, a)
        sizes = np.bincount(bins, weights=level.entries.times, minlength=int(bin_starts[-1]))
        small = (sizes > 0) & (sizes < self.k)
        bad = np.add.reduceat(small.astype(np.int64), bin_starts[:-1]) > 0
        divides = np.diff(bin_starts) > 1
        share = (level.stop[:, a] - level.first[:, a]) / self.axes[a].size
        return np.where(divides & ~bad, share, _NO_CUT)

    def _bins(self, level: _Level, a: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return each entry's child, numbered over all boxes, and the first child of each box."""
        axis = self.axes[a]
        borders = axis.child_borders(axis.node_of(level.first[:, a], level.stop[:, a]))
        owner = np.repeat(np.arange(level.n_boxes), np.diff(borders.starts))
        box, width = level.entries.box, axis.size + 1
        reached = np.searchsorted(
            owner * width + borders.values, box * width + level.entries.codes[:, a], side="right"
        )
        return reached + box, borders.bin_starts

    def _halves(self, level: _Level, attribute: NDArray[np.int64]) -> _Level:
        """Cut boxes in two halves of equal size, distributing the records of the median."""
        rows = np.arange(level.n_boxes)
        value = level.entries.codes[np.arange(len(level.entries)), attribute[level.entries.box]]
        order = np.lexsort((value, level.entries.box))  # stable: rows stay in canonical order
        entries, value = level.entries[order], value[order]
        starts, sizes = level.starts, level.sizes()
        ends = np.cumsum(entries.times)
        before = (ends - entries.times) - (np.cumsum(sizes) - sizes)[entries.box]
        room = ((sizes + 1) // 2)[entries.box] - before  # records that still fit in the half
        left = np.clip(room, 0, entries.times)
        right = entries.times - left
        top = np.maximum.reduceat(np.where(left > 0, value, -1), starts)
        bottom = np.minimum.reduceat(np.where(right > 0, value, value.max() + 1), starts)
        first, stop = np.repeat(level.first, 2, axis=0), np.repeat(level.stop, 2, axis=0)
        stop[2 * rows, attribute] = top + 1
        first[2 * rows + 1, attribute] = np.minimum(bottom, top + 1)
        times = np.stack([left, right], axis=1).ravel()
        both = _Entries(
            codes=np.repeat(entries.codes, 2, axis=0),
            label=np.repeat(entries.label, 2),
            times=times,
            box=(2 * entries.box[:, None] + np.arange(2)).ravel(),
        )[times > 0]
        return _Level(first=first, stop=stop, entries=_by_box(both))

    def _children(self, level: _Level, attribute: NDArray[np.int64]) -> _Level:
        """Cut boxes into the children of their nodes that have records."""
        parts = []
        for a in np.unique(attribute).tolist():
            mine = level.part(attribute == a)
            bins, bin_starts = self._bins(mine, a)
            axis = self.axes[a]
            node = axis.node_of(mine.first[:, a], mine.stop[:, a])
            borders = axis.child_borders(node)
            _, inside = ragged(np.diff(bin_starts))
            parent = np.repeat(np.arange(mine.n_boxes), np.diff(bin_starts))
            first, stop = mine.first[parent], mine.stop[parent]
            at = borders.starts[parent] + inside
            lower, upper = inside > 0, inside < np.diff(borders.starts)[parent]
            first[lower, a] = borders.values[at[lower] - 1]
            stop[upper, a] = borders.values[at[upper]]
            entries = _Entries(
                codes=mine.entries.codes,
                label=mine.entries.label,
                times=mine.entries.times,
                box=bins,
            )
            used = np.zeros(len(parent), dtype=np.bool_)
            used[bins] = True
            children = _Level(first=first, stop=stop, entries=_by_box(entries))
            parts.append(children.part(used))
        return _joined(parts, n_attributes=len(self.axes))


def _by_box(entries: _Entries) -> _Entries:
    return entries[np.argsort(entries.box, kind="stable")]


def _joined(parts: list[_Level], *, n_attributes: int) -> _Level:
    """Return the boxes of several lists as one level, renumbered."""
    none = np.zeros((0, n_attributes), dtype=np.int32)
    nothing = np.zeros(0, dtype=np.int64)
    offsets = np.cumsum([0, *(part.n_boxes for part in parts)])
    return _Level(
        first=np.concatenate([none, *(part.first for part in parts)]),
        stop=np.concatenate([none, *(part.stop for part in parts)]),
        entries=_Entries(
            codes=np.concatenate([none.astype(np.int64), *(part.entries.codes for part in parts)]),
            label=np.concatenate([nothing, *(part.entries.label for part in parts)]),
            times=np.concatenate([nothing, *(part.entries.times for part in parts)]),
            box=np.concatenate(
                [
                    nothing,
                    *(
                        part.entries.box + offset
                        for part, offset in zip(parts, offsets, strict=False)
                    ),
                ]
            ),
        ),
    )
