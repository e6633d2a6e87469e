"""Counting of placed rows between borders, by NumPy or by equivalent compiled loops.

The bin of a code is looked up in a table of its box's list of borders if the tables of all lists
are small, and found by search otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Codes
from hedgerow.model.placed import Borders, SharedBorders

LOOKED_UP = 1 << 16
"""Maximum number of entries for tables of all codes, however few rows there are."""

_Find = Callable[[Codes, NDArray[np.int64]], NDArray[np.int64]]
"""Maps codes, and the start of each one's list among tables of all codes, to bins."""

_LEAST_CHUNK = 1 << 17  # rows that are counted at a time, so that scratch stays small


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RequestedRows:
    """The rows of the boxes that a level requests, box by box (confidential)."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    every: bool
    classes: Codes | None
    n_classes: int

    @classmethod
    def of(
        cls,
        row_starts: NDArray[np.int64],
        boxes: NDArray[np.int64] | None,
        classes: Codes | None,
        n_classes: int,
    ) -> RequestedRows:
        """Return the rows of some boxes, or of all."""
        starts, stops = row_starts[:-1], row_starts[1:]
        if boxes is not None:
            starts, stops = starts[boxes], stops[boxes]
        return cls(
            starts=starts, stops=stops, every=boxes is None, classes=classes, n_classes=n_classes
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int((self.stops - self.starts).sum())

    @cached_property
    def index(self) -> NDArray[np.int64]:
        """Positions of the rows among all."""
        sizes = self.stops - self.starts
        shift: NDArray[np.int64] = self.starts - (np.cumsum(sizes) - sizes)
        return np.arange(int(sizes.sum()), dtype=np.int64) + np.repeat(shift, sizes)

    def chosen(self, column: Codes) -> Codes:
        """Return the rows' part of a column."""
        return column if self.every else column[self.index]

    def per_row(self, of_box: NDArray[np.int64]) -> NDArray[np.int64]:
        """Repeat each box's value for its rows."""
        return np.repeat(of_box, self.stops - self.starts)


def lists_and_bins(
    borders: Borders | SharedBorders,
) -> tuple[Borders, NDArray[np.int64], NDArray[np.int64]]:
    """Return the lists of borders, each box's list, and the first bin of each box."""
    if isinstance(borders, SharedBorders):
        return borders.lists, borders.which, borders.first_bins
    return borders, np.arange(borders.n_boxes), borders.bin_starts[:-1]


def count_by_numpy(
    codes: Codes, borders: Borders | SharedBorders, size: int, rows: RequestedRows
) -> NDArray[np.int64]:
    """Return class counts of shape (bins, classes), contiguous by class."""
    lists, which, first_bins = lists_and_bins(borders)
    n_bins = borders.n_bins
    n_cells = n_bins * rows.n_classes
    find = _looking_up(lists, size) if _small(lists, size, rows.n_rows) else _searching(lists, size)
    column = rows.chosen(codes)
    list_of, bin_of = rows.per_row(which * size), rows.per_row(first_bins)
    labels = None if rows.classes is None else rows.chosen(rows.classes)
    counts = np.zeros(n_cells, dtype=np.int64)
    chunk = max(_LEAST_CHUNK, 4 * n_cells)
    for start in range(0, len(column), chunk):
        part = slice(start, start + chunk)
        cells = find(column[part], list_of[part])
        cells += bin_of[part]
        if labels is not None:
            cells += labels[part].astype(np.int64) * n_bins
        counts += np.bincount(cells, minlength=n_cells)
    return counts.reshape(rows.n_classes, n_bins).T


def count_compiled(
    codes: Codes, borders: Borders | SharedBorders, size: int, rows: RequestedRows
) -> NDArray[np.int64]:
    """Return the same by compiled loops."""
    from hedgerow.count.compiled import placed as compiled

    lists, which, first_bins = lists_and_bins(borders)
    small = _small(lists, size, rows.n_rows)
    tables = np.empty((lists.n_boxes if small else 0, size), dtype=np.int64)
    compiled.fill_tables(lists.starts, lists.values, tables)
    counts = np.zeros((rows.n_classes, borders.n_bins), dtype=np.int64)
    compiled.count_bins(
        codes,
        np.zeros(0, dtype=np.uint8) if rows.classes is None else rows.classes,
        rows.classes is not None,
        rows.starts,
        rows.stops,
        which,
        lists.starts,
        lists.values,
        tables,
        first_bins,
        counts,
    )
    return counts.T


def _small(lists: Borders, size: int, n_rows: int) -> bool:
    return lists.n_boxes * size <= max(LOOKED_UP, n_rows)


def _tables(lists: Borders, size: int) -> NDArray[np.int64]:
    """Return the bin of each code, list after list."""
    owners = np.repeat(np.arange(lists.n_boxes), np.diff(lists.starts))
    inside = lists.values < size
    steps = np.bincount(
        owners[inside] * size + lists.values[inside], minlength=lists.n_boxes * size
    )
    tables: NDArray[np.int64] = np.cumsum(steps.reshape(lists.n_boxes, size), axis=1)
    return tables.reshape(-1)


def _looking_up(lists: Borders, size: int) -> _Find:
    tables = _tables(lists, size)
    if lists.n_boxes == 1:
        return lambda codes, offsets: tables.take(codes)
    return lambda codes, offsets: tables.take(offsets + codes)


def _searching(lists: Borders, size: int) -> _Find:
    """Search all lists at once: borders increase within a list, and lists are offset."""
    width = size + 1
    owners = np.repeat(np.arange(lists.n_boxes), np.diff(lists.starts))
    keys = owners * width + lists.values

    def find(codes: Codes, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        which = offsets // size
        return np.searchsorted(keys, which * width + codes, side="right") - lists.starts[which]

    return find
