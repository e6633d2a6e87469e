"""Counting matches: every way gives the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure.lattice import dictionary as dictionaries
from hedgerow.disclosure.lattice.dictionary import Dictionary, DistinctRecords, NodeCube
from hedgerow.disclosure.lattice.lattice import Lattice, chains_of
from hedgerow.disclosure.lattice.matches import Matches, levels_of_columns, row_keys
from hedgerow.model.table import EncodedTable
from support.tables import encoded_tables, schema_of, table_of, values


def naive_count(record, node, table: EncodedTable) -> int:
    """Records whose values all lie below the disclosed nodes, one by one."""
    fit = 0
    for t in zip(*table.codes, strict=True):
        below = True
        for code, level, value, chain in zip(record, node, t, chains_of(table.schema), strict=True):
            disclosed = chain.nodes[code, level]
            tree = chain.taxonomy
            below &= bool(tree.first[disclosed] <= value < tree.stop[disclosed])
        fit += below
    return fit


def level_vectors(record, table: EncodedTable):
    """Return the level vectors of all records of a table, repeated ones included."""
    return levels_of_columns(record, chains_of(table.schema), table.codes, len(table))


def drawn_record(table: EncodedTable, data) -> list[int]:
    sizes = [attribute.domain.size for attribute in table.schema.attributes]
    return [data.draw(st.integers(0, size - 1)) for size in sizes]


@given(table=encoded_tables(), data=st.data())
def test_every_way_of_counting_gives_the_naive_number(table, data):
    record = drawn_record(table, data)
    matches = Dictionary.of(table).matches(record)
    nodes = matches.lattice.every_node()
    chosen = nodes[:: max(1, len(nodes) // 40)]
    naive = [naive_count(record, node, table) for node in chosen]
    dictionary = Dictionary.of(table)
    grouped = [(matches.vectors <= node).all(axis=1) @ matches.multiplicities for node in chosen]
    assert grouped == naive
    assert [matches.count(tuple(node)) for node in chosen] == naive
    assert matches.counts(chosen).tolist() == naive
    assert matches.cube().reshape(-1)[matches.lattice.rank(chosen)].tolist() == naive
    assert [matches._bits.count(node) for node in chosen] == naive
    assert matches._bits.counts(chosen.astype(np.int64)).tolist() == naive
    assert dictionary.matches(record).counts(chosen).tolist() == naive
    assert NodeCube.of(dictionary).counter(record).counts(chosen).tolist() == naive


@given(table=encoded_tables(), data=st.data())
def test_level_vectors_are_the_lowest_levels_that_cover_each_record(table, data):
    record = drawn_record(table, data)
    vectors = level_vectors(record, table)
    assert vectors.dtype == np.uint8
    assert vectors.shape == (len(table), len(record))
    for i, chain in enumerate(chains_of(table.schema)):
        assert (vectors[:, i] == chain.levels_from(record[i])[table.codes[i]]).all()


@given(table=encoded_tables(), data=st.data())
def test_matches_grow_with_generalisation_and_are_supermodular(table, data):
    matches = Dictionary.of(table).matches(drawn_record(table, data))
    lattice, cube = matches.lattice, matches.cube()
    for axis in range(cube.ndim):
        assert (np.diff(cube, axis=axis) >= 0).all()
    node = st.tuples(*(st.integers(0, h) for h in lattice.heights))
    for _ in range(5):
        x, y = data.draw(node), data.draw(node)
        meet, join = tuple(map(min, x, y)), tuple(map(max, x, y))
        assert cube[meet] + cube[join] >= cube[x] + cube[y]


@given(table=encoded_tables(min_records=1), data=st.data())
def test_the_top_matches_everything_and_a_record_of_the_dictionary_itself(table, data):
    chosen = data.draw(st.integers(0, len(table) - 1))
    record = [int(column[chosen]) for column in table.codes]
    matches = Dictionary.of(table).matches(record)
    assert matches.count(matches.lattice.top) == matches.n_records == len(table)
    assert matches.count(matches.lattice.bottom) >= 1


def test_many_attributes_are_counted_bit_parallel():
    rng = np.random.default_rng(45)
    n_attributes, n_records = 45, 2000
    schema = schema_of(*[values(9, fan_out=3)] * n_attributes, classes=None)
    # Records near one another, some of them repeated, so that large numbers come up too.
    codes = [rng.choice(9, n_records, p=[0.92] + [0.01] * 8) for _ in range(n_attributes)]
    repeated = [np.concatenate([column, column[:300], column[:100]]) for column in codes]
    table = EncodedTable.from_codes(schema, repeated)
    matches = Dictionary.of(table).matches([0] * n_attributes)
    assert matches.lattice.n_nodes > 2**62
    assert matches.multiplicities.max() > 1
    vectors = level_vectors([0] * n_attributes, table)
    nodes = np.minimum(rng.integers(0, 6, (50, n_attributes)), 2)
    naive = [(vectors <= node).all(axis=1).sum() for node in nodes]
    assert max(naive) > 1
    assert matches.counts(nodes).tolist() == naive
    assert [matches.count(node) for node in nodes] == naive


@pytest.mark.parametrize(("most", "has_cube"), [(1 << 24, True), (0, False)])
def test_a_dictionary_keeps_one_cube_only_where_it_is_small(monkeypatch, most, has_cube):
    monkeypatch.setattr(dictionaries, "NODE_CUBE_UP_TO", most)
    table = table_of(schema_of(values(4, fan_out=2), classes=None), [(0,), (1,), (1,), (3,)])
    dictionary = Dictionary.of(table)
    assert (dictionary.node_cube is not None) == has_cube
    counter = dictionary.counter([1])
    assert counter.cube().tolist() == [2, 3, 4]
    assert counter.n_records == 4


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), max_size=30)
)
def test_row_keys_are_equal_for_equal_rows_only_and_in_their_order(rows):
    columns = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(3)]
    # Sizes that do not fit into 64 bits together, so that keys are made dense on the way.
    keys = row_keys(columns, [2**40, 2**40, 2**30], len(rows)).tolist()
    for a, key_a in zip(rows, keys, strict=True):
        for b, key_b in zip(rows, keys, strict=True):
            assert (a < b) == (key_a < key_b)


@settings(max_examples=50)
@given(table=encoded_tables())
def test_distinct_records_stand_for_all_records(table):
    distinct = DistinctRecords.of(table)
    assert distinct.many.sum() == len(table)
    for column in table.codes:
        assert (column[distinct.first][distinct.kind] == column).all()
    rows = set(zip(*(column.tolist() for column in table.codes), strict=True))
    assert len(distinct.first) == len(rows)


def test_nothing_confidential_is_shown():
    table = table_of(schema_of(values(4, fan_out=2), classes=None), [(0,), (1,), (1,), (3,)])
    matches = Matches.of(Lattice(heights=(2,)), level_vectors([0], table))
    for shown in (repr(matches), repr(Dictionary.of(table))):
        assert "object at" in shown
