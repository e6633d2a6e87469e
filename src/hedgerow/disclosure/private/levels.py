"""The generalisations that private disclosure chooses from, by public rules alone.

A *cut* of an attribute maps every code to the node at one depth of its taxonomy, or to its leaf if
the taxonomy ends before. A *level vector* has one cut of each attribute and so divides the domain
into cells, of which every record is in exactly one: a generalisation of it. All level vectors
together contain every generalisation of every record.

Depths are counted from the root, so that a cell holds all records below its node whatever
the length of their chains. Nothing here depends on the data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.kernels import GroupCounts
from hedgerow.disclosure.lattice.lattice import Chains, Parts, chains_of
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Columns, Ints
from hedgerow.model.schema import Schema

MOST_VECTORS = 2048
"""Maximum number of level vectors."""

MOST_CELLS = 1 << 21
"""Maximum number of cells of the finest level vector; every cell gets noise."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LevelCuts:
    """The cuts of one attribute at the allowed depths, from the root down.

    ``cell[d]`` is the cell of cut ``d`` of each code, ``first[d]`` and ``stop[d]``
    bound the codes of its cells, and ``new[d]`` marks those that are not already a cell of
    the cut before: a leaf that ends early is offered once.
    """

    depths: tuple[int, ...]
    cell: tuple[Ints, ...]
    first: tuple[Ints, ...]
    stop: tuple[Ints, ...]
    new: tuple[NDArray[np.bool_], ...]

    @classmethod
    def of(cls, chain: Chains, depths: Sequence[int]) -> LevelCuts:
        """Return the cuts of a taxonomy at some depths, of which 0 is the first."""
        tree = chain.taxonomy
        cell, first, stop, new = [], [], [], []
        before: set[tuple[int, int]] = set()
        for depth in depths:
            nodes, place = np.unique(tree.leaf_ancestors(depth), return_inverse=True)
            ranges = list(zip(tree.first[nodes].tolist(), tree.stop[nodes].tolist(), strict=True))
            new.append(np.array([each not in before for each in ranges], dtype=np.bool_))
            cell.append(place.astype(np.int64))
            first.append(tree.first[nodes].astype(np.int64))
            stop.append(tree.stop[nodes].astype(np.int64))
            before = set(ranges)
        return cls(
            depths=tuple(depths),
            cell=tuple(cell),
            first=tuple(first),
            stop=tuple(stop),
            new=tuple(new),
        )

    def __len__(self) -> int:
        return len(self.depths)

    @property
    def n_cells(self) -> tuple[int, ...]:
        """The number of cells of every cut."""
        return tuple(len(first) for first in self.first)

    def starts(self, fine: int, coarse: int) -> Ints:
        """Return the index of the first fine cell of each cell of a coarser cut."""
        return np.searchsorted(self.first[fine], self.first[coarse])

    def by_cut(self, table: NDArray[np.float64], chain: Chains) -> NDArray[np.float64]:
        """Return a table over codes and levels as rows of one number per code for every cut."""
        depth = np.array(self.depths, dtype=np.int64)[:, None]
        level = np.maximum(chain.heights.astype(np.int64) - depth, 0)
        rows: NDArray[np.float64] = table[np.arange(len(table)), level]
        return rows


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LevelSpace:
    """The allowed cuts of every attribute, and all level vectors over them.

    Vectors hold, for every attribute, the index of a cut among its cuts; they are numbered
    in lexicographic order, so vector 0 is the full generalisation.
    """

    chains: tuple[Chains, ...]
    cuts: tuple[LevelCuts, ...]

    @classmethod
    def of(cls, schema: Schema, allowed: Mapping[str, Sequence[int]] | None = None) -> LevelSpace:
        """Return the level vectors of a schema, by the plan's depths or else by a public rule.

        The rule begins with all depths. While there are more than 2,048 level vectors, or
        the finest has more than 2**21 cells, the attribute whose finest cut has the most
        cells (of equals the one with the most cuts, then the last) loses that cut.
        """
        chains = chains_of(schema)
        names = [attribute.name for attribute in schema.attributes]
        depths = [list(range(chain.tallest + 1)) for chain in chains]
        for name, listed in (allowed or {}).items():
            if name not in names:
                raise SettingError(
                    f"{name!r} is not a published attribute.",
                    where="publish.levels",
                    do=f"Give one of: {', '.join(names)[:300]}.",
                )
            at = names.index(name)
            depths[at] = _listed(name, listed, chains[at].tallest)
        fixed = {names.index(name) for name in allowed or {}}
        return cls(chains=chains, cuts=_fitting(chains, depths, fixed))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of cuts of each attribute."""
        return tuple(len(cuts) for cuts in self.cuts)

    @property
    def n_vectors(self) -> int:
        """The number of level vectors."""
        return math.prod(self.shape)

    @cached_property
    def vectors(self) -> Ints:
        """All level vectors, one row each."""
        every = itertools.product(*(range(n) for n in self.shape))
        return np.array(list(every), dtype=np.int64).reshape(self.n_vectors, len(self.cuts))

    @cached_property
    def n_cells(self) -> Ints:
        """The number of cells of every level vector."""
        counts = np.ones(self.n_vectors, dtype=np.int64)
        for cuts, at in zip(self.cuts, self.vectors.T, strict=True):
            counts *= np.array(cuts.n_cells, dtype=np.int64)[at]
        return counts

    @cached_property
    def offsets(self) -> Ints:
        """Key of the first cell of every vector: the cells of all vectors are numbered."""
        return np.cumsum(self.n_cells) - self.n_cells

    def cells_shape(self, vector: Sequence[int] | Ints) -> tuple[int, ...]:
        """Return the number of cells of a level vector along each attribute."""
        return tuple(cuts.n_cells[int(at)] for cuts, at in zip(self.cuts, vector, strict=True))

    def new_cells(self, vector: Sequence[int] | Ints) -> NDArray[np.bool_]:
        """Return which cells of a level vector are not cells of a coarser one, flat."""
        new = np.ones(1, dtype=np.bool_)
        for cuts, at in zip(self.cuts, vector, strict=True):
            new = np.logical_and.outer(new, cuts.new[int(at)]).reshape(-1)
        return new

    def cells_of(self, vector: Sequence[int] | Ints, columns: Columns) -> Ints:
        """Return the cell of each record in columns of codes, in mixed radix."""
        cells = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
        for cuts, at, column in zip(self.cuts, vector, columns, strict=True):
            cells = cells * cuts.n_cells[int(at)] + cuts.cell[int(at)][column]
        return cells

    def ranges_of(self, keys: Ints) -> list[tuple[Ints, Ints]]:
        """Return the codes that the cells with these keys span: first and stop, per attribute."""
        vector = np.searchsorted(self.offsets, keys, side="right") - 1
        cell = keys - self.offsets[vector]
        spans: list[tuple[Ints, Ints]] = []
        for i in range(len(self.cuts) - 1, -1, -1):
            cuts, at = self.cuts[i], self.vectors[vector, i]
            n = np.array(cuts.n_cells, dtype=np.int64)
            start = np.cumsum(n) - n
            place = start[at] + cell % n[at]
            spans.append((np.concatenate(cuts.first)[place], np.concatenate(cuts.stop)[place]))
            cell = cell // n[at]
        return spans[::-1]

    def kinds_kernel(self, n_classes: int, *, whole: Sequence[int] = ()) -> GroupCounts:
        """Return the kernel that counts records by their finest cells and classes.

        For attributes in ``whole``, the codes themselves are kept.
        """
        places = [
            np.arange(chain.taxonomy.n_leaves, dtype=np.int32)
            if i in whole
            else cuts.cell[-1].astype(np.int32)
            for i, (cuts, chain) in enumerate(zip(self.cuts, self.chains, strict=True))
        ]
        return GroupCounts(
            places=tuple(places),
            n_ranges=tuple(int(place.max()) + 1 for place in places),
            n_classes=n_classes,
        )

    def kind_codes(self, keys: Ints, kernel: GroupCounts, *, whole: Sequence[int] = ()) -> Columns:
        """Return one code of each kind's finest cell, which represents all of them, by column."""
        columns = []
        for i, (n, stride) in enumerate(zip(kernel.n_ranges, kernel.strides(), strict=True)):
            place = (keys // stride) % n
            columns.append(place if i in whole else self.cuts[i].first[-1][place])
        return columns

    def tables(self, tables: Parts) -> tuple[NDArray[np.float64], ...]:
        """Return tables over codes and levels, by cut and code."""
        return tuple(
            cuts.by_cut(table, chain)
            for cuts, table, chain in zip(self.cuts, tables, self.chains, strict=True)
        )

    def coarsened(self, sums: Ints, vector: Sequence[int] | Ints) -> Iterator[Ints]:
        """Yield the sums of the cells of a vector by each vector as coarse, in their order.

        ``sums`` has the shape of the vector's cells; the first yielded is the total.
        """
        yield from self._coarsened(sums.reshape(self.cells_shape(vector)), vector, 0)

    def _coarsened(self, sums: Ints, vector: Sequence[int] | Ints, axis: int) -> Iterator[Ints]:
        if axis == len(self.cuts):
            yield sums.reshape(-1)
            return
        cuts, finest = self.cuts[axis], int(vector[axis])
        for at in range(finest + 1):
            merged = sums
            if at < finest:
                merged = np.add.reduceat(sums, cuts.starts(finest, at), axis=axis)
            yield from self._coarsened(merged, vector, axis + 1)


def _listed(name: str, listed: Sequence[int], tallest: int) -> list[int]:
    depths = sorted({0, *listed})
    if depths[-1] > tallest:
        raise SettingError(
            f"The taxonomy of {name!r} has no depth {depths[-1]}.",
            where=f"publish.levels.{name}",
            do=f"Give whole numbers from 0 (the root) to {tallest}.",
        )
    return depths


def _fitting(
    chains: Sequence[Chains], depths: list[list[int]], fixed: set[int]
) -> tuple[LevelCuts, ...]:
    """Return cuts at the depths, or at fewer of them to limit the vectors and cells."""
    cuts = [LevelCuts.of(chain, listed) for chain, listed in zip(chains, depths, strict=True)]
    while (
        math.prod(len(each) for each in cuts) > MOST_VECTORS
        or math.prod(each.n_cells[-1] for each in cuts) > MOST_CELLS
    ):
        can = [i for i, each in enumerate(cuts) if i not in fixed and len(each) > 1]
        if not can:
            raise SettingError(
                f"The plan's levels make more than {MOST_VECTORS:,} combinations, or more than"
                f" {MOST_CELLS:,} cells.",
                where="publish.levels",
                do="Give fewer depths, or omit those of some attributes.",
            )
        loser = max(can, key=lambda i: (cuts[i].n_cells[-1], len(cuts[i]), i))
        cuts[loser] = LevelCuts.of(chains[loser], cuts[loser].depths[:-1])
    return tuple(cuts)
