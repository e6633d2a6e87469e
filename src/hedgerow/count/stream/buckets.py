"""Rows of people on disk, gathered by the hash of their person: one bucket is read at a time.

Memory use depends on the limit alone, not on the number of rows. With *b* bytes of rows
(:func:`bytes_at_a_time`, a twelfth of the limit minus the base):

- while rows are written to buckets: *b* as read, *b* joined, *b* in the order of their buckets, and
  at most *b* for positions and for the bucket being written: 4 *b*;
- while a bucket is read: at most *b* of it, and 3 *b* to number its people and to choose records,
  since a larger bucket is divided first. Chosen records are kept beside it until a piece is full
  (half of :func:`~hedgerow.count.stream.table.rows_per_piece`, and as much again to join it: at
  most a third of the limit minus the base, or 4 *b*).

Only a person with more than *b* bytes of rows needs more: a person is never divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from hedgerow.count.stream.scratch import Scratch, Slot
from hedgerow.count.stream.table import BASE_BYTES
from hedgerow.encode.people import serialised, unserialised

N_BUCKETS = 256
"""Number of parts, by eight bits of a person's hash; large ones are divided by the next bits."""

DEEPEST = 3
"""Maximum number of further divisions of a bucket: 2^32 parts in all."""

LEAST_HELD = 16 << 20
MOST_HELD = 256 << 20


def bytes_at_a_time(memory: int) -> int:
    """Return the number of bytes of rows to hold at a time within a limit on memory.

    >>> [bytes_at_a_time(each << 20) >> 20 for each in (600, 1024, 2048, 65536)]
    [16, 42, 127, 256]
    """
    return min(MOST_HELD, max(LEAST_HELD, (memory - BASE_BYTES) // 12))


class Buckets:
    """Record batches with a column ``hash``, each row in its person's bucket (confidential)."""

    def __init__(self, scratch: Scratch, *, memory: int, depth: int = 0) -> None:
        self._scratch = scratch
        self._shelf = scratch.shelf()
        self._slots: list[list[Slot]] = [[] for _ in range(N_BUCKETS)]
        self._memory = memory
        self._most = bytes_at_a_time(memory)
        self._depth = depth

    def __repr__(self) -> str:
        return "Buckets()"

    def fill(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Write all batches, a few at a time."""
        held: list[pa.RecordBatch] = []
        n_bytes = 0
        for batch in batches:
            held.append(batch)
            n_bytes += batch.nbytes
            if n_bytes >= self._most:
                self._shelve(held)
                held, n_bytes = [], 0
        if held:
            self._shelve(held)

    def __iter__(self) -> Iterator[list[pa.RecordBatch]]:
        """Yield the rows of one bucket after the other; all of a person are in one."""
        for slots in self._slots:
            if not slots:
                continue
            if self._depth < DEEPEST and sum(map(_size, slots)) > self._most:
                inner = Buckets(self._scratch, memory=self._memory, depth=self._depth + 1)
                inner.fill(self._read(slots))
                yield from inner
                inner.close()
            else:
                yield list(self._read(slots))

    def close(self) -> None:
        """Free the space on the disk."""
        self._shelf.close()

    def _read(self, slots: list[Slot]) -> Iterator[pa.RecordBatch]:
        for slot in slots:
            yield from unserialised(self._shelf.get(slot)[0])

    def _shelve(self, held: list[pa.RecordBatch]) -> None:
        """Write the rows in memory, each to the bucket of its person."""
        table = pa.Table.from_batches(held).combine_chunks()
        hashes = table.column("hash").to_numpy()
        buckets = (hashes >> np.uint64(8 * self._depth)).astype(np.uint8)
        order = np.argsort(buckets, kind="stable")
        ends = np.cumsum(np.bincount(buckets, minlength=N_BUCKETS)).tolist()
        table, start = table.take(order).combine_chunks(), 0
        for bucket, end in enumerate(ends):
            if end > start:
                body = serialised(table.slice(start, end - start))
                self._slots[bucket].append(self._shelf.put((body,)))
            start = end


def _size(slot: Slot) -> int:
    """Return the number of bytes in a slot of bytes."""
    return sum(length for _, length in slot.kinds)
