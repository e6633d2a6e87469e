"""Feature matrices that consist of one small table per attribute.

A table has a row per place of its attribute and a column per feature; an example joins the rows
of its places. Work that is the same for all examples of a place is done once, on the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_TURNED = 200_000_000
"""Maximum number of products to rotate one table; larger ones are left unchanged."""

Tables = Sequence[Any]
"""Sparse matrices in row format, one per attribute."""

_Places = NDArray[np.int32]


def side_by_side(tables: Tables, places: _Places) -> Any:
    """Return the sparse matrix of examples, the features of all attributes in one row.

    >>> from scipy import sparse
    >>> tables = [sparse.csr_matrix([[5.0], [6.0]]), sparse.csr_matrix([[1.0, 0.0], [0.0, 2.0]])]
    >>> side_by_side(tables, np.array([[1, 0], [0, 1]], dtype=np.int32)).toarray().tolist()
    [[6.0, 1.0, 0.0], [5.0, 0.0, 2.0]]
    """
    from scipy import sparse

    full = sparse.csr_matrix(sparse.block_diag(tables, format="csr"))
    each = full[(places + _starts(tables)).ravel()]  # a row per example and attribute
    ends = each.indptr[:: len(tables)].copy()
    return sparse.csr_matrix((each.data, each.indices, ends), shape=(len(places), full.shape[1]))


def added_up(tables: Tables, places: _Places, factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of :func:`side_by_side` with some columns of factors."""
    from scipy import sparse

    of_place = sparse.csr_matrix(sparse.block_diag(tables, format="csr")) @ factors
    total = np.zeros((len(places), factors.shape[1]))
    for start, column in zip(_starts(tables).tolist(), places.T, strict=True):
        total += of_place[start + column]
    return total


def standardised(tables: Tables, places: _Places, weights: NDArray[np.float64]) -> list[Any]:
    """Return tables whose columns have standard deviation 1 over weighted examples.

    A constant column is left unchanged.
    """
    from scipy import sparse

    part = weights / weights.sum()
    found = []
    for table, column in zip(tables, places.T, strict=True):
        mean, square = _moments(table, column, part)
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        scale = np.where(spread > 1e-6, 1 / np.maximum(spread, 1e-6), 1.0)
        found.append(sparse.csr_matrix(table.multiply(scale)))
    return found


def _moments(
    table: Any, column: NDArray[np.int32], part: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of the columns of a table, and those of their squares.

    If a place is one number, as for records, examples are added in their order, as a product with
    the full matrix adds them: a solver that stops at a tolerance amplifies rounding errors.
    """
    n_places, n_columns = table.shape
    if (np.diff(table.indptr) == 1).all():
        where, value = table.indices[column], table.data[column]
        mean: Any = np.bincount(where, weights=value * part, minlength=n_columns)
        square: Any = np.bincount(where, weights=value**2 * part, minlength=n_columns)
        return mean, square
    share = np.bincount(column, weights=part, minlength=n_places)
    return table.T @ share, table.power(2).T @ share


def turned(tables: Tables, places: _Places) -> list[Any]:
    """Return tables whose rows have the same inner products, but fewer nonzero numbers.

    For learners that depend on inner products alone, such as a linear support vector machine:
    rotating the columns of an attribute changes neither lengths nor angles. After the rotation the
    row of the most frequent place has one nonzero number, the next one two, and so on. Without it
    a range that is a whole domain has a number for each of its values.
    """
    return [
        _turned(table, np.bincount(column, minlength=table.shape[0]))
        for table, column in zip(tables, places.T, strict=True)
    ]


def _turned(table: Any, often: NDArray[np.int64]) -> Any:
    from scipy import sparse

    n_places, n_columns = table.shape
    rank = min(n_places, n_columns)
    order = np.argsort(-often, kind="stable")
    before = int(np.diff(table.indptr) @ often)
    after = int(np.minimum(np.arange(1, n_places + 1), rank) @ often[order])
    if after >= before or n_places * n_columns * rank > MOST_TURNED:
        return table
    upper: Any = np.linalg.qr(table[order].toarray().T, mode="r")
    fewer = np.empty((n_places, rank))
    fewer[order] = upper.T
    return sparse.csr_matrix(fewer)


def _starts(tables: Tables) -> NDArray[np.int64]:
    """Return the first row of each table when they are stacked."""
    sizes = np.array([table.shape[0] for table in tables], dtype=np.int64)
    starts: NDArray[np.int64] = np.cumsum(sizes) - sizes
    return starts
