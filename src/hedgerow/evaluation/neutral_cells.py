"""Cells of a column that follow from the raw data alone: single values, or quantile cells.

No method chooses the cells in which it is judged. For the data owner: the cells are as
confidential as the column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Floats
from hedgerow.taxonomy.domain import Domain

MOST_VALUES = 200
"""Distinct values up to which a 1-way marginal has a cell for every value."""

QUANTILE_CELLS = 50
"""Cells of a number with more values."""

PAIR_CELLS = 20
"""Cells of a column in a 2-way marginal."""

CellOfCode = NDArray[np.int64]
"""The cell of every code, numbered from 0."""


def value_cells(counts: Floats, domain: Domain) -> CellOfCode:
    """Return the cells of a 1-way marginal, from the weight of every code in the raw data.

    Up to 200 values that occur have a cell each. Of more, a number has 50 quantile cells, and
    a taxonomy a cell for each of the 199 most frequent values and one for the rest.
    """
    if np.count_nonzero(counts) <= MOST_VALUES:
        return np.arange(len(counts), dtype=np.int64)
    most = QUANTILE_CELLS if domain.kind == "numeric" else MOST_VALUES
    return neutral_cells(counts, domain, most=most)


def neutral_cells(counts: Floats, domain: Domain, *, most: int = PAIR_CELLS) -> CellOfCode:
    """Return at most ``most`` cells, from the weight of every code in the raw data.

    Few values have a cell each. Of more, a number has quantile cells, and cells of their own
    for values that hold more than 1 / ``most`` of the records; a taxonomy has a cell for each
    of the most frequent values and one for the rest.

    >>> from hedgerow.taxonomy.domain import NumericDomain
    >>> hours = NumericDomain.even(low=0, high=7, step=1)
    >>> neutral_cells(np.array([1.0, 1, 1, 1, 9, 1, 1, 1]), hours, most=3).tolist()
    [0, 0, 0, 0, 2, 1, 1, 1]
    """
    if len(counts) <= most:
        return np.arange(len(counts), dtype=np.int64)
    occurs = counts > 0
    if occurs.sum() < most:
        return _separate(occurs)
    if domain.kind == "numeric":
        return _quantiles(counts, domain.missing_code, most)
    frequent = np.zeros(len(counts), dtype=np.bool_)
    frequent[np.argsort(-counts, kind="stable")[: most - 1]] = True
    return _separate(frequent)


def _separate(single: NDArray[np.bool_]) -> CellOfCode:
    """Return a cell for each marked code and a last one for all others."""
    n_single = int(single.sum())
    return np.where(single, np.cumsum(single) - 1, n_single)


def _quantiles(counts: Floats, missing: int | None, most: int) -> CellOfCode:
    single = counts > counts.sum() / most
    if missing is not None and counts[missing] > 0 and single.sum() < most - 1:
        single[missing] = True
    below = np.cumsum(np.where(single, 0.0, counts))
    n_cells = max(1, most - int(single.sum()))
    levels = below[-1] * np.arange(1, n_cells) / n_cells
    cuts = np.unique(np.searchsorted(below, levels, side="left"))
    cells: CellOfCode = np.searchsorted(cuts, np.arange(len(counts)), side="left")
    cells[single] = len(cuts) + 1 + np.arange(single.sum())
    return np.unique(cells, return_inverse=True)[1].astype(np.int64)
