"""The engine contract: the sum over all records of a counting kernel.

An engine is the only holder of confidential codes. It answers one kind of question, "what is the
sum of this kernel over all records", and every method is a few such sums with small arithmetic
between them. The same kernels run on any engine, and the same seed gives the same release on each.

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
    """Some records, by column: codes per attribute, and class codes if there is a class.

    ``compiled`` selects the kernels' compiled forms; an engine sets it if the whole table is large
    enough to pay for loading them.
    """

    codes: tuple[Codes, ...]
    classes: Codes | None
    n_records: int
    compiled: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparseCounts:
    """Occurring keys, strictly increasing, each with its number of occurrences."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def merged(cls, parts: list[SparseCounts]) -> SparseCounts:
        """Add up the counts of several batches."""
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
    """A small picklable object that gives every record one of very many keys."""

    def count(self, batch: Batch) -> SparseCounts:
        """Return the number of occurrences of each key in a batch."""
        ...


class Engine(Protocol):
    """Holder of the records, which sums kernels over them."""

    @property
    def name(self) -> str:
        """Name of the engine in the certificate."""
        ...

    @property
    def schema(self) -> Schema:
        """Public description of the table's attributes."""
        ...

    @property
    def unit(self) -> int:
        """Number of units that one person, or else one record, counts as (model/people.py)."""
        ...

    def sum(self, kernel: DenseKernel) -> NDArray[np.int64]:
        """Return the sum of a dense kernel over all records (confidential)."""
        ...

    def tally(self, kernel: SparseKernel) -> SparseCounts:
        """Return the number of occurrences of each key of a sparse kernel (confidential)."""
        ...

    def place(self) -> Placed:
        """Return all records placed in one box, for methods that grow a tree."""
        ...

    def labelled(self, labels: NearestCentre) -> Engine:
        """Return an engine over the same records, with a public label joined to their class.

        It shares the records of this one, and is closed with it.
        """
        ...

    def rehearsing(self, table: EncodedTable) -> Engine:
        """Return an engine of the same kind, by the same code path, over simulated records."""
        ...

    def close(self) -> None:
        """Release the records and their storage."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BasketBatch:
    """Some records: items, partition and weight of each.

    ``weights`` is the number of records for which each row stands, ``None`` if all are 1.
    """

    offsets: NDArray[np.int64]
    items: ItemCodes
    partition: NDArray[np.int32]
    weights: NDArray[np.int64] | None
    compiled: bool = False


class BasketKernel(Protocol):
    """A kernel for baskets: the sub-partition of its partition to which each record goes."""

    @property
    def first(self) -> NDArray[np.int32]:
        """First code of the node that each partition expands."""
        ...

    @property
    def bits(self) -> int:
        """Number of bits of a key that give the sub-partition."""
        ...

    def keys(self, batch: BasketBatch) -> NDArray[np.int64]:
        """Return each record's key (confidential)."""
        ...

    def count(self, batch: BasketBatch) -> SparseCounts:
        """Return the occupied sub-partitions of a batch (confidential)."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoldedBaskets:
    """Distinct records, each with its number of equal records and a hash of its items.

    ``weights[r]`` records are equal to row ``r``; they have the numbers 0, 1, ... among
    themselves, and no other row is equal to them.
    """

    offsets: NDArray[np.int64]
    items: ItemCodes
    weights: NDArray[np.int64]
    hashes: NDArray[np.uint64]


class FeatureKernel(Protocol):
    """A kernel for baskets: the sum of one vector for each record.

    A record's vector is a function of its items, its number among equal records, and public values.
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
    """A kernel for sequences: a sum over records of ``size`` integers."""

    @property
    def size(self) -> int:
        """Number of integers of a sum."""
        ...

    def count(self, batch: SequenceBatch) -> NDArray[np.int64]:
        """Return the sum over a batch (confidential)."""
        ...


class BasketWalk(Protocol):
    """Records on their way down a tree: the partition of each, as far as it is followed."""

    def size(self) -> int:
        """Return the number of records (confidential)."""
        ...

    def item_counts(self) -> NDArray[np.int64]:
        """Return the number of records with each item, as cut to their length (confidential)."""
        ...

    def tally(self, kernel: BasketKernel) -> SparseCounts:
        """Return the number of records that go to each sub-partition (confidential)."""
        ...

    def descend(self, keys: NDArray[np.int64]) -> None:
        """Turn the sub-partitions of the last tally with these keys into the partitions 0, 1, ...

        ``keys`` are strictly increasing; records of all others are no longer followed.
        """
        ...


class BasketEngine(Protocol):
    """Holder of the records, which counts them by sub-partition."""

    @property
    def name(self) -> str:
        """Name of the engine in the certificate."""
        ...

    @property
    def taxonomy(self) -> Taxonomy:
        """Public taxonomy of the items."""
        ...

    def walk(self, *, max_length: int | None) -> BasketWalk:
        """Return all records in partition 0, each cut to ``max_length`` items by a public rule."""
        ...

    def itemsets(self) -> SparseCounts:
        """Return the number of occurrences of each itemset, as a mask; for small universes."""
        ...

    def features(self, kernel: FeatureKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel's vectors over all records (confidential)."""
        ...

    def sum(self, kernel: SequenceKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel over all records in their order (confidential)."""
        ...

    def rehearsing(self, baskets: EncodedBaskets) -> BasketEngine:
        """Return an engine of the same kind, by the same code path, over simulated records."""
        ...

    def close(self) -> None:
        """Release the records and their storage."""
        ...
