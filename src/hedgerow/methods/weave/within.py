"""Position of a drawn number or value inside its cell: post-processing of 1-way marginals.

Few records of a skewed number lie far out, and a cell that begins where they are many and ends
where they are few must not be filled evenly: means and correlations would be drawn outwards.
Between neighbouring cells the logarithm of the records per code is taken to change evenly, so
that codes inside a cell follow a geometric law. Where a cell stands out of both neighbours, or
below both, they are drawn evenly. Where the codes have been counted, what their noisy counts
say beyond this law is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.codes import CodeCounts
from hedgerow.methods.weave.pieces import averaged
from hedgerow.methods.weave.refinement import estimated
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

    def inside(self, edges: NDArray[np.int64]) -> CodeLaw:
        """Return the same law for finer cells; ``edges`` contain those of the present cells."""
        places = np.searchsorted(self.edges, edges[:-1], "right") - 1
        widths = np.diff(edges).astype(np.float64)
        return replace(self, edges=edges, widths=widths, slopes=self.slopes[places])

    def spread(self, masses: Floats, edges: NDArray[np.int64]) -> Floats:
        """Return the records of finer cells, those of each present cell adding up to its mass."""
        places = np.searchsorted(self.edges, edges[:-1], "right") - 1
        slopes, widths = self.slopes[places], np.diff(edges)
        # Exponents of at most 0, so that nothing overflows.
        top = np.maximum(self.slopes * self.widths, 0.0)
        begin = slopes * (edges[:-1] - self.edges[places]) - top[places]
        whole = np.exp(-top) * np.expm1(self.slopes * self.widths)
        parts = np.exp(begin) * np.expm1(slopes * widths) / whole[places]
        return np.asarray(parts * masses[places])

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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CountedLaw:
    """The law of counted codes: records of the finest cells, and the law inside each of these."""

    axis: CellAxis
    finest: CodeLaw
    records: Floats

    @classmethod
    def of(cls, axis: CellAxis, masses: Floats, noise: float, found: CodeCounts) -> CountedLaw:
        """Return the law for cells that hold ``masses`` of records, given noisy code counts."""
        smooth = CodeLaw.of(axis, masses, noise)
        finest = smooth.inside(found.edges)
        if not axis.ordered:
            total = float(masses.sum())
            return cls(axis=axis, finest=finest, records=estimated(found, axis, total))
        known, widths = smooth.spread(masses, found.edges), found.widths
        # The marginal by class has counted the cells with less noise: only differences inside
        # them count.
        at = found.places(axis)
        away = found.counts - known
        away -= (np.bincount(at, away) / np.bincount(at, widths))[at] * widths
        precisions = widths**2 * (2 * found.scale**2) / found.variances
        total = float(masses.sum())
        moved = averaged(away / widths, widths, precisions, scale=found.scale, total=total)
        return cls(axis=axis, finest=finest, records=np.maximum(known + moved * widths, 0.0))

    def drawn(self, cells: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        """Return a code for each cell: a systematic draw in every cell, in random order."""
        begins = np.searchsorted(self.finest.edges, self.axis.edges)
        masses = np.add.reduceat(self.records, begins[:-1])
        places = np.repeat(np.arange(self.axis.n_cells), np.diff(begins))
        weights = np.where(masses[places] > 0, self.records, self.finest.widths)
        masses = np.add.reduceat(weights, begins[:-1])
        ends = np.cumsum(weights)
        far = _ranks(cells, self.axis.n_cells, rng) * masses[cells]
        before = (ends[begins[:-1]] - weights[begins[:-1]])[cells]
        found = np.searchsorted(ends, before + far, "right")
        inside = np.clip(found, begins[:-1][cells], begins[1:][cells] - 1).astype(np.int32)
        if len(self.records) == int(self.finest.edges[-1]):
            return inside
        return self.finest.drawn(inside, rng)


def _ranks(cells: NDArray[np.int32], n_cells: int, rng: np.random.Generator) -> Floats:
    """Return numbers from 0 to 1, spread evenly over the records of each cell."""
    counts = np.bincount(cells, minlength=n_cells)
    order = rng.permutation(len(cells))
    order = order[np.argsort(cells[order], kind="stable")]
    ranks = np.empty(len(cells))
    ranks[order] = np.arange(len(cells)) - np.repeat(np.cumsum(counts) - counts, counts)
    spread: Floats = (ranks + rng.random(n_cells)[cells]) / counts[cells]
    return spread


def _slopes(edges: NDArray[np.int64], heights: Floats) -> Floats:
    """Return how much logarithms change by code in each cell: the gentler of both sides."""
    middles = (edges[1:] + edges[:-1]) / 2
    steps = np.diff(heights) / np.diff(middles)
    slopes = np.zeros(len(heights))
    before, after = steps[:-1], steps[1:]
    gentler = np.where(np.abs(before) < np.abs(after), before, after)
    slopes[1:-1] = np.where(before * after > 0, gentler, 0.0)
    return slopes
