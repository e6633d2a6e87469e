"""Candidates that split all boxes of a level at once, for one private choice.

Boxes with the same range of an attribute have the same candidates. So counts are requested by
range: the counts of all boxes with a range are a table, and its scores are added up over the
boxes before the next attribute is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiler import is_loaded
from hedgerow.model.placed import Borders, SharedBorders, ragged
from hedgerow.trees.axes import offered
from hedgerow.trees.box_scores import FEW_CLASSES, GINI, UNIT, BoxScore, Children, unsplit_units
from hedgerow.trees.topdown import Boxes, Level, Split


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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SharedCandidates:
    """Candidates that split every box with a certain range of a certain attribute.

    Candidate ``c`` splits the range from ``first[c]`` to ``stop[c]`` of ``attribute[c]`` at
    ``borders[c]``; ``scores`` are confidential.
    """

    attribute: NDArray[np.int64]
    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    borders: list[NDArray[np.int32]]
    scores: NDArray[np.int64]
    weights: NDArray[np.float64]

    def split(self, chosen: int, level: Level) -> Split:
        """Return the split of all boxes by one of the candidates; other boxes are carried."""
        a, values = int(self.attribute[chosen]), self.borders[chosen]
        same = (level.boxes.first[:, a] == self.first[chosen]) & (
            level.boxes.stop[:, a] == self.stop[chosen]
        )
        starts, _ = ragged(np.where(same, len(values), 0))
        return Split(
            attribute=np.full(len(level.boxes), a, dtype=np.int32),
            borders=Borders(starts=starts, values=np.tile(values, int(same.sum()))),
        )


def shared_candidates(level: Level, score: BoxScore, *, most_boxes: int) -> SharedCandidates:
    """Return the candidates for a common split of all boxes, with their summed gains.

    A candidate that would make too many boxes, by their public number, is omitted.
    """
    ranges_of = {
        a: ranges
        for a in range(len(level.axes))
        if len((ranges := _Ranges.of(level, a)).borders.lists.values)
    }
    parts: list[_Part] = []
    unsplit: NDArray[np.int64] | None = None
    for a, counts in level.each_bins({a: ranges.borders for a, ranges in ranges_of.items()}):
        if unsplit is None:  # not before: the pass that counts the bins also counts classes
            unsplit = unsplit_units(score, level.classes())
        parts += list(ranges_of[a].candidates(counts, score, unsplit, len(level.axes)))
    return _in_order(parts, len(level.boxes), most_boxes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Part:
    """The candidates of one range; ``keys`` give their order among those of all ranges."""

    attribute: int
    first: int
    stop: int
    borders: list[NDArray[np.int32]]
    keys: NDArray[np.int64]
    n_with: int
    gains: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Ranges:
    """The distinct ranges of one attribute in the boxes of a level."""

    attribute: int
    first: NDArray[np.int32]
    stop: NDArray[np.int32]
    domain: int
    numeric: bool
    borders: SharedBorders

    @classmethod
    def of(cls, level: Level, a: int) -> _Ranges:
        axis = level.axes[a]
        first, which = _ranges_of(level.boxes, a, axis.size)
        stop = level.boxes.stop[first, a]
        first = level.boxes.first[first, a]
        return cls(
            attribute=a,
            first=first,
            stop=stop,
            domain=axis.size,
            numeric=axis.numeric,
            borders=SharedBorders(lists=offered(axis, first, stop), which=which),
        )

    def candidates(
        self,
        counts: NDArray[np.int64],
        score: BoxScore,
        unsplit: NDArray[np.int64],
        n_attributes: int,
    ) -> Iterator[_Part]:
        """Yield the candidates of each range that has any (gains are confidential)."""
        lists, which = self.borders.lists, self.borders.which
        tables = self.borders.list_starts
        n_with = np.bincount(which, minlength=lists.n_boxes)
        n_borders = np.diff(lists.starts)
        width = int(n_borders.max(initial=1)) + 1
        order, ends = np.argsort(which, kind="stable"), np.cumsum(n_with)
        by_class = np.ascontiguousarray(counts.T)
        for rank, part in enumerate(np.flatnonzero(n_borders).tolist()):
            first, stop = int(self.first[part]), int(self.stop[part])
            values = lists.values[lists.starts[part] : lists.starts[part + 1]]
            table = RangeCounts(
                counts=by_class,
                begin=int(tables[part]),
                end=int(tables[part + 1]),
                edges=np.concatenate([[first], values, [stop]]),
                domain=self.domain,
                numeric=self.numeric,
            )
            sums = summed_scores(table, score)
            plain = unsplit[order[ends[part] - n_with[part] : ends[part]]].sum()
            places = np.arange(len(sums))
            yield _Part(
                attribute=self.attribute,
                first=first,
                stop=stop,
                borders=[values[i : i + 1] for i in places.tolist()] if self.numeric else [values],
                keys=(rank * width + places) * n_attributes + self.attribute,
                n_with=int(n_with[part]),
                gains=sums - plain,
            )


def _ranges_of(boxes: Boxes, a: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one box for each distinct range, in increasing order, and the range of each box."""
    span = boxes.first[:, a].astype(np.int64) * (size + 1) + boxes.stop[:, a]
    _, example, which = np.unique(span, return_index=True, return_inverse=True)
    return example, which


def _in_order(parts: list[_Part], n_boxes: int, most_boxes: int) -> SharedCandidates:
    """Return the candidates of all ranges that do not make too many boxes, by their keys."""
    none = np.zeros(0, dtype=np.int64)
    sizes = [len(part.borders) for part in parts]
    borders = [each for part in parts for each in part.borders]
    keys = np.concatenate([none, *(part.keys for part in parts)])
    scores = np.concatenate([none, *(part.gains for part in parts)])
    of = np.repeat(np.arange(len(parts)), sizes)
    n_with = np.array([part.n_with for part in parts], dtype=np.int64)[of]
    n_borders = np.array([len(each) for each in borders], dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    order = order[n_boxes + (n_with * n_borders)[order] <= most_boxes]
    alike = np.array(sizes, dtype=np.int64)[of][order]

    def of_part(values: list[int]) -> NDArray[np.int64]:
        return np.array(values, dtype=np.int64)[of][order]

    return SharedCandidates(
        attribute=of_part([part.attribute for part in parts]),
        first=of_part([part.first for part in parts]),
        stop=of_part([part.stop for part in parts]),
        borders=[borders[i] for i in order.tolist()],
        scores=scores[order],
        weights=alike.max(initial=1) / alike,
    )
