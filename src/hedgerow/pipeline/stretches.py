"""Errors of counts over a release of a simulated table, in records.

A count asks for records whose values lie in a stretch of codes of one to three columns: some
cells of a number, a node of a taxonomy. The release answers from its boxes, values inside a box
spread evenly or by its noisy marginals. Only simulated tables are used here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.domain import Domain

SIZE = 500
"""Count of people for which errors are reported, or a tenth of all if that is less."""

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


def reported_size(n_records: int) -> int:
    """Return the count for which errors are reported."""
    return min(SIZE, max(n_records // 10, 1))


def count_error(
    groups: Groups, table: EncodedTable, *, n_records: int, seed: int
) -> CountError | None:
    """Return the errors of counts of about ``reported_size(n_records)``; ``None`` without counts.

    The table may have fewer than ``n_records``; counts and errors are scaled to that number.
    """
    if not len(table):
        return None
    size, factor = reported_size(n_records), n_records / len(table)
    answers = StretchAnswers.of(groups, table)
    questions = _drawn(table, np.random.default_rng(seed))
    counts = np.array([_true(table, stretches) for stretches in questions])
    noisy = np.array([answers.count(stretches) for stretches in questions])
    sizes, errors = counts * factor, np.abs(noisy - counts) * factor
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
            part = total[np.maximum(high, low)] - total[low]  # 0 where they do not meet
            part /= total[ranges.stop] - total[ranges.first]
            share *= part[self.groups.index[column]]
        return float(share.sum())


def _drawn(table: EncodedTable, rng: np.random.Generator) -> list[list[Stretch]]:
    """Return stretches around records drawn at random, so that most hold somebody."""
    domains = [attribute.domain for attribute in table.schema.attributes]
    telling = [at for at, domain in enumerate(domains) if domain.size > 1]
    if not telling:
        return []
    records = rng.integers(len(table), size=COUNTS)
    n_columns = rng.integers(1, min(_MOST_COLUMNS, len(telling)) + 1, size=COUNTS)
    places = rng.random((COUNTS, len(telling))).argsort(axis=1)  # a permutation each
    found: list[list[Stretch]] = [[] for _ in range(COUNTS)]
    for place, at in enumerate(telling):
        limited = np.flatnonzero(places[:, place] < n_columns)
        codes = table.codes[at][records[limited]].astype(np.int64)
        first, stop = _around(domains[at], codes, rng)
        for question, low, high in zip(
            limited.tolist(), first.tolist(), stop.tolist(), strict=True
        ):
            found[question].append((at, low, high))
    return found


def _around(
    domain: Domain, codes: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if domain.kind != "categorical":
        width = rng.integers(1, domain.size // 2 + 1, size=len(codes))
        first = np.clip(codes - rng.integers(width), 0, domain.size - width)
        return first, first + width
    taxonomy = domain.taxonomy
    nodes = taxonomy.leaf_nodes[codes].astype(np.int64)
    rise = rng.integers(taxonomy.depth[nodes])  # to any node of the path below the root
    for risen in range(int(rise.max(initial=0))):
        nodes = np.where(rise > risen, taxonomy.parent[nodes], nodes)
    return taxonomy.first[nodes].astype(np.int64), taxonomy.stop[nodes].astype(np.int64)


def _true(table: EncodedTable, stretches: Sequence[Stretch]) -> int:
    inside: NDArray[np.bool_] | None = None
    for column, first, stop in stretches:
        codes = table.codes[column]
        hit = codes >= first
        hit &= codes < stop
        inside = hit if inside is None else np.logical_and(inside, hit, out=inside)
    return len(table) if inside is None else int(np.count_nonzero(inside))
