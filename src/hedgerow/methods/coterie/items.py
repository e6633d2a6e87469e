"""Supports of items from their noisy counts: an empirical Bayes estimate for every item."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.feature_kernels import CappedItems, LengthBins
from hedgerow.methods.coterie.bins import Bins
from hedgerow.methods.coterie.caps import Cap, best_cap
from hedgerow.methods.coterie.shares import Measuring
from hedgerow.model.arrays import Floats

CAPS = range(2, 25)
SLACK = 1.5
USUAL_SUPPORT = 0.004
"""The part of the records that a cap on items is chosen for."""

GRID_FROM, GRID_STEP = 3.0, 1.12
N_QUANTILES = 600
ROUNDS = 300
SETTLED = 1e-5
FAR = 8.0
"""Counts that many standard deviations above 0 are taken as they are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Items:
    """The noisy number of records, and of every item its support and the spread of its noise.

    ``known`` are the items with a support, most frequent first. All of it is public.
    """

    n_records: int
    supports: Floats
    known: NDArray[np.int64]
    spread: float
    cap: Cap


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordLengths:
    """Noisy numbers of records, in all and by length; public."""

    n_records: int
    bins: Bins
    lengths: Floats


def measure_records(measuring: Measuring) -> RecordLengths:
    """Return how many records there are of which length, for one share."""
    bins = Bins.up_to(measuring.n_items, zero=False)
    noisy = measuring.histogram(LengthBins(edges=bins.edges), on="lengths")
    return RecordLengths(
        n_records=max(1, int(noisy.sum())),
        bins=bins,
        lengths=bins.smoothed(noisy, 1 / measuring.share("lengths")),
    )


def measure_items(measuring: Measuring, records: RecordLengths) -> Items:
    """Return the supports of all items, for one share: capped counts of items."""
    share = measuring.share("items")
    cap = best_cap(
        records.bins.means(records.lengths),
        records.lengths,
        share=share,
        support=USUAL_SUPPORT * records.n_records,
        options=CAPS,
        slack=SLACK,
    )
    kernel = CappedItems(n_items=measuring.n_items, cap=cap.most, key=measuring.key)
    tables = measuring.capped(kernel, on="items", cap=cap.most)
    raw = tables[0] + cap.factor * tables[1]
    supports = posterior_medians(raw, scale=cap.most / share, factor=cap.factor)
    known = np.flatnonzero(supports >= 1)
    return Items(
        n_records=records.n_records,
        supports=supports,
        known=known[np.argsort(-supports[known], kind="stable")],
        spread=cap.spread(share),
        cap=cap,
    )


def posterior_medians(raw: Floats, *, scale: float, factor: float) -> Floats:
    """Return the posterior median of every support, under the prior that fits all of them best.

    The noise of an estimate is one Laplace draw of ``scale`` and ``factor`` times another. The
    prior is on a geometric grid, fitted by expectation maximisation on bins of the counts, so
    that its work does not grow with the universe.
    """
    if not len(raw):
        return raw
    grid = np.concatenate([[0.0], GRID_FROM * GRID_STEP ** np.arange(200)])
    grid = grid[grid <= max(float(raw.max()), 10.0) * 1.2]
    edges = np.quantile(raw, np.linspace(0, 1, N_QUANTILES))
    edges = edges[np.diff(edges, prepend=-np.inf) > 0]
    place = np.minimum(np.searchsorted(edges, raw), len(edges) - 1)
    counts = np.bincount(place, minlength=len(edges)).astype(np.float64)
    values = np.bincount(place, weights=raw, minlength=len(edges)) / np.maximum(counts, 1)
    chances = _density(np.abs(values[:, None] - grid[None, :]), scale, factor)
    posterior = _fitted(chances, counts)
    medians = grid[np.argmax(posterior.cumsum(axis=1) >= 0.5, axis=1)][place]
    supports = np.where(medians > 0, np.minimum(medians, np.maximum(raw, 0)), 0)
    far = FAR * math.sqrt(2 * (1 + factor**2)) * scale
    return np.where(raw > far, raw, supports)


def _density(x: Floats, scale: float, factor: float) -> Floats:
    """Return the density, at distance ``x``, of a Laplace draw and ``factor`` times another."""
    factor = max(factor, 1.02)  # the formula has no value at 1
    a, c = scale, factor * scale
    return np.asarray(
        np.abs((a * np.exp(-x / a) - c * np.exp(-x / c)) / (2 * (a * a - c * c))) + 1e-14
    )


def _fitted(chances: Floats, counts: Floats) -> Floats:
    """Return the posterior of each row under the prior with the largest likelihood."""
    prior = np.full(chances.shape[1], 1 / chances.shape[1])
    shares = counts / counts.sum()
    for _ in range(ROUNDS):
        before, prior = prior, prior * (shares / (chances @ prior) @ chances)
        if np.abs(prior - before).sum() < SETTLED:
            break
    posterior = chances * prior
    return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))
