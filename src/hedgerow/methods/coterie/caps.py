"""The cap on the features of a record, chosen by a noisy histogram of their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hedgerow.model.arrays import Floats

NEAR_ONE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Cap:
    """A cap, and the factor that brings the lots of records above it up to all their features.

    ``above`` is the part of all features that is of records above the cap.
    """

    most: int
    factor: float
    above: float

    def spread(self, share: float) -> float:
        """Return the standard deviation of an estimate's noise."""
        return float(np.sqrt(2 * (1 + self.factor**2))) * self.most / share


def best_cap(
    held: Floats,
    records: Floats,
    *,
    share: float,
    support: float,
    options: Iterable[int],
    slack: float,
) -> Cap:
    """Return the largest cap whose estimates vary at most ``slack`` times the least.

    ``held`` are numbers of features, ``records`` noisy numbers of records that hold as many:
    noise that grows with the cap, and the lot's own spread at a ``support``, are weighed.

    Privacy: reads a noisy histogram, so that cap and factor are public.
    """
    features = records * held
    caps: list[tuple[float, Cap]] = []
    for most in options:
        above = held > most
        n_above, f_above = float(records[above].sum()), float(features[above].sum())
        factor = max(1.0, f_above / (most * n_above)) if n_above > NEAR_ONE else 1.0
        part = f_above / max(float(features.sum()), 1.0)
        varies = 2 * (most / share) ** 2 * (1 + factor**2) + support * part * (factor - 1)
        caps.append((varies, Cap(most=most, factor=factor, above=part)))
    least = min(varies for varies, _ in caps)
    return [cap for varies, cap in caps if varies <= slack * least][-1]
