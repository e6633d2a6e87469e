"""Joint counts of coarsened attributes agree with counting by hand."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count import joint
from hedgerow.count.joint import JointCounts
from hedgerow.count.memory.table import MemoryEngine
from support.tables import grid, schema_of, table_of, values

PLACES = (
    (np.arange(6, dtype=np.int32), np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)),
    (np.arange(4, dtype=np.int32),),
    (np.arange(3, dtype=np.int32), np.array([0, 1, 1], dtype=np.int32)),
)
VARIABLES = [(a, level) for a, levels in enumerate(PLACES) for level in range(len(levels))]
SCHEMA = schema_of(grid(6), values(4), classes=3)
rows_of = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)), max_size=30)
tables_of = st.lists(
    st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=3, unique=True).map(tuple),
    min_size=1,
    max_size=5,
)


@given(rows=rows_of, tables=tables_of)
@settings(max_examples=60)
def test_every_table_counts_the_records_of_its_cells(rows, tables):
    kernel = JointCounts(places=PLACES, tables=tuple(tables))
    engine = MemoryEngine(table=table_of(SCHEMA, rows), piece=7)
    found = kernel.split(engine.sum(kernel))
    for table, counts in zip(tables, found, strict=True):
        truth = Counter(tuple(int(PLACES[a][level][row[a]]) for a, level in table) for row in rows)
        shape = kernel.shape(table)
        assert counts.shape[1] == shape[-1]
        told = counts.reshape(shape)
        assert all(told[cell] == truth[cell] for cell in product(*map(range, shape)))


def test_records_beyond_one_chunk_are_counted_as_well(monkeypatch):
    kernel = JointCounts(places=PLACES, tables=(((0, 1), (1, 0)), ((0, 1), (2, 0))))
    engine = MemoryEngine(table=table_of(SCHEMA, [(i % 6, i % 4, i % 3) for i in range(100)]))
    whole = engine.sum(kernel)
    monkeypatch.setattr(joint, "_CHUNK", 9)
    assert np.array_equal(engine.sum(kernel), whole)
    assert whole.sum() == 200


def test_the_kernel_travels():
    kernel = JointCounts(places=PLACES, tables=(((0, 1), (1, 0)),))
    again = pickle.loads(pickle.dumps(kernel))
    assert again.size == kernel.size == 12
