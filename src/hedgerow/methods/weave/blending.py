"""Factors of a coarse table's groups, carried over to their cells: post-processing.

A 2-way marginal shows how much more often a pair of groups occurs than the model has
it. Cells of an unordered attribute take that factor from their group. Along ordered cells
factors change from the middle of one group to the middle of the next, so that records do not
become independent of a number inside a group and jump at its borders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.model.arrays import Floats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Blend:
    """The places of one attribute in a table: its cells where they are ordered, else its groups.

    ``place`` has the place of every cell, ``groups`` the group of every place and ``parts``
    what factors of groups (columns) each place (rows) is made of.
    """

    place: NDArray[np.int64]
    groups: NDArray[np.int64]
    parts: Floats

    @property
    def n_places(self) -> int:
        """Number of places."""
        return len(self.groups)

    @classmethod
    def of(cls, axis: CellAxis, groups: NDArray[np.int64], masses: Floats) -> Blend:
        """Return the places of cells that are in ``groups`` and hold ``masses`` of records."""
        n_groups = int(groups.max()) + 1
        if not axis.ordered or n_groups in (1, len(groups)):
            return cls(place=groups, groups=np.arange(n_groups), parts=np.eye(n_groups))
        return cls(place=np.arange(len(groups)), groups=groups, parts=_between(groups, masses))

    def summed(self, table: Floats) -> Floats:
        """Return the sums of a table's rows, a row per place, by group."""
        sums: Floats = np.add.reduceat(table, np.flatnonzero(np.diff(self.groups, prepend=-1)))
        return sums


def _between(groups: NDArray[np.int64], masses: Floats) -> Floats:
    """Return parts that change evenly with the records from one group's middle to the next's."""
    masses = masses + 1e-9 * max(float(masses.sum()), 1.0)
    at = np.cumsum(masses) - masses / 2
    middles = np.bincount(groups, masses * at) / np.bincount(groups, masses)
    left = np.clip(np.searchsorted(middles, at) - 1, 0, len(middles) - 2)
    gone = np.clip((at - middles[left]) / (middles[left + 1] - middles[left]), 0.0, 1.0)
    parts = np.zeros((len(groups), len(middles)))
    cells = np.arange(len(groups))
    parts[cells, left] = 1 - gone
    parts[cells, left + 1] = gone
    return parts


Blends = tuple[Blend, Blend]


def by_groups(table: Floats, blends: Blends) -> Floats:
    """Return the table (places, places, classes) added up by groups of both attributes."""
    first, second = blends
    rows = first.summed(table)
    sums: Floats = second.summed(rows.swapaxes(0, 1)).swapaxes(0, 1)
    return sums


def by_places(factors: Floats, blends: Blends) -> Floats:
    """Return factors of groups (first, second, classes) as factors of places."""
    first, second = blends
    rows = np.tensordot(first.parts, factors, axes=(1, 0))
    spread: Floats = np.matmul(second.parts, rows)
    return spread
