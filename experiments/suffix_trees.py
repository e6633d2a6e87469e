"""Trees of contexts, the last item first, and sequences drawn from them.

A node stands for the items right before a place in a sequence, and has a histogram of what comes
there: an item, or the end. The beginning of a sequence is a context, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import offsets_of

NONE = -1
LONGEST_DRAWN = 2000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Places:
    """The first places of sequences (confidential): what comes, and what came before.

    ``before[k]`` is the item ``k + 1`` places back, ``n_items`` the beginning, -1 before that.
    A sequence has ``most`` places at the most, of which its end is one.
    """

    n_items: int
    most: int
    comes: NDArray[np.int64]
    before: NDArray[np.int64]

    @classmethod
    def of(cls, sequences: WeightedSets, *, most: int, deepest: int) -> Places:
        """Return the places of sequences, with up to ``deepest`` items before each."""
        n_items = sequences.n_items
        lengths = np.diff(sequences.offsets)
        kept = np.minimum(lengths + 1, most)
        owners = np.repeat(np.arange(len(lengths)), kept)
        place = np.arange(len(owners)) - np.repeat(offsets_of(kept)[:-1], kept)
        items = np.append(sequences.items.astype(np.int64), 0)
        at = sequences.offsets[:-1][owners] + place
        before = np.full((deepest, len(owners)), NONE, dtype=np.int64)
        for back in range(deepest):
            inside = place > back
            before[back, inside] = items[(at - 1 - back)[inside]]
            before[back, place == back] = n_items
        comes = np.where(place < lengths[owners], items[at], n_items)
        return cls(n_items=n_items, most=most, comes=comes, before=before)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SuffixTree:
    """Contexts: ``child[node, item]`` is the longer one, or -1; ``counts[node]`` what comes."""

    child: NDArray[np.int64] = field(repr=False)
    counts: NDArray[np.float64] = field(repr=False)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return int(self.counts.shape[1]) - 1

    @property
    def n_sequences(self) -> int:
        """How many sequences begin, by the counts after the beginning, else by those that end."""
        begin = int(self.child[0, -1])
        total = self.counts[0, -1] if begin == NONE else self.counts[begin].sum()
        return max(1, round(float(total)))

    def drawn(self, rng: np.random.Generator, *, deepest: int) -> WeightedSets:
        """Return as many sequences as begin, drawn item by item, all of them at once."""
        n, end = self.n_sequences, self.n_items
        shares = self._running()
        active = np.arange(n)
        before = np.full((n, deepest), NONE, dtype=np.int64)
        before[:, 0] = end
        owners, items = [], []
        for step in range(LONGEST_DRAWN):
            node = self._longest_context(before)
            wanted = rng.random(len(active))
            comes = (shares[node] <= wanted[:, None]).sum(axis=1)
            if step == 0:  # no sequence is empty
                comes = np.where(comes == end, self._first(rng, len(active)), comes)
            goes_on = comes < end
            active, before, comes = active[goes_on], before[goes_on], comes[goes_on]
            if not len(active):
                break
            owners.append(active)
            items.append(comes)
            before = np.concatenate([comes[:, None], before[:, :-1]], axis=1)
        owner = np.concatenate([*owners, np.zeros(0, dtype=np.int64)])
        order = np.argsort(owner, kind="stable")
        return WeightedSets(
            n_items=end,
            offsets=offsets_of(np.bincount(owner, minlength=n)),
            items=np.concatenate([*items, np.zeros(0, dtype=np.int64)])[order],
            weights=np.ones(n, dtype=np.int64),
        )

    def _running(self) -> NDArray[np.float64]:
        """Return running sums of shares; what is not counted at all ends."""
        kept = np.maximum(self.counts, 0.0)
        kept[:, -1] += kept.sum(axis=1) <= 0
        running: NDArray[np.float64] = np.cumsum(kept / kept.sum(axis=1, keepdims=True), axis=1)
        return running[:, :-1]

    def _first(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        begin = max(int(self.child[0, -1]), 0)
        kept = np.maximum(self.counts[begin, :-1], 0.0) + 1e-9
        return rng.choice(self.n_items, n, p=kept / kept.sum())

    def _longest_context(self, before: NDArray[np.int64]) -> NDArray[np.int64]:
        node = np.zeros(len(before), dtype=np.int64)
        known = np.ones(len(before), dtype=np.bool_)
        for items in before.T:
            after = self.child[node, items]  # -1 reads the last column, and is masked
            known &= (items >= 0) & (after >= 0)
            node = np.where(known, after, node)
            if not known.any():
                break
        return node


Splits = Callable[[NDArray[np.int64], int], NDArray[np.bool_]]
"""Says which contexts of a depth become longer, given their raw histograms."""

Counted = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""Makes noisy histograms of raw ones."""


def grown_tree(places: Places, *, deepest: int, splits: Splits, counted: Counted) -> SuffixTree:
    """Return the tree whose contexts become longer where ``splits`` says so.

    Leaves are counted; a context that became longer is the sum of those. The beginning of a
    sequence has nothing before it. ``splits`` and ``counted`` are to be private.
    """
    width = places.n_items + 1
    child = np.full((1, width), NONE, dtype=np.int64)
    counts = np.zeros((1, width))
    level, begins = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_)
    at = np.zeros(len(places.comes), dtype=np.int64)  # a place's context within its level
    parents: list[NDArray[np.int64]] = []
    for depth in range(deepest + 1):
        held = at >= 0
        raw = np.bincount(at[held] * width + places.comes[held], minlength=len(level) * width)
        raw = raw.reshape(-1, width)
        longer = splits(raw, depth) & ~begins & (depth < deepest)
        counts[level[~longer]] = counted(raw[~longer])
        if not longer.any():
            break
        grown = level[longer]
        first = len(child)
        child[grown] = first + np.arange(len(grown) * width).reshape(-1, width)
        child = np.concatenate([child, np.full((len(grown) * width, width), NONE)])
        counts = np.concatenate([counts, np.zeros((len(grown) * width, width))])
        parents.append(grown)
        number = np.full(len(level), NONE)
        number[longer] = np.arange(len(grown))
        known = held & (places.before[depth] >= 0)
        known[known] = number[at[known]] >= 0
        at = np.where(known, number[at] * width + places.before[depth], NONE)
        level = np.arange(first, len(child))
        begins = np.tile(np.arange(width) == places.n_items, len(grown))
    for grown in reversed(parents):
        counts[grown] = counts[child[grown]].sum(axis=1)
    return SuffixTree(child=child, counts=counts)
