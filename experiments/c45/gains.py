"""Information gain and gain ratio of the splits of one node, compiled.

Formulas and tolerances are those of C4.5 release 8 as Weka's J48 computes them, so that trees
can be compared node by node.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from experiments.c45.learning import Learning, Rules
from hedgerow.model.compiling import compile_loop

SMALL = 1e-6
"""Differences below this are none."""

APART = 1e-5
"""Numbers closer than this cannot be told apart by a threshold."""

MOST_REQUIRED = 25.0
"""A branch of a number needs a tenth of the average class, but never more than this."""


@compile_loop
def x_log_x(x: float) -> float:
    """Return x times its logarithm to base 2."""
    return 0.0 if x < SMALL else x * math.log2(x)


@compile_loop
def entropy(counts: NDArray[np.float64]) -> float:
    """Return the bits that the classes of all records together take."""
    total, parts = 0.0, 0.0
    for count in counts:
        total += count
        parts += x_log_x(count)
    return x_log_x(total) - parts


@compile_loop
def tally(
    learning: Learning,
    attribute: int,
    rows: NDArray[np.int32],
    parts: NDArray[np.float64],
    counts: NDArray[np.float64],
    met: NDArray[np.int64],
) -> tuple[int, float]:
    """Add up classes by code; return how many codes were met and the records with a value.

    ``counts`` must be zero before, and is left so by :func:`forget`.
    """
    n_met, records = 0, 0.0
    for i in range(len(rows)):
        code = learning.codes[attribute, rows[i]]
        if code < 0:
            continue
        row = counts[code]
        empty = True
        for c in range(learning.n_classes):
            if row[c] != 0.0:
                empty = False
        if empty:
            met[n_met] = code
            n_met += 1
        row[learning.classes[rows[i]]] += parts[i]
        records += learning.weights[rows[i]]
    return n_met, records


@compile_loop
def forget(counts: NDArray[np.float64], met: NDArray[np.int64]) -> None:
    """Set the counts of the codes that were met to zero again."""
    for code in met:
        for c in range(counts.shape[1]):
            counts[code, c] = 0.0


@compile_loop
def of_categories(
    counts: NDArray[np.float64], met: NDArray[np.int64], total: float, rules: Rules
) -> tuple[float, float]:
    """Return gain and gain ratio of a branch for every category; (0, 0) if there is no split."""
    classes = np.zeros(counts.shape[1])
    branches, sizes, known, large = 0.0, 0.0, 0.0, 0
    for code in met:
        size = 0.0
        for c in range(len(classes)):
            classes[c] += counts[code, c]
            size += counts[code, c]
        branches += entropy(counts[code])
        sizes += x_log_x(size)
        known += size
        large += size >= rules.least - SMALL
    if large < 2:
        return 0.0, 0.0
    gain = _gain(entropy(classes) - branches, known, total)
    return gain, _ratio(gain, sizes, known, total)


@compile_loop
def of_numbers(
    counts: NDArray[np.float64],
    met: NDArray[np.int64],
    values: NDArray[np.float64],
    records: float,
    total: float,
    rules: Rules,
) -> tuple[float, float, int]:
    """Return gain, gain ratio and the code of the best threshold (-1: none) of a number.

    ``met`` are codes in rising order; up to the code records go left.
    """
    right, left = np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    known = 0.0
    for code in met:
        for c in range(len(right)):
            right[c] += counts[code, c]
            known += counts[code, c]
    least = _least_branch(known, len(right), rules.least)
    if 2 * least - records > SMALL:
        return 0.0, 0.0, -1
    before, small = entropy(right), 0.0
    best, best_left, at, n_tried = 0.0, 0.0, -1, 0
    for i in range(len(met) - 1):
        for c in range(len(left)):
            moved = counts[met[i], c]
            left[c], right[c], small = left[c] + moved, right[c] - moved, small + moved
        if not values[met[i]] + APART < values[met[i + 1]]:
            continue
        if small < least - SMALL or known - small < least - SMALL:
            continue
        n_tried += 1
        gain = _gain(before - entropy(left) - entropy(right), known, total)
        if gain - best > SMALL:
            best, best_left, at = gain, small, i
    if rules.corrected and n_tried:
        best -= math.log2(n_tried) / total
    if at < 0 or best < SMALL:
        return 0.0, 0.0, -1
    sizes = x_log_x(best_left) + x_log_x(known - best_left)
    return best, _ratio(best, sizes, known, total), _threshold(values, met[at], met[at + 1])


@compile_loop
def _least_branch(known: float, n_classes: int, least: float) -> float:
    tenth = 0.1 * known / n_classes
    return least if tenth < least + SMALL else min(tenth, MOST_REQUIRED)


@compile_loop
def _gain(bits: float, known: float, total: float) -> float:
    """Return bits a record, counted only for the part of the records that have a value."""
    gained = bits * (known / total)
    return 0.0 if abs(gained) < SMALL else gained / known


@compile_loop
def _ratio(gain: float, sizes: float, known: float, total: float) -> float:
    """Return gain over the bits of the division itself, missing values being one more branch."""
    bits = x_log_x(total) - x_log_x(total - known) - sizes
    return 0.0 if abs(bits) < SMALL else gain / (bits / total)


@compile_loop
def _threshold(values: NDArray[np.float64], low: int, high: int) -> int:
    """Return the largest value of the whole table that is not beyond the middle of the two."""
    middle = (values[low] + values[high]) / 2
    at = low
    while at + 1 < high and values[at + 1] <= middle:
        at += 1
    return at
