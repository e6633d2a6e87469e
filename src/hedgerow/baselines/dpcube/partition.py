"""The partition of DPCube: boxes of noisy cells that look even, found without the data.

Everything here is post-processing of the first phase's noisy cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.progress import Progress
from hedgerow.trees.binary_splits import split_in_two
from hedgerow.trees.coarsening import Coarsening
from hedgerow.trees.leaves import MeasuredCounts, Measurements
from hedgerow.trees.topdown import STOP, Boxes, Level, Split

CHANCE = 0.05
"""About how often an even box would be split by its noise alone."""

_FINE = 10**6  # denominators of weights that are square roots


@dataclass(frozen=True, kw_only=True, eq=False)
class Cube:
    """Noisy cells: where each lies on every attribute, and its counts by class."""

    coarsenings: tuple[Coarsening, ...]
    coordinates: tuple[NDArray[np.int32], ...]
    noisy: NDArray[np.int64]
    share: Fraction

    @classmethod
    def of(
        cls, coarsenings: tuple[Coarsening, ...], noisy: NDArray[np.int64], share: Fraction
    ) -> Cube:
        """Return the cube of noisy counts (cells, classes), the first attribute slowest."""
        shape = tuple(each.n_cells for each in coarsenings)
        places = np.unravel_index(np.arange(len(noisy)), shape)
        return cls(
            coarsenings=coarsenings,
            coordinates=tuple(each.astype(np.int32) for each in places),
            noisy=noisy,
            share=share,
        )

    @property
    def variance(self) -> float:
        """The variance of the noise on one cell and class."""
        a = np.exp(-float(self.share))
        return float(2 * a / (1 - a) ** 2)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Best:
    """The best split so far of each box, and how many splits there were."""

    gain: NDArray[np.float64]
    attribute: NDArray[np.int32]
    coordinate: NDArray[np.int32]
    n_splits: NDArray[np.int64]


@dataclass(kw_only=True, eq=False)
class EvenBoxes:
    """Split boxes where that explains their noisy cells best, until they look even.

    A kd-tree over the noisy cells. The gain of a split is how much the sum of squared
    deviations from the boxes' means falls, over all classes; a box stops when its best
    gain is no more than noise would make it.

    Privacy: no count but the cube's noisy ones is looked at.
    """

    cube: Cube
    progress: Progress
    measured: Measurements = field(default_factory=Measurements)
    _cells: NDArray[np.int64] = field(init=False)
    _box: NDArray[np.int64] = field(init=False)
    _attribute: NDArray[np.int32] = field(init=False)
    _coordinate: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        self._cells = np.arange(len(self.cube.noisy))
        self._box = np.zeros(len(self.cube.noisy), dtype=np.int64)

    def split(self, level: Level) -> Split:
        """Split the boxes of a level that do not look even."""
        self.progress("partitioning", None)
        n_boxes = len(level.boxes)
        best = self._best(n_boxes)
        worth = best.gain > gain_of_noise(
            best.n_splits, n_classes=self.cube.noisy.shape[1], variance=self.cube.variance
        )
        self._attribute = np.where(worth, best.attribute, STOP).astype(np.int32)
        self._coordinate = best.coordinate
        self._keep(level.boxes, ~worth)
        position = np.zeros(n_boxes, dtype=np.int32)
        for a, coarsening in enumerate(self.cube.coarsenings):
            mine = self._attribute == a
            position[mine] = coarsening.edges[best.coordinate[mine]]
        return split_in_two(self._attribute, position)

    def follow(self, parents: NDArray[np.int64], children: Boxes) -> None:
        """Give every cell to the child that holds it."""
        going = self._attribute[self._box] != STOP
        cells, box = self._cells[going], self._box[going]
        attribute, border = self._attribute[box], self._coordinate[box]
        right = np.zeros(len(cells), dtype=np.bool_)
        for a, places in enumerate(self.cube.coordinates):
            mine = attribute == a
            right[mine] = places[cells[mine]] >= border[mine]
        self._cells = cells
        self._box = np.searchsorted(parents, box) + right

    def _best(self, n_boxes: int) -> _Best:
        gain, n_splits = np.zeros(n_boxes), np.zeros(n_boxes, dtype=np.int64)
        attribute = np.full(n_boxes, STOP, dtype=np.int32)
        coordinate = np.zeros(n_boxes, dtype=np.int32)
        noisy = self.cube.noisy[self._cells].astype(np.float64)
        for a, places in enumerate(self.cube.coordinates):
            size = self.cube.coarsenings[a].n_cells
            if size == 1:
                continue
            box, border, gains = split_gains(self._box, places[self._cells], noisy, size=size)
            n_splits += np.bincount(box, minlength=n_boxes)
            # The last of equal boxes wins an assignment, so the best of each goes last.
            order = np.argsort(gains, kind="stable")
            order = order[gains[order] > gain[box[order]]]
            gain[box[order]] = gains[order]
            attribute[box[order]], coordinate[box[order]] = a, border[order]
        return _Best(gain=gain, attribute=attribute, coordinate=coordinate, n_splits=n_splits)

    def _keep(self, boxes: Boxes, stopped: NDArray[np.bool_]) -> None:
        """Note what the first phase says of the boxes that stop, by how many cells they sum."""
        n_boxes = len(boxes)
        sums = np.zeros((n_boxes, self.cube.noisy.shape[1]), dtype=np.int64)
        np.add.at(sums, self._box, self.cube.noisy[self._cells])
        n_cells = np.bincount(self._box, minlength=n_boxes)
        for n in np.unique(n_cells[stopped]).tolist():
            mine = np.flatnonzero(stopped & (n_cells == n))
            # A sum of n counts is as sure as one count of a share smaller by the root of n.
            share = self.cube.share * Fraction(n**-0.5).limit_denominator(_FINE)
            self.measured.counts.append(
                MeasuredCounts(tree=boxes.tree[mine], noisy=sums[mine], share=share)
            )


def split_gains(
    box: NDArray[np.int64],
    coordinate: NDArray[np.int32],
    noisy: NDArray[np.float64],
    *,
    size: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return every way to cut the boxes on one attribute: box, border and gain.

    ``box``, ``coordinate`` and ``noisy`` (cells, classes) describe the cells; a border is
    the coordinate of the first cell on its right.
    """
    key = box * size + coordinate
    slices, place = np.unique(key, return_inverse=True)
    sums = np.zeros((len(slices), noisy.shape[1]))
    np.add.at(sums, place, noisy)
    of_box = slices // size
    starts = np.flatnonzero(np.diff(of_box, prepend=-1))
    owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(slices)))
    n = np.bincount(place, minlength=len(slices)).astype(np.float64)
    left, n_left = _running(sums, starts, owner), _running(n[:, None], starts, owner)
    last = np.append(starts[1:], len(slices)) - 1
    total, n_total = left[last][owner], n_left[last][owner]
    inner = np.ones(len(slices), dtype=np.bool_)
    inner[last] = False
    left, total, n_left, n_total = left[inner], total[inner], n_left[inner], n_total[inner]
    difference = left / n_left - (total - left) / (n_total - n_left)
    gains = (difference**2).sum(axis=1) * (n_left * (n_total - n_left) / n_total)[:, 0]
    # Borders lie behind a slice: the next slice of the same box begins there.
    border = (slices % size)[1:][inner[:-1]]
    return of_box[inner], border.astype(np.int32), gains


def _running(
    values: NDArray[np.float64], starts: NDArray[np.int64], owner: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return running sums that begin anew at every start."""
    sums = np.cumsum(values, axis=0)
    base: NDArray[np.float64] = sums[starts] - values[starts]
    return sums - base[owner]


def gain_of_noise(
    n_splits: NDArray[np.int64], *, n_classes: int, variance: float
) -> NDArray[np.float64]:
    """Return a gain that the best of that many splits of an even box hardly exceeds.

    Under noise alone a gain is about ``variance`` times a chi-square variable with one
    degree of freedom per class, whose tail beyond k + 2 sqrt(k x) + 2 x is at most exp(-x)
    [Laurent and Massart 2000]; x covers all splits of the box.
    """
    x = np.log(np.maximum(n_splits, 1) / CHANCE)
    bound: NDArray[np.float64] = variance * (n_classes + 2 * np.sqrt(n_classes * x) + 2 * x)
    return bound
