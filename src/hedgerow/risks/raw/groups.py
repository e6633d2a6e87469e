"""Groups of records with equal quasi-identifiers: k-anonymity, l-diversity and t-closeness."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Lower ends of the bars of the histogram of group sizes."""


@dataclass(frozen=True, kw_only=True)
class SizeBar:
    """Groups of ``low`` to ``high`` records (``None``: and more), and the records in them."""

    low: int
    high: int | None
    groups: int
    records: int

    @property
    def label(self) -> str:
        """Range of sizes as text."""
        if self.high is None:
            return f"{self.low} or more"
        return str(self.low) if self.high == self.low else f"{self.low} to {self.high}"


def size_bars(sizes: NDArray[np.int64]) -> tuple[SizeBar, ...]:
    """Return the histogram of group sizes.

    >>> [(bar.label, bar.groups, bar.records) for bar in size_bars(np.array([1, 1, 4]))][:3]
    [('1', 2, 2), ('2', 0, 0), ('3 to 4', 1, 4)]
    """
    bars = []
    for at, low in enumerate(SIZES):
        high = SIZES[at + 1] - 1 if at + 1 < len(SIZES) else None
        inside = (sizes >= low) & (sizes <= (high if high is not None else sizes.max(initial=0)))
        bars.append(
            SizeBar(low=low, high=high, groups=int(inside.sum()), records=int(sizes[inside].sum()))
        )
    return tuple(bars)


@dataclass(frozen=True, kw_only=True)
class Diversity:
    """Measures of what the groups reveal about a sensitive column.

    ``distinct`` is the smallest number of distinct values in a group, ``entropy`` the smallest
    exponential of a group's entropy (both called l), ``closeness`` the largest distance between a
    group's distribution and that of the table (t). ``homogeneous`` is the share of records in
    groups of one value: whoever finds the group knows the value.
    """

    column: str
    distinct: int
    entropy: float
    closeness: float
    homogeneous: float
    ordered: bool


def diversity_of(
    column: str,
    group: NDArray[np.int64],
    values: NDArray[np.int64],
    *,
    n_values: int,
    ordered: bool,
) -> Diversity:
    """Return l and t of a sensitive column, by the group of each record.

    The distance of t-closeness is the earth mover's: between adjacent values of an
    ``ordered`` column it is 1 / (values - 1), between any two values of another column 1
    [LiLV07].
    """
    n_groups = int(group.max(initial=-1)) + 1
    sizes = np.bincount(group, minlength=n_groups)
    cells, counts = np.unique(group * n_values + values, return_counts=True)
    owner, value = cells // n_values, cells % n_values
    share = counts / sizes[owner]
    entropy = np.bincount(owner, weights=-share * np.log(share), minlength=n_groups)
    distinct = np.bincount(owner, minlength=n_groups)
    overall = np.bincount(values, minlength=n_values) / len(values)
    distance = _ordered if ordered else _even
    return Diversity(
        column=column,
        distinct=int(distinct.min()),
        entropy=math.exp(float(entropy.min())),
        closeness=float(distance(owner, value, share, overall, n_groups).max()),
        homogeneous=float(sizes[distinct == 1].sum() / len(values)),
        ordered=ordered,
    )


def _even(
    owner: NDArray[np.int64],
    value: NDArray[np.int64],
    share: NDArray[np.float64],
    overall: NDArray[np.float64],
    n_groups: int,
) -> NDArray[np.float64]:
    """Return half the L1 distance of each group: its excess over the table."""
    excess = np.maximum(share - overall[value], 0.0)
    return np.bincount(owner, weights=excess, minlength=n_groups).astype(np.float64)


def _ordered(
    owner: NDArray[np.int64],
    value: NDArray[np.int64],
    share: NDArray[np.float64],
    overall: NDArray[np.float64],
    n_groups: int,
) -> NDArray[np.float64]:
    """Return the earth mover's distance on a line: the area between the distribution functions.

    A group's distribution function is constant between two of its values, so the area is a sum
    over its cells: of |c - F(v)| over the values v from one cell to the next, which two tables of
    sums over sorted F give.
    """
    n_values = len(overall)
    if n_values < 2:
        return np.zeros(n_groups)
    order = np.cumsum(overall)
    sums = np.concatenate([[0.0], np.cumsum(order)])
    total = np.cumsum(share)
    first = np.concatenate([[True], owner[1:] != owner[:-1]])
    begins = np.flatnonzero(first)
    before = np.repeat(total[begins] - share[begins], np.diff([*begins, len(owner)]))
    level = total - before
    stop = np.where(np.concatenate([first[1:], [True]]), n_values, np.concatenate([value[1:], [0]]))
    area = _between(level, value, stop, order, sums)
    ahead = sums[value[begins]]  # a group has no records below its first value
    distances = np.bincount(owner, weights=area, minlength=n_groups)
    distances[owner[begins]] += ahead
    return distances / (n_values - 1)


def _between(
    level: NDArray[np.float64],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    order: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the sum over v in [start, stop) of |level - order[v]|; ``order`` does not fall."""
    crossing = np.clip(np.searchsorted(order, level), start, stop)
    below = level * (crossing - start) - (sums[crossing] - sums[start])
    above = (sums[stop] - sums[crossing]) - level * (stop - crossing)
    return np.asarray(below + above)
