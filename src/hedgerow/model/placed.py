"""Records placed in the boxes of a level: counted together, then routed to children.

The contract of tree methods. A level asks one question, "how many records of each box and class are
between these borders of each attribute", and gives one order, "send the records of these boxes to
their children". An engine answers both in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


def ragged(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts of ragged lists, and for every entry its position in its list.

    >>> ragged(np.array([2, 0, 3]))
    (array([0, 2, 2, 5]), array([0, 1, 0, 1, 2]))
    """
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    inside = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    return starts, inside


@dataclass(frozen=True, kw_only=True, eq=False)
class Borders:
    """For every box, borders that cut one attribute's codes into bins.

    The borders of box ``b`` are ``values[starts[b]:starts[b + 1]]``, increasing; n borders make n +
    1 bins. Bins of all boxes are numbered one after another, so those of box ``b`` begin at
    ``starts[b] + b``.
    """

    starts: NDArray[np.int64]
    values: NDArray[np.int32]

    @property
    def n_boxes(self) -> int:
        """Number of boxes."""
        return len(self.starts) - 1

    @property
    def n_bins(self) -> int:
        """Number of bins of all boxes together."""
        return len(self.values) + self.n_boxes

    @property
    def bin_starts(self) -> NDArray[np.int64]:
        """First bin of each box, and the end of the last."""
        return self.starts + np.arange(len(self.starts))

    def some(self, boxes: NDArray[np.int64]) -> Borders:
        """Return the borders of some boxes."""
        starts, inside = ragged(np.diff(self.starts)[boxes])
        origin = np.repeat(self.starts[boxes], np.diff(starts))
        return Borders(starts=starts, values=self.values[origin + inside])

    @classmethod
    def of(cls, lists: list[list[int]]) -> Borders:
        """Build borders from one list per box."""
        starts = np.cumsum([0, *(len(each) for each in lists)], dtype=np.int64)
        flat = [border for each in lists for border in each]
        return cls(starts=starts, values=np.array(flat, dtype=np.int32))


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedBorders:
    """Borders of boxes of which many are equal: box ``b`` has list ``which[b]``.

    Bins are numbered list after list and, for one list, box after box: the counts of all
    boxes with a list are a table (boxes, bins of the list).
    """

    lists: Borders
    which: NDArray[np.int64]

    @property
    def n_boxes(self) -> int:
        """Number of boxes."""
        return len(self.which)

    @property
    def n_bins(self) -> int:
        """Number of bins of all boxes together."""
        return int(self.list_starts[-1])

    @cached_property
    def list_starts(self) -> NDArray[np.int64]:
        """Start of the table of each list, and the end of the last."""
        n_with = np.bincount(self.which, minlength=self.lists.n_boxes)
        return np.cumsum(np.concatenate([[0], n_with * np.diff(self.lists.bin_starts)]))

    @cached_property
    def first_bins(self) -> NDArray[np.int64]:
        """First bin of each box."""
        widths = np.diff(self.lists.bin_starts)[self.which]
        order = np.argsort(self.which, kind="stable")
        first = np.empty(len(self.which), dtype=np.int64)
        first[order] = np.cumsum(widths[order]) - widths[order]
        return first


@dataclass(frozen=True, kw_only=True, eq=False)
class LevelBins:
    """The counts needed at a level: borders by attribute.

    ``boxes`` are the boxes of the level for which counts are needed, increasing, each with its
    borders, by attribute; attributes that are missing are needed for all boxes.
    """

    borders: dict[int, Borders | SharedBorders] = field(default_factory=dict)
    boxes: dict[int, NDArray[np.int64]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Routing:
    """The destination of the records of each box.

    A record of box ``b`` goes to child ``first_child[b]`` plus the number of borders that its code
    of ``attribute[b]`` has reached; if ``attribute[b]`` is -1 the box is finished and its records
    are put aside.
    """

    attribute: NDArray[np.int32]
    borders: Borders
    first_child: NDArray[np.int64]
    n_children: int


class Placed(Protocol):
    """Records, each in one box of the current level (confidential)."""

    def sum(self, level: LevelBins) -> dict[int, NDArray[np.int64]]:
        """Return, by attribute, class counts of shape (bins, classes)."""
        ...

    def each(self, level: LevelBins) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the same attribute by attribute, so that not all need to be in memory at once."""
        ...

    def classes(self) -> NDArray[np.int64]:
        """Return class counts of shape (boxes, classes)."""
        ...

    def route(self, routing: Routing) -> None:
        """Send every record to its child; the children are the next level's boxes."""
        ...
