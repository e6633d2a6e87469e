"""Candidates to split boxes, for private choices that each box makes for itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.placed import Borders, ragged
from hedgerow.trees.axes import Axis, offered
from hedgerow.trees.box_scores import BoxScore, splits_at_borders, splits_into_children
from hedgerow.trees.topdown import STOP, Boxes, Level, Split

ALL_BORDERS = -1
"""Replaces a border index: a taxonomy node splits at all borders of its children."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Candidates:
    """Candidates to split boxes, each by one attribute (scores are confidential).

    ``border`` is an index into the attribute's borders, or ``ALL_BORDERS``; ``alike`` is the
    number of candidates of the same range, which share its measure of 1.
    """

    box: NDArray[np.int64]
    attribute: NDArray[np.int32]
    border: NDArray[np.int64]
    alike: NDArray[np.int64]
    scores: NDArray[np.int64]
    borders: dict[int, Borders]

    def __getitem__(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Candidates:
        return replace(
            self,
            box=self.box[which],
            attribute=self.attribute[which],
            border=self.border[which],
            alike=self.alike[which],
            scores=self.scores[which],
        )

    def weights(self) -> NDArray[np.float64]:
        """Return the base measure: 1 per range, in units of the finest range's share."""
        weights: NDArray[np.float64] = self.alike.max(initial=1) / self.alike
        return weights


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OwnCandidates:
    """Candidates of boxes that choose for themselves, box by box.

    ``rows`` are the level's boxes that choose, which the candidates refer to by position;
    ``boxes`` are those with candidates, in the order of ``starts``.
    """

    candidates: Candidates
    rows: NDArray[np.int64]
    boxes: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def scores(self) -> NDArray[np.int64]:
        """The scores of all candidates (confidential)."""
        return self.candidates.scores

    @property
    def weights(self) -> NDArray[np.float64]:
        """The base measure."""
        return self.candidates.weights()


def own_candidates(level: Level, score: BoxScore, chooses: NDArray[np.bool_]) -> OwnCandidates:
    """Return the candidates of the boxes that choose, scored in one pass, sorted by box."""
    rows = np.flatnonzero(chooses)
    candidates = _candidates_of(level, rows, score)
    ordered = candidates[np.argsort(candidates.box, kind="stable")]
    boxes, starts = np.unique(ordered.box, return_index=True)
    return OwnCandidates(candidates=ordered, rows=rows, boxes=rows[boxes], starts=starts)


def _candidates_of(level: Level, rows: NDArray[np.int64], score: BoxScore) -> Candidates:
    """Return every candidate to split each of some boxes, attribute after attribute."""
    boxes = level.boxes[rows]
    borders = {
        a: each
        for a, axis in enumerate(level.axes)
        if len((each := offered(axis, boxes.first[:, a], boxes.stop[:, a])).values)
    }
    parts = [
        _candidates_by(boxes, a, borders[a], counts, axis=level.axes[a], score=score)
        for a, counts in (level.each_bins(borders, rows) if borders else ())
    ]
    none = np.zeros(0, dtype=np.int64)
    columns = [np.concatenate([none, *column]) for column in zip(*parts, strict=True)] or [none] * 5
    box, attribute, border, alike, scores = columns
    return Candidates(
        box=box,
        attribute=attribute.astype(np.int32),
        border=border,
        alike=alike,
        scores=scores,
        borders=borders,
    )


def _candidates_by(
    boxes: Boxes,
    a: int,
    borders: Borders,
    counts: NDArray[np.int64],
    *,
    axis: Axis,
    score: BoxScore,
) -> tuple[NDArray[np.int64], ...]:
    first, stop = boxes.first[:, a], boxes.stop[:, a]
    if axis.numeric:
        n_borders = np.diff(borders.starts)
        box = np.repeat(np.arange(borders.n_boxes), n_borders)
        scores = score.of(splits_at_borders(counts, borders, first, stop, domain=axis.size))
        border, alike = np.arange(len(box)), n_borders[box]
    else:
        box, children = splits_into_children(counts, borders, first, stop, domain=axis.size)
        scores = score.of(children)
        border, alike = np.full(len(box), ALL_BORDERS), np.ones(len(box), dtype=np.int64)
    return box, np.full(len(box), a), border, alike, scores


def _n_children(candidates: Candidates) -> NDArray[np.int64]:
    n = np.full(len(candidates.box), 2, dtype=np.int64)
    for a, borders in candidates.borders.items():
        node = (candidates.attribute == a) & (candidates.border == ALL_BORDERS)
        n[node] = np.diff(borders.starts)[candidates.box[node]] + 1
    return n


def split_of(own: OwnCandidates, chosen: NDArray[np.int64], level: Level) -> Split:
    """Return the split of each box that chose; all others stop."""
    candidates = own.candidates[chosen]
    row = own.rows[candidates.box]
    attribute = np.full(len(level.boxes), STOP, dtype=np.int32)
    attribute[row] = candidates.attribute
    lengths = np.zeros(len(level.boxes), dtype=np.int64)
    lengths[row] = _n_children(candidates) - 1
    starts, inside = ragged(lengths)
    values = np.zeros(starts[-1], dtype=np.int32)
    owner = np.repeat(np.arange(len(level.boxes)), lengths)
    origin = np.zeros(len(level.boxes), dtype=np.int64)
    for a, borders in candidates.borders.items():
        mine = candidates.attribute == a
        box, border = candidates.box[mine], candidates.border[mine]
        origin[row[mine]] = np.where(border == ALL_BORDERS, borders.starts[box], border)
        here = attribute[owner] == a
        values[here] = borders.values[origin[owner[here]] + inside[here]]
    return Split(attribute=attribute, borders=Borders(starts=starts, values=values))
