"""Reconstruction: the records that fit all published marginals at once.

Every published count is an equation. If there are about as many as records, the table that fits
them best (raking over the whole domain, from the uniform table) may be the confidential one
[DinurN03]. A target is reconstructed if at least half a record of exactly its values fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Flags
from hedgerow.model.groups import Groups
from hedgerow.model.measured import MeasuredTable
from hedgerow.risks.attacks.rows import CodeTable

MOST_CELLS = 1 << 20
"""Maximum number of cells of a domain that is reconstructed as a whole."""

LEAST_COUNTS = 0.5
"""Minimum number of published counts per record for a reconstruction."""

_ROUNDS = 60


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Reconstructed:
    """Which targets are reconstructed, and which by guessing from 1-way marginals alone."""

    hits: Flags
    guessed: Flags
    n_counts: int


def reconstructed(
    groups: Groups, sizes: NDArray[np.int64], targets: CodeTable, *, n_records: int
) -> Reconstructed | str:
    """Return which targets the marginals reveal, or the reason why that was not tried."""
    if not groups.tables:
        return "the release publishes no marginals"
    n_counts = int(sum(table.counts.size for table in groups.tables))
    if n_counts < LEAST_COUNTS * n_records:
        return "fewer counts are published than half the number of records"
    n_cells = float(np.prod(sizes.astype(np.float64)))
    if n_cells > MOST_CELLS:
        return f"the domain has more than {MOST_CELLS:,} cells"
    tables = [each for each in groups.tables if max(each.attributes) < len(sizes)]
    total = max(float(groups.counts.sum()), 1.0)
    single = [each for each in tables if len(each.attributes) == 1]
    every = _raked(tables, sizes, total)
    alone = _raked(single, sizes, total)
    cell = np.ravel_multi_index(tuple(targets.T), tuple(sizes.tolist()))
    return Reconstructed(
        hits=every.ravel()[cell] >= 0.5, guessed=alone.ravel()[cell] >= 0.5, n_counts=n_counts
    )


def _raked(
    tables: list[MeasuredTable], sizes: NDArray[np.int64], total: float
) -> NDArray[np.float64]:
    """Return the table nearest to the uniform one that has these marginals, by raking."""
    shape = tuple(sizes.tolist())
    fitted = np.full(shape, total / np.prod(shape))
    wanted = [(table, np.maximum(table.counts, 0).astype(np.float64)) for table in tables]
    for _ in range(_ROUNDS):
        for table, counts in wanted:
            # Noisy tables disagree on the total, so each is scaled to one.
            goal = counts * (total / max(counts.sum(), 1.0))
            fitted *= _spread(table, goal, fitted)
    return fitted


def _spread(
    table: MeasuredTable, goal: NDArray[np.float64], fitted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the factor of every cell of the domain that gives the table its counts."""
    cell = np.zeros((1,) * fitted.ndim, dtype=np.int64)
    for column, groups, size in zip(
        table.attributes, table.groups, table.counts.shape, strict=True
    ):
        shape = [1] * fitted.ndim
        shape[column] = len(groups)
        cell = cell * size + groups.reshape(shape)
    cells = np.broadcast_to(cell, fitted.shape)
    held = np.bincount(cells.ravel(), weights=fitted.ravel(), minlength=goal.size)
    factor = np.divide(goal.ravel(), held, out=np.zeros(goal.size), where=held > 0)
    return np.asarray(factor[cells])
