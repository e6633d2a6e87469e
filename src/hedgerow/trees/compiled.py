"""Compiled loops over the counts of a level. Import lazily.

Loops go class by class and without branches, so that several cells are processed at once; sums of
units are integers far below 2^53, which floats add exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop

CELLS_AT_ONCE = 1024


@compile_loop
def gini_of_children(
    counts: NDArray[np.int64], first: int, stop: int, unit: int, sums: NDArray[np.int64]
) -> None:
    """Add up the Gini counts of bins ``first`` to ``stop`` of ``counts`` (classes, bins)."""
    sizes, squares = np.empty(CELLS_AT_ONCE), np.empty(CELLS_AT_ONCE)
    total = 0.0
    for start in range(first, stop, CELLS_AT_ONCE):
        n_cells = min(CELLS_AT_ONCE, stop - start)
        sizes[:], squares[:] = 0.0, 0.0
        for label in range(counts.shape[0]):
            row = counts[label, start : start + n_cells]
            for cell in range(n_cells):
                n = float(row[cell])
                sizes[cell] += n
                squares[cell] += n * n
        for cell in range(n_cells):
            total += np.rint(squares[cell] / max(sizes[cell], 1.0) * unit)
    sums[0] = np.int64(total)


@compile_loop
def gini_of_borders(
    counts: NDArray[np.int64], first: int, stop: int, unit: int, sums: NDArray[np.int64]
) -> None:
    """Add up, for each border, the Gini counts of both sides over all boxes.

    Boxes are adjacent from bin ``first`` to ``stop``, each with one bin more than there are
    ``sums``.
    """
    n_borders = len(sums)
    left, sizes = np.empty(n_borders), np.empty(n_borders)
    of_left, of_right = np.empty(n_borders), np.empty(n_borders)
    totals = np.zeros(n_borders)
    for start in range(first, stop, n_borders + 1):
        all_ = 0.0
        sizes[:], of_left[:], of_right[:] = 0.0, 0.0, 0.0
        for label in range(counts.shape[0]):
            row = counts[label, start : start + n_borders + 1]
            running = np.int64(0)
            for border in range(n_borders):
                running += row[border]
                left[border] = float(running)
            whole = float(running + row[n_borders])
            all_ += whole
            for border in range(n_borders):
                rest = whole - left[border]
                sizes[border] += left[border]
                of_left[border] += left[border] * left[border]
                of_right[border] += rest * rest
        if all_ > 0.0:
            for border in range(n_borders):
                totals[border] += np.rint(of_left[border] / max(sizes[border], 1.0) * unit)
                rest = all_ - sizes[border]
                totals[border] += np.rint(of_right[border] / max(rest, 1.0) * unit)
    for border in range(n_borders):
        sums[border] = np.int64(totals[border])
