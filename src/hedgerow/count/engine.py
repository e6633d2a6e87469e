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

from hedgerow.count.placed import Placed
from hedgerow.encode.schema import Schema

Codes = NDArray[np.unsignedinteger]


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

    def sum(self, kernel: DenseKernel) -> NDArray[np.int64]:
        """Return the sum of a dense kernel over all records (confidential)."""
        ...

    def tally(self, kernel: SparseKernel) -> SparseCounts:
        """Return how often each key of a sparse kernel occurs (confidential)."""
        ...

    def place(self) -> Placed:
        """Return all records placed in one box, for methods that grow a tree."""
        ...

    def close(self) -> None:
        """Let go of the records and of whatever holds them."""
        ...
