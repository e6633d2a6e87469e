"""Noisy number of occurrences of each item, and drawn baskets adjusted to agree with it.

Partitions tell which items go together, but on a sparse data set most records are lost
sight of far above the items. A noisy count of every item, measured beside the tests, says
what those records hold on the whole. Everything here but the spending reads noisy values
only: post-processing, free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.model.baskets import offsets_of
from hedgerow.model.engine import BasketEngine, BasketWalk
from hedgerow.model.run import Run
from hedgerow.privacy.source import RandomSource, below

ITEMS_SHARE = Fraction(33, 100)
"""The part of epsilon that the noisy counts of all items cost."""

PASSING = Fraction(1, 200)
"""The chance that an item which nobody has passes for a known one."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ItemCounts:
    """Noisy counts of the items that passed ``threshold``, and 0 for all others."""

    known: NDArray[np.int64]
    threshold: int

    @property
    def most(self) -> NDArray[np.int64]:
        """Maximum draws of an item: its count, or the threshold if it is not known."""
        return np.where(self.known > 0, self.known, self.threshold)


def noisy_items(
    run: Run[BasketEngine], walk: BasketWalk, *, max_length: int, share: Fraction
) -> ItemCounts:
    """Return the noisy counts of the items that are frequent enough to be known.

    The threshold is what noise alone reaches with chance ``PASSING``.

    Privacy: a record has ``max_length`` items at the most, so that noise for
    ``share / max_length`` on every count costs ``share`` together.
    """
    noisy = run.noisy(walk.item_counts(), share=share, on="items", per_record=max_length)
    threshold = item_threshold(share, max_length)
    return ItemCounts(known=np.where(noisy >= threshold, noisy, 0), threshold=threshold)


def item_threshold(share: Fraction, max_length: int) -> int:
    """Return the noisy count from which an item is known.

    >>> item_threshold(Fraction(1, 3), 8)
    111
    """
    return math.ceil(max_length / float(share) * math.log(1 / (2 * float(PASSING))))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Drawn:
    """Distinct pairs of a drawn record's number and an item that it holds."""

    owner: NDArray[np.int64]
    item: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.owner)

    def only(self, kept: NDArray[np.bool_]) -> Drawn:
        """Return some of the pairs."""
        return Drawn(owner=self.owner[kept], item=self.item[kept])

    def keys(self, n_items: int) -> NDArray[np.int64]:
        """Return the pairs as increasing numbers, a record's items side by side."""
        return np.sort(self.owner * n_items + self.item)

    @classmethod
    def of_keys(cls, keys: NDArray[np.int64], n_items: int) -> Drawn:
        """Return the pairs in the order of their keys."""
        owner, item = np.divmod(keys, n_items)
        return cls(owner=owner, item=item)


def limited(
    drawn: Drawn, *, per_item: NDArray[np.int64], max_length: int, source: RandomSource
) -> Drawn:
    """Return random ones of the pairs, that many of each item on average.

    Of each record no more than ``max_length`` are returned.
    """
    uses = np.bincount(drawn.item, minlength=len(per_item))
    chance = np.minimum(per_item / np.maximum(uses, 1), 1.0)
    scarce = np.flatnonzero((chance < 1)[drawn.item])
    kept = np.ones(len(drawn), dtype=np.bool_)
    kept[scarce] = source.words(len(scarce)) / 2.0**64 < chance[drawn.item[scarce]]
    fewer = drawn.only(kept)
    lengths = np.bincount(fewer.owner)
    long = np.flatnonzero((lengths > max_length)[fewer.owner])
    short = np.ones(len(fewer), dtype=np.bool_)
    short[long] = _random_ranks(fewer.owner[long], source) < max_length
    return fewer.only(short)


def handed_out(
    missing: NDArray[np.int64],
    drawn: Drawn,
    cuts: tuple[NDArray[np.int64], NDArray[np.int32]],
    tree: SplitTree,
    *,
    max_length: int,
    source: RandomSource,
) -> Drawn:
    """Return the pairs, and ``missing[i]`` more of each item as far as they find a place.

    An item goes to a random record whose cut has a node above it: to the lowest such
    nodes first, of which most is known. A record takes no item twice and no more than
    ``max_length``. ``cuts`` has a row for every record and node of its cut. The pairs come
    in the order of records and items.
    """
    owners, nodes = cuts
    left = missing.copy()
    heights = tree.height[nodes]
    held = drawn.keys(tree.n_items)
    for height in range(1, int(heights.max(initial=0)) + 1):
        here = heights == height
        offered = _offered(left, owners[here], nodes[here], tree, source)
        taken = _taken(offered.keys(tree.n_items), held, tree.n_items, max_length)
        left -= np.bincount(taken % tree.n_items, minlength=len(left))
        held = np.sort(np.concatenate([held, taken]), kind="stable")  # merges two runs
    return Drawn.of_keys(held, tree.n_items)


def _offered(
    left: NDArray[np.int64],
    owners: NDArray[np.int64],
    nodes: NDArray[np.int32],
    tree: SplitTree,
    source: RandomSource,
) -> Drawn:
    """Return a random record for each item that is left and lies below one of the nodes."""
    order = np.argsort(nodes, kind="stable")
    rows_of = np.bincount(nodes, minlength=len(tree.first))
    node = np.flatnonzero(rows_of)
    sizes = rows_of[node]
    starts = offsets_of(sizes)[:-1]
    # Nodes of one height are disjoint: an item lies below one of them at the most.
    above = np.full(len(left), -1, dtype=np.int64)
    widths = (tree.stop - tree.first)[node].astype(np.int64)
    places = np.arange(int(widths.sum())) - np.repeat(offsets_of(widths)[:-1], widths)
    above[np.repeat(tree.first[node], widths) + places] = np.repeat(np.arange(len(node)), widths)
    items = np.repeat(np.arange(len(left)), np.where(above >= 0, left, 0))
    which = above[items]
    rows = starts[which] + below(sizes[which], source=source)
    return Drawn(owner=owners[order[rows]], item=items)


def _taken(
    offered: NDArray[np.int64], held: NDArray[np.int64], n_items: int, max_length: int
) -> NDArray[np.int64]:
    """Return what records can take of what they are offered: nothing twice, not too much."""
    new = offered[np.diff(offered, prepend=-1) > 0]
    if len(held):
        place = np.minimum(np.searchsorted(held, new), len(held) - 1)
        new = new[held[place] != new]
    owner = new // n_items
    n_records = int(max(new.max(initial=-1), held.max(initial=-1))) // n_items + 1
    lengths = np.bincount(held // n_items, minlength=n_records)
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    taken: NDArray[np.int64] = new[rank < max_length - lengths[owner]]
    return taken


def _random_ranks(keys: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
    """Return the place of each key among its equals, in random order."""
    order = np.lexsort((source.words(len(keys)), keys))
    ordered = keys[order]
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return ranks
