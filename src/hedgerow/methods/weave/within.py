"""Position of a drawn number inside its cell: post-processing of the 1-way marginals.

Few records of a skewed number lie far out, and a cell that begins where they are many and ends
where they are few must not be filled evenly: means and correlations would be drawn outwards.
Between neighbouring cells the logarithm of the records per code is taken to change evenly, so
that codes inside a cell follow a geometric law. Where a cell stands out of both neighbours, or
below both, they are drawn evenly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.model.arrays import Floats

STEEPEST = 30.0
"""The most that the logarithm changes inside one cell."""

EVEN = 1e-7
"""Maximum change of a logarithm in a cell whose codes are drawn evenly."""

_CHUNK = 1 << 15  # records per step, which stay in cache


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodeLaw:
    """The law of the codes inside each cell of an attribute: weights are exp(slope * code)."""

    edges: NDArray[np.int64]
    widths: Floats
    slopes: Floats

    @classmethod
    def of(cls, axis: CellAxis, masses: Floats, noise: float) -> CodeLaw:
        """Return the law for cells that hold ``masses`` of records with noise of some scale."""
        widths = axis.widths.astype(np.float64)
        slopes = np.zeros(len(widths))
        if axis.ordered and len(widths) > 2:
            slopes = _slopes(axis.edges, np.log(np.maximum(masses, noise) / widths))
        steep = np.clip(slopes * widths, -STEEPEST, STEEPEST)
        # Next to nothing instead of nothing, so that one formula serves all cells.
        slopes = np.where(np.abs(steep) < EVEN, EVEN, steep) / widths
        return cls(edges=axis.edges, widths=widths, slopes=slopes)

    def drawn(self, cells: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        """Return a code for each cell, by the law of that cell."""
        if self.widths.max() <= 1:  # cells are the codes, from 0 on
            return cells
        rise, last = np.expm1(self.slopes * self.widths), self.widths - 1
        codes = np.empty(len(cells), dtype=np.int32)
        for start in range(0, len(cells), _CHUNK):
            part = cells[start : start + _CHUNK]
            far = np.log1p(rng.random(len(part)) * rise[part]) / self.slopes[part]
            # Rounding must not carry a number beyond the last code of its cell.
            codes[start : start + _CHUNK] = self.edges[part] + np.minimum(far, last[part])
        return codes


def _slopes(edges: NDArray[np.int64], heights: Floats) -> Floats:
    """Return how much logarithms change by code in each cell: the gentler of both sides."""
    middles = (edges[1:] + edges[:-1]) / 2
    steps = np.diff(heights) / np.diff(middles)
    slopes = np.zeros(len(heights))
    before, after = steps[:-1], steps[1:]
    gentler = np.where(np.abs(before) < np.abs(after), before, after)
    slopes[1:-1] = np.where(before * after > 0, gentler, 0.0)
    return slopes
