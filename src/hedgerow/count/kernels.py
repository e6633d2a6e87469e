"""Counting kernels, each with a NumPy and a compiled form that agree."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.arrays import Codes
from hedgerow.model.engine import Batch, SparseCounts

DENSE_UP_TO = 1 << 23
"""Maximum number of keys for a tally of groups in one dense array; more are sorted."""

_CHUNK = 1 << 16  # records per step of the NumPy forms, so that their scratch stays in the cache


MOST_KEYS = 1 << 62
"""Maximum number of cells of a table with 64-bit keys."""


def require_keys(n_keys: int) -> None:
    """Refuse a table with more cells than keys; methods refuse it earlier, with their reasons.

    >>> require_keys(MOST_KEYS)
    """
    if n_keys > MOST_KEYS:
        raise InternalError("A table has more cells than 64-bit keys.")


def _classes_of(batch: Batch) -> Codes:
    if batch.classes is not None:
        return batch.classes
    return np.zeros(batch.n_records, dtype=np.uint8)


@dataclass(frozen=True, kw_only=True)
class ClassHistograms:
    """Number of records with each code and class, for every attribute.

    One pass serves all candidates of [DiffGen, Alg. 1]: the score of a node needs only
    its attribute's class histogram [DiffGen, Sec. 4.3]. The sum is the attributes'
    histograms one after another, each of ``sizes[a] * n_classes`` cells.
    """

    sizes: tuple[int, ...]
    n_classes: int

    @property
    def size(self) -> int:
        """Total number of cells of all histograms."""
        return sum(self.sizes) * self.n_classes

    def split(self, sums: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Split the flat sum into one (codes, classes) array per attribute."""
        ends = np.cumsum(np.array(self.sizes, dtype=np.int64) * self.n_classes)
        return [part.reshape(-1, self.n_classes) for part in np.split(sums, ends[:-1])]

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Return the histograms of a batch, flat."""
        if not self.sizes:
            return np.zeros(0, dtype=np.int64)
        one = self._compiled if batch.compiled else self._by_numpy
        classes = _classes_of(batch)
        parts = [
            one(codes, classes, size) for codes, size in zip(batch.codes, self.sizes, strict=True)
        ]
        return np.concatenate(parts)

    def _by_numpy(self, codes: Codes, classes: Codes, size: int) -> NDArray[np.int64]:
        cells = size * self.n_classes
        sums = np.zeros(cells, dtype=np.int64)
        for start in range(0, len(codes), _CHUNK):
            cell = codes[start : start + _CHUNK].astype(np.intp)
            cell *= self.n_classes
            cell += classes[start : start + _CHUNK]
            sums += np.bincount(cell, minlength=cells)
        return sums

    def _compiled(self, codes: Codes, classes: Codes, size: int) -> NDArray[np.int64]:
        from hedgerow.count.compiled import table as compiled

        lanes = np.zeros((compiled.LANES, size * self.n_classes), dtype=np.int64)
        compiled.class_histogram(codes, classes, self.n_classes, lanes)
        total: NDArray[np.int64] = lanes.sum(axis=0)
        return total


@dataclass(frozen=True, kw_only=True)
class GroupCounts:
    """Number of records in each group of a cut: key = box rank x classes + class.

    ``places`` holds, for every attribute, the range of each code; boxes are ranked in mixed
    radix, the first attribute most significant, so that increasing keys are the canonical order
    of a release. Attributes with a single range do not change the rank and are not read.
    """

    places: tuple[NDArray[np.int32], ...] = field(repr=False)
    n_ranges: tuple[int, ...]
    n_classes: int

    def __post_init__(self) -> None:
        require_keys(self.n_groups)

    def strides(self) -> tuple[int, ...]:
        """Change of the key per range of each attribute."""
        strides = []
        stride = self.n_classes
        for n in reversed(self.n_ranges):
            strides.append(stride)
            stride *= n
        return tuple(reversed(strides))

    @property
    def n_groups(self) -> int:
        """Number of groups, occupied or not."""
        n = self.n_classes
        for ranges in self.n_ranges:
            n *= ranges
        return n

    def count(self, batch: Batch) -> SparseCounts:
        """Return the occupied groups of a batch."""
        keys = self.keys(batch)
        if self.n_groups <= DENSE_UP_TO:
            dense = np.bincount(keys, minlength=0)
            occupied = np.flatnonzero(dense)
            return SparseCounts(keys=occupied.astype(np.int64), counts=dense[occupied])
        unique, counts = np.unique(keys, return_counts=True)
        return SparseCounts(keys=unique, counts=counts.astype(np.int64))

    def keys(self, batch: Batch) -> NDArray[np.int64]:
        """Return each record's key (confidential)."""
        add = self._add_compiled if batch.compiled else self._add_by_numpy
        keys = np.zeros(batch.n_records, dtype=np.int64)
        if batch.classes is not None:
            keys += batch.classes
        for codes, places, n, stride in zip(
            batch.codes, self.places, self.n_ranges, self.strides(), strict=True
        ):
            if n > 1:
                add(keys, codes, places.astype(np.int64) * stride)
        return keys

    @staticmethod
    def _add_by_numpy(keys: NDArray[np.int64], codes: Codes, steps: NDArray[np.int64]) -> None:
        for start in range(0, len(keys), _CHUNK):
            keys[start : start + _CHUNK] += steps[codes[start : start + _CHUNK]]

    @staticmethod
    def _add_compiled(keys: NDArray[np.int64], codes: Codes, steps: NDArray[np.int64]) -> None:
        from hedgerow.count.compiled import table as compiled

        compiled.add_steps(keys, codes, steps)
