"""Random draws of post-processing, all made of the words of one source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.source import RandomSource

_UNIT = 2.0**-53


@dataclass(frozen=True, kw_only=True)
class Lots:
    """Draws that read noisy values only: near enough to their laws, and the same for a seed."""

    source: RandomSource

    def uniform(self, n: int) -> NDArray[np.float64]:
        """Return numbers from 0 to below 1."""
        return np.asarray((self.source.words(n) >> np.uint64(11)) * _UNIT)

    def order(self, n: int) -> NDArray[np.int64]:
        """Return 0 ... n - 1 in a random order."""
        return np.argsort(self.source.words(n), kind="stable")

    def picks(self, n: int, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return ``n`` places, each with a chance in proportion to its weight."""
        ends = np.cumsum(weights)
        found = np.searchsorted(ends, self.uniform(n) * ends[-1], side="right")
        return np.asarray(np.minimum(found, len(weights) - 1), dtype=np.int64)

    def some(self, n: int, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return ``n`` different places, heavier ones more often; ``n`` have a positive weight."""
        waits = -np.log1p(-self.uniform(len(weights))) / np.maximum(weights, 1e-300)
        return np.argsort(waits, kind="stable")[:n]

    def word(self) -> int:
        """Return one word, to start a stream from."""
        return int(self.source.words(1)[0])
