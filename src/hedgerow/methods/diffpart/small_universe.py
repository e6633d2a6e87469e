"""Noise on every itemset of a small universe, made whole without spoiling the queries.

Cutting noisy counts at zero, or at a threshold, ruins what set-valued data is used for:
the count of an itemset sums thousands of cells, and cut noise does not cancel out. Here
the published counts are the non-negative ones whose *answers to counting queries* are
nearest to those of the uncut noisy counts. Post-processing: free.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.baskets import sets_of_masks
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.engine import BasketEngine
from hedgerow.model.groups import CountOrigin
from hedgerow.model.run import Run
from hedgerow.privacy.source import RandomSource

SMALL_UP_TO = 18
"""Universes up to that many items are split once, into all their itemsets."""

ROUNDS = 100
RELAXATION = 1.6
# Products of so few items and rows are too small for BLAS to start threads, which would
# cost many times the work.
_ITEMS_AT_ONCE = 3
_ROWS_AT_ONCE = 2048
_PENALTY = 1.222  # to the power of the number of items; 30 for 17

# A query's weight is the inverse of its variance: half as many cells, twice the weight.
_WEIGHTS = np.diag([0.5, 1.0])
_SUPERSETS = np.array([[1.0, 1.0], [0.0, 1.0]])


def small_universe(run: Run[BasketEngine]) -> NoisyBaskets:
    """Return noisy counts of all itemsets of a small universe.

    One operation of [DiffPart, Alg. 1] with a fan-out as large as the universe: all
    sub-partitions are leaf partitions, and no threshold is applied.

    Privacy: itemsets are disjoint, so that all counts together cost what the ledger has
    left; what follows reads noisy counts only.
    """
    taxonomy, share = run.engine.taxonomy, run.left()
    n_items = taxonomy.n_leaves
    tally = run.engine.itemsets()
    everywhere = np.zeros((1 << n_items) - 1, dtype=np.int64)
    everywhere[tally.keys - 1] = tally.counts
    noisy = np.concatenate([[0], run.noisy(everywhere, share=share, on="counts")])
    counts = rounded(near_in_queries(noisy, n_items), source=run.source)
    masks = np.flatnonzero(counts).astype(np.int64)
    offsets, items = sets_of_masks(masks, n_items)
    return NoisyBaskets.sorted_of(
        taxonomy,
        offsets=offsets,
        items=items,
        counts=counts[masks],
        origin=CountOrigin(share=share, threshold=None, lowered_by=None),
    )


def near_in_queries(noisy: NDArray[np.int64], n_items: int) -> NDArray[np.float64]:
    """Return non-negative numbers whose superset sums are nearest to those of ``noisy``.

    ``noisy`` has a cell for every mask of items. Minimises, over x >= 0 with no empty set,
    the sum over all itemsets S of 2^|S| (sum over supersets of S of (x - noisy))^2, by the
    alternating direction method of multipliers. The quadratic is a Kronecker product of
    2 x 2 matrices, so that a round costs little more than passing over the cells.

    >>> near_in_queries(np.array([0, 9, -2, 5]), 2).round().tolist()
    [0.0, 9.0, 0.0, 4.0]
    """
    values, vectors = np.linalg.eigh(_SUPERSETS.T @ _WEIGHTS @ _SUPERSETS)
    curvature = _kronecker(values[:, None], n_items).ravel()
    penalty = _PENALTY**n_items
    damped = (penalty / (curvature + penalty)).astype(np.float32)
    into, back = _factors(vectors.T, n_items), _factors(vectors, n_items)
    target = noisy.astype(np.float32)
    # Nearest in queries to noisy and, by the penalty, to x - dual: a damped step away.
    x = np.maximum(target, 0)
    dual = np.zeros_like(target)
    for _ in range(ROUNDS):
        away = _product(into, x - dual - target)
        pulled = target + _product(back, damped * away)
        mixed = np.float32(RELAXATION) * pulled + np.float32(1 - RELAXATION) * x
        x = np.maximum(mixed + dual, 0)
        x[0] = 0
        dual += mixed - x
    return x.astype(np.float64)


def rounded(values: NDArray[np.float64], *, source: RandomSource) -> NDArray[np.int64]:
    """Return whole numbers next to the values, with the same running sums up to 1.

    One random offset decides all: a number is rounded up where the running sum of the
    fractions passes a whole number. Each is right on average.
    """
    offset = float(source.words(1)[0]) / 2.0**64
    ends = np.floor(np.cumsum(values) + offset).astype(np.int64)
    return np.diff(ends, prepend=np.int64(0))


def _kronecker(matrix: NDArray[np.float64], times: int) -> NDArray[np.float64]:
    product: NDArray[np.float64] = np.ones((1, 1))
    for _ in range(times):
        product = np.asarray(np.kron(matrix, product), dtype=np.float64)
    return product


def _factors(matrix: NDArray[np.float64], n_items: int) -> list[NDArray[np.float32]]:
    """Return the Kronecker power of a 2 x 2 matrix as factors for a few items each."""
    whole, rest = divmod(n_items, _ITEMS_AT_ONCE)
    sizes = [_ITEMS_AT_ONCE] * whole + [rest] * (rest > 0)
    return [_kronecker(matrix, size).astype(np.float32) for size in sizes]


def _product(factors: list[NDArray[np.float32]], x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply by a Kronecker product; each factor moves its items to the end, so all return."""
    for factor in factors:
        rows = min(_ROWS_AT_ONCE, x.size // len(factor))
        x = x.reshape(len(factor), -1, rows).transpose(1, 2, 0) @ factor.T
    return x.ravel()
