"""One level of DiffPart: all partitions expanded, counted and tested together.

Confidential sums come from the walk and go nowhere but into the mechanism; every other
decision reads public settings and noisy values (Lemma L2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.basket_kernels import SplitCounts
from hedgerow.methods.diffpart.masks import MaskBlocks, bits_of
from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.model.baskets import offsets_of
from hedgerow.model.engine import BasketEngine, BasketWalk, SparseCounts
from hedgerow.model.run import Run
from hedgerow.privacy.budget import Shares
from hedgerow.privacy.mechanisms import CellBlock
from hedgerow.privacy.source import RandomSource

CountKind = Literal["tests", "counts"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PartitionLevel:
    """The partitions that are expanded together.

    Partition ``p`` has the hierarchy cut ``members[starts[p]:starts[p + 1]]``, nodes of the
    tree in their order; ``nodes`` are the ledger's, ``noisy`` is the noisy count that each
    has passed with and ``parent`` its place in the level before.
    """

    nodes: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    noisy: NDArray[np.int64]
    parent: NDArray[np.int64]

    @classmethod
    def top(cls, *, noisy_total: int, node: int = 0) -> PartitionLevel:
        """Return the single partition of all records [DiffPart, Alg. 1, lines 3-4]."""
        return cls(
            nodes=np.zeros(1, dtype=np.int64),
            starts=np.array([0, 1], dtype=np.int64),
            members=np.array([node], dtype=np.int32),
            noisy=np.array([noisy_total], dtype=np.int64),
            parent=np.zeros(1, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def sums(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of a value of nodes over each cut."""
        sums: NDArray[np.int64] = np.add.reduceat(values[self.members], self.starts[:-1])
        return sums

    def highest(self, tree: SplitTree) -> NDArray[np.int32]:
        """Return the largest height in each cut."""
        heights: NDArray[np.int32] = np.maximum.reduceat(
            tree.height[self.members], self.starts[:-1]
        )
        return heights


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoundParts:
    """Sub-partitions with noisy counts: which partition they come from and which children."""

    part: NDArray[np.int64]
    mask: NDArray[np.int64]
    noisy: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.part)

    @classmethod
    def sorted_of(cls, pieces: list[FoundParts]) -> FoundParts:
        """Return all pieces in the order of partition and mask."""
        none = np.zeros(0, dtype=np.int64)
        part, mask, noisy = (
            np.concatenate([none, *(getattr(piece, name) for piece in pieces)])
            for name in ("part", "mask", "noisy")
        )
        order = np.lexsort((mask, part))
        return cls(part=part[order], mask=mask[order], noisy=noisy[order])


PartShape = tuple[int, ...]
"""The public numbers that the sub-partitions and thresholds of a partition depend on."""


class Rules(Protocol):
    """The public rules of a variant: which node, what share, which threshold."""

    def choose(
        self, level: PartitionLevel, tree: SplitTree, source: RandomSource
    ) -> NDArray[np.int64]:
        """Return the place, in ``level.members``, of the node that each partition expands."""
        ...

    def test_shares(self, level: PartitionLevel, tree: SplitTree, left: Shares) -> Shares:
        """Return what the tests of each partition's sub-partitions cost."""
        ...

    def shapes(self, expansion: Expansion) -> NDArray[np.int64]:
        """Return a row of numbers per partition: all that its thresholds depend on.

        The first is the number of the expanded node's children, the second how many of
        them a sub-partition may have at the most.
        """
        ...

    def blocks(self, shape: PartShape) -> MaskBlocks:
        """Return the sub-partitions there can be, in blocks of one threshold each."""
        ...

    def threshold(self, kind: CountKind, share: Fraction, shape: PartShape, *, block: int) -> int:
        """Return the smallest noisy count that passes, at least 1."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Expansion:
    """A level with the node that each of its partitions expands."""

    level: PartitionLevel
    tree: SplitTree
    chosen: NDArray[np.int64]

    @property
    def node(self) -> NDArray[np.int32]:
        """The expanded nodes."""
        return self.level.members[self.chosen]

    def kernel(self) -> SplitCounts:
        """Return the kernel that counts all sub-partitions of the level."""
        tree, node = self.tree, self.node
        return SplitCounts(
            first=tree.first[node],
            stop=tree.stop[node],
            depth=tree.depth[node],
            slots=tree.slots,
            bits=int(tree.n_children[node].max()),
        )

    def leaf_masks(self) -> NDArray[np.int64]:
        """Return the children whose combinations are leaf partitions; 0 where none is.

        A sub-partition is a leaf partition if nothing else in the cut can be expanded and
        all of its new nodes are leaves.
        """
        pending = self.level.sums((self.tree.height > 0).astype(np.int64))
        return np.where(pending == 1, self.tree.leaf_slots[self.node], 0)

    def cuts(self, found: FoundParts) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the hierarchy cuts of sub-partitions: starts and members."""
        level, tree = self.level, self.tree
        lengths = np.diff(level.starts)[found.part]
        owner = np.repeat(np.arange(len(found)), lengths)
        place = np.arange(len(owner)) - np.repeat(offsets_of(lengths)[:-1], lengths)
        place += level.starts[found.part][owner]
        stays = place != self.chosen[found.part][owner]
        node = self.node[found.part].astype(np.int64)
        new_owner, slot = bits_of(found.mask)
        children = tree.children[tree.child_start[node[new_owner]] + slot]
        owners = np.concatenate([owner[stays], new_owner])
        members = np.concatenate([level.members[place[stays]], children])
        order = np.lexsort((members, owners))
        return offsets_of(np.bincount(owners, minlength=len(found))), members[order]


