"""Records drawn from the weighted pool, evenly over its classes and columns: post-processing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.exchange import exchanged
from hedgerow.methods.weave.one_way import OneWay
from hedgerow.methods.weave.pool import Pool
from hedgerow.methods.weave.weighing import weighed
from hedgerow.methods.weave.within import CodeLaw, CountedLaw
from hedgerow.model.arrays import Floats
from hedgerow.model.points import packed_columns

MOST_SORTED = 16
"""Columns that the pool is sorted by before the draw."""


def drawn_cells(
    pool: Pool, n_records: int, rng: np.random.Generator
) -> tuple[list[NDArray[np.int32]], NDArray[np.int32]]:
    """Return the cells and the classes of ``n_records`` records.

    A systematic draw: the pool is sorted by class and by its columns of highest entropy, back
    and forth, and every (weight / n)-th record is taken, so that no table of a class or of
    those columns is off by more than a record or two. Then records are exchanged for others
    that bring the tables of all pairs nearer to the pool's.
    """
    classes = pool.classes
    order = _sorted(pool, classes, rng)
    order = order[pool.weights[order] > 0]
    ends = np.cumsum(pool.weights[order])
    if not n_records or not len(order):
        return [column[:0] for column in pool.columns], classes[:0]
    passed = np.floor(ends * (n_records / float(ends[-1])) + rng.random()).astype(np.int64)
    passed = np.minimum(passed, n_records)
    passed[-1] = n_records
    taken = exchanged(pool, np.repeat(order, np.diff(passed, prepend=0)), rng)
    return [column[taken] for column in pool.columns], classes[taken]


def _sorted(pool: Pool, classes: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int64]:
    sums = [weighed(c, pool.weights, int(c.max()) + 1) for c in pool.columns]
    entropies = [entropy(each) for each in sums]
    first = np.argsort(-np.array(entropies), kind="stable")[:MOST_SORTED]
    # Sorted by digits of few numbers, from a random order, and stable: ties stay in that order.
    columns, sizes = [classes], [int(classes.max(initial=0)) + 1]
    for at, a in enumerate(first):
        size = len(sums[a])
        column = pool.columns[a]
        columns.append(column if at % 2 else np.int32(size - 1) - column)
        sizes.append(size)
    order = rng.permutation(len(classes))
    for word in reversed(packed_columns(columns, sizes)):
        order = order[np.argsort(word[order], kind="stable")]
    return order


def entropy(counts: Floats) -> float:
    """Return the entropy of counts as shares, in nats."""
    positive = counts[counts > 0]
    if not len(positive):
        return 0.0
    shares = positive / positive.sum()
    return float(-(shares * np.log(shares)).sum())


def codes_in(
    axes: tuple[CellAxis, ...],
    cells: list[NDArray[np.int32]],
    one_way: OneWay,
    rng: np.random.Generator,
) -> list[NDArray[np.int32]]:
    """Return a code for every cell, by its 1-way marginals."""
    codes = []
    for a, (axis, column) in enumerate(zip(axes, cells, strict=True)):
        law: CodeLaw | CountedLaw
        masses, noise = one_way.tables[a].sum(axis=1), one_way.noise[a]
        if a in one_way.codes:
            law = CountedLaw.of(axis, masses, noise, one_way.codes[a])
        else:
            law = CodeLaw.of(axis, masses, noise)
        codes.append(law.drawn(column, rng))
    return codes
