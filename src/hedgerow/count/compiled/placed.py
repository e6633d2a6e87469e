"""Compiled loops over placed records, cached on disk. Import lazily."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.compiled.table import LANES
from hedgerow.model.compiling import compile_loop


@compile_loop
def count_in_lanes(
    codes: NDArray[np.unsignedinteger],
    classes: NDArray[np.unsignedinteger],
    has_classes: bool,
    first: int,
    stop: int,
    table: NDArray[np.int64],
    lanes: NDArray[np.int64],
) -> None:
    """Count rows ``first`` to ``stop`` by the cell of their code, in four lanes."""
    whole = stop - (stop - first) % 4
    if has_classes:
        for row in range(first, whole, 4):
            lanes[0, table[codes[row]] + classes[row]] += 1
            lanes[1, table[codes[row + 1]] + classes[row + 1]] += 1
            lanes[2, table[codes[row + 2]] + classes[row + 2]] += 1
            lanes[3, table[codes[row + 3]] + classes[row + 3]] += 1
        for row in range(whole, stop):
            lanes[0, table[codes[row]] + classes[row]] += 1
    else:
        for row in range(first, stop):
            lanes[row % 4, table[codes[row]]] += 1


@compile_loop
def count_bins(
    codes: NDArray[np.unsignedinteger],
    classes: NDArray[np.unsignedinteger],
    has_classes: bool,
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    values: NDArray[np.int32],
    size: int,
    counts: NDArray[np.int64],
) -> None:
    """Count the records of each box by bin and class, into ``counts`` (bins, classes).

    A box with many records looks its codes up in a table of cells and counts in several
    lanes, so that neighbouring records rarely wait for one cell; one with few searches.
    """
    n_classes = counts.shape[1]
    table = np.empty(size, dtype=np.int64)
    widest = 0
    for box in range(len(rows) - 1):
        widest = max(widest, starts[box + 1] - starts[box] + 1)
    lanes = np.zeros((LANES, widest * n_classes), dtype=np.int64)
    for box in range(len(rows) - 1):
        first, stop = rows[box], rows[box + 1]
        low, high = starts[box], starts[box + 1]
        base = low + box
        if (stop - first) * 4 > size + widest * n_classes:
            bin_ = 0
            for code in range(size):
                while low + bin_ < high and values[low + bin_] <= code:
                    bin_ += 1
                table[code] = bin_ * n_classes
            count_in_lanes(codes, classes, has_classes, first, stop, table, lanes)
            for cell in range((high - low + 1) * n_classes):
                for lane in range(LANES):
                    counts[base + cell // n_classes, cell % n_classes] += lanes[lane, cell]
                    lanes[lane, cell] = 0
            continue
        for row in range(first, stop):
            code = codes[row]
            left, right = low, high
            while left < right:
                middle = (left + right) // 2
                if values[middle] <= code:
                    left = middle + 1
                else:
                    right = middle
            label = np.int64(classes[row]) if has_classes else np.int64(0)
            counts[base + left - low, label] += 1


@compile_loop
def route_rows(
    codes: NDArray[np.unsignedinteger],
    rows: NDArray[np.int64],
    boxes: NDArray[np.int64],
    starts: NDArray[np.int64],
    values: NDArray[np.int32],
    first_child: NDArray[np.int64],
    child: NDArray[np.signedinteger],
) -> None:
    """Write the child of every record of ``boxes``, which all split on one attribute."""
    for box in boxes:
        low, high, base = starts[box], starts[box + 1], first_child[box]
        for row in range(rows[box], rows[box + 1]):
            code = codes[row]
            left, right = low, high
            while left < right:
                middle = (left + right) // 2
                if values[middle] <= code:
                    left = middle + 1
                else:
                    right = middle
            child[row] = base + left - low


@compile_loop
def child_sizes(child: NDArray[np.signedinteger], sizes: NDArray[np.int64]) -> None:
    """Count the rows of every child."""
    for row in range(len(child)):
        if child[row] >= 0:
            sizes[child[row]] += 1


@compile_loop
def row_places(child: NDArray[np.signedinteger], next_place: NDArray[np.int64]) -> None:
    """Replace each row's child by its place among all rows sorted by child; -1 stays."""
    for row in range(len(child)):
        if child[row] >= 0:
            place = next_place[child[row]]
            next_place[child[row]] = place + 1
            child[row] = place


@compile_loop
def move_rows(
    codes: NDArray[np.unsignedinteger],
    places: NDArray[np.signedinteger],
    moved: NDArray[np.unsignedinteger],
) -> None:
    """Write each code to its place, leaving out those of place -1."""
    for row in range(len(places)):
        if places[row] >= 0:
            moved[places[row]] = codes[row]
