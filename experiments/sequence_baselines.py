"""Published ways to release sequences, to compare chain with: n-grams, prefix tree, PrivTree.

Written anew from the ideas of the papers, for experiments alone. Noise is in floating point, so
that the guarantee is that of the papers for real numbers and not that of a release: nothing here
is a publishing method, and no ledger knows of it. Neighbours differ in one sequence.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from experiments.suffix_trees import Places, SuffixTree, grown_tree
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import offsets_of

MOST_PLACES = 20
"""Places of a sequence that count: what is behind is cut off, and noise grows with it."""

DEEPEST = 12
LEVELS = 10
_EMPTY_KEPT = 0.05


def plain_ngrams(
    sequences: WeightedSets, epsilon: float, *, seed: int, n: int = 3, most: int = MOST_PLACES
) -> WeightedSets:
    """Return sequences drawn from noisy counts of all runs of ``n`` items.

    A sequence has at most ``most`` runs, so that noise of scale ``most / epsilon`` hides it.
    Counts up to a threshold that 5 % of the empty runs reach are left out; a context without any
    count falls back to the shorter one.

    Privacy: epsilon-differentially private, in real numbers.
    """
    rng = np.random.default_rng(seed)
    scale = most / epsilon
    least = scale * math.log(1 / (2 * _EMPTY_KEPT))

    def counted(raw: NDArray[np.int64]) -> NDArray[np.float64]:
        noisy = raw + rng.laplace(0, scale, raw.shape)
        return np.where(noisy >= least, noisy, 0.0)

    places = Places.of(sequences, most=most, deepest=n - 1)
    tree = grown_tree(
        places,
        deepest=n - 1,
        splits=lambda raw, _: np.ones(len(raw), dtype=np.bool_),
        counted=counted,
    )
    known = np.append(tree.counts.sum(axis=1) > 0, False)
    child = np.where(known[tree.child], tree.child, -1)
    return SuffixTree(child=child, counts=tree.counts).drawn(rng, deepest=max(1, n - 1))


def privtree(
    sequences: WeightedSets,
    epsilon: float,
    *,
    seed: int,
    most: int = MOST_PLACES,
    deepest: int = DEEPEST,
) -> WeightedSets:
    """Return sequences drawn from the contexts that PrivTree finds [Zhang et al., SIGMOD 2016].

    A context becomes longer where its count without the most frequent successor, less a bias that
    grows with its length, is positive with noise. Of epsilon, one part in as many as a context
    has children is for that, and the rest for the counts of the leaves.

    Privacy: epsilon-differentially private, in real numbers; the published theorem, for a score
    that one sequence moves by at most ``most``.
    """
    rng = np.random.default_rng(seed)
    fan_out = sequences.n_items + 1
    on_tests = epsilon / fan_out
    scale = (2 * fan_out - 1) / (fan_out - 1) * most / on_tests
    bias = scale * math.log(fan_out)

    def splits(raw: NDArray[np.int64], depth: int) -> NDArray[np.bool_]:
        score = raw.sum(axis=1) - raw.max(axis=1)
        biased = np.maximum(score - depth * bias, -bias)
        passed: NDArray[np.bool_] = biased + rng.laplace(0, scale, len(raw)) > 0
        return passed

    def counted(raw: NDArray[np.int64]) -> NDArray[np.float64]:
        return raw + rng.laplace(0, most / (epsilon - on_tests), raw.shape)

    places = Places.of(sequences, most=most, deepest=deepest)
    tree = grown_tree(places, deepest=deepest, splits=splits, counted=counted)
    made = SuffixTree(child=tree.child, counts=nearest_positive(tree.counts))
    return made.drawn(rng, deepest=deepest)


def nearest_positive(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest rows without negative numbers that have the same sums, or none.

    >>> nearest_positive(np.array([[3.0, -1.0, 1.0], [-2.0, 1.0, 0.0]])).tolist()
    [[2.5, 0.0, 0.5], [0.0, 0.0, 0.0]]
    """
    totals = np.maximum(counts.sum(axis=1), 0.0)
    falling = -np.sort(-counts, axis=1)
    above = np.cumsum(falling, axis=1) - totals[:, None]
    number = np.arange(1, counts.shape[1] + 1)
    kept = np.maximum((falling - above / number > 0).sum(axis=1), 1)
    level = above[np.arange(len(counts)), kept - 1] / kept
    nearest: NDArray[np.float64] = np.maximum(counts - level[:, None], 0.0)
    return nearest


