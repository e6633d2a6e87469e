"""One record's generalisations: a product of chains, from its values up to the roots.

Attribute ``i`` of a record may be disclosed as its value (level 0), as any node above it,
or as the root (level ``h_i``), which reveals nothing. A *node* of the record's lattice is one
level per attribute. Scalar code passes nodes as tuples of levels, whatever the size of the
lattice; arrays hold their ranks in mixed radix, with the first attribute most significant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.errors import SettingError
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.builders import calendar, numeric, numeric_edges
from hedgerow.taxonomy.calendar import CalendarGrid
from hedgerow.taxonomy.domain import MISSING, Domain, NumericDomain
from hedgerow.taxonomy.grid import EvenGrid
from hedgerow.taxonomy.tree import Taxonomy

NUMERIC_FAN_OUT = 4
"""Number of cells or ranges of a numeric grid that one level merges.

Five levels then cover 1,024 cells: chains as long as those of [ARUBA, Sec. VI].
"""

MOST_RANKED = 2**62
"""Maximum number of nodes of a lattice that can be ranked in 64-bit integers."""

Node: TypeAlias = tuple[int, ...]
Levels: TypeAlias = NDArray[np.uint8]
Parts: TypeAlias = Sequence[NDArray[np.float64]]
"""Terms of a sum over attributes: one array per attribute, by level, or by code and level."""
RecordCodes: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Chains:
    """The path from leaf to root for every code of one attribute.

    ``nodes[code, level]`` is the node of the taxonomy that is ``level`` steps above the
    code; short chains are padded with the root, node 0. ``heights[code]`` is the level
    at which a code's chain reaches the root.
    """

    taxonomy: Taxonomy
    nodes: NDArray[np.int32]
    heights: Levels

    @classmethod
    def of(cls, domain: Domain, *, numeric_fan_out: int = NUMERIC_FAN_OUT) -> Chains:
        """Return the chains of a domain; a numeric grid is grouped by ``numeric_fan_out`` first."""
        return _chains(domain, numeric_fan_out)

    @property
    def tallest(self) -> int:
        """Height of the longest chain."""
        return int(self.nodes.shape[1]) - 1

    @cached_property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of codes that the node at each level above each code covers."""
        tree = self.taxonomy
        return (tree.stop - tree.first).astype(np.int64)[self.nodes]

    def levels_from(self, code: int) -> Levels:
        """Return, for each code, the lowest level of the chain of ``code`` that covers it.

        >>> from hedgerow.taxonomy.domain import CategoricalDomain
        >>> jobs = Taxonomy.from_nested("Any", {"Indoor": ["office", "shop"], "Outdoor": ["farm"]})
        >>> Chains.of(CategoricalDomain(taxonomy=jobs)).levels_from(0)
        array([0, 1, 2], dtype=uint8)
        """
        height = int(self.heights[code])
        levels = np.full(self.taxonomy.n_leaves, height, dtype=np.uint8)
        for level in range(height - 1, -1, -1):
            node = self.nodes[code, level]
            levels[self.taxonomy.first[node] : self.taxonomy.stop[node]] = level
        return levels


def chains_of(schema: Schema, *, numeric_fan_out: int = NUMERIC_FAN_OUT) -> tuple[Chains, ...]:
    """Return the chains of every predictor of a schema."""
    return tuple(
        Chains.of(attribute.domain, numeric_fan_out=numeric_fan_out)
        for attribute in schema.attributes
    )


@lru_cache(maxsize=256)
def _chains(domain: Domain, numeric_fan_out: int) -> Chains:
    tree = hierarchy_of(domain, numeric_fan_out=numeric_fan_out)
    heights = tree.depth[tree.leaf_nodes].astype(np.uint8)
    nodes = np.zeros((tree.n_leaves, int(heights.max()) + 1), dtype=np.int32)
    nodes[:, 0] = tree.leaf_nodes
    for level in range(1, nodes.shape[1]):
        nodes[:, level] = np.maximum(tree.parent[nodes[:, level - 1]], 0)
    for array in (nodes, heights):
        array.flags.writeable = False
    return Chains(taxonomy=tree, nodes=nodes, heights=heights)


