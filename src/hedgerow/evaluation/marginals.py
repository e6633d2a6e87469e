"""Errors of marginals of a release in public bins.

For the data owner: figures compare with the raw table and are not private.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.evaluation.spread import Spread
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Attribute
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, unheard
from hedgerow.taxonomy.calendar import periods
from hedgerow.taxonomy.domain import DateDomain
from hedgerow.taxonomy.even_steps import EVEN_STEPS, even_borders

CATEGORICAL_BINS = 64
"""Maximum number of bins of neighbouring values of a categorical attribute."""

MOST_TABLES = 100
"""Maximum number of marginals that are compared for each number of attributes; more are sampled."""


@dataclass(frozen=True, kw_only=True)
class MarginalErrors:
    """Total variation distances of the marginals of ``ways`` attributes, from 0 to 1.

    ``n_marginals`` were compared, of ``n_possible``. ``even`` is the mean distance of records
    spread evenly over all values of the public domains.
    """

    ways: int
    mean: float
    worst: float
    n_marginals: int
    n_possible: int
    even: float


def marginal_errors(
    groups: Groups,
    table: EncodedTable,
    *,
    ways: int = 2,
    most: int = MOST_TABLES,
    with_class: bool = False,
    seed: int = 0,
    weights: NDArray[np.float64] | None = None,
    done: Done = unheard,
) -> MarginalErrors:
    """Return the errors of the ``ways``-way marginals of a release.

    Counts are compared as shares of their totals. Numeric attributes are put in 16 equal
    bins; ``with_class`` includes the class. ``weights`` are those of the records of the table,
    if not 1.
    """
    release = Spread.of_groups(groups, table.schema)
    return spread_errors(
        release,
        Spread.of_table(table, weights),
        _binned(table, with_class=with_class),
        ways=ways,
        most=most,
        seed=seed,
        done=done,
    )


def _binned(table: EncodedTable, *, with_class: bool) -> list[NDArray[np.int64]]:
    used = list(table.schema.used()) if with_class else list(table.schema.attributes)
    return [bin_edges(attribute) for attribute in used]


def spread_errors(
    release: Spread,
    records: Spread,
    edges: list[NDArray[np.int64]],
    *,
    ways: int,
    most: int = MOST_TABLES,
    seed: int = 0,
    done: Done = unheard,
) -> MarginalErrors:
    """Return the errors of marginals of the first attributes in these bins."""
    if not 1 <= ways <= min(3, len(edges)):
        raise SettingError.out_of_range(
            "ways", ways, f"a whole number from 1 to {min(3, len(edges))}"
        )
    chosen = chosen_sets(len(edges), ways, most, seed)
    errors, of_even = [], []
    for at, attributes in enumerate(chosen):
        done(at / len(chosen))
        bins = [edges[at] for at in attributes]
        true = records.marginal(attributes, bins)
        errors.append(total_variation(release.marginal(attributes, bins), true))
        of_even.append(total_variation(_widths(bins), true))
    return MarginalErrors(
        ways=ways,
        mean=float(np.mean(errors)),
        worst=float(np.max(errors)),
        n_marginals=len(errors),
        n_possible=comb(len(edges), ways),
        even=float(np.mean(of_even)),
    )


def _widths(bins: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return the number of combinations of values in each cell."""
    table: NDArray[np.float64] = np.ones(())
    for borders in bins:
        table = table[..., None] * np.diff(borders)
    return table


def total_variation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return half the sum of the differences of two tables, each as shares of its total.

    A table without records has distance 1 from any other.

    >>> total_variation(np.array([2.0, 2.0]), np.array([1.0, 3.0]))
    0.25
    """
    totals = float(first.sum()), float(second.sum())
    if min(totals) <= 0:
        return 0.0 if max(totals) <= 0 else 1.0
    return float(np.abs(first / totals[0] - second / totals[1]).sum() / 2)


def bin_edges(attribute: Attribute) -> NDArray[np.int64]:
    """Return the borders of the public bins of an attribute, from 0 to its size.

    Bins of a grid are the equal steps in which methods count and split it; bins of dates are at
    most years.
    """
    domain, size = attribute.domain, attribute.domain.size
    if isinstance(domain, DateDomain) and domain.levels:
        return periods(domain.levels, most=EVEN_STEPS)
    most = EVEN_STEPS if domain.kind == "numeric" else CATEGORICAL_BINS
    return even_borders(size, min(size, most))


def chosen_sets(n: int, ways: int, most: int, seed: int) -> list[tuple[int, ...]]:
    """Return all sets of ``ways`` attributes, or ``most`` of them, sampled with the seed."""
    if comb(n, ways) <= most:
        return list(combinations(range(n), ways))
    rng = np.random.default_rng(seed)
    found: set[tuple[int, ...]] = set()
    while len(found) < most:
        drawn = rng.choice(n, ways, replace=False)
        found.add(tuple(sorted(int(at) for at in drawn)))
    return sorted(found)
