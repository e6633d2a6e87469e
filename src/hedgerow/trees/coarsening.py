"""Public coarsenings of attributes: consecutive cells of codes, from the finest to one.

Methods that count every cell of a table, or every cell of a marginal, need attributes of
few cells. These cells follow from the domains alone: the levels of a taxonomy, or a grid whose
adjacent cells are merged in pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.model.groups import Ranges
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.domain import CategoricalDomain, Domain
from hedgerow.taxonomy.even_steps import EVEN_STEPS, even_borders
from hedgerow.taxonomy.tree import Taxonomy
from hedgerow.trees.axes import split_positions

LEAST_SHARE = Fraction(1, 1 << 31)
"""Minimum share of epsilon for which noise can be drawn."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Coarsening:
    """One attribute divided into cells: cell ``i`` holds the codes ``[edges[i], edges[i + 1])``."""

    edges: NDArray[np.int32]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.edges) - 1

    @property
    def places(self) -> NDArray[np.int32]:
        """Cell of each code."""
        return np.repeat(np.arange(self.n_cells, dtype=np.int32), np.diff(self.edges))

    @property
    def ranges(self) -> Ranges:
        """Cells as ranges of codes."""
        return Ranges(first=self.edges[:-1].copy(), stop=self.edges[1:].copy())


def ladder(domain: Domain, *, most: int | None = None) -> tuple[Coarsening, ...]:
    """Return the coarsenings of a domain, finest first, each a merge of the cells before.

    The last has one cell. With ``most``, a grid of more cells than that starts from 16
    equal steps and finer ones near its ends, and a taxonomy of more leaves from the lowest
    level that has at most ``most`` nodes. Dates are merged to months, quarters and years, and
    years in pairs.

    >>> from hedgerow.taxonomy.domain import NumericDomain
    >>> [each.n_cells for each in ladder(NumericDomain.even(low=0, high=9, step=1))]
    [10, 5, 3, 2, 1]
    """
    if isinstance(domain, CategoricalDomain):
        levels = _levels(domain.taxonomy)
    elif domain.levels:
        levels = [*domain.levels[:0:-1], *_halvings(domain.levels[0])]
    else:
        levels = _halvings(_grid(domain.size, most))
    fitting = [edges for edges in levels if most is None or len(edges) <= most + 1]
    if most is not None and len(fitting[0]) == 2 < len(levels[0]):
        fitting = _halvings(even_borders(domain.size, most))
    return tuple(Coarsening(edges=edges.astype(np.int32)) for edges in fitting)


def fitted(schema: Schema, *, most_boxes: int) -> tuple[Coarsening, ...]:
    """Return one coarsening per predictor so that their boxes are at most ``most_boxes``.

    As long as there are more, the attribute with the most cells gets its next coarsening.
    """
    ladders = [list(ladder(attribute.domain)) for attribute in schema.attributes]
    while prod(steps[0].n_cells for steps in ladders) > most_boxes:
        widest = max(range(len(ladders)), key=lambda a: ladders[a][0].n_cells)
        ladders[widest].pop(0)
    return tuple(steps[0] for steps in ladders)


def require_share(share: Fraction) -> None:
    """Raise if a step's share of epsilon is too small to draw noise with."""
    if share < LEAST_SHARE:
        raise SettingError(
            "The budget of one step would be too small to draw noise with.",
            where="publish.epsilon",
            do="Give a larger epsilon.",
        )


def _grid(size: int, most: int | None) -> NDArray[np.int64]:
    if most is None or size <= most:
        return np.arange(size + 1)
    whole = np.zeros(1, dtype=np.int32), np.full(1, size, dtype=np.int32)
    for even in (EVEN_STEPS, EVEN_STEPS // 2, 1):
        inner = split_positions(*whole, even=even).values
        if len(inner) < most:
            return np.concatenate([[0], inner, [size]])
    return even_borders(size, most)


def _halvings(edges: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Merge adjacent cells in pairs until one is left."""
    steps = [edges]
    while len(steps[-1]) > 2:
        last = steps[-1]
        steps.append(np.unique(np.append(last[::2], last[-1])))
    return steps


def _levels(taxonomy: Taxonomy) -> list[NDArray[np.int64]]:
    """Return the leaves, then the cuts through each level of the taxonomy that differ."""
    steps = [np.arange(taxonomy.n_leaves + 1)]
    for depth in range(int(taxonomy.height[0]) - 1, -1, -1):
        nodes = taxonomy.leaf_ancestors(depth)
        changes = np.flatnonzero(np.diff(nodes)) + 1
        edges = np.concatenate([[0], changes, [taxonomy.n_leaves]])
        if len(edges) < len(steps[-1]):
            steps.append(edges)
    return steps
