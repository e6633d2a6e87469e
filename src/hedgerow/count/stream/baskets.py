"""The streaming engine of set-valued data: baskets on disk, counted a piece at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.baskets import BasketMemory, MemoryWalk, WalkRows, walk_compiled
from hedgerow.count.stream.folded import FoldedOnDisk
from hedgerow.count.stream.scratch import Arrays, Scratch, Shelf, Slot
from hedgerow.count.stream.table import BASE_BYTES, Pace, Report
from hedgerow.encode.baskets import BasketEncoder, Sets
from hedgerow.encode.sums import ColumnSums
from hedgerow.errors import DataError, InternalError
from hedgerow.model.baskets import EncodedBaskets, offsets_of
from hedgerow.model.engine import BasketKernel, FeatureKernel, SequenceKernel, SparseCounts
from hedgerow.model.universe import Universe
from hedgerow.read.items import ItemSource, LongTable
from hedgerow.taxonomy.tree import Taxonomy

_BYTES_PER_ITEM = 24
"""Bytes per item while its piece is counted: its code, masks and copies."""

WalkStep = tuple[BasketKernel, NDArray[np.int64]]
"""A level that is done: its kernel, and the keys that were followed."""


def items_per_piece(memory: int) -> int:
    """Return the number of items of baskets that can be counted in ``memory`` bytes."""
    return max(1 << 16, (memory - BASE_BYTES) // _BYTES_PER_ITEM)


class BasketStream:
    """Counts baskets whose codes are in a scratch folder.

    ``passes`` is the number of times that all records were read. Close the engine to remove the
    codes.
    """

    name = "stream"

    def __init__(
        self,
        taxonomy: Taxonomy,
        scratch: Scratch,
        shelf: Shelf,
        slots: list[Slot],
        *,
        compiled: bool | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.compiled = compiled
        self.passes = 0
        self._scratch = scratch
        self._shelf = shelf
        self._slots = slots
        self._folded: FoldedOnDisk | None = None

    def __repr__(self) -> str:
        return "BasketStream()"

    @classmethod
    def read(
        cls,
        source: ItemSource,
        universe: Universe,
        *,
        scratch: Scratch,
        memory: int,
        report: Report,
        sums: ColumnSums | None = None,
    ) -> BasketStream:
        """Return an engine over ``source``, read once and stored as codes in ``scratch``."""
        if isinstance(source, LongTable):
            raise DataError(
                "The rows of a record are not adjacent in a long table.",
                where=source.name,
                do="Sort it into one list per record, or use the engine memory or spark; if it has"
                " a column for the person, 'person' in the plan gathers the rows.",
            )
        encoder, pace = BasketEncoder(universe, sums=sums), Pace(report)

        def sets() -> Iterator[Sets]:
            n_read = 0
            for batch in source.batches(progress=pace.share):
                n_read += len(batch.lengths)
                pace.read(n_read)
                yield encoder.of_batch(batch)

        return cls.of_sets(universe.taxonomy, sets(), scratch=scratch, memory=memory)

    @classmethod
    def of_sets(
        cls, taxonomy: Taxonomy, sets: Iterable[Sets], *, scratch: Scratch, memory: int
    ) -> BasketStream:
        """Return an engine over encoded records, stored in ``scratch``."""
        shelf = scratch.shelf()
        slots = [shelf.put(piece) for piece in _pieces(sets, items_per_piece(memory))]
        return cls(taxonomy, scratch, shelf, slots)

    def walk(self, *, max_length: int | None) -> DiskWalk:
        """Return all records in partition 0, each cut to ``max_length`` items by a public rule."""
        return DiskWalk(self, max_length)

    def itemsets(self) -> SparseCounts:
        """Return the frequency of each set of items, as masks; for small universes."""
        total = SparseCounts.merged([])
        for piece in self.pieces():
            total = SparseCounts.merged([total, piece.itemsets()])
        return total

    def features(self, kernel: FeatureKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel's vectors over all records (confidential)."""
        if self._folded is None:
            pieces = (piece.baskets for piece in self.pieces())
            self._folded = FoldedOnDisk.of(pieces, self._scratch, n_parts=len(self._slots))
        total = np.zeros(kernel.size, dtype=np.int64)
        self.passes += 1
        for folded in self._folded:
            total += kernel.count(folded)
        return total

    def sum(self, kernel: SequenceKernel) -> NDArray[np.int64]:
        """Return the sum of a kernel over all records in their order; one pass (confidential)."""
        total = np.zeros(kernel.size, dtype=np.int64)
        for piece in self.pieces():
            total += piece.sum(kernel)
        return total

    def rehearsing(self, baskets: EncodedBaskets) -> BasketStream:
        """Return an engine over simulated baskets on the same disk, by the same loops."""
        n_items = max((slot.kinds[1][1] for slot in self._slots), default=0)
        compiled = walk_compiled(n_items) if self.compiled is None else self.compiled
        scratch = Scratch(self._scratch.folder.parent)
        try:
            shelf = scratch.shelf()
            slots = [shelf.put((np.diff(baskets.offsets), baskets.items))]
            return BasketStream(self.taxonomy, scratch, shelf, slots, compiled=compiled)
        except BaseException:
            scratch.close()
            raise

    def shelf(self) -> Shelf:
        """Return an empty shelf beside the records."""
        return self._scratch.shelf()

    def close(self) -> None:
        """Remove the codes from the disk."""
        self._scratch.close()

    def pieces(self) -> Iterator[BasketMemory]:
        """Yield the records piece by piece (confidential)."""
        self.passes += 1
        for slot in self._slots:
            lengths, items = self._shelf.get(slot)
            yield BasketMemory(
                baskets=EncodedBaskets(
                    taxonomy=self.taxonomy, offsets=offsets_of(lengths), items=items
                ),
                compiled=self.compiled,
            )


