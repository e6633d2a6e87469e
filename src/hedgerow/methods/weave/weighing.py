"""Sums of weights by cell: compiled where there are records enough to load what compiles.

Both forms add in the order of the records, so they agree to the last bit.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.pairs import CellNumbers, PairLayout
from hedgerow.model.arrays import Floats
from hedgerow.model.compiler import has_compiler, is_loaded

COMPILED_FROM = 20_000
"""Minimum records for which compiled loops are worth loading."""

LOOPS = "count.compiled.pairs"

_T = TypeVar("_T", bound=np.generic)


def compiled(n_records: float) -> bool:
    """Return whether loops over this number of records are compiled, if there is a compiler."""
    return n_records >= COMPILED_FROM and (is_loaded(LOOPS) or has_compiler())


def weighed(keys: NDArray[np.integer[Any]], weights: Floats, n_cells: int) -> Floats:
    """Return the sum of the weights in each cell."""
    sums = np.zeros(n_cells)
    if not compiled(len(keys)):
        sums += np.bincount(keys, weights=weights, minlength=n_cells)
        return sums
    from hedgerow.count.compiled.pairs import weigh_cells

    weigh_cells(bare(keys.astype(np.int32, copy=False)), bare(weights), bare(sums))
    return sums


def scaled(
    keys: NDArray[np.int32],
    factors: Floats,
    weights: Floats,
    after: NDArray[np.int32],
    n_cells: int,
) -> Floats:
    """Multiply every weight by the factor of its cell, in place; return the sums in others.

    ``after`` are the cells of another table, of ``n_cells``, that weights are then added up in.
    """
    if not compiled(len(keys)):
        weights *= factors[keys]
        return weighed(after, weights, n_cells)
    from hedgerow.count.compiled.pairs import scale_and_weigh

    sums = np.zeros(n_cells)
    scale_and_weigh(bare(keys), bare(factors), bare(weights), bare(after), bare(sums))
    return sums


def weighed_pairs(
    cells: NDArray[np.int16], by_class: CellNumbers, weights: Floats, layout: PairLayout
) -> Floats:
    """Return the sums of weights in the tables of all pairs, flat."""
    starts, strides = layout.starts, layout.strides
    sums = np.zeros(int(starts[-1]))
    if compiled(len(weights)):
        from hedgerow.count.compiled.pairs import weigh_pairs

        plain = bare(cells), bare(by_class)
        weigh_pairs(*plain, bare(weights), bare(strides), bare(starts), bare(sums))
        return sums
    for at, (a, b) in enumerate(layout.pairs):
        keys = cells[a] * strides[b] + by_class[b]
        start, stop = int(starts[at]), int(starts[at + 1])
        sums[start:stop] = np.bincount(keys, weights=weights, minlength=stop - start)
    return sums


def bare(values: NDArray[_T]) -> NDArray[_T]:
    """Return the array as a plain one: compiled loops know no other."""
    plain: NDArray[_T] = values.view(np.ndarray)
    return plain
