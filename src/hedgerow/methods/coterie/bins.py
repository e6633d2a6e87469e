"""Public bins of small numbers (lengths, features held), and what noisy counts of them say."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Floats

BinLaw = tuple[NDArray[np.int64], Floats]
"""Numbers, and the chance of each."""

EDGES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 17, 23, 31, 45, 65)
LAST_WIDTH = 60
"""Assumed width of the last bin, which has no upper end."""

TAIL = 2.0
"""A tail of bins whose sum is below that many standard deviations of its noise is left out."""

MODE_WITHIN = 9
"""The most frequent number is looked for among that many bins."""


@dataclass(frozen=True, kw_only=True)
class Bins:
    """Bins of numbers up to a public bound, with or without a bin for 0."""

    edges: NDArray[np.int64]
    widths: NDArray[np.int64]

    @classmethod
    def up_to(cls, most: int, *, zero: bool) -> Bins:
        """Return the bins that numbers up to ``most`` can be in.

        >>> bins = Bins.up_to(10, zero=True)
        >>> bins.edges.tolist(), bins.widths.tolist()
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 1, 1, 1, 1, 1, 1, 1, 1, 2])
        """
        first = (0,) if zero else ()
        edges = np.array([*first, *(edge for edge in EDGES if edge <= max(most, 1))])
        last = min(LAST_WIDTH, max(most, 1) + 1 - int(edges[-1]))
        if int(edges[-1]) < EDGES[-1]:
            following = EDGES[EDGES.index(int(edges[-1])) + 1] if edges[-1] else 1
            last = min(last, following - int(edges[-1]))
        return cls(edges=edges, widths=np.diff(edges, append=edges[-1] + last))

    def smoothed(self, noisy: NDArray[np.int64], scale: float) -> Floats:
        """Return non-negative counts that fall after their mode: least squares, without the tail.

        ``scale`` is that of the noise. Without leaving out the tail, noise in bins of large
        numbers would outweigh all else.
        """
        counts = noisy.astype(np.float64)
        has_zero = int(self.edges[0] == 0)
        n_bins = len(counts)
        cut = n_bins
        for k in range(n_bins - 1, has_zero, -1):
            if counts[k:].sum() > TAIL * scale * math.sqrt(2 * (n_bins - k)):
                break
            cut = k
        counts[cut:] = 0
        density = counts / self.widths
        mode = int(np.argmax(density[:MODE_WITHIN]))
        density[mode:] = _falling(density[mode:], self.widths[mode:])
        return np.asarray(np.maximum(density, 0) * self.widths)

    def laws(self, counts: Floats) -> list[BinLaw]:
        """Return the chances of the numbers in each bin: log-linear between its neighbours."""
        density = np.maximum(counts, 1e-3) / self.widths
        middles = self.edges + self.widths / 2
        laws: list[BinLaw] = []
        for i, (edge, width) in enumerate(
            zip(self.edges.tolist(), self.widths.tolist(), strict=True)
        ):
            numbers = np.arange(edge, edge + width)
            slope = 0.0
            if width > 1:
                low, high = max(i - 1, 0), min(i + 1, len(density) - 1)
                span = float(middles[high] - middles[low])
                slope = min(max(math.log(density[low] / density[high]) / span, 0.0), 1.0)
            chances = np.exp(-slope * (numbers - edge))
            laws.append((numbers, chances / chances.sum()))
        return laws

    def means(self, counts: Floats) -> Floats:
        """Return the mean number in each bin."""
        return np.array([float((n * p).sum()) for n, p in self.laws(counts)])


def _falling(values: Floats, widths: NDArray[np.int64]) -> Floats:
    """Return the falling values that are nearest, by pooling neighbours that rise."""
    blocks: list[tuple[float, float, int]] = []
    for value, width in zip(values.tolist(), widths.tolist(), strict=True):
        block = (value, float(width), 1)
        while blocks and blocks[-1][0] < block[0]:
            v, w, n = blocks.pop()
            weight = w + block[1]
            block = ((v * w + block[0] * block[1]) / weight, weight, n + block[2])
        blocks.append(block)
    return np.repeat([v for v, _, _ in blocks], [n for _, _, n in blocks])
