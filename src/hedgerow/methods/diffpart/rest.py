"""The records that no leaf partition accounts for, drawn from what is known of them.

A partition has passed a test with a noisy count; what its sub-partitions do not account
for are records whose combinations are too rare to be distinguished. Their hierarchy cut is
known, and so is how records elsewhere divide among the children of each of its nodes. Both
are noisy, so drawing baskets from them is post-processing: free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.diffpart.items import Drawn, ItemCounts, handed_out, limited
from hedgerow.methods.diffpart.level import Expansion, FoundParts, PartitionLevel
from hedgerow.methods.diffpart.masks import bits_of
from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.model.baskets import offsets_of
from hedgerow.privacy.source import RandomSource

REPEATS = 3
"""Maximum average number of times that a node is divided, as a multiple of how often it was found.

A node of which little is known has few patterns; without a limit they would give rare
items many times their records.
"""

_MASK_BITS = 20
_PIECE = 1 << 16  # rows at a time, so that what is needed for them stays in the caches


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RestStep:
    """Result of one level: its expansion, the partitions that passed, the leaf partitions."""

    expansion: Expansion
    found: FoundParts
    leaves: FoundParts

    @property
    def level(self) -> PartitionLevel:
        """The level that was expanded."""
        return self.expansion.level


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DrawnSets:
    """Sets of codes, one after the other, and how often each is to be published."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def joined(cls, pieces: list[DrawnSets]) -> DrawnSets:
        """Return the sets of all pieces, one piece after the other."""
        lengths = np.concatenate([np.diff(piece.offsets) for piece in pieces])
        return cls(
            offsets=offsets_of(lengths),
            items=np.concatenate([piece.items for piece in pieces]),
            counts=np.concatenate([piece.counts for piece in pieces]),
        )


def unaccounted(steps: list[RestStep]) -> list[NDArray[np.int64]]:
    """Return, level by level, how many records of each partition nothing below accounts for.

    From the bottom up, a partition is as large as its own noisy count or as all found
    below it together, whichever is more.
    """
    rests: list[NDArray[np.int64]] = []
    below = np.zeros(0, dtype=np.int64)
    for step in reversed(steps):
        n = len(step.level)
        accounted = sum_by(step.found.part, below, n) + sum_by(
            step.leaves.part, step.leaves.noisy, n
        )
        below = np.maximum(step.level.noisy, accounted)
        rests.append(below - accounted)
    return rests[::-1]


