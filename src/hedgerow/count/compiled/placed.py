"""Compiled loops over placed records, cached on disk. Import lazily."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.compiled.table import LANES
from hedgerow.model.compiling import compile_loop


@compile_loop
def n_reached(values: NDArray[np.int32], low: int, high: int, code: int) -> int:
    """Return how many borders from ``low`` to before ``high`` are at or below a code."""
    left, right = low, high
    while left < right:
        middle = (left + right) // 2
        if values[middle] <= code:
            left = middle + 1
        else:
            right = middle
    return left - low


@compile_loop
def count_in_lanes(
    codes: NDArray[np.unsignedinteger],
    classes: NDArray[np.unsignedinteger],
    has_classes: bool,
    first: int,
    stop: int,
    table: NDArray[np.int64],
    bins: int,
    lanes: NDArray[np.int64],
) -> None:
    """Count rows ``first`` to ``stop`` by class and the bin of their code, in four lanes."""
    whole = stop - (stop - first) % 4
    if has_classes:
        for row in range(first, whole, 4):
            lanes[0, table[codes[row]] + bins * classes[row]] += 1
            lanes[1, table[codes[row + 1]] + bins * classes[row + 1]] += 1
            lanes[2, table[codes[row + 2]] + bins * classes[row + 2]] += 1
            lanes[3, table[codes[row + 3]] + bins * classes[row + 3]] += 1
        for row in range(whole, stop):
            lanes[0, table[codes[row]] + bins * classes[row]] += 1
    else:
        for row in range(first, stop):
            lanes[row % 4, table[codes[row]]] += 1


@compile_loop
def fill_tables(
    starts: NDArray[np.int64], values: NDArray[np.int32], tables: NDArray[np.int64]
) -> None:
    """Write the bin of each code (lists, codes), by the borders of each list."""
    for n in range(tables.shape[0]):
        table, first = tables[n], 0
        for border in range(starts[n], starts[n + 1]):
            stop = min(int(values[border]), len(table))
            for code in range(first, stop):
                table[code] = border - starts[n]
            first = max(first, stop)
        for code in range(first, len(table)):
            table[code] = starts[n + 1] - starts[n]


@compile_loop
def count_bins(
    codes: NDArray[np.unsignedinteger],
    classes: NDArray[np.unsignedinteger],
    has_classes: bool,
    row_starts: NDArray[np.int64],
    row_stops: NDArray[np.int64],
    which: NDArray[np.int64],
    starts: NDArray[np.int64],
    values: NDArray[np.int32],
    tables: NDArray[np.int64],
    first_bins: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Count the records of each box by bin and class, into ``counts`` (classes, bins).

    Box ``b`` has the list ``which[b]`` of borders. ``tables`` has the bin of each code, one row
    per list, or no rows: then a box with many records makes its own table, and one with few
    records searches. Many records are counted in several lanes, so that adjacent ones rarely
    wait for one cell.
    """
    n_classes, size = counts.shape[0], tables.shape[1]
    widest = 0
    for n in range(len(starts) - 1):
        widest = max(widest, starts[n + 1] - starts[n] + 1)
    own = np.empty(size, dtype=np.int64)
    lanes = np.zeros((LANES, widest * n_classes), dtype=np.int64)
    for box in range(len(which)):
        first, stop, n = row_starts[box], row_stops[box], which[box]
        low, high, base = starts[n], starts[n + 1], first_bins[box]
        bins = high - low + 1
        if len(tables) or (stop - first) * 4 > size + bins * n_classes:
            table = tables[n] if len(tables) else own
            if not len(tables):
                bin_ = 0
                for code in range(size):
                    while low + bin_ < high and values[low + bin_] <= code:
                        bin_ += 1
                    own[code] = bin_
            if stop - first > 4 * bins * n_classes:
                count_in_lanes(codes, classes, has_classes, first, stop, table, bins, lanes)
                for cell in range(bins * n_classes):
                    for lane in range(LANES):
                        counts[cell // bins, base + cell % bins] += lanes[lane, cell]
                        lanes[lane, cell] = 0
            else:
                for row in range(first, stop):
                    label = np.int64(classes[row]) if has_classes else np.int64(0)
                    counts[label, base + table[codes[row]]] += 1
        else:
            for row in range(first, stop):
                label = np.int64(classes[row]) if has_classes else np.int64(0)
                counts[label, base + n_reached(values, low, high, codes[row])] += 1


@compile_loop
def place_rows(
    codes: NDArray[np.unsignedinteger],
    rows: NDArray[np.int64],
    boxes: NDArray[np.int64],
    starts: NDArray[np.int64],
    values: NDArray[np.int32],
    first_child: NDArray[np.int64],
    begins: NDArray[np.int64],
    places: NDArray[np.signedinteger],
    child_starts: NDArray[np.int64],
) -> None:
    """Write the new position of each record of ``boxes``, which all split on one attribute.

    The children of box ``b`` are adjacent, from ``begins[b]`` on, and keep the order of records;
    their starts are written to ``child_starts``.
    """
    for box in boxes:
        first, stop = rows[box], rows[box + 1]
        low, high, base = starts[box], starts[box + 1], first_child[box]
        begin = begins[box]
        if low == high:
            child_starts[base] = begin
            for row in range(first, stop):
                places[row] = begin + row - first
        elif low + 1 == high:
            border, n_left = values[low], 0
            for row in range(first, stop):
                n_left += codes[row] < border
            left, right = begin, begin + n_left
            child_starts[base], child_starts[base + 1] = left, right
            for row in range(first, stop):
                is_left = codes[row] < border
                places[row] = left if is_left else right
                left += is_left
                right += 1 - is_left
        else:
            next_place = np.zeros(high - low + 2, dtype=np.int64)
            for row in range(first, stop):
                child = n_reached(values, low, high, codes[row])
                places[row] = child
                next_place[child + 1] += 1
            next_place[0] = begin
            for child in range(high - low + 1):
                next_place[child + 1] += next_place[child]
                child_starts[base + child] = next_place[child]
            for row in range(first, stop):
                child = places[row]
                places[row] = next_place[child]
                next_place[child] += 1


@compile_loop
def child_sizes(child: NDArray[np.signedinteger], sizes: NDArray[np.int64]) -> None:
    """Count the rows of every child."""
    for row in range(len(child)):
        if child[row] >= 0:
            sizes[child[row]] += 1


@compile_loop
def row_places(child: NDArray[np.signedinteger], next_place: NDArray[np.int64]) -> None:
    """Replace each row's child by its position among all rows sorted by child; -1 is kept."""
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
    """Write each code to its position, without those of position -1."""
    for row in range(len(places)):
        if places[row] >= 0:
            moved[places[row]] = codes[row]