def prefix_tree(
    sequences: WeightedSets, epsilon: float, *, seed: int, levels: int = LEVELS
) -> WeightedSets:
    """Return the sequences of a noisy tree of prefixes [Chen et al., KDD 2012].

    Every level costs ``epsilon / levels``, as a sequence has one prefix of each length. Prefixes
    grow whose noisy count is two standard deviations of the noise or more. Children are lowered
    together where they exceed their parent; what a prefix has beyond its children ends there.

    Privacy: epsilon-differentially private, in real numbers.
    """
    rng = np.random.default_rng(seed)
    n_items, scale = sequences.n_items, levels / epsilon
    least = 2 * math.sqrt(2) * scale
    lengths, starts = np.diff(sequences.offsets), sequences.offsets[:-1]
    active, node = np.arange(len(lengths)), np.zeros(len(lengths), dtype=np.int64)
    prefixes, counts = np.zeros((1, 0), dtype=np.int64), np.array([np.inf])
    made: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    for depth in range(levels):
        goes_on = lengths[active] > depth
        active, node = active[goes_on], node[goes_on]
        cell = node * n_items + sequences.items[starts[active] + depth]
        raw = np.bincount(cell, minlength=len(prefixes) * n_items)
        noisy = raw + rng.laplace(0, scale, len(raw))
        kept = np.flatnonzero(noisy >= least)
        parent = kept // n_items
        fitted = _below(noisy[kept], parent, counts)
        if depth:
            counts -= np.bincount(parent, fitted, minlength=len(counts))
            made.append((prefixes, counts))
        if not len(kept):
            break
        number = np.full(len(noisy), -1)
        number[kept] = np.arange(len(kept))
        active, node = active[number[cell] >= 0], number[cell][number[cell] >= 0]
        prefixes = np.column_stack([prefixes[parent], kept % n_items])
        counts = fitted
    else:
        made.append((prefixes, counts))
    return _listed(made, n_items, rng)


def _below(
    counts: NDArray[np.float64], parent: NDArray[np.int64], most: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return counts of children, lowered alike where together they exceed their parent."""
    n = np.bincount(parent, minlength=len(most))
    excess = np.maximum(np.bincount(parent, counts, minlength=len(most)) - most, 0.0)
    return np.maximum(counts - (excess / np.maximum(n, 1))[parent], 0.0)


def _listed(
    made: list[tuple[NDArray[np.int64], NDArray[np.float64]]],
    n_items: int,
    rng: np.random.Generator,
) -> WeightedSets:
    """Return every prefix as often as it ends, rounded at random."""
    lengths, items, weights = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], []
    for prefixes, counts in made:
        whole = np.floor(np.maximum(counts, 0.0) + rng.random(len(counts))).astype(np.int64)
        lengths.append(np.full(len(prefixes), prefixes.shape[1]))
        items.append(prefixes.ravel())
        weights.append(whole)
    return WeightedSets(
        n_items=n_items,
        offsets=offsets_of(np.concatenate(lengths)),
        items=np.concatenate(items),
        weights=np.concatenate([np.zeros(0, dtype=np.int64), *weights]),
    )


BASELINES = {
    "n-grams of 3": plain_ngrams,
    "PrivTree": privtree,
    "prefix tree": prefix_tree,
}
