"""Common parts of the k-anonymity baselines: statement, refusals and exact groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.distinct import DistinctRows, row_ranks
from hedgerow.errors import DataError, SettingError
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.schema import Schema

Corners = NDArray[np.int32]
"""Starts or ends of the ranges of boxes, of shape (boxes, attributes)."""


def statement_of(k: int) -> str:
    """Return the guarantee of k-anonymity and its limits, for the certificate.

    >>> statement_of(5).split(".")[0]
    'Not differentially private'
    """
    others = "one other" if k == 2 else f"{k - 1:,} others"
    kept = (
        f"Every published combination of attributes is shared by at least k = {k:,} records, so"
        f" that these attributes alone do not distinguish anybody from {others}."
        if k > 1
        else "With k = 1 a published combination of attributes may belong to one record alone."
    )
    return (
        f"Not differentially private. {kept} The counts are exact and the groups were fitted to the"
        " data. Whatever all records of a group have in common, above all their class, is revealed"
        " of each of them; and background knowledge, or another release of the same people, may"
        " still distinguish them."
    )


def check_k(k: int) -> None:
    """Raise unless k is a possible minimum number of records of a box."""
    if k < 1:
        raise SettingError.out_of_range("k", k, "a whole number of at least 1")


def refuse_few(n_records: int, k: int) -> None:
    """Raise if there are too few records for a k-anonymous table."""
    if n_records < k:
        raise DataError(
            "There are fewer complete records than k, so that no table of them is k-anonymous.",
            where="publish.k",
            do="Give a smaller k, or more records.",
        )


def cut_groups(
    ranges: tuple[Ranges, ...], rows: DistinctRows, schema: Schema, *, at_least: int = 1
) -> Groups:
    """Return the groups of a cut with their exact counts, in canonical order.

    Boxes with fewer than ``at_least`` records are omitted.
    """
    index = tuple(
        each.partition_of(attribute.domain.size)[codes]
        for each, attribute, codes in zip(ranges, schema.attributes, rows.codes, strict=True)
    )
    boxes, counts = _merged(index, ranges, rows.counts)
    counts[counts.sum(axis=1) < at_least] = 0
    return _groups(ranges, boxes, counts, schema, is_cut=True)


def loose_groups(
    first: Corners, stop: Corners, counts: NDArray[np.int64], schema: Schema
) -> Groups:
    """Return the groups of boxes that may overlap, with equal boxes merged."""
    ranges, index = [], []
    for a in range(len(schema.attributes)):
        pairs = np.stack([first[:, a], stop[:, a]], axis=1)
        table, place = np.unique(pairs, axis=0, return_inverse=True)
        ranges.append(Ranges(first=table[:, 0].copy(), stop=table[:, 1].copy()))
        index.append(place.ravel().astype(np.int32))
    boxes, sums = _merged(tuple(index), tuple(ranges), counts)
    return _groups(tuple(ranges), boxes, sums, schema, is_cut=False)


def _merged(
    index: tuple[NDArray[np.int32], ...], ranges: tuple[Ranges, ...], counts: NDArray[np.int64]
) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
    """Return the distinct boxes, sorted, with the sums of their counts."""
    columns = tuple(column.astype(np.int64) for column in index)
    ranks, n_boxes = row_ranks(columns, tuple(len(each) for each in ranges))
    one = np.empty(n_boxes, dtype=np.int64)
    one[ranks] = np.arange(len(ranks))
    sums = np.zeros((n_boxes, counts.shape[1]), dtype=np.int64)
    np.add.at(sums, ranks, counts)
    return [column[one] for column in index], sums


def _groups(
    ranges: tuple[Ranges, ...],
    boxes: list[NDArray[np.int32]],
    counts: NDArray[np.int64],
    schema: Schema,
    *,
    is_cut: bool,
) -> Groups:
    box, label = np.nonzero(counts)
    return Groups(
        ranges=ranges,
        index=tuple(column[box] for column in boxes),
        classes=None if schema.class_attribute is None else label.astype(np.int32),
        counts=counts[box, label],
        is_cut=is_cut,
    )
