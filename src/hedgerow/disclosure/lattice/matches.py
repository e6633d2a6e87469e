"""The number |ρ(x, Θ)| of records of the attacker's dictionary that match a generalised record.

A dictionary record ``t`` matches node ``x`` of a record's lattice if ``x`` generalises it,
``t ⪯ x``. With ``l_i(t)`` the lowest level of the record's chain that covers ``t_i``, that is
``l_i(t) <= x_i`` for all attributes. So ``|ρ(x, Θ)|`` is a sum of conjunctions: it grows with
``x`` and is supermodular [TKDE, Prop. 2(i)], and a search needs nothing of the dictionary but the
frequency of each *level vector* ``l(t)``.

This module serves one record; :mod:`~hedgerow.disclosure.lattice.dictionary` serves many.
Everything here is confidential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.disclosure.lattice.lattice import (
    MOST_RANKED,
    Chains,
    Lattice,
    Levels,
    RecordCodes,
)
from hedgerow.model.arrays import Columns

CUBE_UP_TO = 1 << 18
"""Maximum number of nodes for counting a whole lattice, which costs about 500 single counts."""

_WORDS_AT_ONCE = 1 << 20  # scratch of vectorised counts, in 64-bit words


class MatchCounter(Protocol):
    """Counts the dictionary records that match nodes of one record's lattice."""

    @property
    def lattice(self) -> Lattice:
        """The record's generalisations."""
        ...

    @property
    def n_records(self) -> int:
        """The size of the dictionary."""
        ...

    @property
    def monotone(self) -> bool:
        """True if a generalisation has all the matches of what it generalises."""
        ...

    def count(self, node: Sequence[int]) -> int:
        """Return the number of matches of one node."""
        ...

    def counts(self, levels: ArrayLike) -> NDArray[np.int64]:
        """Return the numbers of matches of many nodes, one row of levels each."""
        ...

    def cube(self) -> NDArray[np.int64]:
        """Return the numbers of matches of all nodes, in the shape of the lattice."""
        ...


def levels_of_columns(
    record: RecordCodes, chains: Sequence[Chains], columns: Columns, n_rows: int
) -> Levels:
    """Return the level vectors of ``n_rows`` dictionary records in columns of codes.

    They are the lowest levels of ``record``'s chains that cover each dictionary record, with one
    row per dictionary record and one column per attribute.
    """
    vectors = np.empty((n_rows, len(chains)), dtype=np.uint8, order="F")
    for i, (code, chain, column) in enumerate(zip(record, chains, columns, strict=True)):
        vectors[:, i] = chain.levels_from(int(code))[column]
    return vectors


def row_keys(columns: Columns, sizes: Sequence[int], n_rows: int) -> NDArray[np.int64]:
    """Return a number for each row, equal only for equal rows, in lexicographic order.

    Rows are numbered in mixed radix; when 64 bits are too few for the next attribute, the
    numbers so far are replaced by dense ones first.
    """
    keys, span = np.zeros(n_rows, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size > MOST_RANKED:
            distinct, keys = np.unique(keys, return_inverse=True)
            span = len(distinct)
        keys = keys * size + column
        span *= size
    return keys


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Matches:
    """The level vectors of a dictionary against one record, grouped.

    ``vectors`` are the distinct level vectors in lexicographic order, ``multiplicities`` the
    number of dictionary records of each. Small lattices are counted at once, by prefix sums over
    the chains; in large ones each count is computed bit-parallel over the groups.
    """

    monotone: ClassVar[bool] = True
    lattice: Lattice
    vectors: Levels
    multiplicities: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        lattice: Lattice,
        vectors: Levels,
        multiplicities: NDArray[np.int64] | None = None,
    ) -> Matches:
        """Group level vectors, each of which may represent several records."""
        keys = row_keys(list(vectors.T), lattice.shape, len(vectors))
        _, index, group = np.unique(keys, return_index=True, return_inverse=True)
        sums = np.bincount(group, weights=multiplicities, minlength=len(index))
        return cls(
            lattice=lattice,
            vectors=np.ascontiguousarray(vectors[index]),
            multiplicities=sums.astype(np.int64),
        )

    @cached_property
    def n_records(self) -> int:
        """The size of the dictionary."""
        return int(self.multiplicities.sum())

    def count(self, node: Sequence[int]) -> int:
        """Return the number of matches of one node."""
        if self.lattice.n_nodes <= CUBE_UP_TO:
            return int(self._cube[tuple(node)])
        return self._bits.count(node)

    def counts(self, levels: ArrayLike) -> NDArray[np.int64]:
        """Return the numbers of matches of many nodes, one row of levels each."""
        if self.lattice.n_nodes <= CUBE_UP_TO:
            return self._cube.reshape(-1)[self.lattice.rank(levels)]
        return self._bits.counts(np.asarray(levels, dtype=np.int64))

    def cube(self) -> NDArray[np.int64]:
        """Return the numbers of matches of all nodes, by prefix sums along each chain."""
        return self._cube

    @cached_property
    def _cube(self) -> NDArray[np.int64]:
        cube = np.zeros(self.lattice.n_nodes, dtype=np.int64)
        cube[self.lattice.rank(self.vectors)] = self.multiplicities
        return prefix_sums(cube.reshape(self.lattice.shape))

    @cached_property
    def _bits(self) -> _BitCounts:
        return _BitCounts(self)


