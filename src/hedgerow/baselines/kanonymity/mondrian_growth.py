"""The growth of strict Mondrian: a strategy of the shared level loop, without any privacy.

All boxes of a level are counted in one pass and every box finds its own cut: at the median of
its widest attribute, or where the classes are separated best.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.kanonymity.mondrian_cuts import (
    MondrianCuts,
    best_of_boxes,
    cuts_at_values,
    cuts_into_children,
)
from hedgerow.methods.diffmulti.splits import Chosen, chosen_split, node_borders
from hedgerow.model.placed import Borders, ragged
from hedgerow.progress import Progress
from hedgerow.trees.topdown import Boxes, Level, Split

MOST_VALUES = 1024
"""Maximum number of cuts of a range; one with more values offers equally spaced ones."""

LEAST_VALUES = 16
"""Number of cuts of a range if a level has very many boxes."""

MOST_CELLS = 1 << 23
"""Approximate number of counts of a level from which its ranges offer fewer cuts."""


@dataclass(kw_only=True, eq=False, repr=False)
class MondrianGrowth:
    """Cuts every box while each part keeps ``k`` records [Mondrian, Anonymize].

    ``values`` are the codes that occur, by attribute; an attribute in ``ordered`` is cut
    between two of them, any other into the children of its taxonomy's node. ``by_class``
    chooses the allowable cut with the lowest entropy of the classes [InfoGain Mondrian],
    otherwise the one of the widest attribute.

    ``open`` marks ranges that may still have an allowable cut: a range without one has none in
    any part of the box either, because parts have fewer records.
    """

    k: int
    by_class: bool
    values: tuple[NDArray[np.int64], ...]
    ordered: tuple[bool, ...]
    n_classes: int
    n_records: int
    progress: Progress
    open: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.open = np.ones((1, len(self.ordered)), dtype=np.bool_)

    def split(self, level: Level) -> Split:
        """Return the best allowable cut of every box that has one."""
        axes = tuple(
            replace(axis, numeric=ordered)
            for axis, ordered in zip(level.axes, self.ordered, strict=True)
        )
        level = replace(level, axes=axes)
        sizes = level.classes().sum(axis=1)
        self.open &= ((sizes >= 2 * self.k)[:, None]) | ~np.array(self.ordered)
        self.open &= (sizes >= self.k)[:, None]
        self._tell(level, sizes)
        borders, ranks = self._borders(level)
        counts = level.bins(borders)
        cuts = [
            self._cuts(level, a, borders[a], ranks.get(a), counts.pop(a)) for a in sorted(borders)
        ]
        attribute, border = best_of_boxes(cuts, len(level.boxes))
        box = np.flatnonzero(attribute >= 0)
        chosen = Chosen(box=box, attribute=attribute[box], border=border[box])
        return chosen_split(chosen, borders, level)

    def follow(self, parents: NDArray[np.int64], children: Boxes) -> None:
        """Pass on which ranges may still be cut."""
        self.open = self.open[parents]

    def _tell(self, level: Level, sizes: NDArray[np.int64]) -> None:
        """Report the share of records that are in finished boxes, or will be soon."""
        done = 1 - float(sizes[self.open.any(axis=1)].sum()) / max(self.n_records, 1)
        self.progress("cutting boxes", done)

    def _borders(self, level: Level) -> tuple[dict[int, Borders], dict[int, NDArray[np.int64]]]:
        """Return the candidate borders and, for ordered attributes, the value before each."""
        borders: dict[int, Borders] = {}
        ranks: dict[int, NDArray[np.int64]] = {}
        n_ranges = int(self.open[:, np.array(self.ordered)].sum())
        room = MOST_CELLS // max(n_ranges * self.n_classes, 1)
        most = min(max(room, LEAST_VALUES), MOST_VALUES)
        for a, axis in enumerate(level.axes):
            if axis.numeric:
                borders[a], ranks[a] = self._value_borders(level.boxes, a, most)
            else:
                borders[a] = node_borders(level.boxes, a, axis, self.open[:, a])
        return borders, ranks

    def _value_borders(
        self, boxes: Boxes, attribute: int, most: int
    ) -> tuple[Borders, NDArray[np.int64]]:
        values = self.values[attribute]
        low = np.searchsorted(values, boxes.first[:, attribute])
        n_values = np.searchsorted(values, boxes.stop[:, attribute]) - low
        lengths = np.where(self.open[:, attribute], np.clip(n_values - 1, 0, most), 0)
        starts, inside = ragged(lengths)
        box = np.repeat(np.arange(len(boxes)), lengths)
        ranks = low[box] + (inside + 1) * n_values[box] // (lengths[box] + 1) - 1
        borders = Borders(starts=starts, values=(values[ranks] + 1).astype(np.int32))
        return borders, ranks

    def _cuts(
        self,
        level: Level,
        attribute: int,
        borders: Borders,
        ranks: NDArray[np.int64] | None,
        counts: NDArray[np.int64],
    ) -> MondrianCuts:
        boxes = level.boxes
        first, stop = boxes.first[:, attribute], boxes.stop[:, attribute]
        if ranks is None:
            shares = (stop - first) / level.axes[attribute].size
            return cuts_into_children(
                attribute, borders, counts, shares, k=self.k, by_class=self.by_class
            )
        values = self.values[attribute]
        cuts = cuts_at_values(
            attribute, borders, ranks, counts, values, k=self.k, by_class=self.by_class
        )
        # A range that offers all its values and has no allowable cut is never cut again.
        n_values = np.searchsorted(values, stop) - np.searchsorted(values, first)
        complete = np.diff(borders.starts) >= n_values - 1
        self.open[complete & ~cuts.allowable, attribute] = False
        return cuts
