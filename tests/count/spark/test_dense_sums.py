"""Blocks of cells that workers send back are added up by the driver, and checked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.count.spark.session import dense_sums
from hedgerow.count.spark.workers import CELLS_AT_ONCE, added_blocks
from hedgerow.errors import EngineError

SIZE = CELLS_AT_ONCE + 5


def blocks_of(rows):
    return pa.table(
        {
            "block": pa.array([block for block, _ in rows], pa.int64()),
            "cells": pa.array([cells for _, cells in rows], pa.binary()),
        }
    )


def of_tasks(n_tasks):
    """Return the cells of some tasks, and the blocks that they send."""
    cells = np.random.default_rng(n_tasks).integers(0, 99, (n_tasks, SIZE))
    parts = [(0, slice(0, CELLS_AT_ONCE)), (1, slice(CELLS_AT_ONCE, SIZE))]
    return cells, [(block, task[part].tobytes()) for task in cells for block, part in parts]


@pytest.mark.parametrize("n_tasks", [1, 2, 7])
def test_the_driver_adds_blocks_up_as_the_workers_do(n_tasks):
    cells, rows = of_tasks(n_tasks)
    total = dense_sums(blocks_of(rows), size=SIZE, n_tasks=n_tasks)
    np.testing.assert_array_equal(total, cells.sum(axis=0))
    on_workers = [
        added_blocks(blocks_of([row for row in rows if row[0] == block])) for block in (0, 1)
    ]
    np.testing.assert_array_equal(dense_sums(pa.concat_tables(on_workers), size=SIZE), total)


def test_blocks_that_are_missing_are_zero():
    assert not dense_sums(blocks_of([]), size=SIZE).any()


ONES, MOST = np.ones(5, dtype=np.int64), np.full(5, np.iinfo(np.int64).max)
LONG = np.zeros(CELLS_AT_ONCE, dtype=np.int64)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param((None, ONES.tobytes()), id="no number"),
        pytest.param((0, None), id="nothing"),
        pytest.param((0, b"12345"), id="odd"),
        pytest.param((0, ONES.tobytes()), id="short"),
        pytest.param((1, LONG.tobytes()), id="long"),
        pytest.param((2, ONES.tobytes()), id="beyond"),
        pytest.param((-1, LONG.tobytes()), id="before"),
        pytest.param((1, (-ONES).tobytes()), id="negative"),
        pytest.param((1, MOST.tobytes()), id="too much"),
    ],
)
def test_a_block_that_holds_no_counts_is_refused(row):
    _, rows = of_tasks(2)
    with pytest.raises(EngineError, match="not counts"):
        dense_sums(blocks_of([*rows, row]), size=SIZE, n_tasks=3)


def test_more_blocks_than_tasks_are_refused():
    _, rows = of_tasks(2)
    dense_sums(blocks_of(rows), size=SIZE, n_tasks=2)
    with pytest.raises(EngineError, match="not counts"):
        dense_sums(blocks_of([*rows, (1, ONES.tobytes())]), size=SIZE, n_tasks=2)
