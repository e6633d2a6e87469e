"""Counts and scores of weave: equal to brute force, and as sensitive as is claimed."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory import table as memory
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.methods.weave.axes import cell_axes
from hedgerow.methods.weave.candidates import (
    UNIT,
    WEIGHTS,
    CandidateTables,
    score_units,
    sensitivity,
    table_candidates,
)
from hedgerow.methods.weave.class_tree import LeafCounts, grown_tree
from hedgerow.methods.weave.coarsening import FINEST, Merging
from hedgerow.methods.weave.one_way import OneWay, one_way_counts
from hedgerow.methods.weave.pairs import PairCounts, PairLayout
from hedgerow.methods.weave.pool import Pool
from hedgerow.model.locate import box_of, check_tree, node_bounds
from hedgerow.model.sizes import MOST_UNITS_COUNTED
from hedgerow.model.table import EncodedTable
from support.method_battery import busy_table
from support.tables import encoded_tables, table_of


def n_classes(table):
    target = table.schema.class_attribute
    return 1 if target is None else target.domain.size


def without(table: EncodedTable, record: int) -> EncodedTable:
    codes = [np.delete(column, record) for column in table.codes]
    classes = None if table.classes is None else np.delete(table.classes, record)
    return EncodedTable.from_codes(table.schema, codes, classes)


def mergings_of(table, seed):
    rng = np.random.default_rng(seed)
    return [Merging(axis, rng.random(axis.n_cells)) for axis in cell_axes(table.schema)]


def asked(table, mergings, purpose="general"):
    """Return the layout of all candidates of a table's schema, and their true counts."""
    axes, classes = cell_axes(table.schema), n_classes(table)
    layout = CandidateTables(
        table_candidates(mergings, n_records=400.0, share=1.0, n_classes=classes, purpose=purpose),
        mergings,
        classes,
    )
    pairs = PairLayout(sizes=tuple(m.n_groups(FINEST) for m in mergings), n_classes=classes)
    places = tuple(
        m.groups(FINEST)[axis.places].astype(np.int16)
        for m, axis in zip(mergings, axes, strict=True)
    )
    sums = MemoryEngine(table=table).sum(PairCounts(layout=pairs, places=places))
    flat = layout.flat(pairs.split(sums))
    by_loop = CandidateTables(layout.candidates, mergings, classes, compiled=True)
    assert np.array_equal(by_loop.flat(pairs.split(sums)), flat)
    return layout, flat


def brute_force(table, mergings, each):
    """Count one candidate's cells record by record."""
    (a, b), (n_a, n_b) = each.pair, each.shape
    axes = cell_axes(table.schema)
    found = np.zeros((n_a, n_b, n_classes(table) if each.by_class else 1), dtype=np.int64)
    for i in range(len(table)):
        x = mergings[a].groups(n_a)[axes[a].places[table.codes[a][i]]]
        y = mergings[b].groups(n_b)[axes[b].places[table.codes[b][i]]]
        found[x, y, table.classes[i] if each.by_class else 0] += 1
    return found


tables = encoded_tables(min_records=1).filter(lambda table: len(table.codes) > 1)


@settings(max_examples=40, deadline=None)
@given(table=tables, seed=st.integers(0, 99))
def test_all_candidates_are_counted_as_record_by_record(table, seed):
    mergings = mergings_of(table, seed)
    layout, flat = asked(table, mergings)
    for at, each in enumerate(layout.candidates):
        assert np.array_equal(layout.table(flat, at), brute_force(table, mergings, each))


def test_compiled_loops_count_the_same(monkeypatch):
    schema, rows = busy_table()
    table = table_of(schema, rows)
    mergings = mergings_of(table, 1)
    _, plain = asked(table, mergings)
    monkeypatch.setattr(memory, "COMPILED_FROM", 0)
    assert np.array_equal(asked(table, mergings)[1], plain)


@settings(max_examples=60, deadline=None)
@given(
    table=tables,
    data=st.data(),
    seed=st.integers(0, 99),
    purpose=st.sampled_from(sorted(WEIGHTS)),
    noise=st.sampled_from([0.0, 0.3, 2.0, 1e15]),
)
def test_one_record_moves_a_score_by_at_most_its_sensitivity(table, data, seed, purpose, noise):
    dropped = data.draw(st.integers(0, len(table) - 1), label="dropped record")
    mergings = mergings_of(table, seed)
    layout, here = asked(table, mergings, purpose)
    _, there = asked(without(table, dropped), mergings, purpose)
    model = np.random.default_rng(seed).exponential(3.0, len(here))
    moved = np.abs(
        layout.scores(here, model, noise=noise) - layout.scores(there, model, noise=noise)
    )
    assert moved.max() <= sensitivity(layout.candidates)
    assert (moved <= layout.weights * UNIT).all()


def test_the_sensitivity_is_reached():
    counts, model, starts = np.array([5, 0]), np.zeros(2), np.array([0])
    moved = score_units(counts, model, starts, noise=0.0) - score_units(
        counts - np.array([1, 0]), model, starts, noise=0.0
    )
    assert moved.tolist() == [UNIT]