def split_level(
    run: Run[BasketEngine], expansion: Expansion, walk: BasketWalk, *, rules: Rules
) -> tuple[PartitionLevel, FoundParts, FoundParts]:
    """Return the next level, and what it and the leaf partitions were found as.

    [DiffPart, Procedure 1] for all partitions of a level at once, and lines 11-14 of
    Alg. 1 for the leaf partitions among their sub-partitions.

    Departs: leaf partitions are not tested before they are counted, as in Example 4.2.

    Privacy: a partition's sub-partitions are disjoint. Tests cost the share of their
    partition, counts of leaf partitions all that its path has left; a record meets one or
    the other. Sub-partitions without records pass with the chance that noise gives them.
    """
    level = expansion.level
    tally = walk.tally(expansion.kernel())
    leaf_nodes, test_nodes = _branch_by_kind(run, expansion)
    level_counts = _Measuring(run=run, expansion=expansion, tally=tally, rules=rules)
    tested = np.flatnonzero(test_nodes >= 0)
    left = run.left_at(test_nodes[tested])
    whole = Shares(values=left.values, which=_spread(left.which, tested, len(level)))
    found = level_counts.measure(
        "tests", test_nodes, rules.test_shares(level, expansion.tree, whole)
    )
    counted = np.flatnonzero(leaf_nodes >= 0)
    rest = run.left_at(leaf_nodes[counted])
    all_of_it = Shares(values=rest.values, which=_spread(rest.which, counted, len(level)))
    leaves = level_counts.measure("counts", leaf_nodes, all_of_it)
    walk.descend((found.part << expansion.kernel().bits) | found.mask)
    starts, members = expansion.cuts(found)
    nodes = _branch_to_found(run, found, test_nodes)
    below = PartitionLevel(
        nodes=nodes, starts=starts, members=members, noisy=found.noisy, parent=found.part
    )
    return below, found, leaves