def _pieces(parts: Iterable[Sets], n_items: int) -> Iterator[Arrays]:
    """Yield lengths and items, ``n_items`` items at a time or slightly more."""
    held: list[Sets] = []
    for part in parts:
        held.append(part)
        if sum(len(items) for _, items in held) >= n_items:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _joined(parts: list[Sets]) -> Arrays:
    lengths, items = zip(*parts, strict=True)
    return np.concatenate(lengths), np.concatenate(items)


class DiskWalk:
    """Records on their way down, a piece in memory at a time (confidential).

    Each piece is taken down by the last level, counted, and stored again, so every level costs one
    pass.
    """

    def __init__(self, stream: BasketStream, max_length: int | None) -> None:
        self._stream = stream
        self._max_length = max_length
        self._n_items = stream.taxonomy.n_leaves
        self._shelf: Shelf | None = None  # at first, the records are where they were read
        self._slots: list[Slot] = []
        self._last_kernel: BasketKernel | None = None
        self._step: WalkStep | None = None

    def __repr__(self) -> str:
        return "DiskWalk()"

    def size(self) -> int:
        """Return the number of records (confidential)."""
        return sum(walk.size() for walk in self._walks())

    def item_counts(self) -> NDArray[np.int64]:
        """Return the number of records with each item, after cutting (confidential)."""
        total = np.zeros(self._n_items, dtype=np.int64)
        for walk in self._walks():
            total += walk.item_counts()
        return total

    def tally(self, kernel: BasketKernel) -> SparseCounts:
        """Return the number of records in each sub-partition (confidential)."""
        total = SparseCounts.merged([])
        shelf = self._stream.shelf() if self._step is not None else None
        slots = []
        for walk in self._walks():
            total = SparseCounts.merged([total, walk.tally(kernel)])
            if shelf is not None:
                slots.append(shelf.put(_put_away(walk.rows())))
        if shelf is not None:
            if self._shelf is not None:
                self._shelf.close()
            self._shelf, self._slots, self._step = shelf, slots, None
        self._last_kernel = kernel
        return total

    def descend(self, keys: NDArray[np.int64]) -> None:
        """Make the sub-partitions of the last tally with these keys the partitions 0, 1, ..."""
        if self._last_kernel is None:
            raise InternalError("Records were sent down before they were counted.")
        self._step, self._last_kernel = (self._last_kernel, keys), None

    def _walks(self) -> Iterator[MemoryWalk]:
        """Yield each piece's records, taken down by all levels so far."""
        for walk in self._first() if self._shelf is None else self._later(self._shelf):
            if self._step is not None:
                follow(walk, [self._step])
            yield walk

    def _first(self) -> Iterator[MemoryWalk]:
        for engine in self._stream.pieces():
            yield engine.walk(max_length=self._max_length)

    def _later(self, shelf: Shelf) -> Iterator[MemoryWalk]:
        self._stream.passes += 1
        for slot in self._slots:
            lengths, items, partition, *weights = shelf.get(slot)
            yield MemoryWalk(
                offsets_of(lengths),
                items,
                n_items=self._n_items,
                weights=weights[0] if weights else None,
                partition=partition,
                compiled=self._stream.compiled,
            )


def _put_away(rows: WalkRows) -> Arrays:
    of_weights = () if rows.weights is None else (rows.weights,)
    return (np.diff(rows.offsets), rows.items, rows.partition, *of_weights)


def follow(walk: MemoryWalk, steps: list[WalkStep]) -> None:
    """Take records down the levels that are done."""
    for kernel, keys in steps:
        walk.tally(kernel)
        walk.descend(keys)
