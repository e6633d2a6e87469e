"""Weights of pooled records that bring their tables near to the noisy ones: post-processing.

A table asks for counts within a margin of its noisy ones. Sweeps over all tables scale the
records of each cell that lies outside, by no more than ``CLIP`` at a time: relaxed maximum
entropy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.weighing import scale, weighed
from hedgerow.model.arrays import Floats

CLIP = 8.0
"""The most that a sweep scales a record's weight by."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Margin:
    """A table to rake into: the cell of every record, the noisy counts and the margin."""

    keys: NDArray[np.int32]
    counts: Floats
    margin: float


def rake(weights: Floats, margins: list[Margin], *, sweeps: int) -> Floats:
    """Return weights under which the tables lie nearer to their noisy counts."""
    weights = weights.copy()
    for _ in range(sweeps):
        for each in margins:
            fit = weighed(each.keys, weights, len(each.counts))
            away = each.counts - fit
            wanted = fit + np.sign(away) * np.maximum(np.abs(away) - each.margin, 0.0)
            factors = np.ones(len(fit))
            held = fit > 0
            factors[held] = np.clip(wanted[held] / fit[held], 1 / CLIP, CLIP)
            scale(each.keys, factors, weights)
    return weights
