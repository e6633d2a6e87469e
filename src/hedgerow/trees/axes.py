"""The public shape of each attribute, as arrays that serve thousands of boxes at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.placed import Borders, ragged
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.domain import CategoricalDomain, Domain
from hedgerow.taxonomy.even_steps import EVEN_STEPS, even_borders

NUMERIC = -1
"""Node number of a range that is not a taxonomy node."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Axis:
    """One attribute: its size and, for a taxonomy, the split of each node.

    Node ``v`` has the borders ``borders[border_starts[v]:border_starts[v + 1]]`` between
    its children; a node with a single child is represented by that child. ``keys`` and ``nodes``
    map a range to its node. ``levels`` are borders at which a range of dates is split before
    others, the coarsest first.
    """

    size: int
    numeric: bool
    border_starts: NDArray[np.int64]
    borders: NDArray[np.int32]
    keys: NDArray[np.int64]
    nodes: NDArray[np.int32]
    levels: tuple[NDArray[np.int64], ...] = ()

    @classmethod
    def of(cls, domain: Domain) -> Axis:
        """Return the axis of a domain."""
        if isinstance(domain, CategoricalDomain):
            return cls._of_taxonomy(domain)
        none = np.zeros(0, dtype=np.int64)
        return cls(
            size=domain.size,
            numeric=True,
            border_starts=np.zeros(1, dtype=np.int64),
            borders=none.astype(np.int32),
            keys=none,
            nodes=none.astype(np.int32),
            levels=domain.levels,
        )

    @classmethod
    def _of_taxonomy(cls, domain: CategoricalDomain) -> Axis:
        tree = domain.taxonomy
        lists = [tree.first[tree.children(node)][1:] for node in range(tree.n_nodes)]
        starts, _ = ragged(np.array([len(each) for each in lists], dtype=np.int64))
        keys = tree.first.astype(np.int64) * (domain.size + 1) + tree.stop
        # Of several nodes with one range, the lowest splits it: the last in depth-first order.
        unique, last = np.unique(keys[::-1], return_index=True)
        return cls(
            size=domain.size,
            numeric=False,
            border_starts=starts,
            borders=np.concatenate([*lists, np.zeros(0, dtype=np.int32)]).astype(np.int32),
            keys=unique,
            nodes=(tree.n_nodes - 1 - last).astype(np.int32),
        )

    def positions(self, first: NDArray[np.int32], stop: NDArray[np.int32], *, even: int) -> Borders:
        """Return the split positions that ranges of a numeric attribute offer."""
        if self.levels:
            return level_positions(self.levels, first, stop, even=even)
        return split_positions(first, stop, even=even)

    def node_of(self, first: NDArray[np.int32], stop: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the lowest node of each range, or ``NUMERIC`` if it has none."""
        if self.numeric or not len(self.keys):
            return np.full(len(first), NUMERIC, dtype=np.int32)
        wanted = first.astype(np.int64) * (self.size + 1) + stop
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found: NDArray[np.int32] = np.where(self.keys[place] == wanted, self.nodes[place], NUMERIC)
        return found.astype(np.int32)

    def child_borders(self, nodes: NDArray[np.int32]) -> Borders:
        """Return the borders between the children of each node; none for a leaf."""
        known = nodes >= 0
        safe = np.where(known, nodes, 0)
        if len(self.border_starts) == 1:
            lengths = np.zeros(len(nodes), dtype=np.int64)
            origin = lengths
        else:
            lengths = np.where(known, np.diff(self.border_starts)[safe], 0)
            origin = self.border_starts[:-1][safe]
        starts, inside = ragged(lengths)
        return Borders(starts=starts, values=self.borders[np.repeat(origin, lengths) + inside])


def offered(axis: Axis, first: NDArray[np.int32], stop: NDArray[np.int32]) -> Borders:
    """Return the borders at which ranges may be split: split positions, or all of a node's."""
    if axis.numeric:
        return axis.positions(first, stop, even=EVEN_STEPS)
    return axis.child_borders(axis.node_of(first, stop))


def axes_of(schema: Schema) -> tuple[Axis, ...]:
    """Return the axes of all predictors."""
    return tuple(Axis.of(attribute.domain) for attribute in schema.attributes)


def level_positions(
    levels: tuple[NDArray[np.int64], ...],
    first: NDArray[np.int32],
    stop: NDArray[np.int32],
    *,
    even: int,
) -> Borders:
    """Return the split positions that a range offers along levels, by a public rule.

    These are the positions of the finest level that cuts it into at most ``even`` pieces. If even
    the coarsest level that splits it makes more, :func:`split_positions` selects among them.

    >>> years, months = np.array([0, 12, 24]), np.arange(25)
    >>> whole, one = np.array([0, 0], dtype=np.int32), np.array([24, 12], dtype=np.int32)
    >>> level_positions((years, months), whole, one, even=12).values.tolist()
    [12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    low = np.stack([np.searchsorted(level, first, side="right") for level in levels])
    high = np.stack([np.searchsorted(level, stop, side="left") for level in levels])
    inner = high - low
    fits = (inner > 0) & (inner < even)
    finest = len(levels) - 1 - fits[::-1].argmax(axis=0)
    chosen = np.where(fits.any(axis=0), finest, (inner > 0).argmax(axis=0))
    lengths = np.zeros(len(first), dtype=np.int64)
    found = {}
    for each in np.unique(chosen).tolist():
        mine = chosen == each
        places = split_positions(low[each, mine] - 1, high[each, mine], even=even)
        lengths[mine] = np.diff(places.starts)
        found[each] = levels[each][places.values]
    starts, _ = ragged(lengths)
    level_of = np.repeat(chosen, lengths)
    values = np.zeros(len(level_of), dtype=np.int32)
    for each, borders in found.items():
        values[level_of == each] = borders
    return Borders(starts=starts, values=values)


def split_positions(first: NDArray[np.int32], stop: NDArray[np.int32], *, even: int) -> Borders:
    """Return the split positions that a numeric range offers, by a public rule.

    These are ``even`` - 1 positions in equal steps, and those 1, 2, 4, 8 ... cells from either
    end, so that a skewed attribute can be split finely where its values are dense.
    """
    length = (stop - first).astype(np.int64)[:, None]
    steps = even_borders(length[:, 0], even)[:, 1:-1]
    powers = (1 << np.arange(int(length.max(initial=1)).bit_length(), dtype=np.int64))[None, :]
    offsets = np.concatenate(
        [steps, np.broadcast_to(powers, (len(first), powers.shape[1])), length - powers], axis=1
    )
    offsets.sort(axis=1)
    inside = (offsets > 0) & (offsets < length)
    inside[:, 1:] &= offsets[:, 1:] != offsets[:, :-1]
    starts, _ = ragged(inside.sum(axis=1))
    values = (offsets + first[:, None])[inside]
    return Borders(starts=starts, values=values.astype(np.int32))
