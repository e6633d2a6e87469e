"""Noisy counts moved towards what is known without them, as far as the noise asks for it.

Where noise is larger than what the counts differ by, even parts are nearer to the truth than
the counts are. The noise is known, so the risk of every estimate can be estimated from the
counts themselves [Stein81]; the estimate of least risk is taken. Post-processing: free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.model.arrays import Floats
from hedgerow.trees.projection import simplex_shift

CHANCE = 3.0
"""Standard deviations of a sum of squared noise that do not count as a difference."""

KURTOSIS = 5.0
"""Variance of a squared noise, over the square of its variance: that of the Laplace law."""


@dataclass(frozen=True, kw_only=True)
class Shrinkage:
    """The part of a deviation to keep, and the estimated risk of keeping it."""

    kept: float
    risk: float

    @classmethod
    def of(cls, away: Floats, variance: float, *, chance: float = CHANCE) -> Shrinkage:
        """Return the linear shrinkage of deviations with noise of this variance each.

        Nothing is kept of a deviation that noise alone often makes: the sum of its squares must
        exceed the expected one by ``chance`` standard deviations. The further it does, the less
        is taken off: by the square of their ratio.

        >>> Shrinkage.of(np.array([1.0, -1.0]), 8.0).kept
        0.0
        >>> round(Shrinkage.of(np.array([300.0, -300.0]), 8.0).kept, 3)
        1.0
        """
        noise = variance * away.size
        squares = float((away**2).sum())
        beyond = noise * (1 + chance * (KURTOSIS / max(away.size, 1)) ** 0.5)
        kept = 1 - (beyond / squares) ** 2 if squares > beyond else 0.0
        differ = max(squares - noise, 0.0)
        return cls(kept=kept, risk=kept**2 * noise + (1 - kept) ** 2 * differ)


def positive_total(noisy: float, scale: float) -> float:
    """Return the mean of a non-negative number given a noisy one.

    With Laplace noise of this scale, and every non-negative number taken to be as likely. A
    number that noise drowns is estimated by the scale of the noise, not by 0.

    >>> positive_total(-40.0, 25.0), round(positive_total(1000.0, 25.0), 6)
    (25.0, 1000.0)
    """
    if noisy <= 0:
        return scale
    below = math.exp(-noisy / scale) / 2
    return (noisy + scale * below) / (1 - below)


def positive_part(values: Floats, total: float) -> Floats:
    """Return the nearest non-negative values of a total."""
    if total <= 0:
        return np.zeros(values.shape)
    nearest: Floats = np.maximum(values - simplex_shift(values, total), 0.0)
    return nearest


def cutting_risk(noisy: Floats, cut: Floats, variance: float) -> float:
    """Return the estimated risk of lowering all counts alike and cutting at zero."""
    gone = cut <= 0
    lowered = float((noisy[~gone] - cut[~gone]).mean()) if not gone.all() else 0.0
    lost = float((noisy[gone] ** 2).sum()) + lowered**2 * float((~gone).sum())
    return lost + variance * (len(noisy) - 2 * float(gone.sum()) - 2)


def shrunk_counts(
    noisy: Floats,
    total: float,
    *,
    variance: float,
    priors: tuple[Floats, ...],
    chance: float = CHANCE,
) -> Floats:
    """Return non-negative estimates of counts, with the given total.

    Each of ``priors`` is what the counts would be if nothing were known but public domains, up
    to a factor. The counts are shrunk towards the one with the least estimated risk, or only
    made non-negative where that is estimated to be nearer. Where noise is as large as the
    counts, the first prior is the estimate.
    """
    if total <= 0:
        return np.zeros(noisy.shape)
    scaled = [prior * (total / prior.sum()) for prior in priors]
    found = [Shrinkage.of(noisy - prior, variance, chance=chance) for prior in scaled]
    best = min(range(len(found)), key=lambda at: found[at].risk)
    prior, shrinkage = scaled[best], found[best]
    if shrinkage.kept > 0:
        cut = positive_part(noisy, total)
        if cutting_risk(noisy, cut, variance) < shrinkage.risk:
            return cut
    return positive_part(prior + shrinkage.kept * (noisy - prior), total)
