"""The results of a method: noisy groups, each a box and a class, as integers.

A box has one range of codes per attribute. Ranges repeat from box to box, so every
attribute keeps a table of its distinct ranges and each group an index into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.measured import MeasuredTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranges:
    """Distinct ranges ``[first, stop)`` of one attribute's codes, sorted."""

    first: NDArray[np.int32]
    stop: NDArray[np.int32]

    def __post_init__(self) -> None:
        if len(self.first) != len(self.stop) or not (self.first < self.stop).all():
            raise InternalError("A range of codes is empty.")

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def of(cls, pairs: list[tuple[int, int]]) -> Ranges:
        """Build the table from pairs, sorted."""
        ordered = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)
        return cls(first=ordered[:, 0].copy(), stop=ordered[:, 1].copy())

    def partition_of(self, size: int) -> NDArray[np.int32]:
        """Map each code ``0..size-1`` to its range; the ranges must tile the domain."""
        tiled = (
            len(self) > 0
            and self.first[0] == 0
            and self.stop[-1] == size
            and bool((self.first[1:] == self.stop[:-1]).all())
        )
        if not tiled:
            raise InternalError("The ranges of a cut do not tile their domain.")
        return np.repeat(np.arange(len(self), dtype=np.int32), self.stop - self.first)


@dataclass(frozen=True, kw_only=True)
class CountOrigin:
    """The origin of the noisy counts; all of it publishable.

    ``share`` is the epsilon of each count, ``threshold`` the smallest noisy count that was kept
    (``None``: all were), ``lowered_by`` the amount by which each count was then reduced to meet the
    noisy total (``None``: not at all).
    """

    share: Fraction
    threshold: int | None
    lowered_by: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """The division of the domain into boxes, step by step; all of it publishable.

    Nodes are numbered level by level, the root first and the children of a node one after another,
    by increasing codes. Node ``i`` is the part of its parent in which ``attribute[i]`` (-1: the
    root) is in ``[first[i], stop[i])``. ``box[i]`` numbers the leaves (-1: an inner node), and
    ``sizes`` are noisy, consistent estimates of the records in each node.
    """

    parent: NDArray[np.int32]
    attribute: NDArray[np.int32]
    first: NDArray[np.int32]
    stop: NDArray[np.int32]
    box: NDArray[np.int32]
    sizes: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, kw_only=True, eq=False)
class LeafTable:
    """Noisy counts (boxes, classes) of the boxes of a tree; all of it publishable.

    Counts are as drawn, so they may be below 0. ``share`` is the epsilon of every one.
    """

    tree: Tree
    counts: NDArray[np.int64]
    share: Fraction


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """Noisy counts of groups, sorted by the attributes' ranges and then by class.

    Everything here is publishable: ``counts`` are noisy, whole and positive; a group
    that is not listed has the noisy count 0. ``is_cut`` says that every combination of
    listed ranges is a box of the release, so that ``ranges`` alone recode a record;
    otherwise ``tree`` leads every record to its box, and ``boxes`` holds, per attribute,
    the range of every box, those without a listed group included.

    ``marginals``, if a method spends on them, are noisy weights of single values: per attribute an
    array of one row per code and one column per class (or one column for all). They estimate how
    records are spread inside the ranges of their box.

    ``tables`` and ``leaves`` are small noisy tables from which the groups were drawn, if a method
    publishes them. ``course`` is added to the method's details in the certificate: publishable
    facts that are known only after the run.
    """

    ranges: tuple[Ranges, ...]
    index: tuple[NDArray[np.int32], ...]
    classes: NDArray[np.int32] | None
    counts: NDArray[np.int64]
    is_cut: bool
    origin: CountOrigin | None = None
    tree: Tree | None = None
    boxes: tuple[NDArray[np.int32], ...] | None = None
    marginals: tuple[NDArray[np.float64], ...] | None = None
    tables: tuple[MeasuredTable, ...] = ()
    leaves: LeafTable | None = None
    course: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def are_points(self) -> bool:
        """True if every range is a single code, as in synthetic records."""
        return all(bool((ranges.stop - ranges.first == 1).all()) for ranges in self.ranges)
