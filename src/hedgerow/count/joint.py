"""Joint counts of a few coarsened attributes at a time: many small tables in one pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.engine import Batch

Variable = tuple[int, int]
"""An attribute and one of its coarsenings; the class is the attribute after the last."""

_CHUNK = 1 << 16  # records per step, so that the columns of a step stay in the cache


@dataclass(frozen=True, kw_only=True, eq=False)
class JointCounts:
    """Number of records in each cell of each of several tables.

    ``places[a][level]`` is the cell of each code of attribute ``a``. A table is a tuple of
    variables, the last varying fastest; tables that share all but their last variable are
    counted fastest one after another. The sum is all tables, flat, in their order.
    """

    places: tuple[tuple[NDArray[np.int32], ...], ...] = field(repr=False)
    tables: tuple[tuple[Variable, ...], ...]

    @property
    def size(self) -> int:
        """Total number of cells of all tables."""
        return sum(prod(self.shape(table)) for table in self.tables)

    def shape(self, table: tuple[Variable, ...]) -> tuple[int, ...]:
        """Return the number of cells of each variable of a table."""
        return tuple(int(self.places[a][level][-1]) + 1 for a, level in table)

    def split(self, sums: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Split the flat sum into one array per table, of shape (other cells, last cells)."""
        shapes = [self.shape(table) for table in self.tables]
        ends = np.cumsum([prod(shape) for shape in shapes], dtype=np.int64)
        parts = np.split(sums, ends[:-1])
        return [part.reshape(-1, shape[-1]) for part, shape in zip(parts, shapes, strict=True)]

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Return the tables of a batch, flat."""
        sums = np.zeros(self.size, dtype=np.int64)
        for start in range(0, batch.n_records, _CHUNK):
            self._add(batch, slice(start, start + _CHUNK), sums)
        return sums

    def _add(self, batch: Batch, rows: slice, sums: NDArray[np.int64]) -> None:
        columns = _Columns(batch, rows, self.places)
        shared: tuple[Variable, ...] | None = None
        base = np.zeros(0, dtype=np.int64)
        at = 0
        for table in self.tables:
            *first, last = table
            if tuple(first) != shared:
                shared, base = tuple(first), columns.keys(tuple(first))
            cells = prod(self.shape(table))
            width = self.shape((last,))[0]
            sums[at : at + cells] += np.bincount(base * width + columns[last], minlength=cells)
            at += cells


class _Columns:
    """The coarsened columns of some records, computed on first use."""

    def __init__(
        self, batch: Batch, rows: slice, places: tuple[tuple[NDArray[np.int32], ...], ...]
    ) -> None:
        self._codes = [column[rows] for column in batch.codes]
        if batch.classes is not None:
            self._codes.append(batch.classes[rows])
        self._n = len(range(*rows.indices(batch.n_records)))
        self._places = places
        self._made: dict[Variable, NDArray[np.int64]] = {}

    def __getitem__(self, variable: Variable) -> NDArray[np.int64]:
        if variable not in self._made:
            a, level = variable
            self._made[variable] = self._places[a][level].astype(np.int64)[self._codes[a]]
        return self._made[variable]

    def keys(self, variables: tuple[Variable, ...]) -> NDArray[np.int64]:
        """Return each record's cell in the table of the given variables."""
        keys = np.zeros(self._n, dtype=np.int64)
        for a, level in variables:
            keys = keys * (int(self._places[a][level][-1]) + 1) + self[(a, level)]
        return keys
