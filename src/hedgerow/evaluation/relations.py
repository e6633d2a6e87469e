"""Errors of pairs of attributes and of means in a release.

Three figures: the share of records in combinations that do not occur, errors of correlations, and
errors of means, each beside that of knowing only the public domains. For the data owner: figures
compare with the raw table and are not private.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from hedgerow.report.headlines import Facts


@dataclass(frozen=True, kw_only=True)
class PairRelation:
    """Errors of one pair of attributes, numbered as the schema uses them, the class last.

    ``error`` is the total variation of the 2-way marginal. ``impossible`` is the share of the
    released records in cells that are empty in the raw table; ``even`` that of records spread
    evenly over all combinations. Correlations are None if one of the two has no mean.
    """

    attributes: tuple[int, int]
    error: float
    impossible: float
    even: float
    correlation: float | None
    true_correlation: float | None


@dataclass(frozen=True, kw_only=True)
class MeanRelation:
    """Mean of one attribute; ``error`` is a share of the width of its domain.

    ``middle`` is the error of answering the middle of the domain.
    """

    attribute: int
    mean: float | None
    true_mean: float | None
    error: float | None
    middle: float | None


@dataclass(frozen=True, kw_only=True)
class Relations:
    """All pairs and means; ``exact`` is False if records were drawn from the release."""

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
    """Return the errors of every pair of attributes and of every mean.

    Cells are the public bins of marginals: numbers in 16 equal steps. ``weights`` are those of
    the records of the table, if not 1.
    """
    used = list(table.schema.used()) if with_class else list(table.schema.attributes)
    edges = [bin_edges(attribute) for attribute in used]
    scales = _scales(used)
    records, release = Spread.of_table(table, weights), Spread.of_groups(groups, table.schema)
    with one_thread():
        true, released = moments(records, scales), moments(release, scales)
        true_table = pair_tables(records, edges)
        released_table, exact = release_tables(groups, table.schema, edges, seed=seed)
    rank = {at: place for place, at in enumerate(sorted(scales))}
    n_pairs = comb(len(used), 2)
    pairs = []
    for number, (a, b) in enumerate(combinations(range(len(used)), 2)):
        if not number % 64:
            done(number / n_pairs)
        widths = np.diff(edges[a])[:, None] * np.diff(edges[b])
        pair = true_table(a, b), released_table(a, b)
        pairs.append(_pair((a, b), *pair, widths, _both(rank, a, b, released, true)))
    return Relations(pairs=tuple(pairs), means=_means(scales, released, true), exact=exact)


def _scales(used: list[Attribute]) -> dict[int, Scale]:
    found = {at: scale_of(attribute.domain) for at, attribute in enumerate(used)}
    return {at: scale for at, scale in found.items() if scale is not None}


def _pair(
    attributes: tuple[int, int],
    true: Floats,
    released: Floats,
    widths: NDArray[np.int64],
    correlations: tuple[float | None, float | None],
) -> PairRelation:
    empty = true == 0
    total = float(released.sum())
    return PairRelation(
        attributes=attributes,
        error=total_variation(released, true),
        impossible=float(released[empty].sum()) / total if total > 0 else 0.0,
        even=float(widths[empty].sum() / widths.sum()),
        correlation=correlations[0],
        true_correlation=correlations[1],
    )


def _both(
    rank: dict[int, int], a: int, b: int, released: Moments, true: Moments
) -> tuple[float | None, float | None]:
    """Return both correlations of a pair; 0 for a release that shows only one value."""
    if a not in rank or b not in rank:
        return None, None
    at = rank[a], rank[b]
    real = _number(true.correlations[at])
    return (None, None) if real is None else (_number(released.correlations[at]) or 0.0, real)


def _means(scales: dict[int, Scale], released: Moments, true: Moments) -> tuple[MeanRelation, ...]:
    found = []
    for place, at in enumerate(sorted(scales)):
        scale = scales[at]
        ours, real = _number(released.means[place]), _number(true.means[place])
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


def relation_facts(found: Relations, names: Sequence[str]) -> Facts:
    """Return the facts of all pairs and means, by the names of their attributes."""
    return {
        "tables": "exact" if found.exact else "of records drawn from the release",
        "impossible": _impossible(found.pairs),
        "correlations": _correlations(found.pairs),
        "mean-errors": _mean_errors(found.means),
        "means": [_mean_fact(each, names) for each in found.means],
        "pairs": [_pair_fact(each, names) for each in found.pairs],
    }


def _impossible(pairs: Sequence[PairRelation]) -> Facts | None:
    if not pairs:
        return None
    shares = [each.impossible for each in pairs]
    return {
        "n-pairs": len(pairs),
        "mean": float(np.mean(shares)),
        "worst": max(shares),
        "even": float(np.mean([each.even for each in pairs])),
    }


def _correlations(pairs: Sequence[PairRelation]) -> Facts | None:
    both = [
        (each.correlation, each.true_correlation)
        for each in pairs
        if each.correlation is not None and each.true_correlation is not None
    ]
    if not both:
        return None
    released, true = np.array(both).T
    return {
        "n-pairs": len(both),
        "mean-error": float(np.abs(released - true).mean()),
        "worst": float(np.abs(released - true).max()),
        "answering-zero": float(np.abs(true).mean()),
    }


def _mean_errors(means: Sequence[MeanRelation]) -> Facts | None:
    errors = [each.error for each in means if each.error is not None]
    middles = [each.middle for each in means if each.error is not None and each.middle is not None]
    if not errors:
        return None
    return {
        "n-attributes": len(errors),
        "mean-error": float(np.mean(errors)),
        "worst": max(errors),
        "answering-middle": float(np.mean(middles)),
    }


def _mean_fact(each: MeanRelation, names: Sequence[str]) -> Facts:
    return {
        "attribute": names[each.attribute],
        "release": each.mean,
        "records": each.true_mean,
        "error": each.error,
        "answering-middle": each.middle,
    }


def _pair_fact(each: PairRelation, names: Sequence[str]) -> Facts:
    return {
        "attributes": [names[at] for at in each.attributes],
        "error": each.error,
        "impossible": each.impossible,
        "even": each.even,
        "correlation": None
        if each.true_correlation is None
        else {"release": each.correlation, "records": each.true_correlation},
    }
