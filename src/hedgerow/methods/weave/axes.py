"""The public cells of every attribute that weave counts: codes of a grid or of a taxonomy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.impossible import Barred
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.calendar import periods
from hedgerow.taxonomy.domain import CategoricalDomain, Domain
from hedgerow.taxonomy.even_steps import EVEN_STEPS, even_borders
from hedgerow.taxonomy.tree import Taxonomy
from hedgerow.trees.coarsening import ladder

SHORT = 24
"""Codes up to which a grid keeps each as a cell."""

COUNTS = 64
"""Maximum codes of a grid that is treated as a count: missing or 0, and 1, are separate cells."""

LONG = 200
"""Minimum codes of a grid that has finer cells near both ends."""

MOST_PERIODS = 40
"""Cells of a date, at the most: years, quarters, months, or its steps."""

MOST_VALUES = 256
"""Values of a taxonomy that are cells each; of a larger one, the nodes of a level."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellAxis:
    """The cells of one attribute: cell ``i`` holds the codes ``[edges[i], edges[i + 1])``.

    ``ordered`` cells may be put together with their neighbours only. ``depths`` says for any
    two cells how deep in the taxonomy the lowest node above both lies, from 0 (the root) to 1.
    """

    edges: NDArray[np.int64]
    ordered: bool
    depths: NDArray[np.float64] | None

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.edges) - 1

    @property
    def widths(self) -> NDArray[np.int64]:
        """Codes of each cell."""
        return np.diff(self.edges)

    @property
    def places(self) -> NDArray[np.int32]:
        """The cell of each code."""
        return np.repeat(np.arange(self.n_cells, dtype=np.int32), self.widths)


def cell_axes(schema: Schema, barred: tuple[Barred, ...] = ()) -> tuple[CellAxis, ...]:
    """Return the cells of every predictor, from its domain and what the plan says alone."""
    found = []
    for a, attribute in enumerate(schema.attributes):
        borders = [each.borders(a) for each in barred]
        found.append(cell_axis(attribute.domain, *borders))
    return tuple(found)


def cell_axis(domain: Domain, *borders: NDArray[np.int64]) -> CellAxis:
    """Return the cells of a domain; no cell lies across one of the further borders.

    >>> from hedgerow.taxonomy.domain import NumericDomain
    >>> cell_axis(NumericDomain.even(low=0, high=99, step=1)).n_cells
    17
    """
    if isinstance(domain, CategoricalDomain):
        values = ladder(domain, most=MOST_VALUES)[0].edges.astype(np.int64)
        edges = np.unique(np.concatenate([values, *borders]))
        depths = common_depths(domain.taxonomy, edges[:-1])
        return CellAxis(edges=edges, ordered=False, depths=depths)
    cells = _grid(domain.size)
    if domain.levels:
        cells = periods(domain.levels, most=MOST_PERIODS)
    edges = np.unique(np.concatenate([cells, *borders]))
    return CellAxis(edges=edges, ordered=True, depths=None)


def _grid(size: int) -> NDArray[np.int64]:
    if size <= SHORT:
        return np.arange(size + 1, dtype=np.int64)
    near = [1, 2] if size < COUNTS else [1]
    if size > LONG:
        near = [each for p in range(12) if 2**p < size / 8 for each in (2**p, size - 2**p)]
    even = even_borders(size, EVEN_STEPS)
    return np.unique(np.concatenate([even, np.array(near, dtype=np.int64)]))


def common_depths(taxonomy: Taxonomy, leaves: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how deep the lowest common node of any two leaves lies, as a part of the height."""
    height = int(taxonomy.height[0])
    depths = np.zeros((len(leaves), len(leaves)))
    for depth in range(1, height):
        nodes = taxonomy.leaf_ancestors(depth)[leaves]
        depths[nodes[:, None] == nodes[None, :]] = depth / height
    return depths