def prefix_sums(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace each cell, in place, by the sum of all cells at or below it."""
    for axis in range(counts.ndim):
        np.cumsum(counts, axis=axis, out=counts)
    counts.flags.writeable = False
    return counts


class _BitCounts:
    """Counts over bit sets of groups, one bit set per attribute and level.

    The groups of a node are the conjunction of one bit set per attribute. Groups are sorted by
    decreasing multiplicity, so that binary digit ``b`` of the multiplicities is a bit set over
    the few groups that have it: their sum is one population count per digit.
    """

    def __init__(self, matches: Matches) -> None:
        order = np.argsort(-matches.multiplicities, kind="stable")
        vectors, many = matches.vectors[order], matches.multiplicities[order]
        heights = np.array(matches.lattice.heights, dtype=np.int64)
        self.start = np.cumsum(heights + 1) - heights - 1
        self.heights = heights
        literals = [
            _packed(vectors[:, i] <= level)
            for i, height in enumerate(matches.lattice.heights)
            for level in range(height + 1)
        ]
        n_words = -(-len(many) // 64)
        self.literals = np.array(literals, dtype=np.uint64).reshape(len(literals), n_words)
        n_digits = int(many.max(initial=0)).bit_length()
        self.digits = [
            _packed((many[: int((many >> b > 0).sum())] >> b & 1).astype(bool))
            for b in range(n_digits)
        ]

    def count(self, node: Sequence[int]) -> int:
        levels = np.asarray(node, dtype=np.int64)
        chosen = (self.start + levels)[levels < self.heights]
        fit = np.bitwise_and.reduce(self.literals[chosen], axis=0)
        return int(self._weighed(fit))

    def counts(self, levels: NDArray[np.int64]) -> NDArray[np.int64]:
        sums = np.empty(len(levels), dtype=np.int64)
        at_once = max(1, _WORDS_AT_ONCE // max(1, self.literals.shape[1]))
        for begin in range(0, len(levels), at_once):
            rows = levels[begin : begin + at_once] + self.start
            fit = self.literals[rows[:, 0]]
            for i in range(1, rows.shape[1]):
                fit &= self.literals[rows[:, i]]
            sums[begin : begin + at_once] = self._weighed(fit)
        return sums

    def _weighed(self, fit: NDArray[np.uint64]) -> NDArray[np.int64]:
        sums = np.zeros(fit.shape[:-1], dtype=np.int64)
        for b, digit in enumerate(self.digits):
            ones = np.bitwise_count(fit[..., : len(digit)] & digit)
            sums += ones.sum(axis=-1, dtype=np.int64) << b
        return sums


def _packed(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    n_words = -(-len(flags) // 64)
    padded = np.zeros(n_words * 64, dtype=np.bool_)
    padded[: len(flags)] = flags
    return np.packbits(padded).view(np.uint64)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CountedLattice:
    """Counts of matches for a whole lattice, computed beforehand."""

    monotone: ClassVar[bool] = True
    lattice: Lattice
    n_records: int
    numbers: NDArray[np.int64]

    def count(self, node: Sequence[int]) -> int:
        """Return the number of matches of one node."""
        return int(self.numbers[tuple(node)])

    def counts(self, levels: ArrayLike) -> NDArray[np.int64]:
        """Return the numbers of matches of many nodes, one row of levels each."""
        return self.numbers.reshape(-1)[self.lattice.rank(levels)]

    def cube(self) -> NDArray[np.int64]:
        """Return the numbers of matches of all nodes."""
        return self.numbers
