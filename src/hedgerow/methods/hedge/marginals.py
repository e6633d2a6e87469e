"""Noisy 1-way marginals, so that records drawn from a box need not be even.

Marginals by class would say more of each attribute and less of all: drawn apart, the
attributes of a record would each tell its class again, and a classifier would believe
them all (boosting on records of UCI Adult fell from 84 to 82 per cent).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.engine import Engine
from hedgerow.model.placed import Borders
from hedgerow.model.run import Run
from hedgerow.taxonomy.even_steps import EVEN_STEPS
from hedgerow.trees.axes import Axis
from hedgerow.trees.shrinkage import CHANCE, shrunk_counts
from hedgerow.trees.topdown import Level

MOST_PERIODS = 48
"""Years, quarters, months or steps that a date is counted by, at the most."""


DROWNED = 8
"""Scales of noise in all records below which a marginal must stand out clearly to be kept.

With more, a skewed marginal is nearer to the truth than an even one even where noise is large.
"""

LESS_CHANCE = 0.5
"""Standard deviations of squared noise that do not count as a difference from there on."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CountedMarginals:
    """Bins of every attribute, and class counts (bins, classes) between them (confidential)."""

    borders: dict[int, Borders]
    counts: dict[int, NDArray[np.int64]]


def counted_marginals(level: Level) -> CountedMarginals:
    """Return the marginals of all records, at the first level (confidential).

    Categorical attributes are counted value by value, numeric ones in public bins.
    """
    borders = {a: _bins(axis) for a, axis in enumerate(level.axes)}
    return CountedMarginals(borders=borders, counts=level.bins(borders))


def noisy_marginals(
    level: Level,
    marginals: CountedMarginals,
    total: int,
    *,
    share: Fraction,
    run: Run[Engine],
) -> tuple[NDArray[np.float64], ...]:
    """Return, for every attribute, weights of its codes (codes, 1).

    Within a bin weights are even. Noisy counts are shrunk towards even ones where their noise is
    large, and have the noisy ``total``.

    Privacy: every record is in one bin of each attribute, so each attribute costs its
    part of ``share``, and all of them ``share``.
    """
    each = share / len(level.axes)
    weights = []
    for a, axis in enumerate(level.axes):
        noisy = run.noisy(marginals.counts[a].sum(axis=1), share=each, on=f"marginal {a + 1}")
        edges = np.concatenate([[0], marginals.borders[a].values, [axis.size]])
        widths = np.diff(edges)
        counts = shrunk_counts(
            noisy.astype(np.float64),
            total,
            variance=float(2 / each**2),
            priors=(widths.astype(np.float64), np.ones(len(widths))),
            chance=CHANCE if total * each < DROWNED else LESS_CHANCE,
        )
        weights.append(np.repeat(counts / widths, widths)[:, None])
    return tuple(weights)


def _bins(axis: Axis) -> Borders:
    if axis.numeric:
        first, stop = np.zeros(1, dtype=np.int32), np.full(1, axis.size, dtype=np.int32)
        return axis.positions(first, stop, even=EVEN_STEPS if not axis.levels else MOST_PERIODS)
    values = np.arange(1, axis.size, dtype=np.int32)
    return Borders(starts=np.array([0, len(values)]), values=values)
