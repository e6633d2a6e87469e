"""Growth of DiffMulti: strategies of the level loop, as printed and improved.

[DiffMulti, Alg. 1] keeps boxes on a stack. What a box may spend, how often it may be
specialised and where it ends depend on its own path alone, so that all boxes of a level
can be treated together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.diffmulti.budget import DiffMultiBudget, even_shares, fair_shares
from hedgerow.methods.diffmulti.clusters import without_labels
from hedgerow.methods.diffmulti.scores import MultiScore
from hedgerow.methods.diffmulti.splits import (
    Choice,
    Chosen,
    Offers,
    choose_splits,
    chosen_split,
    most_positions,
    node_borders,
    offers_of,
    positions_for,
)
from hedgerow.model.engine import Engine
from hedgerow.model.placed import Borders, ragged
from hedgerow.model.run import Run
from hedgerow.trees.leaves import MeasuredCounts, Measurements
from hedgerow.trees.topdown import STOP, Boxes, Level, Split

NO_POINT = -1
"""In place of a split point: none has been drawn for this range."""


@dataclass(kw_only=True, eq=False, repr=False)
class Growth(ABC):
    """Common part of both variants: which boxes are specialised, and how h is handed down.

    ``left`` is h' of every box of the level. With ``n_clusters`` the classes that are counted
    are clusters times the table's own, and only choices look at clusters.
    """

    run: Run[Engine]
    score: MultiScore
    budget: DiffMultiBudget
    fair: bool
    left: NDArray[np.int64]
    n_attributes: int
    n_classes: int
    n_clusters: int | None = None
    measured: Measurements = field(default_factory=Measurements)
    _parents: NDArray[np.int64] | None = None

    def split(self, level: Level) -> Split:
        """Decide for every box of a level [DiffMulti, Alg. 1, lines 7-12]."""
        self.run.progress("specialising boxes", min(level.depth / self.budget.depth, 1.0))
        if self._parents is not None:
            self.left = self._handed_down(level, self._parents)
        going = self._valid(level)  # line 8
        if not going.any():
            return _stop_all(level.boxes)
        return self._specialise(level, going)

    def follow(self, parents: NDArray[np.int64], children: Boxes) -> None:
        """Remember where the boxes of the next level come from."""
        self._parents = parents

    @abstractmethod
    def _specialise(self, level: Level, going: NDArray[np.bool_]) -> Split:
        """Choose one split for each of the boxes that are ``going``."""

    @abstractmethod
    def _noisy_sizes(self, level: Level) -> NDArray[np.int64]:
        """Return noisy sizes of the level's boxes, for the share of child counts."""

    def _valid(self, level: Level) -> NDArray[np.bool_]:
        """Say which boxes incur a valid specialisation, by public facts [Def. 4.1].

        Departs: Def. 4.1 says "<= |g|", one step more than the budget has.
        """
        if level.depth >= self.budget.depth:
            return np.zeros(len(level.boxes), dtype=np.bool_)
        can = (level.boxes.stop - level.boxes.first > 1).any(axis=1)
        going: NDArray[np.bool_] = (self.left > 0) & can
        return going

    def _handed_down(self, level: Level, parents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return h' of every child [line 13; Eq. (10)]."""
        first = np.flatnonzero(np.diff(parents, prepend=-1))
        starts = np.append(first, len(parents))
        left = self.left[parents[first]]
        if not self.fair:
            return even_shares(left, starts, source=self.run.source)
        return fair_shares(left, self._noisy_sizes(level), starts, source=self.run.source)

    def _choose(
        self, offers: list[Offers], choice: Choice, level: Level, *, share: Fraction, on: str
    ) -> Chosen:
        """Return one of the offered splits for every box that has any."""
        some = [each for each in offers if len(each)]
        offered = np.zeros(len(level.boxes), dtype=np.bool_)
        for each in some:
            offered[each.box] = True
        rows = np.flatnonzero(offered)
        at_them = self.run.nodes(level.boxes.ledger[rows])
        return choose_splits(some, choice, run=at_them, share=share, on=on)


@dataclass(kw_only=True, eq=False, repr=False)
class PrintedGrowth(Growth):
    """Split points first, then a choice among attributes [DiffMulti, Alg. 1, lines 9-11].

    ``points`` (boxes, attributes) are split points drawn so far. A box inherits those of
    its parent, except for the range that is new: drawing all of them again in every box
    would cost more than the budget has.

    Privacy: the root spends one share per numeric attribute; below, a box has at most one
    new numeric range and spends one share for its split point, one for the choice, and its
    children one for their counts.
    """

    points: NDArray[np.int32] = field(init=False)
    _divided: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        self.points = np.full((1, self.n_attributes), NO_POINT, dtype=np.int32)

    def follow(self, parents: NDArray[np.int64], children: Boxes) -> None:
        """Hand split points down, but for the range that was divided."""
        super().follow(parents, children)
        self.points = self.points[parents]
        self.points[np.arange(len(parents)), self._divided[parents]] = NO_POINT

    def _noisy_sizes(self, level: Level) -> NDArray[np.int64]:
        return self.run.nodes(level.boxes.ledger).noisy(
            level.classes().sum(axis=1), share=self.budget.sizes, on="child counts"
        )

    def _specialise(self, level: Level, going: NDArray[np.bool_]) -> Split:
        new = self._new_ranges(level, going)
        borders = self._borders(level, going, new)
        offers = offers_of(level, borders, self.score)
        choice = Choice(rule="exponential", span=self.score.printed)
        for a in np.flatnonzero(new.any(axis=0)).tolist():  # line 9
            offers[a] = self._draw_points(level, offers[a], new[:, a], choice)
        chosen = self._choose(  # lines 10 and 11
            list(offers.values()), choice, level, share=self.budget.choice, on="choice"
        )
        split = chosen_split(chosen, borders, level)
        self._divided = split.attribute
        return split

    def _new_ranges(self, level: Level, going: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say which numeric ranges of which boxes can be split and have no split point."""
        numeric = np.array([axis.numeric for axis in level.axes])
        can = level.boxes.stop - level.boxes.first > 1
        new: NDArray[np.bool_] = (self.points == NO_POINT) & can & numeric & going[:, None]
        return new

    def _borders(
        self, level: Level, going: NDArray[np.bool_], new: NDArray[np.bool_]
    ) -> dict[int, Borders]:
        """Return all positions for new ranges, the known point for others, or a node's."""
        most = most_positions(int(new.sum()), self.n_classes)
        borders = {}
        for a, axis in enumerate(level.axes):
            if not axis.numeric:
                borders[a] = node_borders(level.boxes, a, axis, going)
                continue
            positions = positions_for(level.boxes, a, axis, new[:, a], most=most)
            borders[a] = self._with_known(a, positions, going & ~new[:, a])
        return borders

    def _with_known(self, a: int, positions: Borders, which: NDArray[np.bool_]) -> Borders:
        """Add the split points that are known already, where there are any."""
        known = which & (self.points[:, a] != NO_POINT)
        starts, _ = ragged(np.diff(positions.starts) + known)
        owner = np.repeat(np.arange(len(which)), np.diff(starts))
        values = np.empty(len(owner), dtype=np.int32)
        values[~known[owner]] = positions.values
        values[known[owner]] = self.points[known, a]
        return Borders(starts=starts, values=values)

    def _draw_points(
        self, level: Level, offers: Offers, new: NDArray[np.bool_], choice: Choice
    ) -> Offers:
        """Draw a split point for each new range; return every box's split at its point."""
        drawing = new[offers.box]
        on = "split points" if level.depth else "first split points"
        drawn = self._choose([offers[drawing]], choice, level, share=self.budget.split, on=on)
        self.points[drawn.box, offers.attribute] = offers.borders.values[drawn.border]
        # A numeric attribute's splits are its borders, one by one.
        kept = np.concatenate([drawn.border, np.flatnonzero(~drawing)])
        return offers[np.sort(kept)]


@dataclass(kw_only=True, eq=False, repr=False)
class JointGrowth(Growth):
    """Attribute and split point in one choice, and child counts kept for the release.

    Privacy: a box spends one share for its choice, its children one for their counts.
    """

    def _noisy_sizes(self, level: Level) -> NDArray[np.int64]:
        share = self.budget.sizes
        classes = without_labels(level.classes(), self.n_clusters)
        noisy = self.run.nodes(level.boxes.ledger).noisy(classes, share=share, on="child counts")
        self.measured.counts.append(MeasuredCounts(tree=level.boxes.tree, noisy=noisy, share=share))
        sizes: NDArray[np.int64] = noisy.sum(axis=1)
        return sizes

    def _specialise(self, level: Level, going: NDArray[np.bool_]) -> Split:
        n_numeric = sum(axis.numeric for axis in level.axes)
        most = most_positions(int(going.sum()) * n_numeric, self.n_classes)
        borders = {
            a: positions_for(level.boxes, a, axis, going, most=most)
            if axis.numeric
            else node_borders(level.boxes, a, axis, going)
            for a, axis in enumerate(level.axes)
        }
        chosen = self._choose(
            list(offers_of(level, borders, self.score).values()),
            Choice(rule="permute-and-flip", span=self.score.span),
            level,
            share=self.budget.choice,
            on="choice",
        )
        return chosen_split(chosen, borders, level)


def _stop_all(boxes: Boxes) -> Split:
    starts = np.zeros(len(boxes) + 1, dtype=np.int64)
    none = Borders(starts=starts, values=np.zeros(0, dtype=np.int32))
    return Split(attribute=np.full(len(boxes), STOP, dtype=np.int32), borders=none)
