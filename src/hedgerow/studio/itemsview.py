"""Views of releases of baskets and sequences: frequent items, neighbours of an item, lengths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.bars import Bar, bars_of, item_totals
from hedgerow.draw.pictures import shortened
from hedgerow.errors import InputError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.sequences import NoisySequences

MOST_ITEMS = 30


def item_bars(baskets: NoisyBaskets, words: str = "") -> tuple[Bar, ...]:
    """Return the most frequent items whose labels contain all words."""
    return _largest(baskets, item_totals(baskets), words)


def joint_bars(baskets: NoisyBaskets, item: str) -> tuple[int, tuple[Bar, ...]]:
    """Return the number of baskets with an item, and the other items most frequent in them."""
    code = _code(baskets, item)
    rows = np.repeat(np.arange(len(baskets)), baskets.lengths)
    has = np.zeros(len(baskets), dtype=np.bool_)
    has[rows[baskets.items == code]] = True
    totals = item_totals(baskets, has)
    totals[code] = 0
    return int(baskets.counts[has].sum()), _largest(baskets, totals)


def held_bars(sequences: NoisySequences, words: str = "") -> tuple[Bar, ...]:
    """Return the items in the most sequences whose labels contain all words."""
    rows = np.repeat(np.arange(len(sequences)), sequences.lengths)
    pairs = np.unique(np.stack([rows, sequences.items.astype(np.int64)]), axis=1)
    totals = np.zeros(sequences.taxonomy.n_leaves, dtype=np.int64)
    np.add.at(totals, pairs[1], sequences.counts[pairs[0]])
    return _largest(sequences, totals, words)


def next_bars(sequences: NoisySequences, item: str) -> tuple[int, tuple[Bar, ...]]:
    """Return the number of sequences with an item, and the items that most often follow it."""
    code = _code(sequences, item)
    rows = np.repeat(np.arange(len(sequences)), sequences.lengths)
    here = np.flatnonzero(sequences.items == code)
    holding = np.unique(rows[here])
    before = here[here + 1 < len(rows)]
    before = before[rows[before + 1] == rows[before]]
    totals = np.zeros(sequences.taxonomy.n_leaves, dtype=np.int64)
    np.add.at(totals, sequences.items[before + 1], sequences.counts[rows[before]])
    return int(sequences.counts[holding].sum()), _largest(sequences, totals)


def record_text(baskets: NoisyBaskets, place: int) -> str:
    """Return the items of one basket or sequence as text."""
    codes = baskets.items[baskets.offsets[place] : baskets.offsets[place + 1]].tolist()
    between = " → " if isinstance(baskets, NoisySequences) else ", "
    return shortened(between.join(baskets.taxonomy.leaf_labels[code] for code in codes), 160)


def _code(baskets: NoisyBaskets, item: str) -> int:
    code = baskets.taxonomy.leaf_code.get(item)
    if code is None:
        raise InputError(
            "The release has no such item.", where="item", do="Choose an item of the list."
        )
    return code


def _largest(baskets: NoisyBaskets, totals: NDArray[np.int64], words: str = "") -> tuple[Bar, ...]:
    """Return the items with the largest totals whose labels contain all words."""
    labels, parts = baskets.taxonomy.leaf_labels, words.casefold().split()
    found = [
        code
        for code in np.argsort(-totals, kind="stable").tolist()
        if totals[code] > 0 and all(part in labels[code].casefold() for part in parts)
    ][:MOST_ITEMS]
    return bars_of([labels[code] for code in found], totals[found].tolist())
