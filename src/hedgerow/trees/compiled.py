"""Compiled loops over the counts of a level. Import lazily."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop


@compile_loop
def gini_of_children(
    counts: NDArray[np.int64], first: int, stop: int, unit: int, sums: NDArray[np.int64]
) -> None:
    """Add up the Gini counts of bins ``first`` to ``stop`` of ``counts`` (classes, bins)."""
    total = np.int64(0)
    for cell in range(first, stop):
        size = np.int64(0)
        for label in range(counts.shape[0]):
            size += counts[label, cell]
        if size:  # most are empty where boxes are many
            squares = 0.0
            for label in range(counts.shape[0]):
                n = float(counts[label, cell])
                squares += n * n
            total += np.int64(np.rint(squares / size * unit))
    sums[0] = total


@compile_loop
def gini_of_borders(
    counts: NDArray[np.int64], first: int, stop: int, unit: int, sums: NDArray[np.int64]
) -> None:
    """Add up, for each border, the Gini counts of both sides of it over all boxes.

    Boxes lie one after the other from bin ``first`` to ``stop``, each with one bin more than
    there are ``sums``.
    """
    n_classes, n_borders = counts.shape[0], len(sums)
    whole, left = np.empty(n_classes), np.empty(n_classes)
    for start in range(first, stop, n_borders + 1):
        all_ = 0.0
        for label in range(n_classes):
            n = np.int64(0)
            for cell in range(start, start + n_borders + 1):
                n += counts[label, cell]
            whole[label] = n
            left[label] = 0.0
            all_ += n
        if all_ == 0.0:
            continue
        for border in range(n_borders):
            size, of_left, of_right = 0.0, 0.0, 0.0
            for label in range(n_classes):
                left[label] += counts[label, start + border]
                size += left[label]
                of_left += left[label] * left[label]
                rest = whole[label] - left[label]
                of_right += rest * rest
            if size > 0.0:
                sums[border] += np.int64(np.rint(of_left / size * unit))
            if all_ - size > 0.0:
                sums[border] += np.int64(np.rint(of_right / (all_ - size) * unit))
