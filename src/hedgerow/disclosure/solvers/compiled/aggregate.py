"""Compiled loops over level vectors, cached on disk. Import lazily: loading Numba takes a while.

``columns[i, t]`` is the level of attribute ``i`` in level vector ``t``, ``many[t]`` the number
of dictionary records that it represents. A *literal* of a vector is an attribute in which it is
above the least node in question; the vector matches a node that is at least as high in all of them.

Loops run along the columns and select without branching, so that they are vectorised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Levels
from hedgerow.model.arrays import Ints
from hedgerow.model.compiling import compile_loop

BLOCK = 1024
"""Number of consecutive vectors that examine their attributes in the same order."""

Shorts = NDArray[np.int16]


@compile_loop
def fitting(columns: Levels, node: Levels) -> NDArray[np.bool_]:
    """Return which vectors match a node."""
    n_attributes, n_vectors = columns.shape
    fits = np.ones(n_vectors, dtype=np.bool_)
    for i in range(n_attributes):
        column, level = columns[i], node[i]
        for t in range(n_vectors):
            fits[t] &= column[t] <= level
    return fits


@compile_loop
def counts_at(columns: Levels, many: Ints, nodes: Levels) -> Ints:
    """Return the number of records that match each node."""
    counts = np.zeros(len(nodes), dtype=np.int64)
    for p in range(len(nodes)):
        fits = fitting(columns, nodes[p])
        for t in range(len(many)):
            counts[p] += many[t] if fits[t] else 0
    return counts


@compile_loop
def level_histograms(columns: Levels, many: Ints, heights: Levels, n_levels: int) -> Ints:
    """Return how many records have each level, by attribute."""
    n_attributes, n_vectors = columns.shape
    sums = np.zeros((n_attributes, n_levels), dtype=np.int64)
    for begin in range(0, n_vectors, BLOCK):
        end = min(begin + BLOCK, n_vectors)
        weights = many[begin:end]
        for i in range(n_attributes):
            column = columns[i, begin:end]
            for level in range(heights[i] + 1):
                sought, found = np.uint8(level), np.int64(0)
                for t in range(len(column)):
                    found += weights[t] if column[t] == sought else np.int64(0)
                sums[i, level] += found
    return sums


@compile_loop
def two_literals(columns: Levels, nodes: Levels, orders: Ints) -> tuple[Shorts, Shorts]:
    """Return the attributes of two literals of each vector, -1 for none.

    A literal is above ``nodes[0]``, and the first one also above ``nodes[1]`` if any is. Each
    block of vectors examines attributes in the next of the ``orders``.
    """
    n_vectors = columns.shape[1]
    n_orders, n_looked = orders.shape
    firsts = np.full(n_vectors, -1, dtype=np.int16)
    seconds = np.full(n_vectors, -1, dtype=np.int16)
    for begin in range(0, n_vectors, BLOCK):
        end = min(begin + BLOCK, n_vectors)
        order = orders[begin // BLOCK % n_orders]
        first, second = firsts[begin:end], seconds[begin:end]
        for o in range(n_looked):
            i, this = order[o], np.int16(order[o])
            column, level = columns[i, begin:end], nodes[1, i]
            for t in range(len(first)):
                hit = (column[t] > level) & (first[t] < 0)
                first[t] = this if hit else first[t]
        for o in range(n_looked):
            i, this = order[o], np.int16(order[o])
            column, level = columns[i, begin:end], nodes[0, i]
            for t in range(len(first)):
                above, old = column[t] > level, first[t]
                other = above & (old >= 0) & (old != this) & (second[t] < 0)
                second[t] = this if other else second[t]
            for t in range(len(first)):
                hit = (column[t] > level) & (first[t] < 0)
                first[t] = this if hit else first[t]
    return firsts, seconds


@compile_loop
def literal_numbers(
    columns: Levels, many: Ints, attributes: Shorts, start: Ints, none: int
) -> Ints:
    """Return the number ``start[i] + level`` of each vector's literal, or ``none`` without one.

    Vectors that represent no record have none.
    """
    numbers = np.full(len(attributes), none, dtype=np.int64)
    for t in range(len(attributes)):
        i = attributes[t]
        if i >= 0 and many[t] > 0:
            numbers[t] = start[i] + columns[i, t]
    return numbers


@compile_loop
def near_histograms(columns: Levels, many: Ints, low: Levels, n_levels: int) -> Ints:
    """Return by attribute how many records would match ``low`` with that attribute at each level.

    Records that match already count at the level of ``low``.
    """
    n_attributes, n_vectors = columns.shape
    nodes = np.empty((2, n_attributes), dtype=np.uint8)
    nodes[:] = low
    firsts, seconds = two_literals(columns, nodes, np.arange(n_attributes).reshape(1, -1))
    sums = np.zeros((n_attributes, n_levels), dtype=np.int64)
    fit = 0
    for t in range(n_vectors):
        if firsts[t] < 0:
            fit += many[t]
        elif seconds[t] < 0:
            sums[firsts[t], columns[firsts[t], t]] += many[t]
    for i in range(n_attributes):
        sums[i, low[i]] += fit
    return sums


@compile_loop
def literals_above(
    columns: Levels, wanted: NDArray[np.bool_], node: Levels, orders: Ints
) -> Shorts:
    """Return the attribute of a literal above ``node`` for each wanted vector, -1 for none."""
    n_vectors = columns.shape[1]
    n_orders, n_looked = orders.shape
    found = np.full(n_vectors, -1, dtype=np.int16)
    for begin in range(0, n_vectors, BLOCK):
        end = min(begin + BLOCK, n_vectors)
        order = orders[begin // BLOCK % n_orders]
        here = found[begin:end]
        for o in range(n_looked):
            i, this = order[o], np.int16(order[o])
            column, level = columns[i, begin:end], node[i]
            for t in range(len(here)):
                hit = (column[t] > level) & (here[t] < 0)
                here[t] = this if hit else here[t]
        for t in range(begin, end):
            found[t] = found[t] if wanted[t] else np.int16(-1)
    return found
