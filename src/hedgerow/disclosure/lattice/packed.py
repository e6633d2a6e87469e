"""Records, hierarchies and dictionary as flat arrays, the input of the compiled walk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.lattice import Chains, Levels, Parts
from hedgerow.disclosure.lattice.matches import row_keys
from hedgerow.model.arrays import Codes, Floats, Ints

Small = NDArray[np.int32]


class Hierarchy(NamedTuple):
    """The chains of all values of all attributes, one row each.

    If a recipient has an earlier generalisation, there is a row for each value and level of it:
    above that level, nodes and weights are those of the level
    [:mod:`~hedgerow.disclosure.lattice.known`].

    ``first`` and ``stop`` bound, for each level, the dictionary's values below the node;
    ``nodes`` is the node's contribution to the index in the node cube. ``utility`` and
    ``weights`` are the contributions of each level, or of each step if :meth:`turned`.
    """

    heights: Ints
    first: Small
    stop: Small
    nodes: Ints
    utility: Floats
    weights: Floats

    def turned(self) -> Hierarchy:
        """Return the same with steps down from the root instead of levels."""
        width = self.utility.shape[1]
        level = np.maximum(self.heights[:, None] - np.arange(width), 0)
        return self._replace(
            utility=np.take_along_axis(self.utility, level, axis=1),
            weights=np.take_along_axis(self.weights, level, axis=1),
        )


class Entries(NamedTuple):
    """The dictionary: the place of each value of each distinct record, and their multiplicities.

    ``node_counts`` is the cube over all nodes, or empty.
    """

    places: Small
    many: Ints
    n_places: int
    node_counts: Ints


class PackedProblems(NamedTuple):
    """Records to solve, as rows of the hierarchy, with equal ones adjacent.

    Those with the same ``profile`` have the same utility at every node.
    """

    rows: Small
    heights: Ints
    strides: Ints
    profile: Ints
    personal: Floats
    limit: Floats

    def part(self, which: slice | Ints) -> PackedProblems:
        """Return some of the problems."""
        return PackedProblems(
            rows=self.rows[which],
            heights=self.heights[which],
            strides=self.strides[which],
            profile=self.profile[which],
            personal=self.personal[which],
            limit=self.limit[which],
        )


class Question(NamedTuple):
    """The problem to solve for every record; without ``weighed``, Φ is 1."""

    generalises: bool
    weighed: bool
    exposure: Floats


class Found(NamedTuple):
    """The answers; zeros and NaN until they are found."""

    levels: NDArray[np.uint8]
    feasible: NDArray[np.bool_]
    risk: Floats
    utility: Floats
    n_visited: Ints

    @classmethod
    def nothing(cls, n_records: int, n_attributes: int) -> Found:
        """Return space for the answers to a number of problems."""
        return cls(
            levels=np.zeros((n_records, n_attributes), dtype=np.uint8),
            feasible=np.zeros(n_records, dtype=np.bool_),
            risk=np.full(n_records, np.nan),
            utility=np.full(n_records, np.nan),
            n_visited=np.zeros(n_records, dtype=np.int64),
        )

    def part(self, which: slice | Ints) -> Found:
        """Return some of the answers; those of a slice share its memory."""
        return Found(
            levels=self.levels[which],
            feasible=self.feasible[which],
            risk=self.risk[which],
            utility=self.utility[which],
            n_visited=self.n_visited[which],
        )


def pack(
    columns: Sequence[Codes],
    dictionary: Dictionary,
    *,
    utility: Parts,
    weights: Parts,
    known: Levels | None = None,
) -> tuple[Small, Hierarchy, Entries]:
    """Return the records as rows of the hierarchy, the hierarchy, and the dictionary.

    Only values that occur get rows and places, however large their domains are. ``known`` are
    the levels of each record's generalisation that a recipient already has.
    """
    cube = dictionary.node_cube
    strides = [0] * len(columns) if cube is None else _strides(cube.counts.shape)
    rows, places, parts = [], [], []
    n_rows = n_places = 0
    for i, column in enumerate(columns):
        chain = dictionary.chains[i]
        codes, lower, row = _rows_of(column, chain, None if known is None else known[:, i])
        held, place = np.unique(dictionary.columns[i], return_inverse=True)
        nodes = np.take_along_axis(chain.nodes[codes], lower, axis=1)
        tree = chain.taxonomy
        part = Hierarchy(
            heights=chain.heights[codes].astype(np.int64),
            first=(n_places + np.searchsorted(held, tree.first[nodes])).astype(np.int32),
            stop=(n_places + np.searchsorted(held, tree.stop[nodes])).astype(np.int32),
            nodes=nodes.astype(np.int64) * strides[i],
            utility=utility[i][codes],
            weights=np.take_along_axis(weights[i][codes], lower, axis=1),
        )
        parts.append(part)
        rows.append(n_rows + row)
        places.append(n_places + place)
        n_rows, n_places = n_rows + len(codes), n_places + len(held)
    entries = Entries(
        places=np.stack(places, axis=1).astype(np.int32),
        many=dictionary.many,
        n_places=n_places,
        node_counts=np.zeros(0, dtype=np.int64) if cube is None else cube.counts.reshape(-1),
    )
    return np.stack(rows, axis=1).astype(np.int32), _stacked(parts), entries


def _rows_of(column: Codes, chain: Chains, known: Levels | None) -> tuple[NDArray[Any], Ints, Ints]:
    """Return the code and the effective levels of each row, and the row of each record."""
    width = chain.nodes.shape[1]
    if known is None:
        codes, row = np.unique(column, return_inverse=True)
        return codes, np.broadcast_to(np.arange(width), (len(codes), width)), row
    keys, row = np.unique(column.astype(np.int64) * width + known, return_inverse=True)
    lower = np.minimum(np.arange(width), (keys % width)[:, None])
    return keys // width, lower, row


def utility_profiles(columns: Sequence[Codes], chains: Sequence[Chains], utility: Parts) -> Ints:
    """Return a number per record, equal for records with the same utility at every node."""
    profiles, sizes = [], []
    for column, chain, table in zip(columns, chains, utility, strict=True):
        rows = np.column_stack([chain.heights, table])
        distinct, profile = np.unique(rows, axis=0, return_inverse=True)
        profiles.append(profile[column])
        sizes.append(len(distinct))
    return row_keys(profiles, sizes, len(columns[0]))


def strides_of(heights: Ints) -> Ints:
    """Return the change of the rank per level of each attribute, for each record's lattice."""
    above = np.cumprod((heights + 1)[:, ::-1], axis=1)[:, ::-1]
    return np.ascontiguousarray(above // (heights + 1))


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def _stacked(parts: Sequence[Hierarchy]) -> Hierarchy:
    """Return the rows of all attributes below each other, as wide as the longest chain."""
    width = max(part.nodes.shape[1] for part in parts)

    def stacked(name: str, dtype: type[np.generic]) -> NDArray[Any]:
        arrays = [getattr(part, name) for part in parts]
        wide = [np.pad(a, ((0, 0), (0, width - a.shape[1]))) for a in arrays]
        return np.ascontiguousarray(np.concatenate(wide), dtype=dtype)

    return Hierarchy(
        heights=np.concatenate([part.heights for part in parts]),
        first=stacked("first", np.int32),
        stop=stacked("stop", np.int32),
        nodes=stacked("nodes", np.int64),
        utility=stacked("utility", np.float64),
        weights=stacked("weights", np.float64),
    )
