"""Means, deviations, quantiles and correlations of a release, beside the records' own.

An attribute has a mean if it is a number, or has two values, which count as 0 and 1. Numbers are
placed in the middle of their cell; missing values are left out pair by pair. For the data owner:
figures compare with the raw table and are not private.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.spread import Spread, SpreadAxis
from hedgerow.model.arrays import Floats
from hedgerow.taxonomy.calendar import CalendarGrid
from hedgerow.taxonomy.domain import CategoricalDomain, Domain, NumericDomain
from hedgerow.taxonomy.grid import EdgeGrid

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)

_BLOCK = 1 << 21  # numbers of each kind that are held at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """Value of each code of an attribute, and whether the code has one."""

    values: Floats
    known: NDArray[np.bool_]

    @property
    def low(self) -> float:
        """Lowest value."""
        return float(self.values[self.known].min())

    @property
    def width(self) -> float:
        """Difference between the highest and the lowest value."""
        return float(self.values[self.known].max()) - self.low


def scale_of(domain: Domain) -> Scale | None:
    """Return the values of a domain, or None if they have no order.

    >>> scale_of(NumericDomain.even(low=10, high=30, step=10)).values.tolist()
    [15.0, 25.0, 30.0]
    """
    if isinstance(domain, CategoricalDomain):
        if domain.size != 2 or domain.missing_code is not None:
            return None
        return Scale(values=np.array([0.0, 1.0]), known=np.ones(2, dtype=np.bool_))
    if not isinstance(domain, NumericDomain):
        return None
    values = _middles(domain)
    known = np.ones(domain.size, dtype=np.bool_)
    if domain.missing:
        values, known[0] = np.concatenate([[0.0], values]), False
    scale = Scale(values=values, known=known)
    return scale if known.any() and scale.width > 0 else None


def _middles(domain: NumericDomain) -> Floats:
    grid = domain.grid
    if isinstance(grid, EdgeGrid):
        borders = np.array([float(edge) for edge in grid.edges])
    elif isinstance(grid, CalendarGrid):
        borders = np.append(grid.begins.astype(np.float64), float(grid.high))
    else:
        begins = float(grid.low) + float(grid.step) * np.arange(grid.n_cells)
        borders = np.append(begins, float(grid.high))
    whole = grid.counts_integers
    middles: Floats = borders[:-1] if whole else (borders[:-1] + borders[1:]) / 2
    return middles


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Means by attribute and correlations by pair; NaN where undefined."""

    means: Floats
    correlations: Floats


def moments(spread: Spread, scales: dict[int, Scale]) -> Moments:
    """Return the means and correlations of the attributes that have a scale, in their order.

    Rows are spread over their pieces as in :class:`Spread`, independently for each attribute; so a
    correlation follows from the means of the pieces, and a deviation from their mean squares.
    """
    places = sorted(scales)
    if not places:
        return Moments(means=np.zeros(0), correlations=np.zeros((0, 0)))
    tables = [_piece_moments(spread.axes[at], scales[at]) for at in places]
    means = _means(spread, tables, places)
    centre = np.array([scales[at].low + scales[at].width / 2 for at in places])
    width = np.array([scales[at].width for at in places])
    correlations = _correlations(*_pair_sums(spread, tables, places))
    return Moments(means=centre + width * means, correlations=correlations)


