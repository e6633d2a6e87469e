"""Numbers of frequent and of other items of baskets, from noisy histograms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.feature_kernels import OtherLengthBins, RankedLengthBins
from hedgerow.methods.coterie.bins import BinLaw, Bins
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.shares import Measuring
from hedgerow.model.arrays import Floats

CLASS_OF = (0, 1, 2, 2)
"""The class of records with 0, 1, 2 or 3 frequent items; all others are in one more."""

N_CLASSES = 4
ALMOST_NONE = 1e-6
ALMOST_WHOLE = 1e-9

NEVER_HELD = 0.01
"""Probability that a basket without frequent items gets one, relative to one that has one."""

AT_ONCE = 4
"""One basket in that many changes its length at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BasketLengths:
    """Noisy numbers of baskets: by frequent items held, and by other items in each class."""

    bins: Bins
    frequent: Floats
    others: Floats
    classes: NDArray[np.int64]

    @property
    def means(self) -> Floats:
        """The mean number of frequent items in each bin."""
        return self.bins.means(self.frequent)

    def expected(self) -> Floats:
        """Return how many baskets have ``f`` frequent items and ``g`` others, as ``[f, g]``."""
        by_others = self.bins.laws(self.others.sum(axis=0))
        laws = np.array([_spread(row / row.sum(), by_others) for row in self.others])
        parts = []
        for count, law, each in zip(
            self.frequent, self.bins.laws(self.frequent), self.classes, strict=True
        ):
            parts.append(np.outer(count * law[1], laws[each]))
        return np.concatenate(parts)


def _spread(counts: Floats, laws: list[BinLaw]) -> Floats:
    """Return counts of numbers from counts of bins."""
    return np.concatenate(
        [count * chances for count, (_, chances) in zip(counts, laws, strict=True)]
    )


def whole_numbers(expected: Floats, lots: Lots) -> NDArray[np.int64]:
    """Return whole numbers in place of others, each less than 1 off, as is their sum."""
    ends = np.floor(np.cumsum(expected.ravel()) + lots.uniform(1)[0] + ALMOST_WHOLE)
    return np.asarray(np.diff(ends.astype(np.int64), prepend=0).reshape(expected.shape))


def with_places(
    table: NDArray[np.int64], n_tokens: int, most: int, lots: Lots
) -> NDArray[np.int64]:
    """Return how many baskets have ``[f, g]`` items, with as many frequent ones as tokens.

    Lengths give way in proportion to themselves, up to ``most``, where tokens are too many or
    too few.
    """
    table = np.concatenate([table, np.zeros((1, table.shape[1]), dtype=np.int64)])
    if len(table) > most + 1:
        table[most] += table[most + 1 :].sum(axis=0)
        table = table[: most + 1]
    while missing := n_tokens - int(np.arange(len(table)) @ table.sum(axis=1)):
        held = np.arange(len(table))[:, None]
        able = held < most if missing > 0 else held > int(table[2:].any())
        weights = np.where(able, table * np.maximum(held, NEVER_HELD), 0.0)
        n_able = int(table[able[:, 0]].sum())
        if not n_able:
            break
        moved = min(abs(missing), n_able // AT_ONCE + 1)
        chosen = np.minimum(whole_numbers(weights * (moved / weights.sum()), lots), table)
        by = 1 if missing > 0 else -1
        if by > 0 and chosen[-1].any():
            table = np.concatenate([table, np.zeros_like(table[:1])])
            chosen = np.concatenate([chosen, np.zeros_like(chosen[:1])])
        table = table - chosen + np.roll(chosen, by, axis=0)
    return table


def measure_lengths(measuring: Measuring, rank: NDArray[np.int32], n_records: int) -> BasketLengths:
    """Return noisy lengths, for two shares: a record is in one cell of each histogram."""
    bins = Bins.up_to(measuring.n_items, zero=True)
    n_bins = len(bins.edges)
    classes = np.array([*CLASS_OF, *[N_CLASSES - 1] * n_bins])[:n_bins]
    on = "frequent items held"
    noisy = measuring.histogram(RankedLengthBins(edges=bins.edges, rank=rank), on=on)
    frequent = bins.smoothed(noisy, 1 / measuring.share(on))
    frequent *= n_records / max(float(frequent.sum()), 1.0)
    on = "other items held"
    kernel = OtherLengthBins(edges=bins.edges, rank=rank, classes=classes)
    table = np.zeros((N_CLASSES, n_bins), dtype=np.int64)
    table[: int(classes.max()) + 1] = measuring.histogram(kernel, on=on).reshape(-1, n_bins)
    table[0, 0] = 0  # no basket is empty
    others = np.array([bins.smoothed(row, 1 / measuring.share(on)) for row in table])
    others += ALMOST_NONE
    others[0, 0] = 0
    return BasketLengths(bins=bins, frequent=frequent, others=others, classes=classes)
