"""Bars of published counts: of classes, cells, items and lengths of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.baskets import NoisyBaskets

MOST_LENGTHS = 20


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A label with a count, and the length of its bar in per cent of the longest."""

    label: str
    count: int
    percent: float


def bars_of(labels: Sequence[str], counts: Sequence[float]) -> tuple[Bar, ...]:
    """Return a bar for each count.

    >>> bars_of(["a", "b"], [3, 4])[0]
    Bar(label='a', count=3, percent=75.0)
    """
    longest = max(counts, default=0) or 1
    return tuple(
        Bar(label=label, count=round(count), percent=round(100 * count / longest, 1))
        for label, count in zip(labels, counts, strict=True)
    )


def largest_first(totals: NDArray[np.int64], most: int) -> list[int]:
    """Return the indices of the largest totals above 0; equal totals stay in their order."""
    order = np.argsort(-totals, kind="stable")[:most]
    return [at for at in order.tolist() if totals[at] > 0]


def item_totals(
    baskets: NoisyBaskets, chosen: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Return the number of occurrences of each item, in all baskets or in the chosen ones."""
    totals = np.zeros(baskets.taxonomy.n_leaves, dtype=np.int64)
    counts = baskets.counts if chosen is None else np.where(chosen, baskets.counts, 0)
    np.add.at(totals, baskets.items, np.repeat(counts, baskets.lengths))
    return totals


def length_bars(baskets: NoisyBaskets, more: str = "{n} or more") -> tuple[Bar, ...]:
    """Return the number of records of each length; ``more`` is the label of the last bar."""
    totals = np.zeros(MOST_LENGTHS + 1, dtype=np.int64)
    np.add.at(totals, np.minimum(baskets.lengths, MOST_LENGTHS), baskets.counts)
    found = np.flatnonzero(totals).tolist()
    labels = [more.format(n=n) if n == MOST_LENGTHS else str(n) for n in found]
    return bars_of(labels, totals[found].tolist())
