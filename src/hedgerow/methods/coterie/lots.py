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

    def word(self) -> int:
        """Return one word, to tell a run by."""
        return int(self.source.words(1)[0])

    def stream(self) -> NDArray[np.uint64]:
        """Return the state of a stream of further words, for loops."""
        return self.source.words(1).astype(np.uint64)
