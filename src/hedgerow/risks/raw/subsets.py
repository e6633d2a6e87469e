"""The number of records that are unique on each small set of columns.

A record is unique on a set of columns if no other record has the same values there. A record that
is unique on a set is unique on every larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiler import has_compiler

LARGEST_SET = 3
"""Maximum number of columns of a set."""

MOST_SETS = 2_000
"""Maximum number of sets that are counted; if there are more, the largest extend the worst smaller
ones."""

_MOST_CELLS = 1 << 26
"""Maximum number of cells for counting a set in an array, one byte per cell."""

_COMPILED_FROM = 1 << 24
"""Minimum product of records and sets for which loading the compiled loop pays."""

ColumnSet = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class UniqueOn:
    """A set of columns, by number, and the number of records that are unique on it."""

    columns: ColumnSet
    unique: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CountedRows:
    """The distinct rows of a table: values that occur, numbered per column, and multiplicities.

    ``many`` is the frequency of each row, where 2 means 2 or more.
    """

    columns: tuple[NDArray[np.int32], ...] = field(repr=False)
    sizes: tuple[int, ...]
    many: NDArray[np.uint8]

    @classmethod
    def of(
        cls,
        columns: Sequence[NDArray[np.integer]],
        first: NDArray[np.int64],
        many: NDArray[np.int64],
    ) -> CountedRows:
        """Return the rows at ``first``, which occur ``many`` times each."""
        numbered, sizes = [], []
        for column in columns:
            values, numbers = np.unique(column[first], return_inverse=True)
            numbered.append(numbers.astype(np.int32))
            sizes.append(len(values))
        return cls(
            columns=tuple(numbered),
            sizes=tuple(sizes),
            many=np.minimum(many, 2).astype(np.uint8),
        )

    def __len__(self) -> int:
        return len(self.many)

    def n_unique(self, columns: ColumnSet, *, compiled: bool) -> int:
        """Return the number of records that are unique on up to three columns."""
        sizes = [self.sizes[at] for at in columns]
        n_cells = int(np.prod(sizes, dtype=object))
        if n_cells > _MOST_CELLS:
            return self._unique_by_sorting(columns)
        if compiled:
            return self._unique_compiled(columns, n_cells)
        counts = np.bincount(self._keys(columns), weights=self.many, minlength=n_cells)
        return int((counts == 1).sum())

    def _keys(self, columns: ColumnSet) -> NDArray[np.int64]:
        keys = np.zeros(len(self), dtype=np.int64)
        for at in columns:
            keys *= self.sizes[at]
            keys += self.columns[at]
        return keys

    def _unique_compiled(self, columns: ColumnSet, n_cells: int) -> int:
        from hedgerow.risks.raw.compiled import count_up_to_two

        seen = np.zeros(n_cells, dtype=np.uint8)
        nothing = np.zeros(len(self), dtype=np.int32)
        rows = [self.columns[at] for at in columns] + [nothing] * (LARGEST_SET - len(columns))
        sizes = [self.sizes[at] for at in columns] + [1] * (LARGEST_SET - len(columns))
        count_up_to_two(rows[0], rows[1], rows[2], sizes[1], sizes[2], self.many, seen)
        return int(np.count_nonzero(seen == 1))

    def _unique_by_sorting(self, columns: ColumnSet) -> int:
        # The product of three sizes below 2**31 may overflow 64 bits: number the first two again.
        keys, reach = np.zeros(len(self), dtype=np.int64), 1
        for at in columns:
            if reach * self.sizes[at] > 1 << 62:
                _, keys = np.unique(keys, return_inverse=True)
                reach = int(keys.max(initial=0)) + 1
            keys = keys * self.sizes[at] + self.columns[at]
            reach *= self.sizes[at]
        _, numbers = np.unique(keys, return_inverse=True)
        return int((np.bincount(numbers, weights=self.many) == 1).sum())


@dataclass(frozen=True, kw_only=True)
class SetsCounted:
    """The sets that were counted, and the number of sets of each size."""

    sets: tuple[UniqueOn, ...]
    n_possible: int

    @property
    def is_complete(self) -> bool:
        """True if every set of up to three columns was counted."""
        return len(self.sets) == self.n_possible

    def worst(self, size: int, n: int) -> tuple[UniqueOn, ...]:
        """Return the ``n`` sets of a size on which most records are unique."""
        chosen = [each for each in self.sets if len(each.columns) == size]
        return tuple(sorted(chosen, key=lambda each: (-each.unique, each.columns))[:n])


def unique_on_sets(
    rows: CountedRows,
    *,
    largest: int = LARGEST_SET,
    most: int = MOST_SETS,
    progress: Callable[[float], None] = lambda _: None,
) -> SetsCounted:
    """Return the number of unique records on every set of up to ``largest`` columns.

    At most about ``most`` sets are counted. If there are more, these are all single columns and as
    many larger sets as the limit allows, which extend the sets with most unique records.
    """
    n_columns = len(rows.columns)
    sizes = range(1, min(largest, n_columns) + 1)
    n_possible = sum(comb(n_columns, size) for size in sizes)
    expected = min(n_possible, most)
    compiled = len(rows) * expected >= _COMPILED_FROM and has_compiler()
    counted: list[UniqueOn] = []
    before: list[UniqueOn] = []
    for size in sizes:
        wanted = _sets_of(size, n_columns, before, most - len(counted))
        found = []
        for columns in wanted:
            unique = rows.n_unique(columns, compiled=compiled)
            found.append(UniqueOn(columns=columns, unique=unique))
            progress(min(1.0, (len(counted) + len(found)) / expected))
        counted += found
        before = sorted(found, key=lambda each: (-each.unique, each.columns))
    return SetsCounted(sets=tuple(counted), n_possible=n_possible)


def _sets_of(size: int, n_columns: int, before: Sequence[UniqueOn], most: int) -> list[ColumnSet]:
    """Return all sets of a size or, if they are too many, extensions of the worst ones."""
    if size == 1 or comb(n_columns, size) <= most:
        return list(combinations(range(n_columns), size))
    chosen: dict[ColumnSet, None] = {}
    for smaller in before:
        for column in set(range(n_columns)) - set(smaller.columns):
            if len(chosen) >= most:
                return list(chosen)
            chosen[tuple(sorted((*smaller.columns, column)))] = None
    return list(chosen)
