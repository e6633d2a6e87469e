"""Cuts and level vectors hold every generalisation of every record, by public rules alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.disclosure.private import levels as private_levels
from hedgerow.disclosure.private.levels import LevelSpace
from hedgerow.errors import SettingError
from hedgerow.taxonomy.tree import Taxonomy
from support.tables import categorical, encoded_tables, grid, schema_of, table_of, values

UNEVEN = Taxonomy.from_nested("Any", ["a", {"B": ["b1", {"C": ["c1", "c2"]}]}, {"D": ["d"]}])


def uneven_space():
    return LevelSpace.of(schema_of(categorical(UNEVEN), values(2), classes=None))


def test_a_leaf_that_ends_early_is_offered_once():
    (cuts, _) = uneven_space().cuts
    spans = [
        (int(first), int(stop))
        for at in range(len(cuts))
        for first, stop, new in zip(cuts.first[at], cuts.stop[at], cuts.new[at], strict=True)
        if new
    ]
    assert len(spans) == len(set(spans))
    tree = UNEVEN
    assert set(spans) == set(zip(tree.first.tolist(), tree.stop.tolist(), strict=True))


@settings(max_examples=25)
@given(table=encoded_tables(max_records=12))
def test_every_level_vector_gives_each_record_one_cell_that_holds_it(table):
    space = LevelSpace.of(table.schema)
    codes = [column.astype(np.int64) for column in table.codes]
    for number in {0, space.n_vectors // 2, space.n_vectors - 1}:
        vector = space.vectors[number]
        cells = space.cells_of(vector, codes)
        spans = space.ranges_of(space.offsets[number] + cells)
        for column, (first, stop) in zip(codes, spans, strict=True):
            assert (first <= column).all()
            assert (column < stop).all()


@settings(max_examples=25)
@given(table=encoded_tables(max_records=12))
def test_sums_of_the_finest_cells_are_the_counts_of_all_coarser_ones(table):
    space = LevelSpace.of(table.schema)
    codes = [column.astype(np.int64) for column in table.codes]
    finest = space.vectors[-1]
    counts = np.bincount(space.cells_of(finest, codes), minlength=int(space.n_cells[-1]))
    for number, sums in enumerate(space.coarsened(counts, finest)):
        direct = np.bincount(
            space.cells_of(space.vectors[number], codes), minlength=int(space.n_cells[number])
        )
        assert sums.tolist() == direct.tolist()


def test_the_first_vector_says_nothing():
    space = uneven_space()
    assert space.n_cells[0] == 1
    assert [(int(a[0]), int(b[0])) for a, b in space.ranges_of(np.array([0]))] == [(0, 5), (0, 2)]


def test_kinds_keep_what_any_cut_can_tell_apart():
    schema = schema_of(grid(20), values(6, 2), classes=2)
    rows = [(i * 7 % 20, i % 6, i % 2) for i in range(40)]
    space = LevelSpace.of(schema, {"a0": [1], "a1": [0, 1]})
    kernel = space.kinds_kernel(2)
    tally = MemoryEngine(table=table_of(schema, rows)).tally(kernel)
    columns = space.kind_codes(tally.keys, kernel)
    finest = space.vectors[-1]
    own = np.array(rows)
    expected = np.bincount(space.cells_of(finest, [own[:, 0], own[:, 1]]))
    found = np.bincount(space.cells_of(finest, columns), weights=tally.counts)
    assert found.tolist() == expected.tolist()


def test_the_public_rule_keeps_vectors_and_cells_few(monkeypatch):
    schema = schema_of(grid(74), values(16, 2), values(9, 3), classes=None)
    monkeypatch.setattr(private_levels, "MOST_VECTORS", 20)
    monkeypatch.setattr(private_levels, "MOST_CELLS", 300)
    space = LevelSpace.of(schema)
    assert space.n_vectors <= 20
    assert space.n_cells[-1] <= 300
    assert space.n_cells[-1] > 20
    # What was asked for stays.
    kept = LevelSpace.of(schema, {"a0": [0, 4]})
    assert kept.cuts[0].depths == (0, 4)
    with pytest.raises(SettingError, match="plan's levels make more"):
        LevelSpace.of(schema, {"a0": [4], "a1": [4], "a2": [2]})


@pytest.mark.parametrize(
    ("given_levels", "words"),
    [({"nobody": [1]}, "is not a published attribute"), ({"a0": [9]}, "has no depth 9")],
)
def test_levels_that_do_not_exist_are_refused(given_levels, words):
    with pytest.raises(SettingError, match=words):
        LevelSpace.of(schema_of(values(6, 2), classes=None), given_levels)