def sum_by(which: NDArray[np.int64], values: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the sum of the values of each of ``n`` numbers."""
    sums = np.zeros(n, dtype=np.int64)
    np.add.at(sums, which, values)
    return sums


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Patterns:
    """Distribution of records among a node's children, wherever the node was expanded.

    Node ``u`` has the patterns ``starts[u]`` to ``starts[u + 1]``; pattern ``p`` has the
    children ``children[offsets[p]:offsets[p + 1]]``, and ``ends`` are running sums of the
    weights of all patterns.
    """

    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    children: NDArray[np.int32]
    ends: NDArray[np.float64]

    @classmethod
    def of(cls, steps: list[RestStep], tree: SplitTree) -> Patterns:
        """Return the patterns of all that passed, weighted by its noisy count."""
        keys, weights = [], []
        for step in steps:
            for found in (step.found, step.leaves):
                node = step.expansion.node[found.part].astype(np.int64)
                keys.append((node << _MASK_BITS) | found.mask)
                weights.append(found.noisy)
        unique, which = np.unique(np.concatenate(keys), return_inverse=True)
        sums = sum_by(which, np.concatenate(weights), len(unique))
        node, mask = unique >> _MASK_BITS, unique & ((1 << _MASK_BITS) - 1)
        row, slot = bits_of(mask)
        order = np.argsort(row, kind="stable")
        below = tree.children[tree.child_start[node[row]] + slot]
        return cls(
            starts=np.searchsorted(node, np.arange(len(tree.first) + 1)).astype(np.int64),
            offsets=offsets_of(np.bitwise_count(mask).astype(np.int64)),
            children=below[order],
            ends=np.concatenate([[0.0], np.cumsum(sums)]),
        )

    def draw(self, nodes: NDArray[np.int32], *, source: RandomSource) -> NDArray[np.int32]:
        """Return a pattern for each node, -1 where too little is known of a node."""
        found = self.ends[self.starts[1:]] - self.ends[self.starts[:-1]]
        uses = np.bincount(nodes, minlength=len(found))
        allowed = np.minimum(REPEATS * found / np.maximum(uses, 1), 1.0)
        drawn = np.empty(len(nodes), dtype=np.int32)
        for start in range(0, len(nodes), _PIECE):
            piece = slice(start, start + _PIECE)
            drawn[piece] = self._drawn(nodes[piece], found, allowed, source)
        return drawn

    def _drawn(
        self,
        nodes: NDArray[np.int32],
        found: NDArray[np.float64],
        allowed: NDArray[np.float64],
        source: RandomSource,
    ) -> NDArray[np.int32]:
        words = source.words(len(nodes))  # one half decides on the limit, the other chooses
        within = (words & np.uint64(2**32 - 1)) / 2.0**32 < allowed[nodes]
        known = nodes[within]
        chosen = (words[within] >> np.uint64(32)) / 2.0**32 * found[known]
        chosen += self.ends[self.starts[known]]
        place = np.searchsorted(self.ends, chosen, side="right") - 1
        drawn = np.full(len(nodes), -1, dtype=np.int32)
        drawn[within] = np.minimum(place, self.starts[known + 1] - 1)
        return drawn


def drawn_rest(
    steps: list[RestStep],
    tree: SplitTree,
    *,
    published: DrawnSets,
    items: ItemCounts,
    max_length: int,
    source: RandomSource,
) -> DrawnSets:
    """Return baskets for the records that nothing accounts for, drawn from their cuts.

    Every node of a cut is replaced by children as records elsewhere divide among them, down
    to items. A node of which too little is known is left out. Then no item is drawn more
    often than its noisy count allows beside what is ``published``, and what is missing of
    the known items is handed out to drawn records whose cuts have room for them.

    Privacy: reads noisy counts only.
    """
    cuts = _cuts_of_rest(steps)
    drawn = _expanded(Patterns.of(steps, tree), cuts, tree, source)
    so_far = sum_by(
        published.items, np.repeat(published.counts, np.diff(published.offsets)), tree.n_items
    )
    allowed = np.maximum(items.most - so_far, 0)
    drawn = limited(drawn, per_item=allowed, max_length=max_length, source=source)
    so_far += np.bincount(drawn.item, minlength=tree.n_items)
    missing = np.maximum(items.known - so_far, 0)
    drawn = handed_out(missing, drawn, cuts, tree, max_length=max_length, source=source)
    lengths = np.bincount(drawn.owner)
    lengths = lengths[lengths > 0].astype(np.int64)
    ones = np.ones(len(lengths), dtype=np.int64)
    return DrawnSets(offsets=offsets_of(lengths), items=drawn.item, counts=ones)


def _expanded(
    patterns: Patterns,
    cuts: tuple[NDArray[np.int64], NDArray[np.int32]],
    tree: SplitTree,
    source: RandomSource,
) -> Drawn:
    """Return the items that patterns make of the nodes of each record's cut."""
    owners, nodes = cuts
    done_owner, done_item = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    while len(nodes):
        leaf = tree.height[nodes] == 0
        done_owner.append(owners[leaf])
        done_item.append(tree.first[nodes[leaf]].astype(np.int64))
        owners, nodes = owners[~leaf], nodes[~leaf]
        drawn = patterns.draw(nodes, source=source)
        owners, drawn = owners[drawn >= 0], drawn[drawn >= 0]
        first = patterns.offsets[drawn]
        sizes = patterns.offsets[drawn + 1] - first
        ends = np.cumsum(sizes)
        nodes = patterns.children[np.arange(sizes.sum()) + np.repeat(first - ends + sizes, sizes)]
        owners = np.repeat(owners, sizes)
    return Drawn(owner=np.concatenate(done_owner), item=np.concatenate(done_item))


def _cuts_of_rest(steps: list[RestStep]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return a row per record to draw and node of its cut: the record's number, the node."""
    owners, nodes = [], []
    n = 0
    for step, rest in zip(steps, unaccounted(steps), strict=True):
        level = step.level
        part = np.repeat(np.arange(len(level)), rest)
        lengths = np.diff(level.starts)[part]
        offsets = offsets_of(lengths)
        owner = np.repeat(np.arange(len(part)), lengths)
        place = np.arange(offsets[-1]) - offsets[owner] + level.starts[part[owner]]
        owners.append(owner + n)
        nodes.append(level.members[place])
        n += len(part)
    return np.concatenate(owners), np.concatenate(nodes)


def leaf_sets(steps: list[RestStep], tree: SplitTree) -> DrawnSets:
    """Return the leaf partitions that passed, as sets of codes."""
    pieces = []
    for step in steps:
        starts, members = step.expansion.cuts(step.leaves)
        items = tree.first[members].astype(np.int64)
        pieces.append(DrawnSets(offsets=starts, items=items, counts=step.leaves.noisy))
    return DrawnSets.joined(pieces)
