"""What weave makes of its tables: shape, coarsenings, pool, joins, weights and draw."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.methods.weave import run as weave_run
from hedgerow.methods.weave import weighing
from hedgerow.methods.weave.axes import CellAxis, cell_axes, cell_axis
from hedgerow.methods.weave.blending import _between
from hedgerow.methods.weave.coarsening import Merging
from hedgerow.methods.weave.draw import drawn_cells
from hedgerow.methods.weave.one_way import OneWay
from hedgerow.methods.weave.pool import Pool, _matched
from hedgerow.methods.weave.raking import Margin, rake
from hedgerow.methods.weave.rounding import fitted_to_margins, rows_shared_out, shared_out
from hedgerow.methods.weave.shape import WeaveBudget, WeaveShape
from hedgerow.methods.weave.weave import Weave
from hedgerow.trees.shrinkage import positive_part
from support.method_battery import busy_table, run
from support.tables import grid, schema_of, table_of, values


@given(
    epsilon=st.fractions(Fraction(1, 10**6), 50),
    n_records=st.integers(-(10**6), 10**12),
    n_predictors=st.integers(1, 100),
    has_class=st.booleans(),
    leaves=st.sampled_from([None, True, False]),
    part=st.floats(0, 1),
)
def test_shares_add_up_to_epsilon_whatever_the_shape(
    epsilon, n_records, n_predictors, has_class, leaves, part
):
    shape = WeaveShape.of(
        epsilon,
        n_records,
        n_predictors=n_predictors,
        has_class=has_class,
        leaves=leaves,
        n_ordered=round(part * n_predictors),
    )
    assert 0 <= shape.joins <= n_predictors - 1
    assert shape.tables <= n_predictors * (n_predictors - 1) // 2
    assert has_class or not shape.leaves
    budget = WeaveBudget(
        epsilon=epsilon,
        shape=shape,
        n_records=n_records,
        weights=tuple(range(1, n_predictors + 1)),
        levels=tuple(a % 4 for a in range(n_predictors)),
    )
    assert sum(step.share * step.times for step in budget.steps()) == epsilon
    assert all(step.share > 0 for step in budget.steps())


def test_columns_of_wide_tables_are_all_joined():
    shape = WeaveShape.of(Fraction(1), 200_000, n_predictors=60, has_class=True, leaves=False)
    assert shape.joins == 59
    narrow = WeaveShape.of(Fraction(1), 30_000, n_predictors=14, has_class=True, leaves=False)
    assert narrow.joins == narrow.further


@pytest.mark.parametrize("domain", [grid(100), grid(7), values(30, 3), values(300)])
def test_coarsenings_are_nested_and_of_neighbours(domain):
    axis = cell_axis(domain)
    merging = Merging(axis, np.random.default_rng(1).random(axis.n_cells))
    finer = merging.groups(32)
    assert int(finer.max()) + 1 == merging.n_groups(32)
    for most in range(20, 0, -1):
        coarse = merging.groups(most)
        assert len(np.unique(coarse)) == min(most, axis.n_cells)
        joined = {(int(f), int(c)) for f, c in zip(finer, coarse, strict=True)}
        assert len(joined) == len(np.unique(finer))
        if axis.ordered:
            assert (np.diff(coarse) >= 0).all()
        finer = coarse


def test_values_that_share_a_node_are_put_together_first():
    axis = cell_axis(values(9, 3))
    groups = Merging(axis, np.ones(9)).groups(6)
    nodes = np.arange(9) // 3
    assert len({(int(g), int(n)) for g, n in zip(groups, nodes, strict=True)}) == 6


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=9), st.floats(0.1, 100))
def test_projections_are_non_negative_and_of_the_total(noisy, total):
    found = positive_part(np.array(noisy), total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)


@given(st.lists(st.floats(0, 9), min_size=1, max_size=9), st.integers(0, 99), st.integers(0, 99))
def test_whole_parts_add_up_and_are_rounded_up_or_down(weights, total, seed):
    rng = np.random.default_rng(seed)
    parts = shared_out(np.array(weights) + 1e-12, total, rng)
    assert parts.sum() == total
    exact = (np.array(weights) + 1e-12) / (np.array(weights) + 1e-12).sum() * total
    assert (np.abs(parts - exact) < 1 + 1e-6).all()
    rows = rows_shared_out(np.array([weights, weights]) + 1e-12, np.array([total, 3]), rng)
    assert rows.sum(axis=1).tolist() == [total, 3]


def one_way(seed=1):
    axes = (
        CellAxis(edges=np.arange(5), ordered=True, depths=None),
        CellAxis(edges=np.arange(4), ordered=True, depths=None),
    )
    rng = np.random.default_rng(seed)
    noisy = [rng.integers(20, 90, (axis.n_cells, 2)) for axis in axes]
    return OneWay.of(axes, noisy, [Fraction(1)] * 2)


def test_a_join_keeps_the_columns_and_follows_its_table():
    told, rng = one_way(), np.random.default_rng(2)
    pool = Pool.of(told, rng)
    before = [
        [
            np.bincount(column[a:b], minlength=9)
            for a, b in zip(pool.bounds[:-1], pool.bounds[1:], strict=True)
        ]
        for column in pool.columns
    ]
    wanted = rng.random((4, 3, 2)) ** 3
    pool.join(0, 1, (np.arange(4), np.arange(3)), wanted, rng)
    assert pool.component == [0, 0]
    for at, (a, b) in enumerate(zip(pool.bounds[:-1], pool.bounds[1:], strict=True)):
        first, second = (column[a:b] for column in pool.columns)
        assert np.array_equal(np.bincount(first, minlength=9), before[0][at])
        off = np.abs(np.bincount(second, minlength=9) - before[1][at]).max()
        assert off <= 4 + 0.001 * len(second)
        seen = np.zeros((4, 3))
        np.add.at(seen, (first, second), 1)
        expected = fitted_to_margins(wanted[:, :, at] + 1e-6, before[0][at][:4], before[1][at][:3])
        assert np.abs(seen - expected).max() < 2 + 0.001 * len(second)


def test_raking_brings_tables_into_their_margins():
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 6, 4000).astype(np.int32)
    counts = np.array([900.0, 400, 300, 1000, 800, 600])
    weights = rake(np.ones(4000), [Margin(keys=keys, counts=counts, margin=5.0)], sweeps=4)
    assert np.abs(np.bincount(keys, weights=weights) - counts).max() <= 5.0 + 1e-6


def test_compiled_sums_agree_to_the_last_bit(monkeypatch):
    rng = np.random.default_rng(4)
    keys, weights = rng.integers(0, 7, 900).astype(np.int32), rng.random(900)
    after = rng.integers(0, 5, 900).astype(np.int32)
    plain, scaled = weighing.weighed(keys, weights, 7), weights.copy()
    sums = weighing.scaled(keys, plain, scaled, after, 5)
    assert np.array_equal(scaled, weights * plain[keys])
    assert np.array_equal(sums, np.bincount(after, weights=scaled))
    monkeypatch.setattr(weighing, "COMPILED_FROM", 0)
    again = weights.copy()
    assert np.array_equal(weighing.scaled(keys, plain, again, after, 5), sums)
    assert np.array_equal(weighing.weighed(keys, weights, 7), plain)
    assert np.array_equal(again, scaled)


def test_as_many_records_are_drawn_as_were_asked_for():
    pool = Pool.of(one_way(), np.random.default_rng(1))
    cells, classes = drawn_cells(pool, 123, np.random.default_rng(2))
    assert {len(column) for column in (*cells, classes)} == {123}


def test_columns_that_determine_each_other_stay_together():
    schema = schema_of(values(6), values(6), grid(30))
    rows = [(i % 6, i % 6, i * 7 % 30, i % 2) for i in range(6000)]
    groups, _ = run(Weave(), table_of(schema, rows), epsilon=Fraction(10))
    codes = [r.first[i] for r, i in zip(groups.ranges, groups.index, strict=True)]
    apart = groups.counts[codes[0] != codes[1]].sum() / groups.counts.sum()
    assert apart < 0.05


def test_cells_lie_on_the_borders_that_evaluations_compare():
    from hedgerow.evaluation.marginals import bin_edges

    schema, _ = busy_table()
    for attribute, axis in zip(schema.attributes, cell_axes(schema), strict=True):
        assert set(bin_edges(attribute)) <= set(axis.edges.tolist())


def test_a_draw_holds_each_class_and_value_as_often_as_its_weight_says():
    rng = np.random.default_rng(4)
    classes = np.repeat(np.arange(3, dtype=np.int32), [40, 100, 60])
    pool = Pool(
        columns=[rng.integers(0, n, 200).astype(np.int32) for n in (7, 3)],
        bounds=np.array([0, 40, 140, 200]),
        weights=rng.random(200) + 0.1,
        component=[0, 0],
    )
    assert np.array_equal(pool.classes, classes)
    for n_records in (50, 1000):
        cells, drawn = drawn_cells(pool, n_records, np.random.default_rng(5))
        scale = n_records / pool.weights.sum()
        wanted = np.bincount(classes, pool.weights) * scale
        assert np.abs(np.bincount(drawn, minlength=3) - wanted).max() < 1
        # The column of highest entropy is sorted first below the class.
        wanted = np.bincount(classes * 7 + pool.columns[0], pool.weights, minlength=21) * scale
        found = np.bincount(drawn * 7 + cells[0], minlength=21)
        assert np.abs(found - wanted).max() < 1


def test_records_with_a_key_that_occurs_once_are_matched():
    keys = np.array([2, 0, 1], dtype=np.int16)
    wanted = np.eye(3)
    source = _matched(keys, keys[[1, 2, 0]], wanted, np.random.default_rng(1))
    assert keys[[1, 2, 0]][source].tolist() == keys.tolist()


def test_parts_of_a_cell_follow_from_the_records_between_the_middles_of_groups():
    parts = _between(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 2.0, 2.0]))
    # Middles of cells are at 0.5, 2.5, 5 and 7 records, those of the groups at 2 and 6.
    assert parts[:, 1].tolist() == pytest.approx([0.0, 0.125, 0.75, 1.0], abs=1e-6)
    assert parts.sum(axis=1).tolist() == pytest.approx([1.0] * 4)


def test_wide_tables_choose_all_their_further_tables_in_rounds(monkeypatch):
    monkeypatch.setattr(weave_run, "MANY", 4)
    schema = schema_of(*(values(4) for _ in range(6)))
    rows = [(*((i * (a + 3) + i // 9) % 4 for a in range(6)), i % 2) for i in range(6000)]
    _, ledger = run(Weave(), table_of(schema, rows), epsilon=Fraction(10))
    chosen = [each.on for each in ledger.bookings if each.on.startswith("choice of further")]
    assert chosen == [f"choice of further table {step}" for step in range(1, len(chosen) + 1)]
    assert len(chosen) >= 2
    assert ledger.settled()
