"""Candidates to split the boxes of a level, gathered for one private choice or for many."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.placed import Borders
from hedgerow.taxonomy.even_steps import EVEN_STEPS
from hedgerow.trees.axes import Axis, ragged
from hedgerow.trees.box_scores import BoxScore, splits_at_borders, splits_into_children
from hedgerow.trees.topdown import STOP, Level, Split

ALL_BORDERS = -1
"""In place of one border: a taxonomy node splits at all borders of its children."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Candidates:
    """Candidates to split boxes, each by one attribute (scores are confidential).

    ``border`` is an index into the attribute's borders, or ``ALL_BORDERS``; ``alike`` is
    how many candidates the same range offers, among which its measure of 1 is shared.
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
        """Return the base measure: 1 a range, in units of the finest range's share."""
        weights: NDArray[np.float64] = self.alike.max(initial=1) / self.alike
        return weights


def candidates_of(level: Level, score: BoxScore) -> Candidates:
    """Return every candidate to split each box, scored from one pass over the data."""
    borders = {
        a: each
        for a, axis in enumerate(level.axes)
        if len((each := _offered(level, axis, a)).values)
    }
    counts = level.bins(borders)
    parts = [_candidates_by(level, a, borders[a], counts[a], score) for a in borders]
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


def _offered(level: Level, axis: Axis, a: int) -> Borders:
    first, stop = level.boxes.first[:, a], level.boxes.stop[:, a]
    if axis.numeric:
        return axis.positions(first, stop, even=EVEN_STEPS)
    return axis.child_borders(axis.node_of(first, stop))


def _candidates_by(
    level: Level, a: int, borders: Borders, counts: NDArray[np.int64], score: BoxScore
) -> tuple[NDArray[np.int64], ...]:
    first, stop = level.boxes.first[:, a], level.boxes.stop[:, a]
    domain = level.axes[a].size
    if level.axes[a].numeric:
        n_borders = np.diff(borders.starts)
        box = np.repeat(np.arange(borders.n_boxes), n_borders)
        scores = score.of(splits_at_borders(counts, borders, first, stop, domain=domain))
        border, alike = np.arange(len(box)), n_borders[box]
    else:
        box, children = splits_into_children(counts, borders, first, stop, domain=domain)
        scores = score.of(children)
        border, alike = np.full(len(box), ALL_BORDERS), np.ones(len(box), dtype=np.int64)
    return box, np.full(len(box), a), border, alike, scores


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SharedCandidates:
    """Candidates that split every box which holds a certain range of a certain attribute."""

    example: Candidates
    scores: NDArray[np.int64]
    weights: NDArray[np.float64]

    def split(self, chosen: int, level: Level) -> Split:
        """Return the split of all boxes by one of the candidates; other boxes are carried."""
        candidate = self.example[np.array([chosen])]
        a, box = int(candidate.attribute[0]), int(candidate.box[0])
        same = (level.boxes.first[:, a] == level.boxes.first[box, a]) & (
            level.boxes.stop[:, a] == level.boxes.stop[box, a]
        )
        borders = candidate.borders[a]
        start, stop = borders.starts[box], borders.starts[box + 1]
        if candidate.border[0] != ALL_BORDERS:
            start, stop = int(candidate.border[0]), int(candidate.border[0]) + 1
        values = borders.values[start:stop]
        starts, _ = ragged(np.where(same, len(values), 0))
        return Split(
            attribute=np.full(len(level.boxes), a, dtype=np.int32),
            borders=Borders(starts=starts, values=np.tile(values, int(same.sum()))),
        )


def together(
    level: Level, candidates: Candidates, unsplit: NDArray[np.int64], *, most_boxes: int
) -> SharedCandidates:
    """Return the candidates that all boxes may take together, with their summed gains.

    Boxes with one range of an attribute offer the same candidates, in the same order. A candidate
    that would make too many boxes is left out, by their public number.
    """
    keys = _keys(level, candidates)
    unique, example, group = np.unique(keys, return_index=True, return_inverse=True)
    gains = np.zeros(len(unique), dtype=np.int64)
    np.add.at(gains, group, candidates.scores - unsplit[candidates.box])
    kept = candidates[example]
    n_with = np.bincount(group, minlength=len(unique))
    fits = len(level.boxes) + n_with * (_n_children(kept) - 1) <= most_boxes
    kept = kept[fits]
    return SharedCandidates(example=kept, scores=gains[fits], weights=kept.weights())


def _keys(level: Level, candidates: Candidates) -> NDArray[np.int64]:
    """Return a number for attribute, range and place among the range's candidates."""
    keys = np.zeros(len(candidates.box), dtype=np.int64)
    for a, borders in candidates.borders.items():
        mine = candidates.attribute == a
        box = candidates.box[mine]
        size = np.int64(level.axes[a].size + 1)
        span = level.boxes.first[box, a] * size + level.boxes.stop[box, a]
        _, part = np.unique(span, return_inverse=True)
        place = np.maximum(candidates.border[mine] - borders.starts[box], 0)
        width = int(np.diff(borders.starts).max(initial=1)) + 1
        keys[mine] = (part * width + place) * len(level.axes) + a
    return keys


def _n_children(candidates: Candidates) -> NDArray[np.int64]:
    n = np.full(len(candidates.box), 2, dtype=np.int64)
    for a, borders in candidates.borders.items():
        node = (candidates.attribute == a) & (candidates.border == ALL_BORDERS)
        n[node] = np.diff(borders.starts)[candidates.box[node]] + 1
    return n


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OwnCandidates:
    """Candidates of boxes that choose for themselves, box after box."""

    candidates: Candidates
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


def apart(candidates: Candidates, chooses: NDArray[np.bool_]) -> OwnCandidates:
    """Return the candidates of the boxes that choose, sorted by box."""
    mine = np.flatnonzero(chooses[candidates.box])
    ordered = candidates[mine[np.argsort(candidates.box[mine], kind="stable")]]
    boxes, starts = np.unique(ordered.box, return_index=True)
    return OwnCandidates(candidates=ordered, boxes=boxes, starts=starts)


def split_of(own: OwnCandidates, chosen: NDArray[np.int64], level: Level) -> Split:
    """Return the split of each box that chose; all others stop."""
    candidates = own.candidates[chosen]
    attribute = np.full(len(level.boxes), STOP, dtype=np.int32)
    attribute[candidates.box] = candidates.attribute
    lengths = np.zeros(len(level.boxes), dtype=np.int64)
    lengths[candidates.box] = _n_children(candidates) - 1
    starts, inside = ragged(lengths)
    values = np.zeros(starts[-1], dtype=np.int32)
    owner = np.repeat(np.arange(len(level.boxes)), lengths)
    origin = np.zeros(len(level.boxes), dtype=np.int64)
    for a, borders in candidates.borders.items():
        mine = candidates.attribute == a
        box, border = candidates.box[mine], candidates.border[mine]
        origin[box] = np.where(border == ALL_BORDERS, borders.starts[box], border)
        here = attribute[owner] == a
        values[here] = borders.values[origin[owner[here]] + inside[here]]
    return Split(attribute=attribute, borders=Borders(starts=starts, values=values))