def hierarchy_of(domain: Domain, *, numeric_fan_out: int = NUMERIC_FAN_OUT) -> Taxonomy:
    """Return the taxonomy along which a domain is generalised.

    A categorical domain has its own. The cells of a numeric grid are merged
    ``numeric_fan_out`` at a time from its lower end, level by level, until one range is
    left, and dates are merged to months, quarters and years; missing values are a separate
    node directly under the root.

    >>> age = NumericDomain.even(low=17, high=90, step=1)
    >>> tree = hierarchy_of(age)
    >>> [tree.labels[node] for node in tree.path(tree.find("42"))]
    ['*', '[17, 81)', '[33, 49)', '[41, 45)', '42']
    """
    if not isinstance(domain, NumericDomain):
        return domain.taxonomy
    grid = domain.grid
    if isinstance(grid, CalendarGrid):
        tree = calendar(grid)
    elif isinstance(grid, EvenGrid):
        tree = numeric(low=grid.low, high=grid.high, step=grid.step, fan_out=numeric_fan_out)
    else:
        tree = numeric_edges(grid.edges, fan_out=numeric_fan_out)
    if not domain.missing:
        return tree
    labels = (tree.labels[0], MISSING, *tree.labels[1:])
    below = np.where(tree.parent[1:] > 0, tree.parent[1:] + 1, 0)
    return Taxonomy(labels=labels, parent=np.concatenate(([-1, 0], below)).astype(np.int32))


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """The product of the chains ``0..heights[i]``: all generalisations of one record.

    >>> lattice = Lattice(heights=(2, 1))
    >>> lattice.n_nodes, lattice.bottom, lattice.top
    (6, (0, 0), (2, 1))
    >>> list(lattice.above((1, 0))), list(lattice.below((1, 0)))
    ([(2, 0), (1, 1)], [(0, 0)])
    >>> lattice.rank([1, 0]), lattice.levels([2, 5]).tolist()
    (array(2), [[1, 0], [2, 1]])
    """

    heights: Node

    @classmethod
    def of(cls, record: RecordCodes, chains: Sequence[Chains]) -> Lattice:
        """Return the lattice of a record, which is one code per attribute."""
        return cls(
            heights=tuple(
                int(chain.heights[code]) for code, chain in zip(record, chains, strict=True)
            )
        )

    @property
    def n_attributes(self) -> int:
        """The number of chains."""
        return len(self.heights)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each attribute: the shape of an array over the lattice."""
        return tuple(height + 1 for height in self.heights)

    @cached_property
    def n_nodes(self) -> int:
        """The number of nodes [ARUBA, Lemma 2]."""
        return math.prod(self.shape)

    @property
    def bottom(self) -> Node:
        """The record itself."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Node:
        """The fully generalised record."""
        return self.heights

    @cached_property
    def strides(self) -> NDArray[np.int64]:
        """Change of the rank per level of each attribute."""
        if self.n_nodes > MOST_RANKED:
            raise SettingError(
                f"A lattice of {self.n_attributes} attributes has too many nodes to number them.",
                where="attributes",
                do="Search fewer attributes at a time, or use the aggregate model.",
            )
        strides = [math.prod(self.shape[i + 1 :]) for i in range(self.n_attributes)]
        return np.array(strides, dtype=np.int64)

    def rank(self, levels: ArrayLike) -> NDArray[np.int64]:
        """Return the ranks of nodes, whose levels are along the last axis."""
        return np.asarray(np.asarray(levels, dtype=np.int64) @ self.strides)

    def levels(self, ranks: ArrayLike) -> Levels:
        """Return the levels of ranked nodes, along a new last axis."""
        rank = np.asarray(ranks, dtype=np.int64)[..., None]
        levels: Levels = (rank // self.strides % np.array(self.shape)).astype(np.uint8)
        return levels

    def every_node(self) -> Levels:
        """Return the levels of all nodes, one row per rank."""
        return self.levels(np.arange(self.n_nodes))

    def above(self, node: Node) -> Iterator[Node]:
        """Yield the immediate generalisations of a node [ARUBA, Def. 3]."""
        for i, (level, height) in enumerate(zip(node, self.heights, strict=True)):
            if level < height:
                yield moved(node, i, +1)

    def below(self, node: Node) -> Iterator[Node]:
        """Yield the immediate specialisations of a node [ARUBA, Def. 4]."""
        for i, level in enumerate(node):
            if level > 0:
                yield moved(node, i, -1)

    def totals(self, parts: Parts) -> NDArray[np.float64]:
        """Return the sum of ``parts[i][level_i]`` for every node, as an array over the lattice.

        Attributes are added from the first to the last, as in :func:`total`, so that both give
        the same floats and therefore the same ties.
        """
        sums = np.zeros(self.shape, dtype=np.float64)
        for i, part in enumerate(parts):
            along = [1] * self.n_attributes
            along[i] = self.shape[i]
            sums += part[: self.shape[i]].reshape(along)
        return sums


def moved(node: Node, i: int, by: int) -> Node:
    """Return the node with attribute ``i`` moved by a number of levels."""
    return (*node[:i], node[i] + by, *node[i + 1 :])


def total(parts: Parts, node: Sequence[int]) -> float:
    """Return the sum of ``parts[i][node[i]]``, added from the first attribute to the last."""
    added = 0.0
    for part, level in zip(parts, node, strict=True):
        added += float(part[level])
    return added


def parts_of(record: RecordCodes, tables: Parts, lattice: Lattice) -> Parts:
    """Return each level's contribution for one record, from tables over codes and levels."""
    return tuple(
        table[code, : height + 1]
        for code, table, height in zip(record, tables, lattice.heights, strict=True)
    )
