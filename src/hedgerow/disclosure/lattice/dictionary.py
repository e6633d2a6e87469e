"""The attacker's dictionary Θ, grouped once so that every record's matches are counted fast.

The dictionary is the table itself, which gives an upper bound on the risk, or what the attacker is
known to have [ARUBA, Sec. IV-B]. Everything here is confidential.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import (
    NUMERIC_FAN_OUT,
    Chains,
    Lattice,
    RecordCodes,
    chains_of,
)
from hedgerow.disclosure.lattice.matches import (
    CountedLattice,
    MatchCounter,
    Matches,
    levels_of_columns,
    row_keys,
)
from hedgerow.model.arrays import Columns
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable

NODE_CUBE_UP_TO = 1 << 23
"""Maximum number of cells (64 MB) of a cube over all nodes of all taxonomies."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistinctRecords:
    """The distinct records of a table, and the mapping of records to them.

    ``first`` is the position of the first record of each kind, in the order of their codes;
    ``kind[record]`` is the kind of a record, and ``many`` the number of records of each kind.
    """

    first: NDArray[np.int64]
    kind: NDArray[np.int64]
    many: NDArray[np.int64]

    @classmethod
    def of(cls, table: EncodedTable) -> DistinctRecords:
        """Group the records of a table by their codes, without the class."""
        sizes = [attribute.domain.size for attribute in table.schema.attributes]
        return cls.of_keys(row_keys(table.codes, sizes, len(table)))

    @classmethod
    def of_keys(cls, keys: NDArray[np.int64]) -> DistinctRecords:
        """Group records by a key."""
        _, first, kind, many = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(first=first, kind=kind, many=many)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Dictionary:
    """The distinct records of an attacker's dictionary, prepared for matching.

    For few attributes, one cube over all nodes of all taxonomies serves every record;
    otherwise the level vectors of each record are computed and grouped.
    """

    schema: Schema
    chains: tuple[Chains, ...]
    columns: Columns
    many: NDArray[np.int64]

    @classmethod
    def of(cls, table: EncodedTable, *, numeric_fan_out: int = NUMERIC_FAN_OUT) -> Dictionary:
        """Group the records of a table."""
        distinct = DistinctRecords.of(table)
        return cls(
            schema=table.schema,
            chains=chains_of(table.schema, numeric_fan_out=numeric_fan_out),
            columns=tuple(column[distinct.first] for column in table.codes),
            many=distinct.many,
        )

    @cached_property
    def n_records(self) -> int:
        """The number of records, repeated ones included."""
        return int(self.many.sum())

    @cached_property
    def node_cube(self) -> NodeCube | None:
        """The cube over all nodes, if it is small enough to keep."""
        return NodeCube.of(self) if NodeCube.fits(self.chains) else None

    def matches(self, record: RecordCodes) -> Matches:
        """Return the grouped level vectors of the dictionary against a record."""
        vectors = levels_of_columns(record, self.chains, self.columns, len(self.many))
        return Matches.of(Lattice.of(record, self.chains), vectors, self.many)

    def counter(self, record: RecordCodes) -> MatchCounter:
        """Return the fastest counter of a record's matches."""
        if self.node_cube is not None:
            return self.node_cube.counter(record)
        return self.matches(record)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NodeCube:
    """Number of dictionary records below each combination of nodes of all attributes.

    Axis ``i`` runs over the nodes of the taxonomy of attribute ``i``; the lattice of any
    record is a slice of it.
    """

    chains: tuple[Chains, ...]
    counts: NDArray[np.int64]

    @staticmethod
    def fits(chains: Sequence[Chains]) -> bool:
        """Return whether the cube has few enough cells to be kept."""
        return math.prod(chain.taxonomy.n_nodes for chain in chains) <= NODE_CUBE_UP_TO

    @classmethod
    def of(cls, dictionary: Dictionary) -> NodeCube:
        """Count the records below every combination of nodes."""
        sizes = tuple(chain.taxonomy.n_leaves for chain in dictionary.chains)
        counts = np.zeros(sizes, dtype=np.int64)
        counts[tuple(dictionary.columns)] = dictionary.many
        for axis, chain in enumerate(dictionary.chains):
            counts = _counts_of_nodes(counts, axis, chain)
        return cls(chains=dictionary.chains, counts=counts)

    def counter(self, record: RecordCodes) -> CountedLattice:
        """Return the counts of matches for a record's whole lattice."""
        lattice = Lattice.of(record, self.chains)
        nodes = [
            chain.nodes[code, : height + 1]
            for chain, code, height in zip(self.chains, record, lattice.heights, strict=True)
        ]
        root = (0,) * len(self.chains)
        return CountedLattice(
            lattice=lattice,
            n_records=int(self.counts[root]),
            numbers=np.ascontiguousarray(self.counts[np.ix_(*nodes)]),
        )


def _counts_of_nodes(counts: NDArray[np.int64], axis: int, chain: Chains) -> NDArray[np.int64]:
    """Replace the codes along an axis by the nodes of its taxonomy."""
    tree = chain.taxonomy
    up_to = np.insert(np.cumsum(counts, axis=axis), 0, 0, axis=axis)
    return np.take(up_to, tree.stop, axis=axis) - np.take(up_to, tree.first, axis=axis)
