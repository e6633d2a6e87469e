"""How many frequent and how many other items a basket has: measured, then drawn."""

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

    def drawn(self, lots: Lots) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return, for every basket, how many frequent and how many other items it is to have."""
        counts = np.floor(self.frequent + lots.uniform(len(self.frequent))).astype(np.int64)
        in_bin = np.repeat(np.arange(len(counts)), counts)
        other = np.zeros(len(in_bin), dtype=np.int64)
        for each in range(N_CLASSES):
            here = np.flatnonzero(self.classes[in_bin] == each)
            other[here] = lots.picks(len(here), self.others[each])
        return (
            _numbers(in_bin, self.bins.laws(self.frequent), lots),
            _numbers(other, self.bins.laws(self.others.sum(axis=0)), lots),
        )


def _numbers(in_bin: NDArray[np.int64], laws: list[BinLaw], lots: Lots) -> NDArray[np.int64]:
    numbers = np.zeros(len(in_bin), dtype=np.int64)
    for place, (values, chances) in enumerate(laws):
        here = np.flatnonzero(in_bin == place)
        drawn = len(here) and len(values) > 1
        numbers[here] = values[lots.picks(len(here), chances)] if drawn else values[0]
    return numbers


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
