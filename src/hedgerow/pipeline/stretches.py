"""How far counts over a release of a made-up table are off, in records.

A count asks for records whose values lie in a stretch of codes of one to three columns: some
cells of a number, a node of a taxonomy. The release answers from its boxes, values inside a box
spread evenly or by its noisy marginals. Only made-up tables come here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.domain import Domain

SIZE = 500
"""The count of people that errors are told for, or a tenth of all where that is fewer."""

COUNTS = 600
LEAST_COUNTS = 20
_MOST_COLUMNS = 3

Stretch = tuple[int, int, int]
"""A column and the codes ``[first, stop)`` of it."""


@dataclass(frozen=True, kw_only=True)
class CountError:
    """A count of about ``size`` records is off by ``typical``, and 95 of 100 by ``within_95``."""

    size: int
    typical: float
    within_95: float

    @classmethod
    def middle(cls, errors: Sequence[CountError]) -> CountError:
        """Return the middle of several runs, figure by figure."""
        typical = float(np.median([error.typical for error in errors]))
        within_95 = float(np.median([error.within_95 for error in errors]))
        return cls(size=errors[0].size, typical=typical, within_95=within_95)


def size_told(n_records: int) -> int:
    """Return the count that errors are told for."""
    return min(SIZE, max(n_records // 10, 1))


def count_error(
    groups: Groups, table: EncodedTable, *, n_records: int, seed: int
) -> CountError | None:
    """Return the errors of counts of about ``size_told(n_records)``; nothing if there are none.

    The table may have fewer than ``n_records``; counts and errors are told for those.
    """
    if not len(table):
        return None
    size, factor = size_told(n_records), n_records / len(table)
    answers = StretchAnswers.of(groups, table)
    true, off = [], []
    for stretches in _drawn(table, np.random.default_rng(seed)):
        count = _true(table, stretches)
        true.append(count * factor)
        off.append(abs(answers.count(stretches) - count) * factor)
    sizes, errors = np.array(true), np.array(off)
    for width in (2, 4, 8):
        near = (sizes >= size / width) & (sizes <= size * width)
        if near.sum() >= LEAST_COUNTS:
            typical, most = np.quantile(errors[near], [0.5, 0.95])
            return CountError(size=size, typical=float(typical), within_95=float(most))
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class StretchAnswers:
    """A release made ready to answer: running weights of every column's codes."""

    groups: Groups
    running: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, groups: Groups, table: EncodedTable) -> StretchAnswers:
        """Return the answers that a release of the table's domains gives."""
        sizes = [attribute.domain.size for attribute in table.schema.attributes]
        weights = [np.ones(size) for size in sizes]
        if groups.marginals is not None:
            weights = [marginal.sum(axis=1) + 1e-9 for marginal in groups.marginals]
        running = tuple(np.concatenate([[0.0], np.cumsum(each)]) for each in weights)
        return cls(groups=groups, running=running)

    def count(self, stretches: Sequence[Stretch]) -> float:
        """Return the noisy count of the records that lie in all stretches."""
        share: NDArray[np.float64] = self.groups.counts.astype(np.float64)
        for column, first, stop in stretches:
            ranges, total = self.groups.ranges[column], self.running[column]
            low, high = np.maximum(ranges.first, first), np.minimum(ranges.stop, stop)
            inside = np.where(low < high, total[np.maximum(high, low)] - total[low], 0.0)
            part = inside / (total[ranges.stop] - total[ranges.first])
            share = share * part[self.groups.index[column]]
        return float(share.sum())


def _drawn(table: EncodedTable, rng: np.random.Generator) -> Iterator[list[Stretch]]:
    """Yield stretches around records drawn at random, so that most hold somebody."""
    domains = [attribute.domain for attribute in table.schema.attributes]
    telling = [at for at, domain in enumerate(domains) if domain.size > 1]
    for _ in range(COUNTS if telling else 0):
        record = int(rng.integers(len(table)))
        n = int(rng.integers(1, min(_MOST_COLUMNS, len(telling)) + 1))
        columns = rng.choice(telling, size=n, replace=False).tolist()
        yield [(at, *_around(domains[at], int(table.codes[at][record]), rng)) for at in columns]


def _around(domain: Domain, code: int, rng: np.random.Generator) -> tuple[int, int]:
    if domain.kind != "categorical":
        width = int(rng.integers(1, domain.size // 2 + 1))
        first = int(np.clip(code - rng.integers(width), 0, domain.size - width))
        return first, first + width
    taxonomy = domain.taxonomy
    path = taxonomy.path(int(taxonomy.leaf_nodes[code]))[1:]
    node = int(path[rng.integers(len(path))])
    return int(taxonomy.first[node]), int(taxonomy.stop[node])


def _true(table: EncodedTable, stretches: Sequence[Stretch]) -> int:
    inside = np.ones(len(table), dtype=np.bool_)
    for column, first, stop in stretches:
        codes = table.codes[column]
        inside &= (codes >= first) & (codes < stop)
    return int(inside.sum())
