"""The engine contract: the sum over all records of a counting kernel.

An engine is the only holder of confidential codes. It answers one kind of question,
"what is the sum of this kernel over all records", and every method is written as a
few such sums with small arithmetic between them. The same kernels run on any engine,
and the same seed gives the same release on each.

Sums are confidential: they may only go into a mechanism of ``hedgerow.privacy``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Codes
from hedgerow.model.baskets import EncodedBaskets, ItemCodes
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.placed import Placed
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Batch:
    """Some records, by column: codes per attribute, and class codes where there is a class.

    ``compiled`` asks for the kernels' compiled forms; an engine sets it where the whole
    table is large enough to pay for loading them.
    """

    codes: tuple[Codes, ...]
    classes: Codes | None
    n_records: int
    compiled: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparseCounts:
    """Keys that occur, strictly increasing, with how often each does."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def merged(cls, parts: list[SparseCounts]) -> SparseCounts:
        """Add up what several batches gave."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            empty = np.zeros(0, dtype=np.int64)
            return cls(keys=empty, counts=empty)
        keys, place = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        sums = np.zeros(len(keys), dtype=np.int64)
        np.add.at(sums, place, np.concatenate([part.counts for part in parts]))
        return cls(keys=keys, counts=sums)


class DenseKernel(Protocol):
    """A small picklable object whose sum over records is one array."""

    @property
    def size(self) -> int:
        """Length of the array."""
        ...

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Return the kernel's sum over the records of a batch."""
        ...


class SparseKernel(Protocol):
    """A small picklable object that gives every record one key, of very many."""

    def count(self, batch: Batch) -> SparseCounts:
        """Return how often each key occurs in a batch."""
        ...


class Engine(Protocol):
    """Whatever holds the records and sums kernels over them."""

    @property
    def name(self) -> str:
        """What the certificate calls the engine."""
        ...

    @property
    def schema(self) -> Schema:
        """The public description of the table's attributes."""
        ...

    @property
    def unit(self) -> int:
        """What one person, or else one record, is counted as (model/people.py)."""
        ...

    def sum(self, kernel: DenseKernel) -> NDArray[np.int64]:
        """Return the sum of a dense kernel over all records (confidential)."""
        ...

    def tally(self, kernel: SparseKernel) -> SparseCounts:
        """Return how often each key of a sparse kernel occurs (confidential)."""
        ...

    def place(self) -> Placed:
        """Return all records placed in one box, for methods that grow a tree."""
        ...

    def labelled(self, labels: NearestCentre) -> Engine:
        """Return an engine over the same records, their class joined with a public label.

        It goes with this one, and is closed with it.
        """
        ...

    def rehearsing(self, table: EncodedTable) -> Engine:
        """Return an engine of the same kind, by the same code path, over made-up records."""
        ...

    def close(self) -> None:
        """Let go of the records and of whatever holds them."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BasketBatch:
    """Some records: their items, the partition each is in, and how many records each stands for.

    ``weights`` is ``None`` where every row is one record.
    """

    offsets: NDArray[np.int64]
    items: ItemCodes
    partition: NDArray[np.int32]
    weights: NDArray[np.int64] | None
    compiled: bool = False


class BasketKernel(Protocol):
    """A question to baskets: to which sub-partition of its partition each record goes."""

    @property
    def first(self) -> NDArray[np.int32]:
        """The first code of the node that each partition expands."""
        ...

    @property
    def bits(self) -> int:
        """How many bits of a key tell the sub-partition."""
        ...

    def keys(self, batch: BasketBatch) -> NDArray[np.int64]:
        """Return each record's key (confidential)."""
        ...

    def count(self, batch: BasketBatch) -> SparseCounts:
        """Return the occupied sub-partitions of a batch (confidential)."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoldedBaskets:
    """Distinct records with how many equal ones there are of each, and a hash of each's items.

    ``weights[r]`` records are equal to row ``r``; they have the numbers 0, 1, ... among
    themselves, and no other row is equal to them.
    """

    offsets: NDArray[np.int64]
    items: ItemCodes
    weights: NDArray[np.int64]
    hashes: NDArray[np.uint64]


class FeatureKernel(Protocol):
    """A question to baskets: a vector for each record, added up over all.

    A record's vector follows from its items, its number among equal records, and what is
    public.
    """

    @property
    def size(self) -> int:
        """Length of the vector."""
        ...

    def count(self, folded: FoldedBaskets) -> NDArray[np.int64]:
        """Return the sum over some records (confidential)."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SequenceBatch:
    """Some records that are sequences: their items in order, repeats kept (confidential)."""

    offsets: NDArray[np.int64]
    items: ItemCodes
    compiled: bool = False


class SequenceKernel(Protocol):
    """A question to sequences: a sum over records of ``size`` whole numbers."""

    @property
    def size(self) -> int:
        """How many numbers a sum has."""
        ...

    def count(self, batch: SequenceBatch) -> NDArray[np.int64]:
        """Return the sum over a batch (confidential)."""
        ...


class BasketWalk(Protocol):
    """Records on their way down: which partition each is in, as far as it is still followed."""

    def size(self) -> int:
        """Return how many records there are (confidential)."""
        ...

    def item_counts(self) -> NDArray[np.int64]:
        """Return how many records hold each item, as cut to their length (confidential)."""
        ...

    def tally(self, kernel: BasketKernel) -> SparseCounts:
        """Return how many records go to each sub-partition (confidential)."""
        ...

    def descend(self, keys: NDArray[np.int64]) -> None:
        """Make the sub-partitions of the last tally with these keys the partitions 0, 1, ...

        ``keys`` are strictly increasing; records of all others are followed no more.
        """
        ...


class BasketEngine(Protocol):
    """Whatever holds the records and counts them by sub-partition."""

    @property
    def name(self) -> str:
        """What the certificate calls the engine."""
        ...

    @property
    def taxonomy(self) -> Taxonomy:
        """The public taxonomy of the items."""
        ...

    def walk(self, *, max_length: int | None) -> BasketWalk:
        """Return all records in partition 0, each cut to that many items by a public rule."""
        ...

    def itemsets(self) -> SparseCounts:
        """Return how often each set of items occurs, as masks; for small universes."""
        ...

    def features(self, kernel: FeatureKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel's vectors over all records (confidential)."""
        ...

    def sum(self, kernel: SequenceKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel over all records in their order (confidential)."""
        ...

    def rehearsing(self, baskets: EncodedBaskets) -> BasketEngine:
        """Return an engine of the same kind, by the same code path, over made-up records."""
        ...

    def close(self) -> None:
        """Let go of the records and of whatever holds them."""
        ...
