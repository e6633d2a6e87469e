"""View of a release of baskets: frequent items, and items that occur with a chosen one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.pictures import shortened
from hedgerow.errors import InputError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.report.page import Bar

MOST_ITEMS = 30


def item_bars(baskets: NoisyBaskets, words: str = "") -> tuple[Bar, ...]:
    """Return the most frequent items whose labels contain all words."""
    return largest(baskets, _totals(baskets, np.ones(len(baskets), dtype=np.bool_)), words)


def joint_bars(baskets: NoisyBaskets, item: str) -> tuple[int, tuple[Bar, ...]]:
    """Return the number of baskets with an item, and the other items most frequent in them."""
    code = baskets.taxonomy.leaf_code.get(item)
    if code is None:
        raise InputError(
            "The release has no such item.", where="item", do="Choose an item of the list."
        )
    rows = np.repeat(np.arange(len(baskets)), baskets.lengths)
    has = np.zeros(len(baskets), dtype=np.bool_)
    has[rows[baskets.items == code]] = True
    totals = _totals(baskets, has)
    totals[code] = 0
    return int(baskets.counts[has].sum()), largest(baskets, totals)


def _totals(baskets: NoisyBaskets, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    totals = np.zeros(baskets.taxonomy.n_leaves, dtype=np.int64)
    counts = np.where(chosen, baskets.counts, 0)
    np.add.at(totals, baskets.items, np.repeat(counts, baskets.lengths))
    return totals


def largest(baskets: NoisyBaskets, totals: NDArray[np.int64], words: str = "") -> tuple[Bar, ...]:
    """Return the items with the largest totals whose labels contain all words."""
    labels, parts = baskets.taxonomy.leaf_labels, words.casefold().split()
    found = [
        code
        for code in np.argsort(-totals, kind="stable").tolist()
        if totals[code] > 0 and all(part in labels[code].casefold() for part in parts)
    ][:MOST_ITEMS]
    longest = max([1, *(int(totals[code]) for code in found)])
    return tuple(
        Bar(
            label=labels[code],
            count=int(totals[code]),
            percent=round(100 * int(totals[code]) / longest, 1),
        )
        for code in found
    )


def shown_items(baskets: NoisyBaskets, place: int) -> str:
    """Return the items of one basket as text."""
    codes = baskets.items[baskets.offsets[place] : baskets.offsets[place + 1]].tolist()
    return shortened(", ".join(baskets.taxonomy.leaf_labels[code] for code in codes), 160)