def _pair_sums(spread: Spread, tables: list[Floats], places: list[int]) -> Floats:
    """Return sums over rows by pair: rows with both values, a's values and squares, products."""
    n = len(places)
    sums = np.zeros((4, n, n))
    step = max(1, _BLOCK // n)
    for start in range(0, len(spread.weights), step):
        block = slice(start, start + step)
        weights = spread.weights[block]
        rows = np.empty((3, n, len(weights)))
        for place, (table, at) in enumerate(zip(tables, places, strict=True)):
            rows[:, place] = table[:, spread.axes[at].index[block]]
        known, first, second = rows
        weighed = known * weights
        sums[0] += known @ weighed.T
        sums[1] += first @ weighed.T
        sums[2] += second @ weighed.T
        sums[3] += first @ (first * weights).T
    return sums


def _means(spread: Spread, tables: list[Floats], places: list[int]) -> Floats:
    found = []
    for table, at in zip(tables, places, strict=True):
        axis = spread.axes[at]
        weight = np.bincount(axis.index, weights=spread.weights, minlength=table.shape[1])
        known = float(table[0] @ weight)
        found.append(float(table[1] @ weight) / known if known > 0 else np.nan)
    return np.array(found)


def _correlations(n: Floats, first: Floats, second: Floats, product: Floats) -> Floats:
    """Return correlations from sums over the rows with both values.

    ``first[a, b]`` and ``second[a, b]`` are the sums of a's values and squares in rows that have b.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = first / n
        spread = second / n - mean**2
        covariance = product / n - mean * mean.T
        varies = (spread > 1e-12) & (spread.T > 1e-12)
        found: Floats = np.where(varies, covariance / np.sqrt(spread * spread.T), np.nan)
    return np.clip(found, -1.0, 1.0)


def _piece_moments(axis: SpreadAxis, scale: Scale) -> Floats:
    """Return, by piece, the share with a value, and the means of values and squares.

    Values are relative to the middle of their scale, in units of its width.
    """
    known = scale.known.astype(np.float64)
    values = np.where(scale.known, (scale.values - scale.low) / scale.width - 0.5, 0.0)
    powers = np.stack([known, values, values**2])
    ends = np.pad(np.cumsum(powers, axis=1), [(0, 0), (1, 0)])
    even: Floats = (ends[:, axis.stop] - ends[:, axis.first]) / (axis.stop - axis.first)
    if axis.ends is None or axis.column is None:
        return even
    codes = np.diff(axis.ends, axis=1)
    by_column = np.pad(np.cumsum(powers[:, None, :] * codes, axis=2), [(0, 0), (0, 0), (1, 0)])
    inside = by_column[:, axis.column, axis.stop] - by_column[:, axis.column, axis.first]
    whole = axis.ends[axis.column, axis.stop] - axis.ends[axis.column, axis.first]
    weighed: Floats = np.where(whole > 0, inside / np.where(whole > 0, whole, 1.0), even)
    return weighed


@dataclass(frozen=True, kw_only=True)
class NumberErrors:
    """Errors in standard deviations of the raw column; missing values are left out.

    ``middle`` is the error of answering the middle of the domain for the mean. The error of the
    deviation is relative, and that of quantiles the mean over 10, 25, 50, 75 and 90 %.
    """

    mean: float
    true_mean: float
    deviation: float
    true_deviation: float
    mean_error: float
    middle: float
    deviation_error: float
    quantile_error: float


def number_errors(domain: Domain, synthetic: Floats, true: Floats) -> NumberErrors | None:
    """Return the errors of a number, from the weight of every code in release and raw data.

    None for what is not a number, does not vary, or has no value in the release.
    """
    scale = None if domain.kind != "numeric" else scale_of(domain)
    if scale is None:
        return None
    values = scale.values[scale.known]
    ours, theirs = synthetic[scale.known], true[scale.known]
    if ours.sum() <= 0 or np.count_nonzero(theirs) < 2:
        return None
    mean, deviation = _mean_deviation(values, ours)
    true_mean, true_deviation = _mean_deviation(values, theirs)
    away = np.abs(_quantiles(values, ours) - _quantiles(values, theirs))
    return NumberErrors(
        mean=mean,
        true_mean=true_mean,
        deviation=deviation,
        true_deviation=true_deviation,
        mean_error=abs(mean - true_mean) / true_deviation,
        middle=abs(scale.low + scale.width / 2 - true_mean) / true_deviation,
        deviation_error=abs(deviation / true_deviation - 1),
        quantile_error=float(away.mean()) / true_deviation,
    )


def _mean_deviation(values: Floats, weights: Floats) -> tuple[float, float]:
    mean = float(np.average(values, weights=weights))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def _quantiles(values: Floats, weights: Floats) -> Floats:
    """Return the lowest values that at least these shares of the weight do not exceed."""
    below = np.cumsum(weights)
    places = np.searchsorted(below, np.array(QUANTILES) * below[-1], side="left")
    found: Floats = values[np.minimum(places, len(values) - 1)]
    return found
