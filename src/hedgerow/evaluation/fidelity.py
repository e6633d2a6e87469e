"""Distance of a release from the raw data in cells that the raw data alone define.

Columns are compared value by value, or in quantile cells of the raw column; pairs of columns in
at most 20 x 20 such cells. No method chooses its cells, so that methods can be compared and
values that a method merges show as errors. For the data owner: not private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.marginals import chosen_sets, total_variation
from hedgerow.evaluation.moments import NumberErrors, moments, number_errors, scale_of
from hedgerow.evaluation.neutral_cells import CellOfCode, neutral_cells, value_cells
from hedgerow.evaluation.pair_tables import TableOfPair, pair_tables, release_tables
from hedgerow.evaluation.spread import Spread
from hedgerow.evaluation.threads import one_thread
from hedgerow.model.arrays import Floats
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Attribute
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, unheard

MOST_PAIRS = 300
"""2-way marginals that are compared; of more, as many are sampled."""

TOP = 10
"""Most frequent values of a column whose counts are compared."""

WIDE = 24
"""Columns of more codes are wide: methods merge their values."""


@dataclass(frozen=True, kw_only=True)
class ColumnFidelity:
    """One column of a release beside that of the raw data.

    ``error`` is the total variation of the 1-way marginal, the share of records with the wrong
    value, and ``even`` that of records spread evenly over the domain. ``by_value`` says that
    every value was a cell, not quantile cells. ``top`` is the summed error of the counts of the
    ten most frequent values, as a share of these counts; ``occurs`` the share of released
    records whose value occurs in the raw column (None: no records). ``number`` compares
    means, deviations and quantiles of a number.
    """

    attribute: int
    size: int
    error: float
    even: float
    by_value: bool
    top: float
    occurs: float | None
    number: NumberErrors | None


@dataclass(frozen=True, kw_only=True)
class PairFidelity:
    """Total variation of one 2-way marginal, and that of records spread evenly."""

    attributes: tuple[int, int]
    error: float
    even: float


@dataclass(frozen=True, kw_only=True)
class CorrelationFidelity:
    """Correlation of two numbers in the raw data; 0 for a release that shows one value."""

    attributes: tuple[int, int]
    release: float
    records: float


@dataclass(frozen=True, kw_only=True)
class Fidelity:
    """Columns, pairs and correlations; attributes are numbered as used, the class last.

    ``n_possible`` is the number of pairs, of which ``pairs`` were compared. ``exact`` is false
    where 2-way marginals are those of records drawn from the release.
    """

    columns: tuple[ColumnFidelity, ...]
    pairs: tuple[PairFidelity, ...]
    correlations: tuple[CorrelationFidelity, ...]
    n_possible: int
    exact: bool

    @property
    def one_way(self) -> float:
        """The mean error of 1-way marginals."""
        return float(np.mean([each.error for each in self.columns]))

    @property
    def one_way_wide(self) -> float | None:
        """The mean error of 1-way marginals of columns with more than 24 codes."""
        return _mean([each.error for each in self.columns if each.size > WIDE])

    @property
    def two_way(self) -> float | None:
        """The mean error of 2-way marginals."""
        return _mean([each.error for each in self.pairs])

    @property
    def worst_column(self) -> ColumnFidelity:
        """The column with the largest error, the first of equal ones."""
        return max(self.columns, key=lambda each: each.error)


def fidelity(
    release: Groups | EncodedTable,
    table: EncodedTable,
    *,
    with_class: bool = False,
    most_pairs: int = MOST_PAIRS,
    seed: int = 0,
    weights: Floats | None = None,
    done: Done = unheard,
) -> Fidelity:
    """Return how close a release, or a table of synthetic records, is to the raw table.

    Records of a box are spread over it in expectation, not drawn; where that takes too long for
    2-way marginals, records drawn with ``seed`` stand for boxes. The seed also draws pairs where
    there are more than ``most_pairs``. ``weights`` are those of the raw records, if not 1.
    """
    used = list(table.schema.used()) if with_class else list(table.schema.attributes)
    records = Spread.of_table(table, weights)
    synthetic = (
        Spread.of_groups(release, table.schema)
        if isinstance(release, Groups)
        else Spread.of_table(release)
    )
    true = [records.code_weights(at) for at in range(len(used))]
    columns = [
        _column(at, attribute, synthetic.code_weights(at), true[at])
        for at, attribute in enumerate(used)
    ]
    cells = [neutral_cells(counts, each.domain) for counts, each in zip(true, used, strict=True)]
    edges = [_borders(each) for each in cells]
    with one_thread():
        if isinstance(release, Groups):
            released, exact = release_tables(release, table.schema, edges, seed=seed)
        else:
            released, exact = pair_tables(synthetic, edges), True
        pairs = _pairs(
            cells, released, pair_tables(records, edges), most=most_pairs, seed=seed, done=done
        )
        correlations = _correlations(used, synthetic, records)
    return Fidelity(
        columns=tuple(columns),
        pairs=pairs,
        correlations=correlations,
        n_possible=comb(len(used), 2),
        exact=exact,
    )


def _column(at: int, attribute: Attribute, synthetic: Floats, true: Floats) -> ColumnFidelity:
    cells = value_cells(true, attribute.domain)
    merged = _merged(true, cells)
    total = float(synthetic.sum())
    return ColumnFidelity(
        attribute=at,
        size=len(true),
        error=total_variation(_merged(synthetic, cells), merged),
        even=total_variation(np.bincount(cells).astype(np.float64), merged),
        by_value=len(merged) == len(true),
        top=_top_error(synthetic, true),
        occurs=float(synthetic[true > 0].sum()) / total if total > 0 else None,
        number=number_errors(attribute.domain, synthetic, true),
    )


def _merged(weights: Floats, cells: CellOfCode) -> Floats:
    return np.bincount(cells, weights=weights).astype(np.float64)


def _top_error(synthetic: Floats, true: Floats) -> float:
    """Return the errors of the shares of the most frequent values, as a part of these shares."""
    top = np.argsort(-true, kind="stable")[:TOP]
    shares = true[top] / true.sum()
    total = synthetic.sum()
    released = synthetic[top] / total if total > 0 else np.zeros(len(top))
    return float(np.abs(released - shares).sum() / shares.sum())


def _borders(cells: CellOfCode) -> NDArray[np.int64]:
    """Return the borders of the runs of codes that share a cell."""
    inner = np.flatnonzero(np.diff(cells)) + 1
    return np.concatenate([[0], inner, [len(cells)]]).astype(np.int64)


def _pairs(
    cells: Sequence[CellOfCode],
    released: TableOfPair,
    true: TableOfPair,
    *,
    most: int,
    seed: int,
    done: Done,
) -> tuple[PairFidelity, ...]:
    chosen = chosen_sets(len(cells), 2, most, seed) if len(cells) > 1 else []
    folds = [_fold(each) for each in cells]
    widths = [np.bincount(each).astype(np.float64) for each in cells]
    found = []
    for number, (a, b) in enumerate(chosen):
        if not number % 16:
            done(number / len(chosen))
        of_records = folds[a] @ true(a, b) @ folds[b].T
        error = total_variation(folds[a] @ released(a, b) @ folds[b].T, of_records)
        even = total_variation(np.outer(widths[a], widths[b]), of_records)
        found.append(PairFidelity(attributes=(a, b), error=error, even=even))
    return tuple(found)


def _fold(cells: CellOfCode) -> Floats:
    """Return the matrix that adds up the runs of codes of each cell."""
    of_run = cells[_borders(cells)[:-1]]
    members: NDArray[np.bool_] = of_run == np.arange(cells.max() + 1)[:, None]
    return members.astype(np.float64)


def _correlations(
    used: Sequence[Attribute], synthetic: Spread, records: Spread
) -> tuple[CorrelationFidelity, ...]:
    """Return the correlations of pairs of numbers that have one in the raw data."""
    scales = {
        at: scale
        for at, attribute in enumerate(used)
        if attribute.domain.kind == "numeric" and (scale := scale_of(attribute.domain)) is not None
    }
    if len(scales) < 2:
        return ()
    ours, true = moments(synthetic, scales).correlations, moments(records, scales).correlations
    return tuple(
        CorrelationFidelity(
            attributes=pair, release=float(np.nan_to_num(ours[a, b])), records=float(true[a, b])
        )
        for (a, b), pair in zip(
            combinations(range(len(scales)), 2), combinations(sorted(scales), 2), strict=True
        )
        if not np.isnan(true[a, b])
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
