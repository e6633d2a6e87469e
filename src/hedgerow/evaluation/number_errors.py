"""Mean, deviation and quantiles of a number in a release beside those of the raw data.

For the data owner: not private.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.evaluation.moments import scale_of
from hedgerow.model.arrays import Floats
from hedgerow.taxonomy.domain import Domain

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


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
