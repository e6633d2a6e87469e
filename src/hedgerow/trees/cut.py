"""A cut: for every attribute, parts that tile its domain, and how they specialise.

Everything here is public: a cut depends on domains and earlier choices, never on data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.groups import Ranges
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.domain import CategoricalDomain
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True)
class Part:
    """One value of a cut: a range of an attribute's codes, and its node if it has one."""

    attribute: int
    first: int
    stop: int
    node: int | None

    @property
    def is_numeric(self) -> bool:
        """True if the part is an interval, split at a position rather than by a taxonomy."""
        return self.node is None


def _branching(taxonomy: Taxonomy, node: int) -> int:
    """Follow single children down, because a node with one child has the same values."""
    while len(taxonomy.children(node)) == 1:
        node = int(taxonomy.children(node)[0])
    return node


def leaf_ranges(schema: Schema) -> tuple[Ranges, ...]:
    """Return the lowest cut, one range per code: the contingency table [DiffGen, Sec. 4.1]."""
    codes = (np.arange(attribute.domain.size, dtype=np.int32) for attribute in schema.attributes)
    return tuple(Ranges(first=first, stop=first + 1) for first in codes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cut:
    """The parts of all attributes, in the order in which they were created."""

    schema: Schema
    parts: tuple[Part, ...]

    @classmethod
    def topmost(cls, schema: Schema) -> Cut:
        """Return the most general cut [DiffGen, Alg. 1, lines 1-2]."""
        parts = []
        for a, attribute in enumerate(schema.attributes):
            domain = attribute.domain
            node = None
            if isinstance(domain, CategoricalDomain):
                node = _branching(domain.taxonomy, 0)
            parts.append(Part(attribute=a, first=0, stop=domain.size, node=node))
        return cls(schema=schema, parts=tuple(parts))

    def specialisable(self) -> list[Part]:
        """Return the parts that can be specialised, by the public domain alone."""
        return [part for part in self.parts if part.stop - part.first > 1]

    def children(self, part: Part, position: int | None) -> tuple[Part, ...]:
        """Return the children of ``part``; a numeric part needs a split position."""
        if part.is_numeric:
            if position is None or not part.first < position < part.stop:
                raise InternalError("A numeric part needs a split position inside it.")
            return (replace(part, stop=position), replace(part, first=position))
        taxonomy = self._taxonomy(part)
        nodes = [_branching(taxonomy, int(node)) for node in taxonomy.children(self._node(part))]
        return tuple(
            Part(
                attribute=part.attribute,
                first=int(taxonomy.first[node]),
                stop=int(taxonomy.stop[node]),
                node=node,
            )
            for node in nodes
        )

    def specialise(self, part: Part, position: int | None = None) -> Cut:
        """Return the cut with ``part`` replaced by its children [DiffGen, Alg. 1, line 8]."""
        others = tuple(other for other in self.parts if other != part)
        if len(others) != len(self.parts) - 1:
            raise InternalError("The part to specialise is not in the cut.")
        return replace(self, parts=others + self.children(part, position))

    def ranges(self) -> tuple[Ranges, ...]:
        """Return each attribute's ranges, sorted."""
        pairs: list[list[tuple[int, int]]] = [[] for _ in self.schema.attributes]
        for part in self.parts:
            pairs[part.attribute].append((part.first, part.stop))
        return tuple(Ranges.of(each) for each in pairs)

    def bounds(self, part: Part) -> NDArray[np.int64]:
        """Return the borders of a categorical part's children, as codes."""
        children = self.children(part, None)
        return np.array([part.first, *(child.stop for child in children)], dtype=np.int64)

    def _node(self, part: Part) -> int:
        if part.node is None:
            raise InternalError("A numeric part has no taxonomy node.")
        return part.node

    def _taxonomy(self, part: Part) -> Taxonomy:
        domain = self.schema.attributes[part.attribute].domain
        if not isinstance(domain, CategoricalDomain):
            raise InternalError("A numeric attribute has no taxonomy.")
        return domain.taxonomy
