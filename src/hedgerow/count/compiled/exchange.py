"""A compiled loop that exchanges drawn records. Import lazily: loading Numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop


@compile_loop
def exchange_records(
    rows: NDArray[np.int16],
    taken: NDArray[np.int64],
    others: NDArray[np.int64],
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    away: NDArray[np.int64],
    weights: NDArray[np.int64],
    unit: int,
) -> None:
    """Compare each of ``others`` with the next of ``taken``, cyclically, and exchange them.

    ``rows`` are candidate records, one column per attribute. ``away`` is the surplus of the taken
    records in each cell of every pair's table, in units of which one record has ``unit``. Records
    are exchanged if that lowers the sum of ``weights`` times the square of the surplus. Tables of
    pairs are stored one after another at ``starts``, in increasing order.
    """
    width = rows.shape[1]
    for step in range(len(others)):
        place = step % len(taken)
        old, new = taken[place], others[step]
        rise = 0
        pair = 0
        for a in range(width - 1):
            for b in range(a + 1, width):
                at = starts[pair]
                gone = at + rows[old, a] * sizes[b] + rows[old, b]
                come = at + rows[new, a] * sizes[b] + rows[new, b]
                if gone != come:
                    rise += weights[gone] * (unit - 2 * away[gone])
                    rise += weights[come] * (unit + 2 * away[come])
                pair += 1
        if rise < 0:
            pair = 0
            for a in range(width - 1):
                for b in range(a + 1, width):
                    at = starts[pair]
                    away[at + rows[old, a] * sizes[b] + rows[old, b]] -= unit
                    away[at + rows[new, a] * sizes[b] + rows[new, b]] += unit
                    pair += 1
            taken[place] = new
