"""Records as groups: points of the domain with equal ones merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups, Ranges

DENSE = 1 << 20
"""Codes of a domain up to which each has a place of its own when values are looked up."""


def groups_of_points(
    codes: Sequence[NDArray[np.integer[Any]]],
    sizes: list[int],
    classes: NDArray[np.integer[Any]] | None,
) -> Groups:
    """Return points as groups, equal ones merged, in their canonical order.

    ``sizes`` are those of the attributes' domains. A release without a point lists one
    range per attribute, the whole.
    """
    n_classes = [] if classes is None else [int(classes.max(initial=0)) + 1]
    words = packed_columns([*codes] if classes is None else [*codes, classes], [*sizes, *n_classes])
    order, begins = sorted_words(words)
    starts = np.flatnonzero(begins)
    points = order[starts]
    tables, index = [], []
    for column, size in zip(codes, sizes, strict=True):
        ranges, place = _single_codes(column[points], size)
        tables.append(ranges)
        index.append(place)
    return Groups(
        ranges=tuple(tables),
        index=tuple(index),
        classes=None if classes is None else classes[points].astype(np.int32),
        counts=np.diff(starts, append=len(order)),
        is_cut=False,
    )


def packed_columns(
    columns: Sequence[NDArray[np.integer[Any]]], sizes: list[int]
) -> list[NDArray[np.int64]]:
    """Return columns put together as digits of few numbers, in the order of the columns."""
    words: list[NDArray[np.int64]] = []
    room = 0
    for column, size in zip(columns, sizes, strict=True):
        if room < size:
            words.append(column.astype(np.int64))
            room = (1 << 62) // max(size, 1)
        else:
            words[-1] *= size
            words[-1] += column
            room //= max(size, 1)
    return words


def sorted_words(
    words: list[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the order of rows by their words, and which rows of it differ from the one before.

    >>> order, begins = sorted_words([np.array([5, 2, 5]), np.array([1, 9, 0])])
    >>> order.tolist(), begins.tolist()
    ([1, 2, 0], [True, True, True])
    """
    order = np.argsort(words[0])
    begins = np.ones(len(order), dtype=np.bool_)
    ordered = words[0][order]
    begins[1:] = ordered[1:] != ordered[:-1]
    for at in range(1, len(words)):
        # Only rows that are equal so far must be compared, and they are few in wide tables.
        alike = ~begins
        alike[:-1] |= ~begins[1:]
        rows = np.flatnonzero(alike)
        run, part = np.cumsum(begins[rows]), order[rows]
        within = np.lexsort((words[at][part], run))
        order[rows] = part[within]
        ordered = words[at][order[rows]]
        begins[rows[1:]] |= ordered[1:] != ordered[:-1]
    return order, begins


def _single_codes(codes: NDArray[np.integer[Any]], size: int) -> tuple[Ranges, NDArray[np.int32]]:
    """Return the codes that occur as ranges of their own, and which of them each code is."""
    if not len(codes):
        whole = Ranges(first=np.zeros(1, dtype=np.int32), stop=np.full(1, size, dtype=np.int32))
        return whole, codes.astype(np.int32)
    if size > DENSE:
        present, place = np.unique(codes, return_inverse=True)
    else:
        seen = np.zeros(size, dtype=np.bool_)
        seen[codes] = True
        present, place = np.flatnonzero(seen), (np.cumsum(seen, dtype=np.int32) - 1)[codes]
    first = present.astype(np.int32)
    return Ranges(first=first, stop=first + 1), place.astype(np.int32, copy=False)