def _branch_by_kind(
    run: Run[BasketEngine], expansion: Expansion
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ledger's nodes of leaf and of other sub-partitions; -1 where there are none.

    Which is which is public; where a partition has both, its node is branched in two.
    """
    leaf = expansion.leaf_masks()
    full = (np.int64(1) << expansion.tree.n_children[expansion.node]) - 1
    nodes = expansion.level.nodes
    leaf_nodes = np.where(leaf == full, nodes, -1)
    test_nodes = np.where(leaf == 0, nodes, -1)
    mixed = np.flatnonzero((leaf > 0) & (leaf < full))
    if len(mixed):
        pairs = run.branch(nodes[mixed], 2).reshape(-1, 2)
        leaf_nodes[mixed], test_nodes[mixed] = pairs[:, 0], pairs[:, 1]
    return leaf_nodes, test_nodes


def _branch_to_found(
    run: Run[BasketEngine], found: FoundParts, test_nodes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return a node of the ledger for every sub-partition found; the others share one.

    What the others have left is booked as unused: their records are followed no more.
    """
    per_part = np.bincount(found.part, minlength=len(test_nodes))
    splitting = np.flatnonzero(per_part)
    barren = test_nodes[(per_part == 0) & (test_nodes >= 0)]
    sizes = per_part[splitting] + 1
    new = run.branch(test_nodes[splitting], sizes) if len(splitting) else barren[:0]
    ends = np.cumsum(sizes) - 1
    unused = np.concatenate([barren, new[ends]])
    if len(unused):
        run.spend_rest(on="left unused where nothing passed", nodes=unused)
    return np.delete(new, ends)


def _spread(which: NDArray[np.int64], at: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return positions of shares for all partitions, -1 where there is no share."""
    spread = np.full(n, -1, dtype=np.int64)
    spread[at] = which
    return spread


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Measuring:
    """Measures the noisy counts of a level, each group of like partitions at its share."""

    run: Run[BasketEngine]
    expansion: Expansion
    tally: SparseCounts
    rules: Rules

    def measure(self, kind: CountKind, nodes: NDArray[np.int64], shares: Shares) -> FoundParts:
        """Return the sub-partitions of a kind whose noisy counts pass."""
        bits = self.expansion.kernel().bits
        part, mask = self.tally.keys >> bits, self.tally.keys & ((1 << bits) - 1)
        right = self._of_kind(kind, part, mask)
        cells = _Cells(part=part[right], mask=mask[right], counts=self.tally.counts[right])
        pieces = []
        for share, members, shape in self._like(shares):
            place = np.full(len(nodes), -1, dtype=np.int64)
            place[members] = np.arange(len(members))
            at_them = self.run.nodes(nodes[members])
            blocks = self._blocks(kind, shape, cells.moved(place), len(members), share)
            found = self._found(shape, at_them.noisy_blocks(blocks, share=share, on=kind))
            pieces.append(FoundParts(part=members[found.part], mask=found.mask, noisy=found.noisy))
        every = FoundParts.sorted_of(pieces)
        kept = self._of_kind(kind, every.part, every.mask)
        return FoundParts(part=every.part[kept], mask=every.mask[kept], noisy=every.noisy[kept])

    def _of_kind(
        self, kind: CountKind, part: NDArray[np.int64], mask: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        is_leaf: NDArray[np.bool_] = (mask & ~self.expansion.leaf_masks()[part]) == 0
        return is_leaf if kind == "counts" else ~is_leaf

    def _like(self, shares: Shares) -> Iterator[tuple[Fraction, NDArray[np.int64], PartShape]]:
        """Yield groups of partitions with one share and one shape."""
        table = np.column_stack([shares.which, self.rules.shapes(self.expansion)])
        rows, which = np.unique(table, axis=0, return_inverse=True)
        order = np.argsort(which, kind="stable")
        ends = np.cumsum(np.bincount(which, minlength=len(rows)))
        for row, members in zip(rows.tolist(), np.split(order, ends[:-1]), strict=True):
            if row[0] >= 0:
                yield shares.values[row[0]], members, tuple(row[1:])

    def _blocks(
        self, kind: CountKind, shape: PartShape, cells: _Cells, n_parts: int, share: Fraction
    ) -> list[CellBlock]:
        """Return the sub-partitions of like partitions, by the thresholds that they have."""
        masks = self.rules.blocks(shape)
        where = masks.block[cells.mask]
        blocks = []
        for b, members in enumerate(masks.masks):
            here = where == b
            blocks.append(
                CellBlock(
                    keys=cells.part[here] * len(members) + masks.rank[cells.mask[here]],
                    counts=cells.counts[here],
                    n_groups=n_parts * len(members),
                    threshold=self.rules.threshold(kind, share, shape, block=b),
                )
            )
        return blocks

    def _found(
        self, shape: PartShape, passed: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    ) -> FoundParts:
        """Return what passed, block by block, as sub-partitions."""
        return FoundParts.sorted_of(
            [
                FoundParts(part=keys // len(m), mask=m[keys % len(m)], noisy=values)
                for (keys, values), m in zip(passed, self.rules.blocks(shape).masks, strict=True)
            ]
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Cells:
    """Occupied sub-partitions with their true counts (confidential)."""

    part: NDArray[np.int64]
    mask: NDArray[np.int64]
    counts: NDArray[np.int64]

    def moved(self, place: NDArray[np.int64]) -> _Cells:
        """Return the cells of partitions that have a place, under that place."""
        part = place[self.part]
        here = part >= 0
        return _Cells(part=part[here], mask=self.mask[here], counts=self.counts[here])
