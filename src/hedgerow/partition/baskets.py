"""What a method for set-valued data hands on, and what the pipeline asks of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.basket_kernels import BasketEngine
from hedgerow.encode.baskets import ItemCodes, item_dtype, offsets_of
from hedgerow.errors import InternalError
from hedgerow.partition.groups import CountsMade
from hedgerow.partition.method import Departure, Outline, Progress, no_progress
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import RandomSource
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyBaskets:
    """Distinct baskets with noisy counts, sorted by their item codes.

    Everything here is publishable: basket ``b`` holds ``items[offsets[b]:offsets[b + 1]]``
    (strictly increasing, at least one), ``counts`` are noisy, whole and positive, and the
    order is that of the codes compared one by one, so it says nothing about the data. A
    basket that is not listed has the noisy count 0.
    """

    taxonomy: Taxonomy
    offsets: NDArray[np.int64]
    items: ItemCodes
    counts: NDArray[np.int64]
    made: CountsMade | None = None

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.counts) + 1 or self.offsets[-1] != len(self.items):
            raise InternalError("the offsets of noisy baskets do not cover their items")
        if len(self.counts) and self.counts.min() < 1:
            raise InternalError("a published basket has no positive count")

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of items of each basket."""
        return np.diff(self.offsets)

    @classmethod
    def sorted_of(
        cls,
        taxonomy: Taxonomy,
        *,
        offsets: NDArray[np.int64],
        items: NDArray[np.integer],
        counts: NDArray[np.int64],
        made: CountsMade | None = None,
    ) -> NoisyBaskets:
        """Return baskets in their canonical order, whatever order they come in.

        The same basket given twice becomes one with the sum of its counts. Baskets without
        a positive count are left out.
        """
        words = packed(offsets, items)
        order = np.lexsort(words[::-1])
        new = np.ones(len(order), dtype=np.bool_)
        if len(order):
            changes = [word[order][1:] != word[order][:-1] for word in words]
            new[1:] = np.logical_or.reduce(changes, axis=0)
        first = np.flatnonzero(new)
        sums = np.add.reduceat(counts[order], first) if len(first) else counts[:0]
        order = order[first][sums > 0]
        lengths = np.diff(offsets)[order]
        starts = offsets_of(lengths)
        places = np.arange(starts[-1]) + np.repeat(offsets[:-1][order] - starts[:-1], lengths)
        return cls(
            taxonomy=taxonomy,
            offsets=starts,
            items=items[places].astype(item_dtype(taxonomy.n_leaves)),
            counts=sums[sums > 0].astype(np.int64),
            made=made,
        )


def packed(offsets: NDArray[np.int64], items: NDArray[np.integer]) -> tuple[NDArray[np.int64], ...]:
    """Return baskets as whole numbers, several items in each, that sort as their codes do.

    Compared one by one, a basket comes before those that begin with it. Two baskets are
    the same where all of their numbers are.

    >>> np.lexsort(packed(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 0]))[::-1]).tolist()
    [2, 1, 0]
    """
    lengths = np.diff(offsets)
    bits = (int(items.max(initial=0)) + 1).bit_length()  # 0 is the end of a basket
    per_word = 63 // bits
    words = []
    for start in range(0, max(1, int(lengths.max(initial=0))), per_word):
        word = np.zeros(len(lengths), dtype=np.int64)
        for place in range(start, start + per_word):
            longer = np.flatnonzero(lengths > place)
            codes = items[offsets[longer] + place].astype(np.int64) + 1
            word[longer] |= codes << (bits * (start + per_word - 1 - place))
        words.append(word)
    return tuple(words)


class BasketMethod(Protocol):
    """A differentially private publishing method for set-valued data, with its settings.

    The same words as :class:`hedgerow.partition.method.Method`, with the taxonomy of the
    item universe in place of a schema.
    """

    @property
    def name(self) -> str:
        """The name that plans give the method."""
        ...

    @property
    def faithful(self) -> bool:
        """Whether the method runs as its paper prints it, wherever that is private."""
        ...

    @property
    def departures(self) -> tuple[Departure, ...]:
        """What is not as the paper prints it."""
        ...

    @property
    def chosen(self) -> dict[str, str]:
        """Settings that the plan left to the method, as it has chosen them."""
        ...

    @property
    def details(self) -> dict[str, str]:
        """What the certificate adds about the method."""
        ...

    def validate(self, taxonomy: Taxonomy, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        ...

    def outline(self, taxonomy: Taxonomy, epsilon: Fraction) -> Outline:
        """Return what a run will buy and how many baskets to expect, without any data."""
        ...

    def publish(
        self,
        engine: BasketEngine,
        *,
        epsilon: Fraction,
        ledger: PathLedger,
        source: RandomSource,
        progress: Progress = no_progress,
    ) -> NoisyBaskets:
        """Return the noisy baskets; the ledger is settled afterwards."""
        ...


@runtime_checkable
class Useful(Protocol):
    """A method that can say how far a counting query may be off, whatever the data."""

    def usefulness(
        self, taxonomy: Taxonomy, epsilon: Fraction, *, n_itemsets: int, delta: float
    ) -> float | None:
        """Return the error that a query exceeds with chance ``delta`` at the most.

        ``n_itemsets`` bounds how many itemsets the query covers; ``None`` where there is
        no such bound.
        """
        ...
