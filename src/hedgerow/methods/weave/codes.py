"""Marginals of all codes of an attribute, without the class: what is counted, and at which share.

The cells of the marginals by class are few. A long grid or a large taxonomy is first counted
code by code, for a part of the share that its 1-way marginal has. Where codes are too many to
count at once, they are counted level by level: every level is a partition of all codes, and the
cells whose noisy counts are distinguishable from noise are divided at the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import SHORT, CellAxis
from hedgerow.model.arrays import Floats
from hedgerow.taxonomy.domain import CategoricalDomain, Domain
from hedgerow.taxonomy.even_steps import even_borders
from hedgerow.trees.coarsening import ladder

LEAST_PART, MOST_PART, TENFOLD = 0.12, 0.25, 0.13
"""Part of an attribute's share for its codes: minimum, maximum, and what ten times the records
add to it."""

LEAST_STRENGTH = 100.0
"""Records times share of an attribute below which its codes are not counted."""

PARTS = 1000
"""Parts of a share are whole numbers of 1 / PARTS."""

AT_ONCE = 1024
"""Maximum codes of a grid that are counted at once."""

VALUES_AT_ONCE = 4096
"""Maximum values of a taxonomy that are counted at once."""

FIRST = 256
"""Even cells of the first level of a longer grid."""

BRANCH = 512
"""Parts of a divided cell of a grid at the next level: two levels reach 131,072 codes."""

OPEN = 4.0
"""Scales of noise above which a cell is divided at the next level."""

MOST_CELLS = 1 << 14
"""Maximum cells of a level."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodeLevels:
    """The public rule by which the codes of an attribute are counted.

    ``first`` are the edges of the cells of the first level. At later ones, cells of a grid are
    divided evenly; those of a taxonomy at the edges of ``finer``, one array per level.
    """

    size: int
    first: NDArray[np.int64]
    n_levels: int
    finer: tuple[NDArray[np.int64], ...] = ()

    @classmethod
    def of(cls, domain: Domain, axis: CellAxis) -> CodeLevels | None:
        """Return the rule for an attribute, or ``None`` where its cells are fine enough.

        Dates are counted in their periods alone.
        """
        every = np.arange(domain.size + 1, dtype=np.int64)
        if isinstance(domain, CategoricalDomain):
            if int(axis.widths.max()) == 1:
                return None
            if domain.size <= VALUES_AT_ONCE:
                return cls(size=domain.size, first=every, n_levels=1)
            finer = _cuts(domain, axis)
            return cls(size=domain.size, first=axis.edges, n_levels=1 + len(finer), finer=finer)
        if domain.size <= SHORT or domain.levels:
            return None
        if domain.size <= AT_ONCE:
            return cls(size=domain.size, first=every, n_levels=1)
        first = _first_of_grid(domain.size, axis)
        return cls(size=domain.size, first=first, n_levels=_n_levels(np.diff(first)))

    def divided(
        self, edges: NDArray[np.int64], counts: Floats, scale: float, level: int
    ) -> NDArray[np.int64]:
        """Return the edges of the next level, for noisy counts of the one before.

        The heaviest cells are divided, as long as the level has no more than ``MOST_CELLS``.
        """
        worth = np.flatnonzero((counts > OPEN * scale) & (np.diff(edges) > 1))
        worth = worth[np.argsort(-counts[worth], kind="stable")]
        inner = [self._inside(int(edges[at]), int(edges[at + 1]), level) for at in worth.tolist()]
        total = len(edges) + np.cumsum([len(each) for each in inner], dtype=np.int64)
        kept = inner[: int(np.searchsorted(total, MOST_CELLS, "right"))]
        return np.unique(np.concatenate([edges, *kept]))

    def _inside(self, low: int, high: int, level: int) -> NDArray[np.int64]:
        if self.finer:
            cuts = self.finer[level - 1]
            return cuts[np.searchsorted(cuts, low, "right") : np.searchsorted(cuts, high)]
        parts = min(high - low, BRANCH)
        return low + np.arange(1, parts, dtype=np.int64) * (high - low) // parts


