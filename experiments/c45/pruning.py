"""Pruning a grown tree, compiled: branches that do not pay are cut, or replaced by one of them.

A leaf is charged the upper limit of a 75 % confidence interval on its errors (CF 25 %).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from experiments.c45.gains import SMALL
from experiments.c45.growing import (
    ATTRIBUTE,
    FIRST,
    LEAF,
    MANY,
    N_NODES,
    N_ROWS,
    START,
    STOP,
    THRESHOLD,
    Nodes,
    count_classes,
    divide,
    give_rows,
    longer,
    new_leaf,
    taller,
)
from experiments.c45.learning import Learning
from hedgerow.model.compiling import compile_loop

CONFIDENCE = 0.25
QUANTILE = 0.6744897501960817
"""The normal quantile of 1 - CONFIDENCE."""

SLACK = 0.1
"""A smaller tree is taken where it is charged no more than this in addition."""

NOTHING_LOST = 1e-3


@compile_loop
def added_errors(n: float, e: float) -> float:
    """Return what is added to e errors among n records, for the upper limit of their number."""
    if e < 1:
        base = n * (1 - math.pow(CONFIDENCE, 1 / n))
        if e == 0:
            return base
        one = max(n - 1, 0.0) if n <= 1.5 else _beyond(n, 1.0)
        return base + e * (one - base)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    return _beyond(n, e)


@compile_loop
def _beyond(n: float, e: float) -> float:
    z, f = QUANTILE, (e + 0.5) / n
    spread = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return (f + z * z / (2 * n) + z * spread) / (1 + z * z / n) * n - e


@compile_loop
def wrong(counts: NDArray[np.float64]) -> tuple[float, float]:
    """Return the weight of all classes, and of all but the largest."""
    total, most = 0.0, 0.0
    for count in counts:
        total += count
        most = max(most, count)
    return total, total - most


@compile_loop
def charged(counts: NDArray[np.float64]) -> float:
    """Return the errors that a leaf with these class weights is charged."""
    n, e = wrong(counts)
    return 0.0 if n < SMALL else e + added_errors(n, e)


@compile_loop
def collapse(nodes: Nodes) -> None:
    """Cut every subtree that gets no more training records right than its root would alone."""
    n = nodes.used[N_NODES]
    below = np.zeros(n)
    for at in range(n - 1, -1, -1):
        if nodes.table[at, ATTRIBUTE] == LEAF:
            below[at] = wrong(nodes.counts[at])[1]
            continue
        first = nodes.table[at, FIRST]
        for s in range(first, first + nodes.table[at, MANY]):
            if nodes.sons[s] != LEAF:
                below[at] += below[nodes.sons[s]]
    for at in range(n):
        branches = nodes.table[at, ATTRIBUTE] != LEAF
        if branches and below[at] >= wrong(nodes.counts[at])[1] - NOTHING_LOST:
            _make_leaf(nodes, at)


@compile_loop
def _make_leaf(nodes: Nodes, at: int) -> None:
    nodes.table[at, ATTRIBUTE], nodes.table[at, MANY] = LEAF, 0


@compile_loop
def prune(learning: Learning, nodes: Nodes) -> Nodes:
    """Return the pruned tree; a subtree may be raised to its parent's place."""
    errors = np.zeros(len(nodes.table))
    waiting = np.empty(64, dtype=np.int64)
    waiting[0], n = 0, 1
    while n:
        # A node waits as itself until its sons are pruned, then as ~node.
        at = waiting[n - 1]
        if at >= 0:
            if n + nodes.table[at, MANY] > len(waiting):
                waiting = longer(waiting, n + nodes.table[at, MANY])
            waiting[n - 1] = ~at
            n = _sons_wait(nodes, at, waiting, n)
            continue
        nodes, again = _settle(learning, nodes, ~at, errors)
        if len(errors) < len(nodes.table):
            errors = longer(errors, len(nodes.table))
        if again:
            waiting[n - 1] = ~at
        else:
            n -= 1
    return nodes


@compile_loop
def _sons_wait(nodes: Nodes, at: int, waiting: NDArray[np.int64], n: int) -> int:
    first = nodes.table[at, FIRST]
    for s in range(first, first + nodes.table[at, MANY]):
        if nodes.sons[s] != LEAF:
            waiting[n] = nodes.sons[s]
            n += 1
    return n


