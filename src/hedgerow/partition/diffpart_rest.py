"""The records that no leaf partition accounts for, drawn from what is known of them.

A partition has passed a test with a noisy count; what its sub-partitions do not account
for are records whose combinations are too rare to be told apart. Their hierarchy cut is
known, and so is how records elsewhere divide among the children of each of its nodes. Both
are noisy, so drawing baskets from them is post-processing: free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.encode.baskets import offsets_of
from hedgerow.partition.diffpart_level import Expansion, Found, Level
from hedgerow.partition.diffpart_masks import bits_of
from hedgerow.partition.diffpart_tree import SplitTree
from hedgerow.privacy.source import RandomSource

REPEATS = 3
"""How many times as often as it was found a pattern may be drawn, at the most.

A node of which little is known has few patterns; without a limit they would give rare
items many times their records.
"""

_MASK_BITS = 20


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Step:
    """What one level gave: its expansion, the partitions that passed, the leaf partitions."""

    expansion: Expansion
    found: Found
    leaves: Found

    @property
    def level(self) -> Level:
        """The level that was expanded."""
        return self.expansion.level


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Sets:
    """Sets of codes, one after the other, and how often each is to be published."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def joined(cls, pieces: list[Sets]) -> Sets:
        """Return all pieces, equal sets as one with the sum of their counts."""
        lengths = np.concatenate([np.diff(piece.offsets) for piece in pieces])
        offsets = offsets_of(lengths)
        items = np.concatenate([piece.items for piece in pieces])
        counts = np.concatenate([piece.counts for piece in pieces])
        which, first = same_sets(offsets, items)
        kept = np.zeros(len(lengths), dtype=np.bool_)
        kept[first] = True
        sums = sum_by(which, counts, len(first))[which[kept]]
        return cls(
            offsets=offsets_of(lengths[kept]), items=items[np.repeat(kept, lengths)], counts=sums
        )


def same_sets(
    offsets: NDArray[np.int64], items: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each set the number of its class of equal sets, and each class's first set.

    Sets are compared item by item: a class is refined by the next item until none is left.

    >>> which, first = same_sets(np.array([0, 2, 3, 5]), np.array([1, 2, 1, 1, 2]))
    >>> which.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    lengths = np.diff(offsets)
    which = lengths.copy()
    n_items = int(items.max(initial=0)) + 1
    used = int(lengths.max(initial=0)) + 1
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        pair = which[longer] * n_items + items[offsets[longer] + place]
        distinct, refined = np.unique(pair, return_inverse=True)
        which[longer] = refined + used
        used += len(distinct)
    _, first, which = np.unique(which, return_index=True, return_inverse=True)
    return which.astype(np.int64), first.astype(np.int64)


def unaccounted(steps: list[Step]) -> list[NDArray[np.int64]]:
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
    """How records divide among a node's children, wherever the node was expanded.

    Node ``u`` has the masks ``masks[starts[u]:starts[u + 1]]``; ``ends`` are running sums
    of their weights over all nodes.
    """

    starts: NDArray[np.int64]
    masks: NDArray[np.int64]
    ends: NDArray[np.float64]

    @classmethod
    def of(cls, steps: list[Step], tree: SplitTree) -> Patterns:
        """Return the patterns of all that passed, weighted by its noisy count."""
        keys, weights = [], []
        for step in steps:
            for found in (step.found, step.leaves):
                node = step.expansion.node[found.part].astype(np.int64)
                keys.append((node << _MASK_BITS) | found.mask)
                weights.append(found.noisy)
        unique, which = np.unique(np.concatenate(keys), return_inverse=True)
        sums = sum_by(which, np.concatenate(weights), len(unique))
        starts = np.searchsorted(unique >> _MASK_BITS, np.arange(len(tree.first) + 1))
        return cls(
            starts=starts.astype(np.int64),
            masks=unique & ((1 << _MASK_BITS) - 1),
            ends=np.concatenate([[0.0], np.cumsum(sums)]),
        )

    def draw(self, nodes: NDArray[np.int32], *, source: RandomSource) -> NDArray[np.int64]:
        """Return a mask of children for each node, 0 where too little is known of a node."""
        uniform = source.words(len(nodes)) / 2.0**64
        low, high = self.ends[self.starts[nodes]], self.ends[self.starts[nodes + 1]]
        place = np.searchsorted(self.ends, low + uniform * (high - low), side="right") - 1
        place = np.clip(place, self.starts[nodes], np.maximum(self.starts[nodes + 1] - 1, 0))
        known = self.starts[nodes] < self.starts[nodes + 1]
        found = np.diff(self.ends)
        uses = np.bincount(place[known], minlength=len(found))
        allowed = np.minimum(REPEATS * found / np.maximum(uses, 1), 1.0)
        known[known] = source.words(int(known.sum())) / 2.0**64 < allowed[place[known]]
        masks = np.zeros(len(nodes), dtype=np.int64)
        masks[known] = self.masks[place[known]]
        return masks


def drawn_rest(steps: list[Step], tree: SplitTree, *, source: RandomSource) -> Sets:
    """Return baskets for the records that nothing accounts for, drawn from their cuts.

    Every node of a cut is replaced by children as records elsewhere divide among them, down
    to items. A node of which too little is known is left out.

    Privacy: reads noisy counts only.
    """
    patterns = Patterns.of(steps, tree)
    owners, nodes = _cuts_of_rest(steps)
    done_owner, done_item = [], []
    while len(nodes):
        leaf = tree.height[nodes] == 0
        done_owner.append(owners[leaf])
        done_item.append(tree.first[nodes[leaf]].astype(np.int64))
        owners, nodes = owners[~leaf], nodes[~leaf]
        masks = patterns.draw(nodes, source=source)
        row, slot = bits_of(masks)
        nodes = tree.children[tree.child_start[nodes[row]] + slot]
        owners = owners[row]
    owner = np.concatenate([np.zeros(0, dtype=np.int64), *done_owner])
    item = np.concatenate([np.zeros(0, dtype=np.int64), *done_item])
    order = np.lexsort((item, owner))
    _, lengths = np.unique(owner, return_counts=True)
    ones = np.ones(len(lengths), dtype=np.int64)
    return Sets(offsets=offsets_of(lengths.astype(np.int64)), items=item[order], counts=ones)


def _cuts_of_rest(steps: list[Step]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
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


def leaf_sets(steps: list[Step], tree: SplitTree) -> Sets:
    """Return the leaf partitions that passed, as sets of codes."""
    pieces = []
    for step in steps:
        starts, members = step.expansion.cuts(step.leaves)
        items = tree.first[members].astype(np.int64)
        pieces.append(Sets(offsets=starts, items=items, counts=step.leaves.noisy))
    return Sets.joined(pieces)
