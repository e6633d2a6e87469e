"""Errors of random range queries over a table.

A query counts the records whose values lie in ranges of one to three attributes: an interval
of a numeric attribute, a node of a taxonomy. For the data owner: not private.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.evaluation.spread import Spread
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, stretch, unheard
from hedgerow.taxonomy.domain import CategoricalDomain

QUERIES = 10_000
MOST_ATTRIBUTES = 3
SANITY = Fraction(1, 1000)
"""Sanity bound as a share of the number of records: smaller answers are replaced by it."""

_SETS = 60  # sets of attributes of each size that queries use


@dataclass(frozen=True, kw_only=True, eq=False)
class QueryBlock:
    """Queries ``low <= code < high`` of the same attributes: one per row, a column per attribute.

    Attributes are numbered as the schema uses them, the class last.
    """

    attributes: tuple[int, ...]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True, kw_only=True)
class RangeErrors:
    """Errors of the answers to queries of ``attributes`` attributes (owner only).

    ``relative`` and ``median`` are the mean and the median relative error with the sanity
    bound, ``absolute`` the mean error as a share of all records; ``answering_zero`` and
    ``zero_median`` are the mean and the median relative error of answering 0.
    """

    attributes: int
    n_queries: int
    relative: float
    median: float
    absolute: float
    answering_zero: float
    zero_median: float


def random_range_queries(
    schema: Schema, *, n: int = QUERIES, most_attributes: int = MOST_ATTRIBUTES, seed: int = 0
) -> tuple[QueryBlock, ...]:
    """Return about ``n`` random queries, a third each of 1, 2 and 3 attributes.

    A numeric range lies between two borders drawn at random; a categorical one is a node
    of the taxonomy below the root, drawn at random. Attributes of one value are left out.
    """
    used = list(schema.used())
    telling = [at for at, attribute in enumerate(used) if attribute.domain.size > 1]
    if not telling or n < 1 or not 1 <= most_attributes <= 3:
        raise SettingError.out_of_range("queries", n, "queries of attributes with several values")
    rng = np.random.default_rng(seed)
    deepest = min(most_attributes, len(telling))
    blocks = []
    for k in range(1, deepest + 1):
        n_sets = min(_SETS, comb(len(telling), k), max(1, n // deepest))
        sizes = np.diff(np.linspace(0, n // deepest, n_sets + 1).astype(np.int64))
        sets = _sets(telling, k, n_sets, rng)
        for attributes, size in zip(sets, sizes.tolist(), strict=True):
            bounds = [_drawn(used[at], size, rng) for at in attributes]
            low, high = (np.stack(columns, axis=1) for columns in zip(*bounds, strict=True))
            blocks.append(QueryBlock(attributes=attributes, low=low, high=high))
    return tuple(block for block in blocks if len(block))


def range_answers(
    spread: Spread, queries: tuple[QueryBlock, ...], *, done: Done = unheard
) -> NDArray[np.float64]:
    """Return the answers to all queries, in their order."""
    found = []
    for at, block in enumerate(queries):
        done(at / len(queries))
        found.append(spread.counts_in(block.attributes, block.low, block.high))
    return np.concatenate(found)


def range_errors(
    groups: Groups,
    table: EncodedTable,
    *,
    queries: tuple[QueryBlock, ...] | None = None,
    sanity: Fraction = SANITY,
    seed: int = 0,
    weights: NDArray[np.float64] | None = None,
    done: Done = unheard,
) -> tuple[RangeErrors, ...]:
    """Return the errors of a release's answers, by the number of attributes of queries.

    The error of a query is |release - records| / max(records, s), where s is 0.1 % of the
    number of records, as in [DiffPart, Sec. 5.1]. ``weights`` are those of the records of the
    table, if not 1.
    """
    blocks = queries or random_range_queries(_schema_of(groups, table), seed=seed)
    records, release = Spread.of_table(table, weights), Spread.of_groups(groups, table.schema)
    true = range_answers(records, blocks, done=stretch(done, 0, 2))
    answers = range_answers(release, blocks, done=stretch(done, 1, 2))
    scale = np.maximum(true, max(float(sanity) * records.total, 1e-9))
    sizes = [len(block) for block in blocks]
    width = np.repeat([len(block.attributes) for block in blocks], sizes)
    found = []
    for k in np.unique(width).tolist():
        here = width == k
        relative = np.abs(answers - true)[here] / scale[here]
        of_zero = true[here] / scale[here]
        found.append(
            RangeErrors(
                attributes=int(k),
                n_queries=int(here.sum()),
                relative=float(relative.mean()),
                median=float(np.median(relative)),
                absolute=float(np.abs(answers - true)[here].mean() / max(records.total, 1)),
                answering_zero=float(of_zero.mean()),
                zero_median=float(np.median(of_zero)),
            )
        )
    return tuple(found)


def _schema_of(groups: Groups, table: EncodedTable) -> Schema:
    """Return the common schema, without the class if one lacks it."""
    if groups.classes is not None and table.classes is not None:
        return table.schema
    return Schema(attributes=table.schema.attributes, class_attribute=None)


def _sets(
    telling: list[int], k: int, n_sets: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()
    while len(found) < n_sets:
        drawn = rng.choice(len(telling), k, replace=False)
        found.add(tuple(sorted(telling[int(at)] for at in drawn)))
    return sorted(found)


def _drawn(
    attribute: Attribute, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    domain = attribute.domain
    if isinstance(domain, CategoricalDomain):
        nodes = 1 + rng.integers(0, domain.taxonomy.n_nodes - 1, n)
        first, stop = domain.taxonomy.first[nodes], domain.taxonomy.stop[nodes]
        return first.astype(np.int64), stop.astype(np.int64)
    # Two distinct borders out of size + 1: the second is drawn from the others.
    one, other = rng.integers(0, domain.size + 1, n), rng.integers(0, domain.size, n)
    other += other >= one
    return np.minimum(one, other), np.maximum(one, other)
