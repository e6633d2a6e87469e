"""Noisy histogram of the lengths of sequences, and the probabilities to end derived from it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Floats

_LEAST = (*range(1, 25), 25, 27, 29, 32, 36, 41, 47, 55, 65, 80, 100, 130, 180, 250, 400, 700)
_WIDER = 1.6

SURE_FROM, STANDING_OUT = 2.5, 4.5
"""Standard deviations of noise from which a bin of lengths is trusted: after trusted ones, and by
itself. Of all bins beyond the longest sequence, noise makes one stand out in 3 of 100 runs."""

_SHARE_OF_TARGET = 0.2
_SLOWEST_TAIL = 1.0

_SEEN_FROM = 20
"""Generated sequences from which a bin's own hazard is trusted."""

_SLOWEST, _FASTEST = 0.3, 3.0
"""Range of the factor by which one round may change the probability to end."""

_LEAST_HAZARD = 1e-6


def length_bins(longest: int) -> NDArray[np.int64]:
    """Return the least length of each bin, up to a public longest one.

    >>> length_bins(30).tolist()[-3:]
    [25, 27, 29]
    """
    least = [length for length in _LEAST if length <= longest]
    while least[-1] * _WIDER <= longest and least[-1] >= _LEAST[-1]:
        least.append(int(least[-1] * _WIDER))
    return np.array(least, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Lengths:
    """Noisy counts of sequences by length; ``deviation`` is that of their noise."""

    least: NDArray[np.int64] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    deviation: float

    @property
    def n_sure(self) -> int:
        """Number of bins up to the last one that is distinguishable from noise."""
        hidden = np.flatnonzero(self.counts < SURE_FROM * self.deviation)
        standing = np.flatnonzero(self.counts >= STANDING_OUT * self.deviation)
        first = int(hidden[0]) if len(hidden) else len(self.counts)
        return max(first, int(standing[-1]) + 1 if len(standing) else 0)

    @property
    def n_items(self) -> int:
        """Approximate number of items of all sequences, from bins distinguishable from noise."""
        sure = np.where(self.counts >= SURE_FROM * self.deviation, self.counts, 0)
        return int((sure * np.append(self.least[1:], 2 * self.least[-1])).sum())

    def bins_of(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the bin of each length."""
        return np.maximum(np.searchsorted(self.least, lengths, side="right") - 1, 0)

    def tallied(
        self, lengths: NDArray[np.int64], counts: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Return how many generated sequences are in each bin."""
        total = np.zeros(len(self.least), dtype=np.int64)
        np.add.at(total, self.bins_of(lengths), 1 if counts is None else counts)
        return total

    def least_chances(self) -> Floats:
        """Return the least chance to end, by bins: sequences must not run away.

        A fifth of what the histogram says up to the last bin that noise spares; from there on one
        in as many steps as a sequence has items, which is slower than any tail with a mean.
        """
        sure = np.arange(len(self.counts)) < self.n_sure
        wanted = np.where(sure, np.maximum(self.counts, 0), 0).astype(np.float64)
        beyond = max(int(self.counts[self.n_sure :].sum()), 0)
        steps = np.append(np.diff(self.least), self.least[-1])
        target = wanted / np.maximum(_at_least(wanted) + beyond, 1.0) / steps
        return np.where(sure, _SHARE_OF_TARGET * target, _SLOWEST_TAIL / self.least)

    def corrected(
        self, factors: Floats, *, closed: NDArray[np.int64], generated: NDArray[np.int64]
    ) -> Floats:
        """Return the factors on the chance to end that bring lengths nearer to the noisy ones.

        ``closed`` sequences have lengths that stand already, ``generated`` ones had those that
        ``factors`` led to. Bins that noise hides take what the last ones before them have.
        """
        sure = np.arange(len(self.counts)) < self.n_sure
        wanted = np.where(sure, np.maximum(self.counts - closed, 0), 0).astype(np.float64)
        beyond = max(int(self.counts[self.n_sure :].sum()), 0)
        target = wanted / np.maximum(_at_least(wanted) + beyond, 1.0)
        found = generated / np.maximum(_at_least(generated.astype(np.float64)), 1.0)
        usable = (generated > _SEEN_FROM) & (wanted > 0)
        ratio = target / np.maximum(found, _LEAST_HAZARD)
        moved = factors * np.where(usable, np.clip(ratio, _SLOWEST, _FASTEST), 1.0)
        good = np.flatnonzero(usable & sure)
        last = int(good[-1]) if len(good) else 0
        before = moved[max(last - 2, 0) : last + 1]
        moved[last + 1 :] = np.cumsum(before)[-1] / len(before)
        return moved


def _at_least(counts: Floats) -> Floats:
    """Return how many are in each bin or in a later one."""
    later: Floats = np.cumsum(counts[::-1])[::-1]
    return later
