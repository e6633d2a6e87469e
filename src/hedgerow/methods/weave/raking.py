"""Weights of pooled records that bring their tables near to the noisy ones: post-processing.

A table asks for counts within a margin of its noisy ones. Sweeps over all tables scale the
records of each cell that lies outside, by no more than ``CLIP`` at a time: relaxed maximum
entropy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.weighing import scaled, weighed
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
    if not margins:
        return weights
    fit = weighed(margins[0].keys, weights, len(margins[0].counts))
    for step in range(sweeps * len(margins)):
        each, after = margins[step % len(margins)], margins[(step + 1) % len(margins)]
        # The records that a table scales are those that the next one weighs: one pass for both.
        fit = scaled(each.keys, _factors(each, fit), weights, after.keys, len(after.counts))
    return weights


def _factors(each: Margin, fit: Floats) -> Floats:
    """Return by what the records of each cell are scaled."""
    away = each.counts - fit
    wanted = fit + np.sign(away) * np.maximum(np.abs(away) - each.margin, 0.0)
    factors = np.ones(len(fit))
    held = fit > 0
    factors[held] = np.clip(wanted[held] / fit[held], 1 / CLIP, CLIP)
    return factors
