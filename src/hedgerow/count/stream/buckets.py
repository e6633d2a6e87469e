"""Rows of people on disk, gathered by the hash of their person: one bucket is read at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from hedgerow.count.stream.scratch import Scratch, Slot
from hedgerow.count.stream.table import BASE_BYTES
from hedgerow.encode.people import serialised, unserialised

N_BUCKETS = 256
"""Parts of the people, by the hash of a person: one is in memory at a time."""

_LEAST_HELD = 16 << 20


class Buckets:
    """Record batches with a column ``hash``, each row in its person's bucket (confidential)."""

    def __init__(self, scratch: Scratch, *, memory: int) -> None:
        self._shelf = scratch.shelf()
        self._slots: list[list[Slot]] = [[] for _ in range(N_BUCKETS)]
        self._most = max(_LEAST_HELD, (memory - BASE_BYTES) // 12)

    def __repr__(self) -> str:
        return "Buckets()"

    def fill(self, batches: Iterator[pa.RecordBatch]) -> None:
        """Write all batches, some at a time."""
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
            if slots:
                yield [each for slot in slots for each in unserialised(self._shelf.get(slot)[0])]

    def close(self) -> None:
        """Give the room on the disk back."""
        self._shelf.close()

    def _shelve(self, held: list[pa.RecordBatch]) -> None:
        """Write what is held, each row to the bucket of its person."""
        table = pa.Table.from_batches(held).combine_chunks()
        hashes = table.column("hash").to_numpy()
        buckets = (hashes % np.uint64(N_BUCKETS)).astype(np.int64)
        order = np.argsort(buckets, kind="stable")
        ends = np.cumsum(np.bincount(buckets, minlength=N_BUCKETS)).tolist()
        table, start = table.take(order).combine_chunks(), 0
        for bucket, end in enumerate(ends):
            if end > start:
                body = serialised(table.slice(start, end - start))
                self._slots[bucket].append(self._shelf.put((body,)))
            start = end
