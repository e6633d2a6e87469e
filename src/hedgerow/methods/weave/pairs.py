"""All 2-way marginals by class in one pass over the records."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.engine import Batch

AttributePair = tuple[int, int]

_T = TypeVar("_T", bound=np.generic)

CellNumbers: TypeAlias = NDArray[np.signedinteger[Any]]

MOST_CELLS = (1 << 31) - 1
"""Cells (second attribute, class) of a table, at the most: they are numbered by 32-bit integers."""

_CHUNK = 1 << 14  # records per step: the columns of a step stay in cache


@dataclass(frozen=True, kw_only=True)
class PairLayout:
    """Layout of the tables (first, second, class) of all pairs of attributes in a flat array.

    ``sizes`` are the attributes' numbers of groups. Pairs come in rising order.
    """

    sizes: tuple[int, ...]
    n_classes: int

    def __post_init__(self) -> None:
        if max(self.sizes, default=1) * self.n_classes > MOST_CELLS:
            raise InternalError(
                "Tables of pairs have more cells than their numbers can distinguish."
            )

    @property
    def key_type(self) -> np.dtype[np.int16] | np.dtype[np.int32]:
        """The smallest type that numbers the cells (group, class) of every attribute.

        >>> PairLayout(sizes=(32, 9), n_classes=1023).key_type
        dtype('int16')
        >>> PairLayout(sizes=(32, 9), n_classes=1025).key_type
        dtype('int32')
        """
        most = max(self.sizes, default=1) * self.n_classes
        return np.dtype(np.int16) if most <= np.iinfo(np.int16).max else np.dtype(np.int32)

    @property
    def pairs(self) -> tuple[AttributePair, ...]:
        """All pairs of attributes."""
        return tuple(combinations(range(len(self.sizes)), 2))

    @property
    def strides(self) -> NDArray[np.int64]:
        """Cells of a row of a table whose second attribute is given."""
        return np.array(self.sizes, dtype=np.int64) * self.n_classes

    @property
    def starts(self) -> NDArray[np.int64]:
        """Start of the table of each pair, and the end of the last one."""
        cells = [self.sizes[a] * self.sizes[b] * self.n_classes for a, b in self.pairs]
        return np.concatenate([[0], np.cumsum(cells, dtype=np.int64)])

    def split(self, sums: NDArray[_T]) -> dict[AttributePair, NDArray[_T]]:
        """Cut the flat sum into tables (first, second, class)."""
        starts = self.starts.tolist()
        return {
            (a, b): sums[start:stop].reshape(self.sizes[a], self.sizes[b], self.n_classes)
            for (a, b), start, stop in zip(self.pairs, starts[:-1], starts[1:], strict=True)
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class PairCounts:
    """Number of records in each cell (first attribute, second attribute, class) of all pairs.

    ``places[a]`` is the group of each code of attribute ``a``. Work is one step per record and
    pair, memory 8 bytes per cell. ``compiled`` asks for the compiled loop whatever the engine does.
    """

    layout: PairLayout
    places: tuple[NDArray[np.int16], ...] = field(repr=False)
    compiled: bool = False

    @property
    def size(self) -> int:
        """Cells of all tables together."""
        return int(self.layout.starts[-1])

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Return the tables of a batch, flat."""
        sums = np.zeros(self.size, dtype=np.int64)
        starts = self.layout.starts
        for start in range(0, batch.n_records, _CHUNK):
            rows = slice(start, start + _CHUNK)
            cells = np.stack(
                [
                    np.take(places, column[rows])
                    for places, column in zip(self.places, batch.codes, strict=True)
                ]
            )
            classes = None if batch.classes is None else batch.classes[rows]
            by_class = with_class(cells, classes, self.layout)
            if batch.compiled or self.compiled:
                from hedgerow.count.compiled.pairs import add_pairs

                add_pairs(cells, by_class, self.layout.strides, starts, sums)
            else:
                self._add(cells, by_class, sums)
        return sums

    def _add(
        self, cells: NDArray[np.int16], by_class: CellNumbers, sums: NDArray[np.int64]
    ) -> None:
        starts, strides = self.layout.starts, self.layout.strides
        for at, (a, b) in enumerate(self.layout.pairs):
            keys = cells[a] * strides[b] + by_class[b]
            start, stop = int(starts[at]), int(starts[at + 1])
            sums[start:stop] += np.bincount(keys, minlength=stop - start)


def with_class(
    cells: NDArray[np.int16], classes: NDArray[np.integer] | None, layout: PairLayout
) -> CellNumbers:
    """Return the cells (group, class) of columns (a row each), the class varying fastest.

    Privacy: a record is in one cell of each table because no number exceeds the layout's type.
    """
    if classes is None:
        return cells
    kind = layout.key_type
    joined: CellNumbers = np.multiply(cells, layout.n_classes, dtype=kind)
    joined += classes.astype(kind, copy=False)
    return joined
