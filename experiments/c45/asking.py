"""Asking a tree, compiled: rows with a missing value go down every branch, in part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.c45.gains import SMALL
from experiments.c45.growing import ATTRIBUTE, FIRST, LEAF, MANY, N_NODES, THRESHOLD, Nodes
from experiments.c45.learning import MISSING, Learning
from experiments.c45.pruning import wrong
from hedgerow.model.compiling import compile_loop


@compile_loop
def answers(learning: Learning, nodes: Nodes, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the class that a tree tells of each column of codes."""
    n = codes.shape[1]
    told = np.zeros(n, dtype=np.int64)
    waiting = np.empty(nodes.used[N_NODES] + 1, dtype=np.int64)
    shares = np.empty(nodes.used[N_NODES] + 1)
    for row in range(n):
        told[row] = _largest(_chances(learning, nodes, codes[:, row], waiting, shares))
    return told


@compile_loop
def _largest(chances: NDArray[np.float64]) -> int:
    best, most = 0, -1.0
    for c in range(len(chances)):
        if chances[c] - most > SMALL:
            best, most = c, chances[c]
    return best


@compile_loop
def _add(chances: NDArray[np.float64], counts: NDArray[np.float64], share: float) -> None:
    total = wrong(counts)[0]
    for c in range(len(counts)):
        chances[c] += share * counts[c] / total


@compile_loop
def _chances(
    learning: Learning,
    nodes: Nodes,
    codes: NDArray[np.int32],
    waiting: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the chance of each class."""
    chances = np.zeros(learning.n_classes)
    waiting[0], shares[0], n = 0, 1.0, 1
    while n:
        n -= 1
        at, share = waiting[n], shares[n]
        attribute = nodes.table[at, ATTRIBUTE]
        if attribute == LEAF:
            _add(chances, nodes.counts[at], share)
            continue
        code, first = codes[attribute], nodes.table[at, FIRST]
        if code == MISSING:
            total = wrong(nodes.counts[at])[0]
            for s in range(first, first + nodes.table[at, MANY]):
                son = nodes.sons[s]
                if son != LEAF:
                    waiting[n], shares[n] = son, share * wrong(nodes.counts[son])[0] / total
                    n += 1
            continue
        son = LEAF
        if learning.declared[attribute] == 0:
            son = nodes.sons[first] if code <= nodes.table[at, THRESHOLD] else nodes.sons[first + 1]
        elif code >= 0:
            son = nodes.sons[first + code]
        if son == LEAF:  # no training record took this branch
            _add(chances, nodes.counts[at], share)
        else:
            waiting[n], shares[n] = son, share
            n += 1
    return chances