@pytest.mark.parametrize("expected", [0.0, 1e9, 1e12, 1e15, 1e300])
def test_no_model_and_no_count_makes_a_score_overflow(expected):
    """Noise at a tiny share may ask for a model of more records than 64 bits hold."""
    n_cells, weight = 4096, max(weight for pair in WEIGHTS.values() for weight in pair) * 2
    counts, model = np.zeros(n_cells, dtype=np.int64), np.full(n_cells, expected)
    counts[0] = MOST_UNITS_COUNTED
    starts = np.array([0, n_cells // 2])
    scores = [
        score_units(counts + more, model, starts, noise=1.0) * weight
        for more in (np.zeros(n_cells, dtype=np.int64), np.eye(1, n_cells, 1, dtype=np.int64)[0])
    ]
    assert (np.stack(scores) >= 0).all()
    assert (np.stack(scores) < 1 << 62).all()
    assert np.abs(scores[1] - scores[0]).max() <= UNIT * weight


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(0, 50), min_size=1, max_size=8),
    data=st.data(),
    noise=st.floats(0, 20),
)
def test_a_score_is_the_formula_in_exact_arithmetic(counts, data, noise):
    n = len(counts)
    model = data.draw(st.lists(st.floats(0, 60), min_size=n, max_size=n))
    units = score_units(np.array(counts), np.array(model), np.array([0]), noise=noise)
    away = Fraction(0)
    for count, expected in zip(counts, model, strict=True):
        m = Fraction(round(expected * UNIT), UNIT)
        h = Fraction(round(max(noise / 2, expected**0.5) * UNIT), UNIT)
        away += max(abs(count - m) - h, 0)
    assert int(units[0]) == away * UNIT


@settings(max_examples=40, deadline=None)
@given(table=tables, data=st.data())
def test_one_record_is_in_one_cell_of_every_table(table, data):
    dropped = data.draw(st.integers(0, len(table) - 1), label="dropped record")
    fewer, classes = without(table, dropped), n_classes(table)
    axes = cell_axes(table.schema)
    here = one_way_counts(MemoryEngine(table=table), axes, classes)
    there = one_way_counts(MemoryEngine(table=fewer), axes, classes)
    for one, other in zip(here, there, strict=True):
        assert np.abs(one - other).sum() == 1
    mergings = mergings_of(table, 3)
    layout, one = asked(table, mergings)
    _, other = asked(fewer, mergings)
    assert np.add.reduceat(np.abs(one - other), layout.starts[:-1]).tolist() == [1] * len(
        layout.candidates
    )


@settings(max_examples=30, deadline=None)
@given(table=tables, data=st.data(), seed=st.integers(0, 99))
def test_one_record_is_in_one_leaf_and_class(table, data, seed):
    axes, classes = cell_axes(table.schema), n_classes(table)
    rng = np.random.default_rng(seed)
    noisy = [rng.integers(0, 60, (axis.n_cells, classes)) for axis in axes]
    pool = Pool.of(OneWay.of(axes, noisy, [Fraction(1)] * len(axes)), rng)
    tree = grown_tree(pool, axes, n_leaves=5)
    kernel = LeafCounts(tree=tree, n_classes=classes)
    whole = MemoryEngine(table=table).sum(kernel)
    dropped = data.draw(st.integers(0, len(table) - 1), label="dropped record")
    fewer = MemoryEngine(table=without(table, dropped)).sum(kernel)
    assert whole.sum() == len(table)
    assert np.abs(whole - fewer).sum() == 1
    sizes = [attribute.domain.size for attribute in table.schema.attributes]
    published = tree.published(sizes, whole.reshape(-1, classes).sum(axis=1).astype(np.float64))
    check_tree(published, sizes)
    assert published.sizes[0] == len(table)
    assert np.array_equal(box_of(published, table.codes), tree.leaves_of(np.stack(table.codes)))
    nodes = np.argsort(published.box, kind="stable")[-tree.n_leaves :]
    first, stop = (each[nodes] for each in node_bounds(published, sizes))
    codes = np.stack([column.astype(np.int64) for column in table.codes], axis=1)
    inside = ((first[:, None] <= codes) & (codes < stop[:, None])).all(axis=2)
    assert (inside.sum(axis=0) == 1).all()
    found = np.zeros((tree.n_leaves, classes), dtype=np.int64)
    np.add.at(found, (inside.argmax(axis=0), table.classes), 1)
    assert np.array_equal(whole.reshape(found.shape), found)


@pytest.mark.parametrize("purpose", sorted(WEIGHTS))
def test_every_pair_is_a_candidate_whatever_the_purpose(purpose):
    schema, rows = busy_table()
    table = table_of(schema, rows)
    layout, _ = asked(table, mergings_of(table, 1), purpose)
    assert {each.pair for each in layout.candidates} == set(combinations(range(3), 2))
    assert all(each.weight >= 1 for each in layout.candidates)
