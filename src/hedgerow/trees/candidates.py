"""Candidates for specialisation with their scores, from class histograms alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.trees.axes import Axis
from hedgerow.trees.cut import Cut, Part
from hedgerow.trees.scores import Score

EVEN_POSITIONS = 16
"""Approximate maximum number of pieces into which candidate borders cut a range of dates."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Blocks:
    """The candidates of one part, in blocks of equal score (confidential).

    Block ``b`` holds ``lengths[b]`` adjacent split positions, the first of them
    ``positions[b]``; a categorical part has one block of length 1. The total number of
    positions is public.
    """

    part: Part
    scores: NDArray[np.int64]
    positions: NDArray[np.int64]
    lengths: NDArray[np.int64]


class ScoredParts:
    """Scores the parts of a cut from the attributes' class histograms.

    Sums over a range of codes are differences of cumulative sums, so a part is scored
    without the data, and each part once.
    """

    def __init__(self, histograms: list[NDArray[np.int64]], score: Score) -> None:
        self._running = [_running_sums(histogram) for histogram in histograms]
        self._score = score
        self._known: dict[Part, Blocks] = {}
        self._axes: dict[int, Axis] = {}

    def blocks(self, cut: Cut, part: Part) -> Blocks:
        """Return the part's candidates: every split position, or its children."""
        if part not in self._known:
            find = self._split_positions if part.is_numeric else self._children
            self._known[part] = find(cut, part)
        return self._known[part]

    def split_at(self, part: Part, position: int) -> Blocks:
        """Return the single candidate of a numeric part with a known split position."""
        one = np.ones(1, dtype=np.int64)
        positions = np.array([position], dtype=np.int64)
        return Blocks(
            part=part, scores=self._scores_at(part, positions), positions=positions, lengths=one
        )

    def _scores_at(self, part: Part, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        running = self._running[part.attribute]
        left = running[positions] - running[part.first]
        right = running[part.stop] - running[positions]
        return self._score.of(np.stack([left, right], axis=1))

    def _split_positions(self, cut: Cut, part: Part) -> Blocks:
        axis = self._axis(cut, part.attribute)
        if axis.levels:
            return self._calendar_positions(axis, part)
        positions = np.arange(part.first + 1, part.stop, dtype=np.int64)
        scores = self._scores_at(part, positions)
        changes = np.flatnonzero(np.diff(scores)) + 1
        starts = np.concatenate([np.zeros(1, dtype=np.int64), changes])
        lengths = np.diff(np.append(starts, len(positions)))
        return Blocks(
            part=part, scores=scores[starts], positions=positions[starts], lengths=lengths
        )

    def _calendar_positions(self, axis: Axis, part: Part) -> Blocks:
        """Return the starts of years, quarters, months or steps of a date, one per block."""
        first, stop = np.array([part.first]), np.array([part.stop])
        offered = axis.positions(first, stop, even=EVEN_POSITIONS).values.astype(np.int64)
        return Blocks(
            part=part,
            scores=self._scores_at(part, offered),
            positions=offered,
            lengths=np.ones(len(offered), dtype=np.int64),
        )

    def _axis(self, cut: Cut, attribute: int) -> Axis:
        if attribute not in self._axes:
            self._axes[attribute] = Axis.of(cut.schema.attributes[attribute].domain)
        return self._axes[attribute]

    def _children(self, cut: Cut, part: Part) -> Blocks:
        bounds = cut.bounds(part)
        counts = np.diff(self._running[part.attribute][bounds], axis=0)
        one = np.ones(1, dtype=np.int64)
        return Blocks(part=part, scores=self._score.of(counts[None]), positions=one, lengths=one)


def _running_sums(histogram: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros_like(histogram[:1]), np.cumsum(histogram, axis=0)])
