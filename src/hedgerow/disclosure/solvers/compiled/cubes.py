"""The best node of the aggregate model for many records with small lattices, compiled.

Compiled form of :func:`~hedgerow.disclosure.solvers.aggregate.best_in_cube`, node for node; a
test compares the two. Import lazily: loading Numba takes a while. All functions that the cached
function calls are in this file, because a cache is renewed when its own file changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numba import njit

from hedgerow.model.compiling import compile_loop

if TYPE_CHECKING:
    from collections.abc import Callable

_F = TypeVar("_F", bound="Callable[..., Any]")


def _compiled(function: _F) -> _F:
    return cast("_F", njit(nogil=True, boundscheck=False)(function))


@compile_loop
def maximise_problems(
    problem_arrays: tuple[Any, ...],
    hierarchy_arrays: tuple[Any, ...],
    entry_arrays: tuple[Any, ...],
    settings: tuple[Any, ...],
    found_arrays: tuple[Any, ...],
) -> None:
    """Answer every problem by examining every node of its lattice.

    The arguments are rows, heights, strides and personal weights of the problems; first, stop,
    utility and weights of the hierarchy; places, multiplicities and number of places of the
    dictionary; risk weight, power, constant (above 0), margin and whether there are weights;
    levels, numbers of matches, utilities and severities found.
    """
    rows, heights, strides, personal = problem_arrays
    first, stop, utility, weights = hierarchy_arrays
    levels, matches, worth, burden = found_arrays
    most = 1
    for job in range(len(rows)):
        most = max(most, strides[job, 0] * (heights[job, 0] + 1))
    all_counts, all_values = np.empty(most, np.int64), np.empty(most, np.float64)
    for job in range(len(rows)):
        n_nodes = strides[job, 0] * (heights[job, 0] + 1)
        counts, values = all_counts[:n_nodes], all_values[:n_nodes]
        if job == 0 or (rows[job] != rows[job - 1]).any():
            place = (rows[job], heights[job], strides[job])
            count_matches(place, (first, stop), entry_arrays, counts)
        person = (rows[job], heights[job], personal[job])
        evaluate_cubes(person, (utility, weights), settings, counts, values)
        best = least_best(heights[job], strides[job], values, settings[3])
        added = weighed = 0.0
        for i in range(rows.shape[1]):
            level = best // strides[job, i] % (heights[job, i] + 1)
            levels[job, i] = level
            added += utility[rows[job, i], level]
            weighed += weights[rows[job, i], level] * personal[job, i]
        matches[job], worth[job], burden[job] = counts[best], added, weighed


@_compiled
def evaluate_cubes(person: Any, tables: Any, settings: Any, counts: Any, values: Any) -> None:
    """Compute the aggregate of every node."""
    rows, heights, personal = person
    utility, weights = tables
    risk_weight, power, constant, _, weighed = settings
    level = np.zeros(len(rows), dtype=np.int64)
    for rank in range(len(counts)):
        useful, sensitive = 0.0, 0.0
        for i in range(len(rows)):
            useful += utility[rows[i], level[i]]
            sensitive += weights[rows[i], level[i]] * personal[i]
        if not weighed:
            sensitive = 0.0
        powered = useful if power == 1.0 else useful**power
        values[rank] = risk_weight * counts[rank] / (constant + sensitive) + powered
        for i in range(len(rows) - 1, -1, -1):  # the next node in order
            level[i] += 1
            if level[i] <= heights[i]:
                break
            level[i] = 0


@_compiled
def least_best(heights: Any, strides: Any, values: Any, margin: float) -> int:
    """Return the meet of all best nodes, or the first of them if rounding has broken that."""
    most = values[0]
    for rank in range(len(values)):
        most = max(most, values[rank])
    enough = most * (1 - margin)
    lowest = heights.copy()
    first = -1
    for rank in range(len(values)):
        if values[rank] >= enough:
            if first < 0:
                first = rank
            for i in range(len(heights)):
                lowest[i] = min(lowest[i], rank // strides[i] % (heights[i] + 1))
    meet = 0
    for i in range(len(heights)):
        meet += lowest[i] * strides[i]
    return int(meet if values[meet] >= enough else first)


@_compiled
def count_matches(place_arrays: Any, bounds: Any, entry_arrays: Any, counts: Any) -> None:
    """Count the matches of every node of one record's lattice into ``counts``."""
    rows, heights, strides = place_arrays
    first, stop = bounds
    places, many, n_places = entry_arrays
    # The change of a level vector's rank per value; values excluded by known levels are omitted.
    steps = np.full(n_places, -(1 << 40), np.int64)
    for i in range(len(rows)):
        for level in range(heights[i], -1, -1):
            for place in range(first[rows[i], level], stop[rows[i], level]):
                steps[place] = level * strides[i]
    for rank in range(len(counts)):
        counts[rank] = 0
    for entry in range(len(many)):
        cell = 0
        for i in range(len(rows)):
            cell += steps[places[entry, i]]
        if cell >= 0:
            counts[cell] += many[entry]
    for i in range(len(rows)):  # prefix sums along each chain
        block = strides[i] * (heights[i] + 1)
        for start in range(0, len(counts), block):
            for cell in range(start + strides[i], start + block):
                counts[cell] += counts[cell - strides[i]]
