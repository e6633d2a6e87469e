"""Equal steps of a range of codes: one public rule for all even divisions of a grid.

Methods count in these steps and offer them as splits, and evaluations compare in them. Two rules
that differ by one code (one rounding down, one up) would put every border of one inside a bin of
the other, and count the records between the two as an error of the release.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EVEN_STEPS = 16
"""Number of equal steps of a long grid: in splits, in noisy tables and in the bins of an
evaluation.
"""


def even_borders(size: int | NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Return the borders of equal steps of a range of codes, both ends included.

    Border ``i`` is the whole part of ``size * i / steps``. An array of sizes gets a row of borders
    each. Borders repeat if a range has fewer codes than steps.

    >>> even_borders(74, 4).tolist()
    [0, 18, 37, 55, 74]
    """
    sizes = np.asarray(size, dtype=np.int64)
    borders: NDArray[np.int64] = sizes[..., None] * np.arange(steps + 1, dtype=np.int64) // steps
    return borders
