"""The distinct rows of a table with the number of their records by class.

Methods that may use the data without noise (no guarantee of differential privacy) work on distinct
rows: there are never more of them than records, usually far fewer, and the results of such a
method depend on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.kernels import MOST_KEYS, require_keys
from hedgerow.model.arrays import Codes
from hedgerow.model.engine import Batch, Engine, SparseCounts

DistinctColumns = tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistinctRows:
    """Rows that occur, sorted, by column of codes; ``counts`` is (rows, classes). Confidential.

    Without a class there is one column of counts.
    """

    codes: DistinctColumns
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records of each row."""
        sizes: NDArray[np.int64] = self.counts.sum(axis=1)
        return sizes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Stage:
    """Adjacent attributes, and the keys of the rows that they form with those before."""

    start: int
    stop: int
    width: int
    known: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowKeys:
    """A sparse kernel: a record's key is its row of the attributes from ``start`` to ``stop``.

    The attributes before ``start`` are represented by the rank of their row among those of
    earlier passes, so any number of attributes fits into 64 bits. The class comes last if
    ``n_classes`` is above 1.
    """

    stages: tuple[_Stage, ...]
    sizes: tuple[int, ...]
    start: int
    stop: int
    n_classes: int

    def count(self, batch: Batch) -> SparseCounts:
        """Return the frequency of each key in a batch."""
        rank = np.zeros(batch.n_records, dtype=np.int64)
        for stage in self.stages:
            keys = self._extended(rank, batch.codes, stage.start, stage.stop)
            rank = np.searchsorted(stage.known, keys)
        keys = self._extended(rank, batch.codes, self.start, self.stop) * self.n_classes
        if self.n_classes > 1 and batch.classes is not None:
            keys += batch.classes
        unique, counts = np.unique(keys, return_counts=True)
        return SparseCounts(keys=unique, counts=counts.astype(np.int64))

    def _extended(
        self, rank: NDArray[np.int64], codes: tuple[Codes, ...], start: int, stop: int
    ) -> NDArray[np.int64]:
        keys = rank.copy()
        for attribute in range(start, stop):
            keys *= self.sizes[attribute]
            keys += codes[attribute]
        return keys


def distinct_rows(engine: Engine) -> DistinctRows:
    """Return the distinct rows of the predictors with their class counts (confidential).

    Takes one pass over the data, and one more for every 62 bits of a row.

    Privacy: none. The result is as confidential as the table.
    """
    schema = engine.schema
    sizes = tuple(attribute.domain.size for attribute in schema.attributes)
    n_classes = 1 if schema.class_attribute is None else schema.class_attribute.domain.size
    stages: list[_Stage] = []
    while True:
        start = stages[-1].stop if stages else 0
        before = max(len(stages[-1].known), 1) if stages else 1
        stop = _reach(sizes, start, MOST_KEYS // (before * n_classes))
        last = stop == len(sizes)
        require_keys(before * prod(sizes[start:stop]) * (n_classes if last else 1))
        kernel = RowKeys(
            stages=tuple(stages),
            sizes=sizes,
            start=start,
            stop=stop,
            n_classes=n_classes if last else 1,
        )
        tally = engine.tally(kernel)
        if last:
            return _decoded(tally, stages, sizes, start, n_classes)
        width = prod(sizes[start:stop])
        stages.append(_Stage(start=start, stop=stop, width=width, known=tally.keys))


def _reach(sizes: tuple[int, ...], start: int, room: int) -> int:
    """Return how many adjacent attributes fit into ``room`` keys, at least one."""
    stop, width = start, 1
    while stop < len(sizes) and (stop == start or width * sizes[stop] <= room):
        width *= sizes[stop]
        stop += 1
    return stop


def _decoded(
    tally: SparseCounts, stages: list[_Stage], sizes: tuple[int, ...], start: int, n_classes: int
) -> DistinctRows:
    """Convert keys back into codes, the last attributes first."""
    keys, which = np.unique(tally.keys // n_classes, return_inverse=True)
    counts = np.zeros((len(keys), n_classes), dtype=np.int64)
    counts[which, tally.keys % n_classes] = tally.counts
    columns: dict[int, NDArray[np.int64]] = {}
    for begin, stop, known in [
        (start, len(sizes), None),
        *((stage.start, stage.stop, stage.known) for stage in reversed(stages)),
    ]:
        if known is not None:
            keys = known[keys]
        for attribute in range(stop - 1, begin - 1, -1):
            keys, columns[attribute] = np.divmod(keys, sizes[attribute])
    return DistinctRows(codes=tuple(columns[a] for a in range(len(sizes))), counts=counts)


def row_ranks(columns: DistinctColumns, sizes: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
    """Return the index of each row among the sorted distinct rows, and their number.

    >>> row_ranks((np.array([1, 0, 1]), np.array([2, 5, 2])), (2, 6))
    (array([1, 0, 1]), 2)
    """
    ranks, n_ranks = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if n_ranks * size > MOST_KEYS:
            ranks, n_ranks = _compact(ranks)
        ranks, n_ranks = ranks * size + column, n_ranks * size
    return _compact(ranks)


def _compact(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    distinct, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.int64).ravel(), max(len(distinct), 1)
