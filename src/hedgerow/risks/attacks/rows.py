"""The rows of a released table as ranges of codes, and the distances of records from them.

The distance of a record from a row is the sum over the columns of 0 if the row's range contains
the record's value; otherwise of 1 (categories), or of the gap between value and range as a share
of the domain (numbers, dates).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.distinct import row_numbers
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Attribute
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.domain import NumericDomain

MOST_ROWS = 50_000
"""Maximum number of rows of a release that records are compared with; more are sampled."""

BLOCK = 4_000_000
"""Number of distances in memory at a time."""

CodeTable = NDArray[np.int32]
"""Codes by record and column."""

Distances = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReleasedRows:
    """Rows of ranges ``[first, stop)`` by row and column, with their counts.

    ``steps`` is the distance of one code per column; 0 marks categories.
    """

    names: tuple[str, ...]
    sizes: NDArray[np.int64]
    steps: NDArray[np.float32]
    first: CodeTable
    stop: CodeTable
    counts: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.names)

    @property
    def is_points(self) -> bool:
        """True if every range is a single code."""
        return bool((self.stop - self.first == 1).all())

    @property
    def log_volumes(self) -> NDArray[np.float64]:
        """Logarithm of the number of cells of each row."""
        volumes = np.log((self.stop - self.first).astype(np.float64)).sum(axis=1)
        return np.asarray(volumes, dtype=np.float64)

    def gap(self, codes: NDArray[np.int32], column: int) -> Distances:
        """Return the distance of each record from each row in one column."""
        value = codes[:, None]
        first, stop = self.first[:, column], self.stop[:, column]
        step = self.steps[column]
        if step == 0:
            return np.asarray((value < first) | (value >= stop), dtype=np.float32)
        beyond = np.maximum(first - value, value - (stop - 1))
        return np.asarray(np.maximum(beyond, 0) * step, dtype=np.float32)

    def blocks(self, n_records: int) -> Iterator[slice]:
        """Yield slices of records whose distances from all rows fit in memory."""
        step = max(1, BLOCK // max(len(self), 1))
        for start in range(0, n_records, step):
            yield slice(start, min(start + step, n_records))

    def distances(self, codes: CodeTable, columns: Sequence[int]) -> Distances:
        """Return the distances of some records from all rows by some columns."""
        total = np.zeros((len(codes), len(self)), dtype=np.float32)
        for column in columns:
            total += self.gap(codes[:, column], column)
        return total


def attacked_columns(table: EncodedTable, *, with_class: bool) -> tuple[Attribute, ...]:
    """Return the columns that attacks use: the predictors, and the class last."""
    target = table.schema.class_attribute
    used = table.schema.attributes
    return (*used, target) if with_class and target is not None else used


def code_table(table: EncodedTable, *, with_class: bool) -> CodeTable:
    """Return the codes of all records by record and column (confidential)."""
    columns = [column.astype(np.int32) for column in table.codes]
    if with_class and table.classes is not None:
        columns.append(table.classes.astype(np.int32))
    return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0), dtype=np.int32)


def _steps(columns: Sequence[Attribute]) -> NDArray[np.float32]:
    steps = [
        1 / max(attribute.domain.size - 1, 1) if isinstance(attribute.domain, NumericDomain) else 0
        for attribute in columns
    ]
    return np.array(steps, dtype=np.float32)


def _rows(
    columns: Sequence[Attribute], first: CodeTable, stop: CodeTable, counts: NDArray[np.float64]
) -> ReleasedRows:
    return ReleasedRows(
        names=tuple(attribute.name for attribute in columns),
        sizes=np.array([attribute.domain.size for attribute in columns], dtype=np.int64),
        steps=_steps(columns),
        first=first,
        stop=stop,
        counts=counts,
    )


def rows_of_groups(groups: Groups, columns: Sequence[Attribute], *, seed: int) -> ReleasedRows:
    """Return the groups of a release as rows, sampled if there are very many."""
    kept = np.arange(len(groups))
    if len(kept) > MOST_ROWS:
        kept = np.sort(np.random.default_rng([seed, 2]).choice(kept, MOST_ROWS, replace=False))
    firsts = [
        ranges.first[index[kept]] for ranges, index in zip(groups.ranges, groups.index, strict=True)
    ]
    stops = [
        ranges.stop[index[kept]] for ranges, index in zip(groups.ranges, groups.index, strict=True)
    ]
    if len(columns) > len(firsts) and groups.classes is not None:
        firsts.append(groups.classes[kept])
        stops.append(groups.classes[kept] + 1)
    counts = groups.counts[kept].astype(np.float64)
    first = np.stack(firsts, axis=1).astype(np.int32)
    return _rows(columns, first, np.stack(stops, axis=1).astype(np.int32), counts)


def rows_of_records(
    codes: CodeTable, columns: Sequence[Attribute], *, weight: float
) -> ReleasedRows:
    """Return records as rows, with equal ones merged and each record weighted by ``weight``."""
    if not len(codes):
        return _rows(columns, codes, codes + 1, np.zeros(0))
    number, first_of = row_numbers(list(codes.T))
    counts = np.asarray(np.bincount(number, minlength=len(first_of)) * weight, dtype=np.float64)
    points = codes[first_of]
    return _rows(columns, points, points + 1, counts)
