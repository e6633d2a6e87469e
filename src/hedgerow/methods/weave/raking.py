"""Weights of pooled records that bring their tables near to the noisy ones: post-processing.

A table asks for counts within a margin of its noisy ones. Sweeps over all tables scale the
records of each cell that lies outside, by no more than ``CLIP`` at a time: relaxed maximum
entropy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.blending import Blends, by_groups, by_places
from hedgerow.methods.weave.weighing import scaled, weighed
from hedgerow.model.arrays import Floats

CLIP = 8.0
"""The most that a sweep scales a record's weight by."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Margin:
    """A table to rake into: the cell of every record, the noisy counts and the margin.

    With ``blends``, counts are those of groups (first, second, classes) and keys are places.
    """

    keys: NDArray[np.int32]
    counts: Floats
    margin: float
    blends: Blends | None = None

    @property
    def n_keys(self) -> int:
        """Number of cells that records can be in."""
        if self.blends is None:
            return int(self.counts.size)
        first, second = self.blends
        return first.n_places * second.n_places * int(self.counts.shape[2])


def rake(weights: Floats, margins: list[Margin], *, sweeps: int) -> Floats:
    """Return weights under which the tables lie nearer to their noisy counts."""
    weights = weights.copy()
    if not margins:
        return weights
    fit = weighed(margins[0].keys, weights, margins[0].n_keys)
    for step in range(sweeps * len(margins)):
        each, after = margins[step % len(margins)], margins[(step + 1) % len(margins)]
        # The records that a table scales are those that the next one weighs: one pass for both.
        fit = scaled(each.keys, _factors(each, fit), weights, after.keys, after.n_keys)
    return weights


def _factors(each: Margin, fit: Floats) -> Floats:
    """Return by what the records of each cell are scaled."""
    if each.blends is None:
        return _towards(each, fit)
    first, second = each.blends
    table = fit.reshape(first.n_places, second.n_places, -1)
    return by_places(_towards(each, by_groups(table, each.blends)), each.blends).ravel()


def _towards(each: Margin, fit: Floats) -> Floats:
    """Return the factors that bring counts within the margin of the noisy ones."""
    away = each.counts - fit
    wanted = fit + np.sign(away) * np.maximum(np.abs(away) - each.margin, 0.0)
    factors = np.ones(fit.shape)
    held = fit > 0
    factors[held] = np.clip(wanted[held] / fit[held], 1 / CLIP, CLIP)
    return factors
