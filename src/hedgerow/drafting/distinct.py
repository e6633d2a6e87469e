"""The distinct values of a column, counted to the end of the table in bounded memory.

A value is kept if its hash begins with a number of zero bits that grows with the number of values,
so the kept values are a sample of the distinct ones, each with its exact number of records
(distinct sampling, Gibbons, VLDB 2001).

Privacy: confidential, all of it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MOST_KEPT = 20_000
"""Largest number of distinct values that are kept."""

_BITS = 64
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_LONGEST = 4096
"""Number of bytes of a text on which its hash depends."""


class DistinctSample:
    """A sample of the distinct values of a column, each with the number of its records."""

    def __init__(self) -> None:
        self.words = pa.array([], pa.string())
        self.counts = np.empty(0, dtype=np.int64)
        self._hashes = np.empty(0, dtype=np.uint64)
        self._zeros = 0

    @property
    def n_distinct(self) -> int:
        """Estimate of the number of distinct values."""
        return len(self.counts) << self._zeros

    def add(self, words: pa.Array, counts: NDArray[np.int64]) -> None:
        """Add distinct texts, each with its number of records in one more part of the table."""
        hashes = hashes_of(words)
        self._merge(words, hashes, counts)
        while len(self.counts) > MOST_KEPT:
            self._zeros += 1
            self._merge(self.words.slice(0, 0), self._hashes[:0], self.counts[:0])

    def _merge(
        self, words: pa.Array, hashes: NDArray[np.uint64], counts: NDArray[np.int64]
    ) -> None:
        hashes = np.concatenate([self._hashes, hashes])
        counts = np.concatenate([self.counts, counts])
        words = pa.concat_arrays([self.words, words.cast(pa.string())])
        if self._zeros:
            kept = np.flatnonzero(hashes >> np.uint64(_BITS - self._zeros) == 0)
            hashes, counts, words = hashes[kept], counts[kept], words.take(pa.array(kept))
        self._hashes, first, place = np.unique(hashes, return_index=True, return_inverse=True)
        self.counts = np.zeros(len(first), dtype=np.int64)
        np.add.at(self.counts, place, counts)
        self.words = words.take(pa.array(first))


def hashes_of(words: pa.Array) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each text: a polynomial in its bytes, mixed.

    >>> a, b = hashes_of(pa.array(["p1", "p2"]))
    >>> bool(a != b), bool(a == hashes_of(pa.array(["p1"]))[0])
    (True, True)
    """
    plain = words.cast(pa.large_binary())
    _, offsets, body = plain.buffers()
    if not len(plain):
        return np.empty(0, dtype=np.uint64)
    ends = np.frombuffer(offsets, dtype=np.int64)[plain.offset : plain.offset + len(plain) + 1]
    letters = np.frombuffer(body or b"", dtype=np.uint8)[ends[0] : ends[-1]]
    starts, lengths = ends[:-1] - ends[0], np.diff(ends)
    places = np.minimum(np.arange(len(letters)) - np.repeat(starts, lengths), _LONGEST)
    powers = np.cumprod(np.full(_LONGEST + 1, _BASE))
    sums = np.concatenate([[np.uint64(0)], np.cumsum((letters + np.uint64(1)) * powers[places])])
    hashes = sums[starts + lengths] - sums[starts] + lengths.astype(np.uint64)
    for shift, mixer in zip((30, 27), _MIXERS, strict=True):
        hashes = (hashes ^ hashes >> np.uint64(shift)) * mixer
    return np.asarray(hashes ^ hashes >> np.uint64(31), dtype=np.uint64)
