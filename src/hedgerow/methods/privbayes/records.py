"""From a network to synthetic records: noisy marginals, then one attribute after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.joint import JointCounts
from hedgerow.methods.privbayes.network import Encoding, Pair
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups, Ranges
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.mechanisms import Spending, noisy_counts
from hedgerow.privacy.source import RandomSource, below
from hedgerow.trees.projection import simplex_shift

DENSE = 1 << 20
"""Codes of a domain up to which each has a place of its own when values are looked up."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditional:
    """The law of an attribute's cells given its parents' cell, from noisy counts.

    ``weights`` has one row per cell of the parents; rows add up to 1.
    """

    pair: Pair
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, pair: Pair, noisy: NDArray[np.int64], total: int) -> Conditional:
        """Return the law that noisy counts (parents, child) of a noisy total give.

        Counts are projected on non-negative ones of that total. Where a parents' cell has
        nothing left the child goes by its own marginal, and evenly if that is empty too.
        """
        positive = np.zeros(noisy.shape)
        if total > 0:
            positive = np.maximum(noisy - simplex_shift(noisy.ravel(), total), 0.0)
        alone = positive.sum(axis=0)
        alone = alone if alone.sum() > 0 else np.ones(noisy.shape[1])
        empty = positive.sum(axis=1) <= 0
        positive[empty] = alone
        return cls(pair=pair, weights=positive / positive.sum(axis=1, keepdims=True))

    def draw(self, rows: NDArray[np.int64], *, source: RandomSource) -> NDArray[np.int64]:
        """Return one cell for each row of the parents."""
        n_cells = self.weights.shape[1]
        ends = np.cumsum(self.weights, axis=1)
        ends = np.minimum(ends, 1.0)  # rounding must not carry a draw beyond the last cell
        ends[:, -1] = 1.0
        flat = (ends + np.arange(len(ends))[:, None]).ravel()
        at = (source.words(len(rows)) >> np.uint64(11)) * 2.0**-53
        within = np.minimum(rows + at, np.nextafter(rows + 1, 0))
        cells: NDArray[np.int64] = np.searchsorted(flat, within, "right") - rows * n_cells
        return cells


def noisy_conditionals(
    engine: Engine,
    encoding: Encoding,
    network: tuple[Pair, ...],
    *,
    total: int,
    ledger: PathLedger,
    source: RandomSource,
) -> list[Conditional]:
    """Return the law of every attribute given its parents, from one pass over the data.

    Privacy: a record is in one cell of every marginal, so each costs its share and all of
    them what was left of epsilon, in equal shares (sequential composition).
    """
    kernel = JointCounts(places=encoding.places, tables=tuple(pair.table for pair in network))
    share: Fraction = ledger.left() / len(network)
    laws = []
    for step, counts in enumerate(kernel.split(engine.sum(kernel)), start=1):
        spending = Spending(epsilon=share, on=f"marginal {step}", ledger=ledger, source=source)
        noisy = noisy_counts(counts.ravel(), spending=spending).reshape(counts.shape)
        laws.append(Conditional.of(network[step - 1], noisy, total))
    return laws


def drawn_codes(
    encoding: Encoding, laws: list[Conditional], n_records: int, *, source: RandomSource
) -> list[NDArray[np.int64]]:
    """Return the codes of synthetic records, by attribute, the class last.

    Cells are drawn from the laws in the network's order, and codes evenly in their cell.
    """
    codes: dict[int, NDArray[np.int64]] = {}
    for law in laws:
        rows = np.zeros(n_records, dtype=np.int64)
        for a, level in law.pair.parents:
            rows = rows * encoding.ladders[a][level].n_cells + encoding.places[a][level][codes[a]]
        cells = law.draw(rows, source=source)
        edges = encoding.ladders[law.pair.child][0].edges.astype(np.int64)
        codes[law.pair.child] = edges[cells] + below(np.diff(edges)[cells], source=source)
    return [codes[a] for a in range(len(encoding))]


def groups_of_points(
    codes: Sequence[NDArray[np.integer[Any]]],
    sizes: list[int],
    classes: NDArray[np.integer[Any]] | None,
) -> Groups:
    """Return points as groups, equal ones merged, in their canonical order.

    ``sizes`` are those of the attributes' domains. A release without a point lists one
    range per attribute, the whole.
    """
    n_classes = [] if classes is None else [int(classes.max(initial=0)) + 1]
    words = packed_columns([*codes] if classes is None else [*codes, classes], [*sizes, *n_classes])
    order, begins = sorted_words(words)
    starts = np.flatnonzero(begins)
    points = order[starts]
    tables, index = [], []
    for column, size in zip(codes, sizes, strict=True):
        ranges, place = _single_codes(column[points], size)
        tables.append(ranges)
        index.append(place)
    return Groups(
        ranges=tuple(tables),
        index=tuple(index),
        classes=None if classes is None else classes[points].astype(np.int32),
        counts=np.diff(starts, append=len(order)),
        is_cut=False,
    )


def packed_columns(
    columns: Sequence[NDArray[np.integer[Any]]], sizes: list[int]
) -> list[NDArray[np.int64]]:
    """Return columns put together as digits of few numbers, in the order of the columns."""
    words: list[NDArray[np.int64]] = []
    room = 0
    for column, size in zip(columns, sizes, strict=True):
        if room < size:
            words.append(column.astype(np.int64))
            room = (1 << 62) // max(size, 1)
        else:
            words[-1] *= size
            words[-1] += column
            room //= max(size, 1)
    return words


def sorted_words(
    words: list[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the order of rows by their words, and which rows of it differ from the one before.

    >>> order, begins = sorted_words([np.array([5, 2, 5]), np.array([1, 9, 0])])
    >>> order.tolist(), begins.tolist()
    ([1, 2, 0], [True, True, True])
    """
    order = np.argsort(words[0])
    begins = np.ones(len(order), dtype=np.bool_)
    ordered = words[0][order]
    begins[1:] = ordered[1:] != ordered[:-1]
    for at in range(1, len(words)):
        # Only rows that are equal so far must be compared, and they are few in wide tables.
        alike = ~begins
        alike[:-1] |= ~begins[1:]
        rows = np.flatnonzero(alike)
        run, part = np.cumsum(begins[rows]), order[rows]
        within = np.lexsort((words[at][part], run))
        order[rows] = part[within]
        ordered = words[at][order[rows]]
        begins[rows[1:]] |= ordered[1:] != ordered[:-1]
    return order, begins


def _single_codes(codes: NDArray[np.integer[Any]], size: int) -> tuple[Ranges, NDArray[np.int32]]:
    """Return the codes that occur as ranges of their own, and which of them each code is."""
    if not len(codes):
        whole = Ranges(first=np.zeros(1, dtype=np.int32), stop=np.full(1, size, dtype=np.int32))
        return whole, codes.astype(np.int32)
    if size > DENSE:
        present, place = np.unique(codes, return_inverse=True)
    else:
        seen = np.zeros(size, dtype=np.bool_)
        seen[codes] = True
        present, place = np.flatnonzero(seen), (np.cumsum(seen, dtype=np.int32) - 1)[codes]
    first = present.astype(np.int32)
    return Ranges(first=first, stop=first + 1), place.astype(np.int32, copy=False)
