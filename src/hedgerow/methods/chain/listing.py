"""The release of sequences: as many from every leaf of the first tree as its count says."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.chain.alphabet import BETWEEN
from hedgerow.methods.chain.forest import Forest, places_of_cells
from hedgerow.methods.chain.generate import Ending, Leaving, Tails, Ways, drawn_tails
from hedgerow.methods.chain.lengths import Lengths
from hedgerow.model.arrays import Floats
from hedgerow.model.baskets import item_dtype, offsets_of
from hedgerow.model.groups import CountOrigin
from hedgerow.model.order import canonical_order
from hedgerow.model.sequences import NoisySequences, Prefixes, taken
from hedgerow.taxonomy.tree import Taxonomy

ROUNDS = 5
"""Rounds of comparing lengths with their histogram and adjusting where sequences end."""

_ROOM = 4
"""Maximum items of a release, as a multiple of those in the histogram of lengths."""

_LEAST_ROOM = 10_000


@dataclass(frozen=True, kw_only=True, eq=False)
class First:
    """The first tree with whole counts of its leaves, and standard errors of all cells."""

    forest: Forest
    counts: NDArray[np.int64] = field(repr=False)
    errors: Floats = field(repr=False)

    def spelt(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the items on the way to every cell, as lengths and a padded array."""
        forest = self.forest
        width = forest.alphabet.width
        item_of = forest.alphabet.item_of[forest.nodes.kind].ravel()
        parent = np.arange(forest.n_cells) // width
        deepest = len(forest.levels) - 1
        words = np.full((forest.n_cells, deepest), -1, dtype=np.int32)
        lengths = np.zeros(forest.n_cells, dtype=np.int64)
        for first, stop in zip(forest.levels[:-1], forest.levels[1:], strict=True):
            cells = np.arange(first * width, stop * width)
            if first:
                above = forest.cell_of[parent[cells]]
                words[cells], lengths[cells] = words[above], lengths[above]
            with_item = cells[item_of[cells] >= 0]
            words[with_item, lengths[with_item]] = item_of[with_item]
            lengths[with_item] += 1
        return lengths, words


def listed_sequences(
    taxonomy: Taxonomy,
    first: First,
    ways: Ways,
    lengths: Lengths,
    *,
    longest: int,
    key: int,
    compiled: bool,
    counting: CountOrigin,
) -> NoisySequences:
    """Return the release: sequences that ended in the first tree, and drawn ones."""
    forest = first.forest
    of_cells, words = first.spelt()
    ended = np.flatnonzero(forest.is_end & (first.counts > 0))
    leaving = forest.open_leaves
    rows = np.repeat(leaving, first.counts[leaving])
    begun = Leaving(places=places_of_cells(forest).at(rows), lengths=of_cells[rows])
    closed = lengths.tallied(np.minimum(of_cells[ended], longest), first.counts[ended])
    tails = _calibrated(ways, begun, lengths, closed, longest=longest, key=key, compiled=compiled)
    offsets, drawn = _joined(of_cells, words, np.concatenate([ended, rows]), tails, longest)
    counts = np.concatenate([first.counts[ended], np.ones(len(rows), dtype=np.int64)])
    items: NDArray[np.integer] = drawn
    there = np.diff(offsets) > 0
    if not there.all():
        offsets, items = taken(offsets, drawn, np.flatnonzero(there))
        counts = counts[there]
    return NoisySequences.distinct_of(
        taxonomy,
        offsets=offsets,
        items=items,
        counts=counts,
        origin=counting,
        prefixes=_prefixes(taxonomy, first, of_cells, words),
    )


def _calibrated(
    ways: Ways,
    begun: Leaving,
    lengths: Lengths,
    closed: NDArray[np.int64],
    *,
    longest: int,
    key: int,
    compiled: bool,
) -> Tails:
    """Return how sequences go on, with lengths as near to their histogram as they come.

    If they would still hold far more items than the histogram shows, the longest is cut.
    """
    factors, chances = np.ones(len(lengths.least)), lengths.least_chances()
    for each in range(ROUNDS):
        ending = Ending(least=lengths.least, factors=factors, chances=chances, longest=longest)
        tails = drawn_tails(ways, begun, ending, key=key + each, compiled=compiled, listed=False)
        generated = lengths.tallied(begun.lengths + tails.lengths)
        factors = lengths.corrected(factors, closed=closed, generated=generated)
    room = max(_LEAST_ROOM, _ROOM * lengths.n_items)
    while True:
        ending = Ending(least=lengths.least, factors=factors, chances=chances, longest=longest)
        tails = drawn_tails(ways, begun, ending, key=key + ROUNDS, compiled=compiled, listed=False)
        if int(tails.lengths.sum()) <= room or longest == 1:
            return drawn_tails(ways, begun, ending, key=key + ROUNDS, compiled=compiled)
        longest = longest // 2


def _joined(
    of_cells: NDArray[np.int64],
    words: NDArray[np.int32],
    cells: NDArray[np.int64],
    tails: Tails,
    longest: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return sequences as offsets and items: what their cells spell, then their tails, if any."""
    heads = np.minimum(of_cells[cells], longest)
    n_ended = len(cells) - len(tails.lengths)
    behind = np.concatenate([np.zeros(n_ended, dtype=np.int64), tails.lengths])
    offsets = offsets_of(heads + behind)
    items = np.empty(int(offsets[-1]), dtype=np.int32)
    starts = offsets_of(heads)
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], heads)
    items[np.repeat(offsets[:-1], heads) + place] = words[np.repeat(cells, heads), place]
    after = offsets_of(behind)
    place = np.arange(after[-1]) - np.repeat(after[:-1], behind)
    items[np.repeat(offsets[:-1] + heads, behind) + place] = tails.items
    return offsets, items


def _prefixes(
    taxonomy: Taxonomy, first: First, of_cells: NDArray[np.int64], words: NDArray[np.int32]
) -> Prefixes:
    """Return the prefixes with a positive count, that of all leaves below them."""
    forest = first.forest
    width = forest.alphabet.width
    totals = first.counts.copy()
    ends = np.full(forest.n_cells, -1, dtype=np.int64)
    levels = list(zip(forest.levels[:-1], forest.levels[1:], strict=True))
    for begin, stop in reversed(levels[1:]):
        below = totals[begin * width : stop * width].reshape(-1, width)
        totals[forest.cell_of[begin:stop]] = below.sum(axis=1)
        between = forest.nodes.kind[begin:stop] == BETWEEN
        ends[forest.cell_of[begin:stop]] = np.where(between, below[:, -1], -1)
    whole_items = forest.alphabet.item_of[forest.nodes.kind].ravel() >= 0
    rows = np.flatnonzero(whole_items & (totals > 0))
    lengths = of_cells[rows]
    offsets = offsets_of(lengths)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    spelt = words[np.repeat(rows, lengths), place]
    order, _ = canonical_order(offsets, spelt)
    offsets, items = taken(offsets, spelt, order)
    rows = rows[order]
    return Prefixes(
        offsets=offsets,
        items=items.astype(item_dtype(taxonomy.n_leaves)),
        counts=totals[rows],
        errors=first.errors[rows],
        ends=ends[rows],
    )
