"""View of a release of sequences: frequent items, items after a chosen one, and lengths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.pictures import shortened
from hedgerow.errors import InputError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.sequences import NoisySequences
from hedgerow.report.page import Bar
from hedgerow.studio.basketview import largest

MOST_LENGTHS = 20


def held_bars(sequences: NoisySequences, words: str = "") -> tuple[Bar, ...]:
    """Return the items in the most sequences whose labels contain all words."""
    rows = np.repeat(np.arange(len(sequences)), sequences.lengths)
    pairs = np.unique(np.stack([rows, sequences.items.astype(np.int64)]), axis=1)
    totals = np.zeros(sequences.taxonomy.n_leaves, dtype=np.int64)
    np.add.at(totals, pairs[1], sequences.counts[pairs[0]])
    return largest(sequences, totals, words)


def next_bars(sequences: NoisySequences, item: str) -> tuple[int, tuple[Bar, ...]]:
    """Return the number of sequences with an item, and the items that most often follow it."""
    code = sequences.taxonomy.leaf_code.get(item)
    if code is None:
        raise InputError(
            "The release has no such item.", where="item", do="Choose an item of the list."
        )
    rows = np.repeat(np.arange(len(sequences)), sequences.lengths)
    here = np.flatnonzero(sequences.items == code)
    holding = np.unique(rows[here])
    before = here[here + 1 < len(rows)]
    before = before[rows[before + 1] == rows[before]]
    totals = np.zeros(sequences.taxonomy.n_leaves, dtype=np.int64)
    np.add.at(totals, sequences.items[before + 1], sequences.counts[rows[before]])
    return int(sequences.counts[holding].sum()), largest(sequences, totals)


def length_bars(sequences: NoisySequences, more: str) -> tuple[Bar, ...]:
    """Return the number of sequences of each length; ``more`` is the label of the last bar."""
    lengths = np.minimum(sequences.lengths, MOST_LENGTHS)
    totals: NDArray[np.int64] = np.zeros(MOST_LENGTHS + 1, dtype=np.int64)
    np.add.at(totals, lengths, sequences.counts)
    longest = max(1, int(totals.max()))
    return tuple(
        Bar(
            label=more.format(n=n) if n == MOST_LENGTHS else str(n),
            count=int(totals[n]),
            percent=round(100 * int(totals[n]) / longest, 1),
        )
        for n in np.flatnonzero(totals).tolist()
    )


def shown_path(sequences: NoisyBaskets, place: int) -> str:
    """Return the items of one sequence as text, in their order."""
    codes = sequences.items[sequences.offsets[place] : sequences.offsets[place + 1]].tolist()
    return shortened(" → ".join(sequences.taxonomy.leaf_labels[code] for code in codes), 160)
