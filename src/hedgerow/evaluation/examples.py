"""Weighted training examples: records or groups, generalised by the same ranges.

A group is one example whose weight is its count. Records and groups of one release share the
same ranges, so a model trained on one predicts the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.features import side_by_side
from hedgerow.evaluation.placing import places
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable

MOST_LEAVES = 256
"""Maximum number of bins of neighbouring values of a categorical attribute."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Examples:
    """Place of each example in each attribute, its class and its weight in records.

    A place is a range of the release (``ranges``), or a code without ranges.
    """

    schema: Schema
    places: NDArray[np.int32]
    classes: NDArray[np.int64] | None
    weights: NDArray[np.float64]
    ranges: tuple[Ranges, ...] | None = None

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def of_groups(cls, schema: Schema, groups: Groups) -> Examples:
        """Return the groups of a release."""
        return cls(
            schema=schema,
            places=np.stack(groups.index, axis=1),
            classes=None if groups.classes is None else groups.classes.astype(np.int64),
            weights=groups.counts.astype(np.float64),
            ranges=groups.ranges,
        )

    @classmethod
    def of_rows(cls, groups: Groups, table: EncodedTable) -> Examples:
        """Return records, generalised by the boxes of a placed release."""
        return replace(cls.of_records(table), places=places(groups, table), ranges=groups.ranges)

    @classmethod
    def of_records(cls, table: EncodedTable) -> Examples:
        """Return records in their own codes."""
        codes = [column.astype(np.int32) for column in table.codes]
        return cls(
            schema=table.schema,
            places=np.stack(codes, axis=1),
            classes=None if table.classes is None else table.classes.astype(np.int64),
            weights=np.ones(len(table)),
        )

    def sampled(self, most: int, *, seed: int) -> Examples:
        """Return these examples, or ``most`` of them sampled by weight if there are more."""
        if len(self) <= most:
            return self
        rng = np.random.default_rng(seed)
        if (self.weights == 1).all():
            kept = np.sort(rng.choice(len(self), most, replace=False))
            weights = np.ones(most)
        else:
            times = rng.multinomial(most, self.weights / self.weights.sum())
            kept = np.flatnonzero(times)
            weights = times[kept] * (self.weights.sum() / most)
        classes = None if self.classes is None else self.classes[kept]
        return replace(self, places=self.places[kept], classes=classes, weights=weights)

    def spread(self, *, categorical: float = 1.0) -> Any:
        """Return a sparse matrix of features that records and groups of any release share.

        It joins the rows of :meth:`tables`.
        """
        return side_by_side(self.tables(categorical=categorical), self.places)

    def tables(self, *, categorical: float = 1.0) -> list[Any]:
        """Return the features of each attribute, a row per place.

        A numeric attribute gives one column, the middle of its range from 0 to 1. A
        categorical one gives a column per value: ``categorical`` for the value of a record,
        divided equally between the values of a range.
        """
        from scipy import sparse

        found = []
        for at, attribute in enumerate(self.schema.attributes):
            size = attribute.domain.size
            first, stop = self._table(at, size)
            if attribute.domain.kind == "numeric":
                found.append(sparse.csr_matrix(((first + stop) / (2 * size))[:, None]))
            else:
                found.append(_memberships(first, stop, size) * categorical)
        return found

    def _table(self, at: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self.ranges is None:
            codes = np.arange(size, dtype=np.int64)
            return codes, codes + 1
        ranges = self.ranges[at]
        return ranges.first.astype(np.int64), ranges.stop.astype(np.int64)


def _memberships(first: NDArray[np.int64], stop: NDArray[np.int64], size: int) -> Any:
    """Return, by range, the part of it that lies in each value (or bin of values)."""
    from scipy import sparse

    n_bins = min(size, MOST_LEAVES)
    widths = stop - first
    rows = np.repeat(np.arange(len(first)), widths)
    codes = np.arange(len(rows)) - np.repeat(np.cumsum(widths) - widths, widths) + first[rows]
    parts = 1.0 / widths[rows]
    return sparse.csr_matrix((parts, (rows, codes * n_bins // size)), shape=(len(first), n_bins))