@compile_loop
def _settle(
    learning: Learning, nodes: Nodes, at: int, errors: NDArray[np.float64]
) -> tuple[Nodes, bool]:
    """Decide on a node whose sons are pruned; whether it must be pruned once more."""
    as_leaf = charged(nodes.counts[at])
    if nodes.table[at, ATTRIBUTE] == LEAF:
        errors[at] = as_leaf
        return nodes, False
    as_tree, largest, most = 0.0, 0, 0.0
    first = nodes.table[at, FIRST]
    for s in range(first, first + nodes.table[at, MANY]):
        son = nodes.sons[s]
        if son != LEAF:
            as_tree += errors[son]
            size = wrong(nodes.counts[son])[0]
            if size > most - SMALL:
                largest, most = son, size
    to_leaf = as_leaf <= as_tree + SLACK + SMALL
    enough = as_leaf - SLACK if to_leaf else as_tree + SLACK + 2 * SMALL
    nodes, as_branch = _errors_of_branch(learning, nodes, largest, at, enough)
    errors[at] = as_tree
    if to_leaf and as_leaf <= as_branch + SLACK + SMALL:
        _make_leaf(nodes, at)
        errors[at] = as_leaf
    elif as_branch <= as_tree + SLACK + SMALL:
        for field in (ATTRIBUTE, THRESHOLD, FIRST, MANY):
            nodes.table[at, field] = nodes.table[largest, field]
        return _redistributed(learning, nodes, at), True
    return nodes, False


@compile_loop
def _errors_of_branch(
    learning: Learning, nodes: Nodes, branch: int, of: int, enough: float
) -> tuple[Nodes, float]:
    """Return the errors that a subtree is charged for all rows of a node, up to so many.

    The rows are divided behind those in use, and forgotten.
    """
    n_rows, errors = nodes.used[N_ROWS], 0.0
    counts = np.zeros(learning.n_classes)
    waiting = np.empty((64, 3), dtype=np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = (
        branch,
        nodes.table[of, START],
        nodes.table[of, STOP],
    )
    n = 1
    while n and errors < enough:
        n -= 1
        at, start, stop = waiting[n, 0], waiting[n, 1], waiting[n, 2]
        if at == LEAF or nodes.table[at, ATTRIBUTE] == LEAF:
            count_classes(learning, nodes.rows[start:stop], nodes.parts[start:stop], counts)
            errors += charged(counts)
            continue
        nodes, bounds = divide(learning, nodes, at, start, stop)
        if n + len(bounds) > len(waiting):
            waiting = taller(waiting, n + len(bounds))
        for b in range(len(bounds) - 1):
            if bounds[b] < bounds[b + 1]:
                waiting[n, 0] = nodes.sons[nodes.table[at, FIRST] + b]
                waiting[n, 1], waiting[n, 2] = bounds[b], bounds[b + 1]
                n += 1
    nodes.used[N_ROWS] = n_rows
    return nodes, errors


@compile_loop
def _redistributed(learning: Learning, nodes: Nodes, top: int) -> Nodes:
    """Return the nodes with the rows of one sent down its new branches.

    Rows that reach an empty branch make a leaf of it.
    """
    waiting = np.empty(64, dtype=np.int64)
    waiting[0], n = top, 1
    while n:
        n -= 1
        at = waiting[n]
        if nodes.table[at, ATTRIBUTE] == LEAF:
            continue
        nodes, bounds = divide(learning, nodes, at, nodes.table[at, START], nodes.table[at, STOP])
        if n + len(bounds) > len(waiting):
            waiting = longer(waiting, n + len(bounds))
        for b in range(len(bounds) - 1):
            s = nodes.table[at, FIRST] + b
            if bounds[b] == bounds[b + 1]:
                nodes.sons[s] = LEAF
            elif nodes.sons[s] == LEAF:
                nodes.sons[s] = new_leaf(learning, nodes, bounds[b], bounds[b + 1])
            else:
                give_rows(learning, nodes, nodes.sons[s], bounds[b], bounds[b + 1])
                waiting[n] = nodes.sons[s]
                n += 1
    return nodes