def code_part(strength: float) -> int:
    """Return the part of an attribute's share for its codes, in thousandths.

    ``strength`` is that share times the noisy number of records.

    >>> [code_part(each) for each in (50, 100, 300, 2000)]
    [0, 120, 182, 250]
    """
    if strength < LEAST_STRENGTH:
        return 0
    part = LEAST_PART + TENFOLD * float(np.log10(strength / LEAST_STRENGTH))
    return round(min(part, MOST_PART) * PARTS)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodeCounts:
    """Noisy counts of the finest cells of an attribute, from all levels together.

    ``variances`` are those of the noise of each count, ``scale`` the scale of the noise of one
    level.
    """

    edges: NDArray[np.int64]
    counts: Floats
    variances: Floats
    scale: float

    @classmethod
    def of(cls, edges: NDArray[np.int64], noisy: NDArray[np.int64], scale: float) -> CodeCounts:
        """Return the counts of the first level."""
        variances = np.full(len(noisy), 2 * scale**2)
        return cls(edges=edges, counts=noisy.astype(np.float64), variances=variances, scale=scale)

    def refined(self, edges: NDArray[np.int64], noisy: NDArray[np.int64]) -> CodeCounts:
        """Return the counts of the next level, whose cells divide the present ones.

        The parts of a cell share what its earlier count says beyond their own sum, by inverse
        variance; a cell that is not divided has two estimates, which are combined the same way.
        """
        begins = np.searchsorted(edges, self.edges[:-1])
        parts = np.diff(np.append(begins, len(noisy)))
        variance = 2 * self.scale**2
        gain = parts * variance / (parts * variance + self.variances)
        seen = noisy.astype(np.float64)
        missing = (self.counts - np.add.reduceat(seen, begins)) * gain
        counts = seen + np.repeat(missing / parts, parts)
        variances = variance * np.repeat(1 - gain / parts, parts)
        return CodeCounts(edges=edges, counts=counts, variances=variances, scale=self.scale)

    @property
    def widths(self) -> Floats:
        """Codes of each finest cell."""
        return np.diff(self.edges).astype(np.float64)

    def sums(self, axis: CellAxis) -> tuple[Floats, Floats]:
        """Return the counts of coarser cells, and the variances of their noise."""
        begins = np.searchsorted(self.edges, axis.edges[:-1])
        return np.add.reduceat(self.counts, begins), np.add.reduceat(self.variances, begins)

    def places(self, axis: CellAxis) -> NDArray[np.int64]:
        """Return the coarser cell of each finest one."""
        begins = np.searchsorted(self.edges, axis.edges)
        return np.repeat(np.arange(axis.n_cells), np.diff(begins))


def _first_of_grid(size: int, axis: CellAxis) -> NDArray[np.int64]:
    """Return even cells and finer ones near both ends, none across an edge of the axis."""
    powers = 2 ** np.arange(20, dtype=np.int64)
    near = powers[powers < size / 16]
    parts = even_borders(size, FIRST), near, size - near, axis.edges
    return np.unique(np.concatenate(parts))


def _n_levels(widths: NDArray[np.int64]) -> int:
    """Return how many levels divide cells of these widths into single codes.

    >>> _n_levels(np.array([3, 512])), _n_levels(np.array([513]))
    (2, 3)
    """
    left, n_levels = int(widths.max()), 1
    while left > 1:
        left, n_levels = -(-left // BRANCH), n_levels + 1
    return n_levels


def _cuts(domain: CategoricalDomain, axis: CellAxis) -> tuple[NDArray[np.int64], ...]:
    """Return the cuts of a large taxonomy below its cells: a level between, and its values.

    The level between is the finest of at most ``VALUES_AT_ONCE`` nodes.
    """
    levels = [each.edges.astype(np.int64) for each in ladder(domain)]
    between = [each for each in levels[1:] if axis.n_cells < len(each) - 1 <= VALUES_AT_ONCE]
    return (*between[:1], levels[0])
