"""What a release keeps of the relations between attributes: pair by pair, and means.

Three questions that analysts ask first: does the release show combinations that nobody has,
are correlations right, are means right? Each answer stands beside that of who knows nothing
but the public domains. For the data owner: the figures compare with the raw table and are
not private.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.marginals import bin_edges, total_variation
from hedgerow.evaluation.moments import Moments, Scale, moments, scale_of
from hedgerow.evaluation.pair_tables import pair_tables, release_tables
from hedgerow.evaluation.spread import Spread
from hedgerow.evaluation.threads import one_thread
from hedgerow.model.arrays import Floats
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Attribute
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, unheard


@dataclass(frozen=True, kw_only=True)
class PairRelation:
    """What a release says of two attributes, numbered as the schema uses them, the class last.

    ``error`` is the total variation of their table. ``impossible`` is the part of the released
    records in cells that are empty in the raw table; ``even`` that of records spread evenly over
    all combinations. Correlations are None where one of the two has no mean.
    """

    attributes: tuple[int, int]
    error: float
    impossible: float
    even: float
    correlation: float | None
    true_correlation: float | None


@dataclass(frozen=True, kw_only=True)
class MeanRelation:
    """The mean of one attribute; ``error`` is a part of the width of its domain.

    ``middle`` is the error of who always answers the middle of the domain.
    """

    attribute: int
    mean: float | None
    true_mean: float | None
    error: float | None
    middle: float | None


@dataclass(frozen=True, kw_only=True)
class Relations:
    """All pairs and means; ``exact`` is false where records were drawn from the release."""

    pairs: tuple[PairRelation, ...]
    means: tuple[MeanRelation, ...]
    exact: bool


def relations(
    groups: Groups,
    table: EncodedTable,
    *,
    with_class: bool = False,
    seed: int = 0,
    weights: Floats | None = None,
    done: Done = unheard,
) -> Relations:
    """Return what a release keeps of every pair of attributes, and of every mean.

    Cells are those of the bins of marginals: numbers in 16 equal steps. ``weights`` are what
    each record of the table counts for, if not 1.
    """
    used = list(table.schema.used()) if with_class else list(table.schema.attributes)
    edges = [bin_edges(attribute) for attribute in used]
    scales = _scales(used)
    records, release = Spread.of_table(table, weights), Spread.of_groups(groups, table.schema)
    with one_thread():
        true, told = moments(records, scales), moments(release, scales)
        true_table = pair_tables(records, edges)
        told_table, exact = release_tables(groups, table.schema, edges, seed=seed)
    rank = {at: place for place, at in enumerate(sorted(scales))}
    n_pairs = comb(len(used), 2)
    pairs = []
    for number, (a, b) in enumerate(combinations(range(len(used)), 2)):
        if not number % 64:
            done(number / n_pairs)
        widths = np.diff(edges[a])[:, None] * np.diff(edges[b])
        pair = true_table(a, b), told_table(a, b)
        pairs.append(_pair((a, b), *pair, widths, _both(rank, a, b, told, true)))
    return Relations(pairs=tuple(pairs), means=_means(scales, told, true), exact=exact)


def _scales(used: list[Attribute]) -> dict[int, Scale]:
    found = {at: scale_of(attribute.domain) for at, attribute in enumerate(used)}
    return {at: scale for at, scale in found.items() if scale is not None}


def _pair(
    attributes: tuple[int, int],
    true: Floats,
    told: Floats,
    widths: NDArray[np.int64],
    correlations: tuple[float | None, float | None],
) -> PairRelation:
    empty = true == 0
    total = float(told.sum())
    return PairRelation(
        attributes=attributes,
        error=total_variation(told, true),
        impossible=float(told[empty].sum()) / total if total > 0 else 0.0,
        even=float(widths[empty].sum() / widths.sum()),
        correlation=correlations[0],
        true_correlation=correlations[1],
    )


def _both(
    rank: dict[int, int], a: int, b: int, told: Moments, true: Moments
) -> tuple[float | None, float | None]:
    """Return both correlations of a pair; 0 for the release where it shows one value only."""
    if a not in rank or b not in rank:
        return None, None
    at = rank[a], rank[b]
    real = _number(true.correlations[at])
    return (None, None) if real is None else (_number(told.correlations[at]) or 0.0, real)


def _means(scales: dict[int, Scale], told: Moments, true: Moments) -> tuple[MeanRelation, ...]:
    found = []
    for place, at in enumerate(sorted(scales)):
        scale = scales[at]
        ours, real = _number(told.means[place]), _number(true.means[place])
        middle = scale.low + scale.width / 2
        missed = None if ours is None or real is None else abs(ours - real) / scale.width
        found.append(
            MeanRelation(
                attribute=at,
                mean=ours,
                true_mean=real,
                error=missed,
                middle=None if real is None else abs(middle - real) / scale.width,
            )
        )
    return tuple(found)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
